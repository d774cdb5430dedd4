#include "spmvpack/encoder/profile_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/json/json.hpp"
#include "work.hpp"

namespace spmvpack::encoder {
namespace {

/// A GPU's prices of before the third are those of other counts (csr.vector_chain: of entries, not of turns of four),
/// and of units that stood for those that are newer: they are refused. A host's stay what they are; units that an older
/// file has not (Unit::since) cost what they do by the default of its target.
constexpr std::array<std::string_view, 3> schemas{"spmvpack-profile-1", "spmvpack-profile-2", "spmvpack-profile-3"};
constexpr std::string_view schema = schemas.back();
constexpr std::size_t longest_id = 64;
constexpr double most_picoseconds = 1e18;  // beyond any machine; sums of such stay finite
constexpr std::uint64_t least_cache = 1024, most_cache = std::uint64_t{1} << 30U;
constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 20U;

/// A number of a device, and what it may be.
struct DeviceNumber {
  std::string_view name;
  std::uint64_t Device::*member;
  std::uint64_t least, most;
};
constexpr std::array device_numbers{
    DeviceNumber{"multiprocessors", &Device::multiprocessors, 1, 4096},
    DeviceNumber{"small_entries", &Device::small_entries, 0, std::uint64_t{1} << 40U},
    DeviceNumber{"in_flight_bytes", &Device::in_flight_bytes, 1024, std::uint64_t{1} << 40U},
    DeviceNumber{"table_values", &Device::table_values, 256, spmvpack::layouts::csell::max_table},
    DeviceNumber{"staging_bytes", &Device::staging_bytes, 0, std::uint64_t{1} << 30U},
    DeviceNumber{"segment_columns", &Device::segment_columns, 2, spmvpack::layouts::bitflag::max_segment},
    DeviceNumber{"hot_bytes", &Device::hot_bytes, 0, spmvpack::layouts::bitflag::max_hot* std::uint64_t{sizeof(float)}},
};

/// The profile, and what it refers to.
struct OwnProfile {
  ProfileFacts facts;
  Profile profile;
};

/// Reports what is wrong with a member, at "file: member".
struct Place {
  errc code;
  std::string where;
  [[noreturn]] void refuse(std::string_view member, const std::string& what, const std::string& remedy) const {
    std::string at = where;
    if (!member.empty()) at += fmt::format("{}{}", at.empty() ? "" : ": ", member);
    throw Error(code, what, at, remedy);
  }
};

bool is_name(std::string_view id) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  };
  return !id.empty() && id.size() <= longest_id && id[0] != '-' && std::all_of(id.begin(), id.end(), is_part);
}

void check_names(const ProfileFacts& facts, const Place& place) {
  if (!is_name(facts.id))
    place.refuse("id", fmt::format("the id is '{}'", escape(facts.id)),
                 fmt::format("use 1 to {} letters, digits, dots, dashes and underlines", longest_id));
  const std::span<const std::string_view> taken = target_names();
  if (std::find(taken.begin(), taken.end(), facts.id) != taken.end())
    place.refuse("id", fmt::format("{} is a target of spmvpack's own", facts.id), "give the profile an id of its own");
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (facts.machine.empty() || facts.machine.size() > most_machine_bytes ||
      std::any_of(facts.machine.begin(), facts.machine.end(), is_control))
    place.refuse(
        "machine", fmt::format("the machine is '{}'", escape(facts.machine)),
        fmt::format("say in 1 to {} bytes, without control characters, what was measured", most_machine_bytes));
}

void check_numbers(const ProfileFacts& facts, const Place& place) {
  for (const auto& [name, bytes] : {std::pair{"x_caches.device_bytes", facts.x_caches.device_bytes},
                                    std::pair{"x_caches.block_bytes", facts.x_caches.block_bytes},
                                    std::pair{"x_caches.chunk_bytes", facts.x_caches.chunk_bytes}})
    if (bytes < least_cache || bytes > most_cache)
      place.refuse(name, fmt::format("a cache of {} bytes", grouped(bytes)),
                   fmt::format("give {} to {}", grouped(least_cache), grouped(most_cache)));
  for (const DeviceNumber& number : device_numbers)
    if (const std::uint64_t n = facts.device.*number.member; n < number.least || n > number.most)
      place.refuse(fmt::format("device.{}", number.name), grouped(n),
                   fmt::format("give {} to {}", grouped(number.least), grouped(number.most)));
  if (facts.picoseconds.size() != units().size())
    place.refuse("picoseconds", fmt::format("{} prices for {} units", facts.picoseconds.size(), units().size()),
                 "give one for each of units(), in their order");
  for (std::size_t i = 0; i < units().size(); ++i)
    if (const double price = facts.picoseconds[i]; !(price >= 0 && price <= most_picoseconds))
      place.refuse(fmt::format("picoseconds.{}", units()[i]), fmt::format("a price of {:g}", price),
                   fmt::format("give a finite number from 0 to {:g}", most_picoseconds));
  if (std::all_of(facts.picoseconds.begin(), facts.picoseconds.end(), [](double price) { return price == 0; }))
    place.refuse("picoseconds", "all prices are 0, so that no work takes time", "measure them: spmvpack calibrate");
}

