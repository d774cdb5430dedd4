#include "layouts/csell/tables.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

/// Slices of the smallest tile and of the largest.
constexpr std::uint64_t smallest_tile(std::uint32_t block) { return block == 1 ? 16 : block == 2 ? 8 : 4; }
constexpr std::uint64_t largest_tile = 128;
/// Blocks of several rows are so many entries that the warps of small tiles would be few.
constexpr std::uint64_t staging_bytes(std::uint32_t block_values, const TableLimits& limits) {
  return block_values == 1 ? limits.staging_bytes : 2 * limits.staging_bytes;
}

/// The matrix entries before a slice.
std::uint64_t entries_before(const BlockRows& rows, std::uint64_t slice) {
  const CsrView& a = rows.matrix();
  return a.row_ptr(std::min(a.rows(), slice * lanes * rows.block()));
}

/// Returns use(the CountTable of the values of these slices).
template <class Use>
auto count_values(const BlockRows& rows, std::uint64_t first_slice, std::uint64_t last_slice, Use&& use) {
  const CsrView& a = rows.matrix();
  const std::uint64_t begin = entries_before(rows, first_slice), end = entries_before(rows, last_slice);
  return dispatch(a.value_type(), [&]<class T>(T) {
    CountTable<typename ValueTraits<T>::Key> table;
    table.add(a.values<T>() + begin, end - begin);
    return use(table);
  });
}

CountedVector<ValueKey> distinct_values(const BlockRows& rows, std::uint64_t first_slice, std::uint64_t last_slice) {
  return count_values(rows, first_slice, last_slice, [](const auto& table) {
    CountedVector<ValueKey> bits;
    bits.reserve(table.size());
    for (const ValueCount& value : table.entries()) bits.push_back(value.bits);
    std::sort(bits.begin(), bits.end());
    return bits;
  });
}

/// Device bytes, and what staging the tables costs.
std::uint64_t cost(const Tables& tables, std::span<const SliceGroups> groups, std::size_t value_size,
                   const TableLimits& limits) {
  const std::uint64_t staging =
      limits.fewest_bytes ? 0 : tables.values.size() * staging_bytes(tables.block_values, limits);
  return tables.bytes(groups, value_size) + staging;
}

}  // namespace

std::uint64_t Tables::bytes(std::span<const SliceGroups> groups, std::size_t value_size) const {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    const std::uint64_t first = t * slices;
    sum += values[t].size() * value_size + sizeof(Tile);
    for (std::uint64_t s = first; s < std::min<std::uint64_t>(groups.size(), first + slices); ++s)
      sum += groups[s].total() * lanes * group_steps * id_bytes(s);
  }
  return sum;
}

std::optional<Tables> plan_tables(const BlockRows& rows, const ValueTable& all, std::span<const SliceGroups> groups,
                                  const TableLimits& limits, int threads) {
  const CsrView& a = rows.matrix();
  const std::uint64_t slices = groups.size();
  const std::uint32_t block_values = rows.block() * rows.block();
  const std::uint64_t smallest = smallest_tile(rows.block());
  const std::size_t value_size = size_of(a.value_type());
  if (slices == 0 || a.nnz() == 0) return {};
  if (all.distinct() <= 256) {
    Tables one{slices, block_values, {}};
    one.values.push_back(distinct_values(rows, 0, slices));
    return one;
  }
  if (!limits.asked_for && !limits.fewest_bytes && a.nnz() < limits.least_entries) return {};
  Tables tables{smallest, block_values, {}};
  tables.values.resize(div_up(slices, smallest));
  // Where few tiles here and there have hardly any repeated value, the others are not looked at.
  constexpr std::uint64_t samples = 32;
  std::uint64_t distinct = 0, entries = 0, latest = tables.values.size(), of_latest = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t t = tables.values.size() * i / samples, first = t * smallest, last = first + smallest;
    if (t != latest)  // again and again the same, where there are few
      of_latest = count_values(rows, first, last, [](const auto& table) { return std::uint64_t{table.size()}; });
    latest = t;
    distinct += of_latest;
    entries += entries_before(rows, last) - entries_before(rows, first);
  }
  const auto hardly_any_repeated = [](std::uint64_t of_distinct, std::uint64_t of_all) {
    return of_distinct * 4 > of_all * 3;
  };
  const bool anywhere = !all.exceeds() && !hardly_any_repeated(all.distinct(), a.nnz());
  if (!limits.asked_for && !(limits.fewest_bytes && anywhere) && hardly_any_repeated(distinct, entries)) return {};
  std::atomic<bool> too_many{false};
  parallel_for(tables.values.size(), threads, [&](std::uint64_t t) {
    if (too_many) return;
    tables.values[t] = distinct_values(rows, t * smallest, (t + 1) * smallest);
    if (tables.values[t].size() > (limits.asked_for || limits.fewest_bytes ? max_table : limits.staged_values))
      too_many = true;
  });
  if (too_many) return {};
  Tables best = tables;
  const std::uint64_t least_tiles = limits.asked_for || limits.fewest_bytes ? 1 : limits.least_tiles;
  while ((limits.fewest_bytes || tables.slices < largest_tile) && tables.values.size() > 1 &&
         div_up(tables.values.size(), 2) >= least_tiles) {
    Tables wider{tables.slices * 2, block_values, {}};
    wider.values.resize(div_up(tables.values.size(), 2));
    parallel_for(wider.values.size(), threads, [&](std::uint64_t t) {
      const std::size_t i = 2 * t;
      if (i + 1 == tables.values.size()) {
        wider.values[t] = tables.values[i];
        return;
      }
      const auto &left = tables.values[i], &right = tables.values[i + 1];
      std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(wider.values[t]));
      if (wider.values[t].size() > (limits.fewest_bytes ? max_table : limits.staged_values)) too_many = true;
    });
    if (too_many) break;
    tables = std::move(wider);
    if (cost(tables, groups, value_size, limits) < cost(best, groups, value_size, limits)) best = tables;
  }
  return best;
}

}  // namespace spmvpack::encoder::layouts::csell_plans
