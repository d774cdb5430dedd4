#include "spmvpack/encoder/time_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "column_passes.hpp"
#include "common_work.hpp"
#include "layouts/amb/amb_work.hpp"
#include "layouts/bitflag/bitflag_work.hpp"
#include "layouts/ccoo/ccoo_work.hpp"
#include "layouts/coo_work.hpp"
#include "layouts/csell/csell_work.hpp"
#include "layouts/csr_work.hpp"
#include "layouts/dia_work.hpp"
#include "layouts/ell_work.hpp"
#include "layouts/pjds_work.hpp"
#include "layouts/pkt/pkt_work.hpp"
#include "layouts/sell_work.hpp"
#include "layouts/sjds/sjds_work.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/profile_file.hpp"
#include "spmvpack/launch_rules/columns.hpp"

namespace spmvpack::encoder {
namespace {

/// What a unit costs on each machine, in picoseconds.
struct Price {
  std::string_view unit;
  double h200, h100, host;
};
constexpr std::array prices{
#include "time_prices.inc"
};

template <class Member>
constexpr auto column(Member member) {
  std::array<std::remove_cvref_t<decltype(prices[0].*member)>, prices.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = prices[i].*member;
  return all;
}
constexpr auto priced_units = column(&Price::unit);
constexpr auto on_h200 = column(&Price::h200), on_h100 = column(&Price::h100), on_host = column(&Price::host);

template <std::size_t... sizes>
constexpr auto sorted_units(const std::array<Unit, sizes>&... lists) {
  std::array<Unit, (sizes + ...)> all{};
  auto* end = all.begin();
  ((end = std::copy(lists.begin(), lists.end(), end)), ...);
  std::sort(all.begin(), all.end(), [](const Unit& a, const Unit& b) { return a.name < b.name; });
  return all;
}
constexpr auto known_units = sorted_units(
    common_units, layouts::csr_plans::units, layouts::coo_plans::units, layouts::ell_plans::units,
    layouts::ellpack_r_plans::units, layouts::sell_plans::units, layouts::pjds_plans::units, layouts::dia_plans::units,
    layouts::ccoo_plans::units, layouts::amb_plans::units, layouts::pkt_plans::units, layouts::csell_plans::units,
    layouts::bitflag_plans::units, layouts::sjds_plans::units);
static_assert(std::equal(known_units.begin(), known_units.end(), priced_units.begin(), priced_units.end(),
                         [](const Unit& unit, std::string_view priced) { return unit.name == priced; }),
              "time_prices.inc has a price of each unit, and of nothing else");

/// What stands for the default profile of a kind of machines, by Target.
constexpr std::array<std::string_view, 2> kinds{"gpu", "host"};
static_assert(static_cast<int>(Target::gpu) == 0 && static_cast<int>(Target::host) == 1);

/// Of the 256 KB of a multiprocessor, all but what passes by; with chunks a quarter. Behind 128 KiB for both, 4,906,162
/// random entries in 49,507 columns were foreseen by a third too slow in rows, and half as many by a quarter too fast
/// in chunks (both cards).
constexpr XCaches gpu_caches{50'000'000, 256U << 10U, 64U << 10U};

constexpr std::array all_profiles{
    Profile{"h200", "one H200 GPU", Target::gpu, on_h200, gpu_caches},
    Profile{"h100", "one H100 GPU", Target::gpu, on_h100, gpu_caches},
    Profile{"host", "two CPU cores", Target::host, on_host},
};

/// Values in double precision take longer than their bytes and those of x and y account for.
void add_doubles(std::vector<Counter>& work, ValueType type, std::uint64_t entries) {
  if (type != ValueType::f64 || entries == 0) return;
  work.emplace_back(CommonWork::doubles_multiplies, 1);
  work.emplace_back(CommonWork::doubles_entries, entries);
}

void add(std::vector<Counter>& work, const std::string& unit, std::uint64_t count) {
  if (count == 0) return;
  const auto found = std::find_if(work.begin(), work.end(), [&](const Counter& c) { return c.name == unit; });
  if (found == work.end())
    work.emplace_back(unit, count);
  else
    found->value += count;
}

/// Until a device has so many entries to load, it waits for memory more than it hands it out: the first of them take
/// longer than those after them, in each layout, and so do the first sectors of x that warps ask for.
void add_first(std::vector<Counter>& work) {
  constexpr std::uint64_t first = std::uint64_t{1} << 20U;
  std::vector<Counter> more;
  for (const Counter& c : work) {
    if (c.name == name_of(CommonWork::x_warp_sectors))
      add(more, std::string(name_of(CommonWork::x_first)), std::min(c.value, first));
    for (const std::string_view of : {".entries", ".slots"})
      if (c.name.ends_with(of))
        add(more, c.name.substr(0, c.name.size() - of.size()) + ".first", std::min(c.value, first));
  }
  work.insert(work.end(), more.begin(), more.end());
}

}  // namespace

std::span<const std::string_view> units() { return priced_units; }
std::span<const Unit> all_units() { return known_units; }

const Unit& unit_named(std::string_view name) {
  const auto* const found = std::lower_bound(known_units.begin(), known_units.end(), name,
                                             [](const Unit& unit, std::string_view of) { return unit.name < of; });
  if (found == known_units.end() || found->name != name)
    throw Error(errc::internal, fmt::format("the work '{}' has no price", name));
  return *found;
}

std::span<const Profile> profiles() { return all_profiles; }

const Profile& default_profile(Target target) {
  return *std::find_if(all_profiles.begin(), all_profiles.end(), [&](const Profile& p) { return p.target == target; });
}

const Profile& profile_of(const Aim& aim) {
  return aim.profile != nullptr ? *aim.profile : default_profile(aim.target);
}

std::span<const std::string_view> target_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all(kinds.begin(), kinds.end());
    for (const Profile& profile : all_profiles)
      if (std::find(all.begin(), all.end(), profile.id) == all.end()) all.push_back(profile.id);
    return all;
  }();
  return names;
}