std::shared_ptr<const Profile> checked(ProfileFacts facts, const Place& place) {
  check_names(facts, place);
  check_numbers(facts, place);
  const auto own = std::make_shared<OwnProfile>();
  own->facts = std::move(facts);
  const ProfileFacts& kept = own->facts;
  own->profile = {kept.id, kept.machine, kept.target, kept.picoseconds, kept.x_caches, kept.device};
  return {own, &own->profile};
}

/// The members of an object, which has exactly those that are asked for.
class Members {
 public:
  Members(const Json& json, std::string name, const Place& place) : json_(json), name_(std::move(name)), place_(place) {
    if (!json.is_object()) place_.refuse(name_, "expected an object of JSON", remedy);
  }
  const Json& get(const std::string& member) {
    const auto found = json_.find(member);
    if (found == json_.end()) place_.refuse(name_, fmt::format("no member \"{}\"", member), remedy);
    asked_.push_back(member);
    return *found;
  }
  [[nodiscard]] bool has(const std::string& member) const { return json_.contains(member); }
  std::string text(const std::string& member) {
    const Json& json = get(member);
    if (!json.is_string()) place_.refuse(full(member), "expected a string", remedy);
    return json.get<std::string>();
  }
  std::uint64_t count(const std::string& member) {
    const Json& json = get(member);
    if (!json.is_number_unsigned()) place_.refuse(full(member), "expected a whole number", remedy);
    return json.get<std::uint64_t>();
  }
  double number(const std::string& member) {
    const Json& json = get(member);
    if (!json.is_number()) place_.refuse(full(member), "expected a number", remedy);
    return json.get<double>();
  }
  /// Refuses what was not asked for.
  void end() const {
    for (const auto& [member, value] : json_.items())
      if (std::find(asked_.begin(), asked_.end(), member) == asked_.end())
        place_.refuse(full(escape(member)), "not known to this version", "omit it, or make the file again");
  }

 private:
  static constexpr const char* remedy = "start from a profile of 'spmvpack calibrate --print h200'";
  [[nodiscard]] std::string full(const std::string& member) const {
    return name_.empty() ? member : fmt::format("{}.{}", name_, member);
  }
  const Json& json_;
  std::string name_;
  const Place& place_;
  std::vector<std::string> asked_;
};

/// The prices of a file of this schema, with all that are missing in one message. `defaults` has those of newer units.
std::vector<double> prices_of(const Json& json, std::size_t of_schema, const Profile& defaults, const Place& place) {
  Members members(json, "picoseconds", place);
  const auto is_newer = [&](const Unit& unit) { return unit.since > of_schema; };
  std::vector<std::string_view> missing;
  for (const Unit& unit : all_units())
    if (!json.contains(std::string(unit.name)) && !is_newer(unit)) missing.push_back(unit.name);
  if (!missing.empty()) {
    constexpr std::size_t listed = 3;
    const std::size_t more = missing.size() - std::min(listed, missing.size());
    missing.resize(missing.size() - more);
    place.refuse(
        "picoseconds",
        fmt::format("no price of {}{}", fmt::join(missing, ", "), more == 0 ? "" : fmt::format(" and {} more", more)),
        "every unit needs one: 'spmvpack calibrate' measures them");
  }
  std::vector<double> prices;
  for (const Unit& unit : all_units())
    prices.push_back(is_newer(unit) ? defaults.price(unit.name) : members.number(std::string(unit.name)));
  members.end();
  return prices;
}

