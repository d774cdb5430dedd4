#include "spmvpack/encoder/time_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "spmvpack/encoder/x_traffic.hpp"

namespace spmvpack::encoder {
namespace {

constexpr std::array all_prices{
#include "time_prices.inc"
};

void add(std::vector<Counter>& work, const std::string& unit, std::uint64_t count) {
  if (count == 0) return;
  const auto found = std::find_if(work.begin(), work.end(), [&](const Counter& c) { return c.name == unit; });
  if (found == work.end())
    work.push_back({unit, count});
  else
    found->value += count;
}

/// Until a device has so many entries to load, it waits for memory more than it hands it out: the first of them take
/// longer than those after them, in each layout.
void add_first(std::vector<Counter>& work) {
  constexpr std::uint64_t first = std::uint64_t{1} << 20U;
  std::vector<Counter> more;
  for (const Counter& c : work)
    for (const std::string_view of : {".entries", ".slots"})
      if (c.name.ends_with(of))
        add(more, c.name.substr(0, c.name.size() - of.size()) + ".first", std::min(c.value, first));
  work.insert(work.end(), more.begin(), more.end());
}

}  // namespace

std::span<const Price> prices() { return all_prices; }

XSectors x_sectors(const CsrView& a, int threads) {
  XCache cache{.bytes = device_cache_bytes, .line_bytes = sector_bytes, .element_bytes = size_of(a.value_type())};
  XSectors x;
  x.from_memory = x_lines_loaded(a, cache, threads);
  cache.bytes = block_cache_bytes;
  cache.rows_per_cache = block_rows;
  x.from_l2 = x_lines_loaded(a, cache, threads);
  cache.rows_per_cache = warp_rows;
  x.of_warps = x_lines_loaded(a, cache, threads);
  return x;
}

std::vector<Counter> work_of(const Plan& plan, std::uint64_t rows, const XSectors& x) {
  std::uint64_t bytes = plan.device_bytes() + sector_bytes * x.from_memory, passes = 1;
  std::uint64_t entries = 0, far = 0;
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
  }
  const auto missed = [&](std::uint64_t sectors) {  // as if near entries missed as often as others
    if (far == entries) return sectors;
    return static_cast<std::uint64_t>(static_cast<double>(sectors) *
                                      (static_cast<double>(far) / static_cast<double>(entries)));
  };
  std::vector<Counter> work{{"bytes", 0}, {"x.sectors", missed(x.from_l2)}, {"x.warp_sectors", missed(x.of_warps)}};
  for (const PartPlan& part : plan.parts) {
    bytes += passes * part.info.rows.count * size_of(part.info.value_type);
    passes = 2;
    for (const Counter& c : part.work) add(work, c.name, c.value);
  }
  work[0].value = bytes;
  if (!covered) {
    work.push_back({"y.passes", 1});
    work.push_back({"y.rows", rows});
  }
  add_first(work);
  return work;
}

std::vector<Counter> work_of(const Survey& survey, const Least& least, const XSectors& x) {
  const std::uint64_t y_bytes = survey.filled_rows * size_of(survey.a.value_type());
  std::vector<Counter> work{{"bytes", least.device_bytes + sector_bytes * x.from_memory + y_bytes},
                            {"x.sectors", least.near ? 0 : x.from_l2},
                            {"x.warp_sectors", least.near ? 0 : x.of_warps}};
  work.insert(work.end(), least.work.begin(), least.work.end());
  add_first(work);
  return work;
}

double predicted_seconds(std::span<const Counter> work, Target target) {
  double picoseconds = 0;
  for (const Counter& c : work) {
    const auto* const price =
        std::find_if(all_prices.begin(), all_prices.end(), [&](const Price& p) { return p.unit == c.name; });
    if (price == all_prices.end()) throw Error(errc::internal, fmt::format("the work '{}' has no price", c.name));
    picoseconds += price->on(target) * static_cast<double>(c.value);
  }
  return picoseconds * 1e-12;
}

}  // namespace spmvpack::encoder