void set_target(Aim& aim, const std::string& name) {
  if (const auto* const kind = std::find(kinds.begin(), kinds.end(), name); kind != kinds.end()) {
    aim.target = static_cast<Target>(kind - kinds.begin());
    aim.profile = nullptr;
    return;
  }
  const auto* const shipped =
      std::find_if(all_profiles.begin(), all_profiles.end(), [&](const Profile& p) { return p.id == name; });
  std::error_code ignored;
  if (shipped != all_profiles.end())
    aim.profile = std::shared_ptr<const Profile>(std::shared_ptr<void>(), shipped);  // which lives as long as we do
  else if (name.find_first_of("./") != std::string::npos || std::filesystem::exists(name, ignored))
    aim.profile = read_profile(name);
  else
    throw Error(errc::usage, fmt::format("the target is '{}'", escape(name)), {},
                fmt::format("give one of {}, or the file of a profile", fmt::join(target_names(), ", ")));
  aim.target = aim.profile->target;
}

void set_tuned_target(Aim& aim, Target machine, bool target_is_given) {
  const std::string_view name = kinds.at(static_cast<std::size_t>(machine));
  if (!target_is_given) set_target(aim, std::string(name));
  if (aim.target != machine)
    throw Error(errc::usage,
                fmt::format("tuning on {} is for another kind of machine than target {}", name, target_name(aim)), {},
                "leave out the target, which tuning implies");
}

std::string_view target_name(const Aim& aim) {
  return aim.profile != nullptr ? aim.profile->id : kinds.at(static_cast<std::size_t>(aim.target));
}

double Profile::price(std::string_view unit) const {
  return picoseconds[static_cast<std::size_t>(&unit_named(unit) - known_units.data())];
}

XSectors x_sectors(const CsrView& a, int threads, const XCaches& caches) {
  return x_sectors(a.cols(), a.value_type(), caches,
                   [&](const XCache& cache) { return x_lines_loaded(a, cache, threads); });
}

