#pragma once
// The sums of a slice of csell's rows, whatever instructions make them.

#include <algorithm>
#include <array>

#include "layouts/kernels.hpp"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::host_loader::layouts {

/// Sums of a slice's rows; of a block, by its rows.
template <std::uint32_t block, class V>
using Sums = std::array<std::array<V, spmvpack::layouts::csell::lanes>, block>;

/// The rows of a block whose sums are formed: where all entries have one value, those of its other rows are the same.
constexpr std::uint32_t rows_summed(spmvpack::layouts::csell::Source source, std::uint32_t block) {
  return source == spmvpack::layouts::csell::Source::single ? 1 : block;
}

/// What the values of slice s are counted from: raw: its first one; table: its tile's table; step: the first one of its
/// first step; else all of them.
template <spmvpack::layouts::csell::Source source, class A>
SPMVPACK_INLINE const A* values_of(const spmvpack::layouts::csell::View<A>& v, std::uint64_t s) {
  using namespace spmvpack::layouts::csell;
  if constexpr (source == Source::raw) return v.values + std::uint64_t{v.slices[s].values} * (unit / sizeof(A));
  if constexpr (source == Source::table) return v.values + v.tiles[s / v.tile_slices].begin;
  if constexpr (source == Source::step)
    return v.values + std::uint64_t{v.slices[s].first_group()} * group_steps * v.block * v.block;
  return v.values;
}

/// Completes the rows of slice s, or of its lanes [first, last): of each block there are `summed`. The sums of a row
/// are added from left to right.
template <std::uint32_t block, std::uint32_t summed, class A, class V>
SPMVPACK_INLINE void put_sums(const spmvpack::layouts::csell::View<A>& v, std::uint64_t s, std::uint32_t has_entries,
                              const std::array<Sums<summed, V>, spmvpack::layouts::csell::max_sums>& sums,
                              const Operands<V>& operands, std::uint64_t first = 0,
                              std::uint64_t last = spmvpack::layouts::csell::lanes) {
  constexpr std::uint64_t lanes = spmvpack::layouts::csell::lanes;
  last = std::min(last, v.rows - s * lanes);
  for (std::uint64_t lane = first; lane < last; ++lane)
    for (std::uint32_t r = 0; r < block; ++r) {
      const std::uint64_t local = (s * lanes + lane) * block + r;
      if ((has_entries >> lane & 1U) == 0) {
        operands.scale(local, local + 1);
        continue;
      }
      const std::uint32_t from = summed == 1 ? 0 : r;
      V sum = sums[0][from][lane];
      for (std::uint32_t i = 1; i < v.sums; ++i) sum = sum + sums[i][from][lane];
      operands.put(local, sum);
    }
}

}  // namespace spmvpack::host_loader::layouts
