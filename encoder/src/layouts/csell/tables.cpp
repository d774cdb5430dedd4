#include "layouts/csell/tables.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

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
    for (const ValueCount& value : table.entries()) bits.push_back(static_cast<ValueKey>(value.bits));
    std::sort(bits.begin(), bits.end());
    return bits;
  });
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
  if (all.distinct() <= max_one_table) {
    Tables one{slices, block_values, {}};
    one.values.push_back(distinct_values(rows, 0, slices));
    return one;
  }
  if (!worth_sampling_tables(a.nnz(), limits)) return {};
  Tables tables{smallest, block_values, {}};
  tables.values.resize(div_up(slices, smallest));
  constexpr std::uint64_t samples = 32;
  RepetitionFacts sample;
  std::uint64_t latest = tables.values.size(), of_latest = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t t = tables.values.size() * i / samples, first = t * smallest, last = first + smallest;
    if (t != latest)  // again and again the same, where there are few
      of_latest = count_values(rows, first, last, [](const auto& table) { return std::uint64_t{table.size()}; });
    latest = t;
    sample.distinct += of_latest;
    sample.entries += entries_before(rows, last) - entries_before(rows, first);
  }
  if (!worth_tables(sample, {all.distinct(), a.nnz()}, limits)) return {};
  std::atomic<bool> too_many{false};
  parallel_for(tables.values.size(), threads, [&](std::uint64_t t) {
    if (too_many) return;
    tables.values[t] = distinct_values(rows, t * smallest, (t + 1) * smallest);
    if (tables.values[t].size() > most_values_of_smallest(limits)) too_many = true;
  });
  if (too_many) return {};
  const auto cost = [&](const Tables& of) {
    return table_cost(of.bytes(groups, value_size), of.values.size(), limits);
  };
  Tables best = tables;
  while (may_widen(tables.values.size(), tables.slices, limits)) {
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
      if (wider.values[t].size() > most_values(limits)) too_many = true;
    });
    if (too_many) break;
    tables = std::move(wider);
    if (cost(tables) < cost(best)) best = tables;
  }
  return best;
}

}  // namespace spmvpack::encoder::layouts::csell_plans