XSectors x_sectors(std::uint64_t cols, ValueType type, const XCaches& caches,
                   const std::function<std::uint64_t(const XCache&)>& lines_loaded) {
  XCache cache{.bytes = caches.device_bytes, .line_bytes = sector_bytes, .element_bytes = size_of(type)};
  XSectors x;
  x.from_memory = lines_loaded(cache);
  cache.bytes = caches.block_bytes;
  cache.rows_per_cache = block_rows;
  x.from_l2 = lines_loaded(cache);
  cache.bytes = caches.chunk_bytes;
  const bool same = caches.chunk_bytes == caches.block_bytes ||
                    cols * cache.element_bytes <= std::min(caches.chunk_bytes, caches.block_bytes);  // all of x fits
  x.of_chunks = same ? x.from_l2 : lines_loaded(cache);
  cache.rows_per_cache = 0;
  cache.entries_per_cache = warp_entries;
  x.of_warps = lines_loaded(cache);
  return x;
}

namespace {

/// Of the bytes that are moved, those that a host's last cache does not keep from one multiply to the next.
void add_from_memory(std::vector<Counter>& work, std::uint64_t bytes) {
  constexpr std::uint64_t cached_bytes = 32U << 20U;
  if (bytes > cached_bytes) work.emplace_back(CommonWork::bytes_from_memory, bytes - cached_bytes);
}

}  // namespace

std::vector<Counter> work_of(const Plan& plan, std::uint64_t rows, const XSectors& x) {
  std::uint64_t bytes = plan.device_bytes() + sector_bytes * x.from_memory, passes = 1;
  std::uint64_t entries = 0, far = 0, far_in_chunks = 0, copies = 0;
  // A first part over all rows makes y beta y along the way; without one a pass over y comes first.
  const bool covered = !plan.parts.empty() && plan.parts[0].info.rows.count == rows;
  if (!covered) {
    const ValueType type = plan.parts.empty() ? ValueType::f64 : plan.parts[0].info.value_type;
    bytes += rows * size_of(type);
    passes = 2;
  }
  for (const PartPlan& part : plan.parts) {
    entries += part.info.nnz;
    far += part.info.nnz - part.near_entries;
    far_in_chunks += part.in_chunks ? part.info.nnz - part.near_entries : 0;
    copies += part.info.cols.kind == format::MapKind::list ? 1 : 0;
  }
  const auto missed = [&](std::uint64_t sectors, std::uint64_t of) {  // as if near entries missed as often as others
    if (of == entries) return sectors;
    return static_cast<std::uint64_t>(static_cast<double>(sectors) *
                                      (static_cast<double>(of) / static_cast<double>(entries)));
  };
  const std::uint64_t sectors =
      missed(x.from_l2, far - far_in_chunks) + (far_in_chunks == 0 ? 0 : missed(x.of_chunks, far_in_chunks));
  std::vector<Counter> work{
      {CommonWork::bytes, 0}, {CommonWork::x_sectors, sectors}, {CommonWork::x_warp_sectors, missed(x.of_warps, far)}};
  bool fetched = true;  // all parts so far
  for (const PartPlan& part : plan.parts) {
    bytes += passes * part.info.rows.count * size_of(part.info.value_type);
    passes = 2;
    for (const Counter& c : part.work) add(work, c.name, c.value);
    bytes -= part.unread_bytes;
    const bool fetches = part.fetch_limit != 0, fits = part.device_bytes() - part.unread_bytes <= part.fetch_limit;
    if (fetches && !fits) add(work, fmt::format("{}.unfetched", part.info.layout), 1);
    fetched = fetched && fetches && fits;
  }
  // Rows side by side miss sectors as well, which are counted at several times the price.
  const auto jumped = std::find_if(work.begin(), work.end(), [](const Counter& c) {
    return c.name == name_of(layouts::amb_plans::Work::jumped_slots);
  });
  if (jumped != work.end()) jumped->value -= std::min(jumped->value, 2 * sectors);
  work[0].value = bytes;
  if (fetched) work.emplace_back(CommonWork::bytes_fetched, bytes);
  add_from_memory(work, bytes);
  if (copies != 0) work.emplace_back(CommonWork::x_copies, copies);
  if (!covered) {
    work.emplace_back(CommonWork::y_passes, 1);
    work.emplace_back(CommonWork::y_rows, rows);
  }
  add_first(work);
  if (!plan.parts.empty()) add_doubles(work, plan.parts[0].info.value_type, entries);
  return work;
}

