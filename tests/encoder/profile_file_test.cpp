// Profiles in files: what is read is what was written, and what lies is refused.

#include "spmvpack/encoder/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::test {
namespace {

using encoder::Aim;
using encoder::Profile;
using encoder::Target;
using Json = nlohmann::json;

Json good() { return Json::parse(encoder::to_json(encoder::profiles()[0], "mine")); }

/// What parse_profile() says of this JSON in a file "F".
std::string refusal(const std::string& json) {
  try {
    encoder::parse_profile(json, "F");
  } catch (const Error& e) {
    CHECK(e.code() == errc::bad_input);
    CHECK(!e.remedy().empty());
    return e.what();
  }
  return "";
}

encoder::ProfileFacts facts() {
  encoder::ProfileFacts f{"mine", "a machine", Target::host, {}, {}, {}};
  f.picoseconds.assign(encoder::units().size(), 2);
  return f;
}

}  // namespace

TEST_CASE("a profile of the package comes back from a file with another id") {
  const TemporaryDirectory directory;
  for (const Profile& profile : encoder::profiles()) {
    const std::string path = directory.file("mine.json");
    std::ofstream(path) << encoder::to_json(profile, "mine");
    Aim aim;
    encoder::set_target(aim, path);
    CHECK(aim.target == profile.target);
    CHECK(encoder::target_name(aim) == "mine");
    const Profile& read = encoder::profile_of(aim);
    CHECK(read.id == "mine");
    CHECK(read.machine == profile.machine);
    CHECK(read.target == profile.target);
    CHECK(read.x_caches == profile.x_caches);
    CHECK(read.device == profile.device);
    CHECK(std::equal(read.picoseconds.begin(), read.picoseconds.end(), profile.picoseconds.begin(),
                     profile.picoseconds.end()));
    CHECK(encoder::to_json(read) == encoder::to_json(profile, "mine"));
    // The package's own ids are refused, whoever wrote the file.
    CHECK(refusal(encoder::to_json(profile)) ==
          fmt::format("F: id: {} is a target of spmvpack's own; give the profile an "
                      "id of its own",
                      profile.id));
  }
}

TEST_CASE("the names of targets are said once") {
  const auto names = encoder::target_names();
  CHECK(std::vector<std::string_view>(names.begin(), names.end()) ==
        std::vector<std::string_view>{"gpu", "host", "h200", "h100"});
  for (const std::string_view name : names) {
    Aim aim;
    encoder::set_target(aim, std::string(name));
    CHECK(encoder::target_name(aim) == name);
  }
  for (const Profile& profile : encoder::profiles())
    CHECK(std::find(names.begin(), names.end(), profile.id) != names.end());
}

TEST_CASE("auto goes by the prices of the file, and the container says whose they were") {
  const CsrMatrix a = clone(random_matrices<double>(11, 3)[0].matrix);
  const auto encoded = [&](const Aim& aim) {
    MemorySink sink;
    encoder::EncodeRequest request;
    request.aim = aim;
    const encoder::EncodeResult result = encoder::encode(a, request, sink);
    const Provenance said = open(bytes_of(sink)).provenance();
    return std::pair{result.plan.strategy, said.options + ", " + said.target};
  };
  // As on the H200, whose prices they are.
  Aim same;
  same.profile = encoder::parse_profile(good().dump(), "F");
  const auto by_name = encoded({});
  CHECK(encoded(same).first == by_name.first);
  CHECK(by_name.second == "--layout auto --value-type f64 --codec none, gpu");
  CHECK(encoded(same).second == "--layout auto --target mine --value-type f64 --codec none, mine");
  // Where all that coo does is free, and everything else takes time.
  encoder::ProfileFacts free_coo = facts();
  for (std::size_t i = 0; i < encoder::units().size(); ++i) {
    const std::string_view unit = encoder::units()[i];
    if (unit.starts_with("coo.") || unit == "bytes" || unit.starts_with("x.") || unit.starts_with("y."))
      free_coo.picoseconds[i] = 0;
  }
  Aim coo;
  coo.profile = encoder::make_profile(free_coo);
  coo.target = Target::host;
  CHECK(encoded(coo).first == "coo");
}