/// JSON in which no object has a member twice: a reader would take one of them, and silently.
Json parse_once(std::string_view json, const Place& place) {
  struct Object {
    std::set<std::string> members;
    std::string name;    ///< as messages call it
    std::string member;  ///< that is being read
  };
  std::vector<Object> open;
  const auto full = [](const Object& object) {
    return object.name.empty() ? object.member : fmt::format("{}.{}", object.name, object.member);
  };
  return Json::parse(json, [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      constexpr std::size_t most_levels = 8;  // a profile has three; names grow with them
      if (open.size() == most_levels)
        place.refuse(full(open.front()), "objects lie too deep in each other",
                     "compare it with docs/profile.schema.json");
      open.push_back({{}, open.empty() ? "" : full(open.back()), ""});
    } else if (event == Json::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == Json::parse_event_t::key) {
      Object& object = open.back();
      object.member = escape(parsed.get<std::string>());
      if (!object.members.insert(object.member).second)
        place.refuse(full(object), "this member is there twice", "leave the one that is meant");
    }
    return true;
  });
}

}  // namespace

std::shared_ptr<const Profile> make_profile(ProfileFacts facts, const std::string& where) {
  return checked(std::move(facts), {errc::usage, where});
}

std::shared_ptr<const Profile> parse_profile(std::string_view json, const std::string& name) {
  const Place place{errc::bad_input, escape(name, 4096)};
  Json all;
  try {
    all = parse_once(json, place);
  } catch (const Json::exception&) {
    // A number beyond all doubles is one of these, too.
    place.refuse("", "not a profile: not JSON", "give gpu, host, a measured machine, or a file of 'calibrate'");
  }
  Members members(all, "", place);
  const std::string found = members.text("schema");
  const auto of_schema = static_cast<std::size_t>(std::find(schemas.begin(), schemas.end(), found) - schemas.begin());
  if (of_schema == schemas.size())
    place.refuse("schema", fmt::format("the schema is '{}'", escape(found)),
                 fmt::format("this version reads {}", fmt::join(schemas, ", ")));
  ProfileFacts facts;
  facts.id = members.text("id");
  facts.machine = members.text("machine");
  const std::string target = members.text("target");
  if (target != "gpu" && target != "host")
    place.refuse("target", fmt::format("the target is '{}'", escape(target)), "give gpu or host");
  facts.target = target == "host" ? Target::host : Target::gpu;
  if (facts.target == Target::gpu && found != schema)
    place.refuse("schema", fmt::format("a GPU's prices of {}, for work that is counted in another way now", found),
                 "measure them again: spmvpack calibrate");
  Members caches(members.get("x_caches"), "x_caches", place);
  facts.x_caches = {caches.count("device_bytes"), caches.count("block_bytes")};
  if (found == schema) {
    // What calibrate wrote before it knew that cache counts a GPU's work in another way, too.
    if (facts.target == Target::gpu && !caches.has("chunk_bytes"))
      place.refuse("x_caches",
                   "no member \"chunk_bytes\": these prices are for work that is counted in another way now",
                   "measure them again: spmvpack calibrate");
    facts.x_caches.chunk_bytes = caches.count("chunk_bytes");
  }
  caches.end();
  if (of_schema != 0) {
    Members device(members.get("device"), "device", place);
    for (const DeviceNumber& number : device_numbers)
      facts.device.*number.member = device.count(std::string(number.name));
    device.end();
  }
  facts.picoseconds = prices_of(members.get("picoseconds"), of_schema, default_profile(facts.target), place);
  members.end();
  return checked(std::move(facts), place);
}

std::shared_ptr<const Profile> read_profile(const std::string& path) {
  const std::shared_ptr<const ByteSource> file = open_file(path);
  if (file->size() > most_file_bytes)
    throw Error(errc::bad_input, fmt::format("not a profile: {} bytes", grouped(file->size())), escape(path, 4096),
                fmt::format("a profile has at most {}", grouped(most_file_bytes)));
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return parse_profile(text, path);
}

std::string to_json(const Profile& profile, std::string_view id) {
  Json prices = Json::object();
  for (const std::string_view unit : units()) prices[std::string(unit)] = profile.price(unit);
  Json device = Json::object();
  for (const DeviceNumber& number : device_numbers) device[std::string(number.name)] = profile.device.*number.member;
  const Json json{{"schema", schema},
                  {"id", id.empty() ? profile.id : id},
                  {"machine", profile.machine},
                  {"target", profile.target == Target::gpu ? "gpu" : "host"},
                  {"x_caches",
                   {{"device_bytes", profile.x_caches.device_bytes},
                    {"block_bytes", profile.x_caches.block_bytes},
                    {"chunk_bytes", profile.x_caches.chunk_bytes}}},
                  {"device", std::move(device)},
                  {"picoseconds", std::move(prices)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace spmvpack::encoder