std::vector<Counter> work_of(const Plan& plan, std::uint64_t rows, const XSectors& x, const Aim& aim) {
  std::vector<Counter> work = work_of(plan, rows, x);
  // All parts take the same columns, as many at once as each of them can.
  std::uint64_t at_once = plan.parts.empty() ? 1 : most_columns, vector_elements = 0, y_passes = 1;
  ColumnsWork more;
  for (const PartPlan& part : plan.parts) {
    // Complex columns are multiplied one by one.
    const ColumnsWork of_part = holds_complex(part.info.value_type)
                                    ? ColumnsWork{}
                                    : columns_on(aim, part.info.layout, part.info.nnz, part.columns);
    at_once = std::min(at_once, of_part.at_once);
    for (const Counter& c : of_part.each) add(more.each, c.name, c.value);
    for (const Counter& c : of_part.pass) add(more.pass, c.name, c.value);
    vector_elements += part.info.cols.count + y_passes * part.info.rows.count;
    y_passes = 2;
  }
  const ColumnPasses columns = passes_of(at_once, aim);
  if (columns.further != 0) {
    // Where a host's cache misses a row of X, each column of it takes as long as one column alone.
    if (aim.target == Target::host) more.each.emplace_back(CommonWork::x_sectors, work.at(1).value);
    add(more.each, std::string(name_of(CommonWork::columns_vector_bytes)),
        vector_elements * size_of(plan.parts[0].info.value_type));
  }
  if (aim.columns != 1) repeat(work, columns, more);
  return work;
}

std::vector<Counter> work_of(const Survey& survey, const Least& least, const XSectors& x, const Aim& aim) {
  const std::uint64_t y_bytes = survey.filled_rows * size_of(survey.a.value_type());
  std::vector<Counter> work{{CommonWork::bytes, least.device_bytes + sector_bytes * x.from_memory + y_bytes},
                            {CommonWork::x_sectors, least.near ? 0 : std::min(x.from_l2, x.of_chunks)},
                            {CommonWork::x_warp_sectors, least.near ? 0 : x.of_warps}};
  add_from_memory(work, work[0].value);
  work.insert(work.end(), least.work.begin(), least.work.end());
  const Profile& profile = profile_of(aim);
  const auto picoseconds = [&](const Counter& c) { return profile.price(c.name) * static_cast<double>(c.value); };
  const auto cheapest =
      std::min_element(least.one_of.begin(), least.one_of.end(),
                       [&](const Counter& a, const Counter& b) { return picoseconds(a) < picoseconds(b); });
  if (cheapest != least.one_of.end()) work.push_back(*cheapest);
  add_first(work);
  add_doubles(work, survey.a.value_type(), survey.a.nnz());
  if (aim.columns == 1) return work;
  const std::uint64_t most = aim.target == Target::host ? launch_rules::columns::most_of_host : most_columns;
  repeat(work, passes_of(std::min(least.columns.at_once, most), aim), least.columns);
  return work;
}

std::vector<Counter> work_of_factors(std::uint64_t rows, std::uint64_t cols, ValueType vectors, const Aim& aim) {
  // Each pass reads factors, writes columns, and these, or those that were there, are read once more.
  const std::uint64_t elements = (2 * aim.columns + 1) * (rows + cols),
                      passes = aim.target == Target::host ? aim.columns : 1;
  return {{CommonWork::bytes, elements * size_of(vectors)},
          {CommonWork::y_passes, 2 * passes},
          {CommonWork::y_rows, passes * (rows + cols)}};
}

double predicted_seconds(std::span<const Counter> work, const Profile& profile) {
  double picoseconds = 0;
  for (const Counter& c : work) picoseconds += profile.price(c.name) * static_cast<double>(c.value);
  return picoseconds * 1e-12;
}

}  // namespace spmvpack::encoder