TEST_CASE("the caches of a profile are those through which x is loaded") {
  // Each row reads one of 64 sectors, in turns: 2 KiB of x.
  Entries entries;
  for (std::uint32_t r = 0; r < 6400; ++r) entries[{r, (r % 64) * 4}] = 1;
  const CsrMatrix a = make_csr(6400, 256, entries);
  CHECK(encoder::x_sectors(a, 1).from_memory == 64);
  CHECK(encoder::x_sectors(a, 1, {50'000'000, 1024}).from_l2 == 6400);  // gone before it is used again
  CHECK(encoder::x_sectors(a, 1, {50'000'000, 1024, 131'072}).of_chunks == 64 * 6 + 64);  // groups of 1,024 rows
  CHECK(encoder::x_sectors(a, 1, {1024, 131'072}).from_memory == 6400);
}

TEST_CASE("a profile that lies is refused, with the place and the remedy") {
  REQUIRE(refusal(good().dump()).empty());
  const auto with = [](const std::string& pointer, const Json& value) {
    Json json = good();
    json[Json::json_pointer(pointer)] = value;
    return json.dump();
  };
  const auto without = [](const std::string& object, const std::string& member) {
    Json json = good();
    json[Json::json_pointer(object)].erase(member);
    return json.dump();
  };
  const std::vector<std::pair<std::string, std::string>> lies{
      {"", "F: not a profile: not JSON; "},
      {"{\"schema\": ", "F: not a profile: not JSON; "},
      {"[]", "F: expected an object"},
      {without("", "schema"), "F: no member \"schema\"; start from"},
      {with("/schema", "spmvpack-profile-4"),
       "F: schema: the schema is 'spmvpack-profile-4'; this version reads spmvpack-profile-1, spmvpack-profile-2, "
       "spmvpack-profile-3"},
      {with("/schema", "spmvpack-profile-2"),
       "F: schema: a GPU's prices of spmvpack-profile-2, for work that is counted in another way now; measure "
       "them again: spmvpack calibrate"},
      {without("", "id"), "F: no member \"id\""},
      {with("/id", 7), "F: id: expected a string"},
      {with("/id", ""), "F: id: the id is ''"},
      {with("/id", "a\nb"), "F: id: the id is 'a\\x0Ab'; use 1 to 64 letters"},
      {with("/id", "a b"), "F: id: the id is 'a b'"},
      {with("/id", "-f"), "F: id: the id is '-f'"},
      {with("/id", std::string(65, 'x')), "F: id: the id is 'xxx"},
      {with("/id", "gpu"), "F: id: gpu is a target of spmvpack's own; give the profile an id of its own"},
      {with("/id", "h100"), "F: id: h100 is a target"},
      {with("/machine", ""), "F: machine: the machine is ''"},
      {with("/machine", "a\x1b[2Jb"), "F: machine: the machine is 'a\\x1B[2Jb'"},
      {with("/machine", std::string(65, 'm')), "F: machine: "},
      {with("/target", "tpu"), "F: target: the target is 'tpu'; give gpu or host"},
      {without("/x_caches", "block_bytes"), "F: x_caches: no member \"block_bytes\""},
      {without("/x_caches", "chunk_bytes"),
       "F: x_caches: no member \"chunk_bytes\": these prices are for work that is counted in another way now; "
       "measure them again: spmvpack calibrate"},
      {with("/x_caches/chunk_bytes", 0), "F: x_caches.chunk_bytes: a cache of 0 bytes; give 1,024 to"},
      {with("/x_caches/device_bytes", 0), "F: x_caches.device_bytes: a cache of 0 bytes; give 1,024 to"},
      {with("/x_caches/device_bytes", std::uint64_t{1} << 40U),
       "F: x_caches.device_bytes: a cache of 1,099,511,627,776"},
      {with("/x_caches/device_bytes", -1), "F: x_caches.device_bytes: expected a whole number"},
      {with("/x_caches/device_bytes", 1e6), "F: x_caches.device_bytes: expected a whole number"},
      {with("/x_caches/more", 1), "F: x_caches.more: not known to this version"},
      {without("", "device"), "F: no member \"device\""},
      {without("/device", "hot_bytes"), "F: device: no member \"hot_bytes\""},
      {with("/device/multiprocessors", 0), "F: device.multiprocessors: 0; give 1 to 4,096"},
      {with("/device/segment_columns", 65537), "F: device.segment_columns: 65,537; give 2 to 65,536"},
      {with("/device/threads", 1), "F: device.threads: not known to this version"},
      {with("/picoseconds", Json::array()), "F: picoseconds: "},
      {with("/picoseconds", Json::object()), "F: picoseconds: no price of amb.added_sums, amb.alone, amb.chain and "},
      {without("/picoseconds", "csr.rows"), "F: picoseconds: no price of csr.rows; every unit needs one"},
      {with("/picoseconds/csr.miracles", 1), "F: picoseconds.csr.miracles: not known to this version"},
      {with("/picoseconds/csr.rows", -1), "F: picoseconds.csr.rows: a price of -1; give a finite number from 0"},
      {with("/picoseconds/csr.rows", 1e300), "F: picoseconds.csr.rows: a price of 1e+300"},
      {with("/picoseconds/csr.rows", "1"), "F: picoseconds.csr.rows: expected a number"},
      {with("/picoseconds/csr.rows", nullptr), "F: picoseconds.csr.rows: expected a number"},
      {with("/note", "hello"), "F: note: not known to this version; omit it"},
  };
  for (const auto& [json, expected] : lies) {
    INFO(json.substr(0, 100));
    CHECK_THAT(refusal(json), Catch::StartsWith(expected));
  }
  // Not numbers of JSON at all: NaN, and one that no double holds.
  std::string json = good().dump();
  const std::string price = "\"csr.rows\":" + good()["picoseconds"]["csr.rows"].dump();
  for (const char* const wrong : {"NaN", "Infinity", "1e999"}) {
    std::string other = json;
    REQUIRE(other.find(price) != std::string::npos);
    other.replace(other.find(price), price.size(), std::string("\"csr.rows\":") + wrong);
    CHECK_THAT(refusal(other), Catch::StartsWith("F: "));
  }
  // What is there twice, of which a reader would take one.
  for (const auto& [member, place] :
       {std::pair{"\"id\":\"mine\"", "id"}, std::pair{price.c_str(), "picoseconds.csr.rows"},
        std::pair{"\"hot_bytes\":98304", "device.hot_bytes"}}) {
    std::string other = json;
    REQUIRE(other.find(member) != std::string::npos);
    other.insert(other.find(member), std::string(member) + ",");
    CHECK(refusal(other) == fmt::format("F: {}: this member is there twice; leave the one that is meant", place));
  }
  std::string deep;  // names of what lies deep grow with it
  for (int level = 0; level < 20'000; ++level) deep += "{\"a\":";
  CHECK_THAT(refusal(deep), Catch::StartsWith("F: a: objects lie too deep in each other"));
  Json all_free = good();
  for (auto& [unit, picoseconds] : all_free["picoseconds"].items()) picoseconds = 0;
  CHECK_THAT(refusal(all_free.dump()), Catch::StartsWith("F: picoseconds: all prices are 0"));
}

TEST_CASE("a host's file of an older schema has the package's prices of newer units, and numbers of its devices") {
  const Profile& host = encoder::default_profile(Target::host);
  Json json = Json::parse(encoder::to_json(host, "mine"));
  json["schema"] = "spmvpack-profile-2";
  const std::vector<const char*> of_third{"amb.jumped_slots",
                                          "bitflag.column_entries",
                                          "bitflag.idle_entries",
                                          "bitflag.segment_columns",
                                          "bitflag.segments",
                                          "bitflag.table_entries",
                                          "bitflag.turns",
                                          "bytes.from_memory",
                                          "ccoo.long_rows",
                                          "ccoo.serial",
                                          "columns.vector_bytes",
                                          "coo.long_rows",
                                          "csell.block_chain",
                                          "csell.column_chain",
                                          "csell.column_entries",
                                          "csell.few_groups",
                                          "csell.few_idle",
                                          "csell.few_raw_rounds",
                                          "csell.few_teams",
                                          "csell.heavy_slots",
                                          "csell.long_windows",
                                          "csell.step_chain",
                                          "csell.tables",
                                          "csell.tile_turns",
                                          "csell.turns",
                                          "csell.uneven",
                                          "csell.uneven_warps",
                                          "csell.window_rounds",
                                          "csell.window_slots",
                                          "csr.column_chain",
                                          "csr.column_entries",
                                          "csr.row_entries",
                                          "csr.row_multiplies",
                                          "csr.vector_waves",
                                          "dia.chain",
                                          "doubles.entries",
                                          "doubles.multiplies",
                                          "ell.column_entries",
                                          "ell.turns",
                                          "pjds.column_entries",
                                          "pjds.turns",
                                          "sell.column_entries",
                                          "sell.turns",
                                          "sjds.column_steps",
                                          "sjds.group_steps",
                                          "sjds.plain_steps",
                                          "sjds.run_steps",
                                          "x.copies",
                                          "x.first"};
  for (const char* const unit : of_third) json["picoseconds"].erase(unit);
  json["picoseconds"]["csell.mirrors"] = 5;
  json["x_caches"].erase("chunk_bytes");
  CHECK(encoder::parse_profile(json.dump(), "F")->price("csell.mirrors") == 5);
  json["schema"] = "spmvpack-profile-1";
  json.erase("device");
  json["picoseconds"].erase("csell.mirrors");
  json["picoseconds"].erase("csell.mirror_blocks");
  json["picoseconds"]["csr.rows"] = 7;
  const auto read = encoder::parse_profile(json.dump(), "F");
  CHECK(read->device == encoder::Device{});
  CHECK(read->x_caches == host.x_caches);
  CHECK(read->price("csr.rows") == 7);
  for (const char* const unit : {"csell.mirrors", "csell.mirror_blocks", "bytes.from_memory", "sjds.plain_steps"})
    CHECK(read->price(unit) == host.price(unit));
  json["picoseconds"]["csell.mirrors"] = 1;
  CHECK_THAT(refusal(json.dump()), Catch::StartsWith("F: picoseconds.csell.mirrors: not known to this version"));
}

TEST_CASE("plans go by the numbers of the profile's device") {
  // A thread for each of 2,000 rows is few for 132 multiprocessors, and not for one.
  Entries entries;
  for (std::uint32_t r = 0; r < 2000; ++r)
    for (std::uint32_t c = 0; c < 28; ++c) entries[{r, c}] = r + c;
  const CsrMatrix a = make_csr(2000, 32, entries);
  const auto chain = [&](std::uint64_t multiprocessors) {
    Json json = good();
    json["device"]["multiprocessors"] = multiprocessors;
    encoder::PlanOptions options;
    options.aim.profile = encoder::parse_profile(json.dump(), "F");
    const encoder::Plan plan = encoder::find_strategy("ell").plan(a, options);
    for (const encoder::Counter& c : plan.parts[0].work)
      if (c.name == "ell.chain") return c.value;
    return std::uint64_t{0};
  };
  CHECK(chain(132) == 2 * 2);  // 16 of 28 steps at once
  CHECK(chain(1) == 2 * 4);    // seven
}

TEST_CASE("csell's tables are wide, but leave no multiprocessor of the profile's device without any") {
  Entries entries;
  for (std::uint32_t r = 0; r < 16384; ++r)
    for (std::uint32_t c = 0; c < 6; ++c) entries[{r, (r + c * c) % 16384}] = r / 64 + 0.25 * (c % 3);
  const CsrMatrix a = make_csr(16384, 16384, entries);  // 512 slices, 768 values
  const auto tile_slices = [&](std::uint64_t multiprocessors) {
    Json json = good();
    json["device"]["multiprocessors"] = multiprocessors;
    json["device"]["small_entries"] = 0;
    for (const char* const dear : {"offsets", "patterns", "few", "few_offsets", "few_raw_rounds", "step", "mirrors"})
      json["picoseconds"][std::string("csell.") + dear] = 1e6;
    encoder::PlanOptions options;
    options.aim.profile = encoder::parse_profile(json.dump(), "F");
    const encoder::Plan plan = encoder::find_strategy("csell").plan(a, options);
    for (const encoder::Counter& c : plan.parts[0].counters)
      if (c.name == "tile_slices") return c.value;
    return std::uint64_t{0};
  };
  CHECK(tile_slices(1) > 32);
  CHECK(tile_slices(16) == 32);
  CHECK(tile_slices(17) == 16);  // 32 tiles; there are none of less
  CHECK(tile_slices(132) == 16);
}

TEST_CASE("for fewest bytes, plans do not go by the profile's device") {
  // Columns of one row in eight are scattered, so that there are patterns and offsets; one row is long; values repeat.
  Entries entries;
  for (std::uint32_t r = 0; r < 2048; ++r)
    for (std::uint32_t c = 0; c < 20; ++c)
      entries[{r, r % 8 == 0 ? (r * 37 + c * 101) % 2048 : (r + c) % 2048}] = c % 3 + 1.5;
  for (std::uint32_t c = 0; c < 2048; ++c) entries[{5, c}] = c % 3 + 1.5;
  const CsrMatrix a = make_csr(2048, 2048, entries);
  Json json = good();
  for (const char* const name : {"multiprocessors", "small_entries"}) json["device"][name] = 1;
  const auto planned = [&](std::string_view layout, encoder::Objective optimize, bool of_file) {
    encoder::PlanOptions options;
    options.aim.optimize = optimize;
    if (of_file) options.aim.profile = encoder::parse_profile(json.dump(), "F");
    return encoder::find_strategy(layout).plan(a, options);
  };
  for (const std::string_view layout : {"csell", "bitflag", "ell", "split", "auto"}) {
    INFO(layout);
    const auto same = [&](encoder::Objective optimize) {
      const encoder::Plan package = planned(layout, optimize, false), file = planned(layout, optimize, true);
      return package.layouts() == file.layouts() && package.device_bytes() == file.device_bytes() &&
             std::equal(package.parts.begin(), package.parts.end(), file.parts.begin(), file.parts.end(),
                        [](const encoder::PartPlan& p, const encoder::PartPlan& q) {
                          return p.info.params == q.info.params && p.info.counts == q.info.counts &&
                                 std::equal(p.work.begin(), p.work.end(), q.work.begin(), q.work.end(),
                                            [](const auto& m, const auto& n) {
                                              return m.name == n.name && m.value == n.value;
                                            });
                        });
    };
    CHECK(same(encoder::Objective::bytes));
    if (layout != "split" && layout != "auto") CHECK_FALSE(same(encoder::Objective::time));
  }
}

TEST_CASE("facts of no machine make no profile") {
  CHECK(encoder::make_profile(facts())->price("csr.rows") == 2);
  const auto code_of = [](encoder::ProfileFacts f) {
    try {
      encoder::make_profile(std::move(f));
    } catch (const Error& e) {
      return e.code();
    }
    return errc::internal;
  };
  encoder::ProfileFacts few = facts(), infinite = facts(), nan = facts(), named = facts();
  few.picoseconds.pop_back();
  infinite.picoseconds[3] = std::numeric_limits<double>::infinity();
  nan.picoseconds[3] = std::numeric_limits<double>::quiet_NaN();
  named.id = "host";
  for (const encoder::ProfileFacts& f : {few, infinite, nan, named}) CHECK(code_of(f) == errc::usage);
}

TEST_CASE("a target that is neither a name nor a file") {
  const TemporaryDirectory directory;
  const auto code_of = [](const std::string& name) {
    Aim aim;
    try {
      encoder::set_target(aim, name);
    } catch (const Error& e) {
      return e.code();
    }
    return errc::internal;
  };
  CHECK(code_of("tpu") == errc::usage);
  CHECK(code_of("") == errc::usage);
  CHECK(code_of(directory.file("none.json")) == errc::io);
  CHECK(code_of("none.json") == errc::io);
  CHECK(code_of(directory.path()) == errc::io);
  std::ofstream(directory.file("large.json")) << std::string((1U << 20U) + 1, ' ');
  CHECK(code_of(directory.file("large.json")) == errc::bad_input);
  std::ofstream(directory.file("empty.json")) << "";
  CHECK(code_of(directory.file("empty.json")) == errc::bad_input);
}

}  // namespace spmvpack::test
