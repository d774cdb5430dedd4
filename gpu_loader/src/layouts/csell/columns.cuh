#pragma once
// csell by several columns. A thread takes a few neighbouring rows of a slice for one column lane: a value, or an
// element of X that is also the next row's in the next step, is read once for all of them. The order of additions is
// that of one column.

#include <type_traits>

#include "kernels/columns.cuh"
#include "layouts/csell/kernels.hpp"
#include "layouts/csell/walks.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

/// Block rows of a thread, and steps whose loads are on their way together.
constexpr int rows_of_thread(int block) { return block == 1 ? 4 : block == 2 ? 2 : 1; }
constexpr int steps_together(int block) { return block == 1 ? 2 : 1; }

/// The groups of a slice, whichever: what all lanes have, and what a lane has of its own.
struct ColumnWalk : AnyWalk {
  using AnyWalk::AnyWalk;
  /// The offsets of a lane in the four steps of a group that is not a pattern.
  [[nodiscard]] __device__ __forceinline__ uint4 offsets(std::uint32_t g, std::uint32_t lane, ReadOnce once) const {
    if (g >= end_16) {
      const std::uint32_t place = words + word_units * (end_8 - end_pattern + 2 * (end_16 - end_8) + 4 * (g - end_16));
      return once(reinterpret_cast<const uint4*>(at(place)) + lane);
    }
    const std::uint32_t place = words + word_units * (g - end_pattern + (g - min(g, end_8)));
    const uint2 pairs = widened(load_words(at(place), g >= end_8, lane, once), g >= end_8);
    return {pairs.x & 0xFFFF, pairs.x >> 16, pairs.y & 0xFFFF, pairs.y >> 16};
  }
};

/// The masks and bases of a group.
struct GroupHeader {
  std::uint32_t base[group_steps], mask[group_steps];
  __device__ __forceinline__ explicit GroupHeader(const uint4* from) {
    const uint4 b = __ldg(from), m = __ldg(from + 1);
    base[0] = b.x, base[1] = b.y, base[2] = b.z, base[3] = b.w;
    mask[0] = m.x, mask[1] = m.y, mask[2] = m.z, mask[3] = m.w;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t entries() const {
    return static_cast<std::uint32_t>(__popc(mask[0]) + __popc(mask[1]) + __popc(mask[2]) + __popc(mask[3]));
  }
};

/// The values of a thread's rows in the steps of a slice, in turn.
template <Source source, int block, class A, class V>
struct ColumnValues {
  static constexpr int rows = rows_of_thread(block), block_values = block * block;
  static constexpr bool mirrors = source == Source::mirror;

  const View<A>& v;
  const ColumnWalk& walk;
  const A* values;          ///< raw: of the next step; table: of the tile; step: of the slice's first pattern
  std::uint32_t own_slots;  ///< mirrors: the unit at which the slice's own begin
  std::uint32_t first;      ///< the thread's first lane in the slice
  V single = 0;
  uint2 ids[rows][mirrors || source != Source::table ? 1 : block_values];  ///< or references

  __device__ ColumnValues(const View<A>& of, const ColumnWalk& w, const Slice& slice, const A* table,
                          std::uint32_t lane)
      : v(of), walk(w), values(table), own_slots(slice.values), first(lane) {
    if constexpr (source == Source::raw) values = v.values + std::uint64_t{slice.values} * (unit / sizeof(A));
    if constexpr (source == Source::step)
      values = v.values + std::uint64_t{slice.pattern} * (group_steps * block_values);
    if constexpr (source == Source::single) single = static_cast<V>(__ldg(v.values));
  }
  /// What is loaded for a group at once.
  __device__ __forceinline__ void begin(std::uint32_t g, ReadOnce once) {
    if constexpr (source == Source::table) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int e = 0; e < block_values; ++e)
          ids[i][e] = load_ids(walk.ids(), walk.id_bytes, g * block_values + e, first + i, once);
    } else if constexpr (mirrors) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
        ids[i][0] = walk.id_bytes == 0 ? __ldg(reinterpret_cast<const uint2*>(v.references) + (walk.pattern + g))
                                       : load_ids(walk.ids(), walk.id_bytes, g, first + i, once);
    }
  }
  /// Those of step k of group g, which has the mask. Of rows that lack the step, anything.
  __device__ __forceinline__ void load(std::uint32_t g, int k, std::uint32_t mask, const std::uint32_t (&column)[rows],
                                       std::uint32_t slice_first_row, ReadOnce once,
                                       V (&value)[rows][block_values]) const {
    const auto pick = [&](int i, int e) {
      const std::uint32_t pair = k < 2 ? ids[i][e].x : ids[i][e].y;
      return k % 2 == 0 ? pair & 0xFFFF : pair >> 16;
    };
    if constexpr (source == Source::raw) {
      const auto n = static_cast<std::uint32_t>(__popc(mask));
      auto rank = static_cast<std::uint32_t>(__popc(mask & ((1U << first) - 1)));
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        const bool on = (mask >> (first + i) & 1U) != 0;
#pragma unroll
        for (int e = 0; e < block_values; ++e) value[i][e] = on ? static_cast<V>(once(values + (e * n + rank))) : V{0};
        rank += on ? 1 : 0;
      }
    } else if constexpr (source == Source::table) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int e = 0; e < block_values; ++e) {
          const bool on = (mask >> (first + i) & 1U) != 0;
          value[i][e] = on ? static_cast<V>(__ldg(values + pick(i, e))) : V{0};
        }
    } else if constexpr (source == Source::step) {
#pragma unroll
      for (int e = 0; e < block_values; ++e) {
        value[0][e] = static_cast<V>(__ldg(values + ((g * group_steps + k) * block_values + e)));
#pragma unroll
        for (int i = 1; i < rows; ++i) value[i][e] = value[0][e];
      }
    } else if constexpr (mirrors) {
      const bool skew = v.source == Source::skew;
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        const bool on = (mask >> (first + i) & 1U) != 0;
        const Reference reference{pick(i, 0)};
        const bool mirror = reference.is_mirror();
        const std::uint32_t owner = mirror ? column[i] : slice_first_row + first + i;
        const std::uint32_t slots = on && mirror ? __ldg(&v.slices[owner / lanes].values) : own_slots;
        const A* const from = v.values + (std::uint64_t{slots} * (unit / sizeof(A)) +
                                          reference.slot() * (block_values * lanes) + owner % lanes);
#pragma unroll
        for (int e = 0; e < block_values; ++e) {
          const int r = e / block, c = e % block;
          const int element = mirror ? c * block + r : e;
          const V factor = on ? static_cast<V>(__ldcg(from + element * static_cast<int>(lanes))) : V{0};
          value[i][e] = mirror && skew ? -factor : factor;
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int e = 0; e < block_values; ++e) value[i][e] = single;
    }
  }
  /// On to what follows so many entries.
  __device__ __forceinline__ void pass(std::uint32_t entries) {
    if constexpr (source == Source::raw) values += entries * block_values;
  }
};

/// A thread's rows of X in a step, by element of the block.
template <int block, class V>
using StepOfX = Pack<V>[rows_of_thread(block)][block];

template <Source source, int block, class A, class V>
__global__ void __launch_bounds__(column_threads) columns_kernel(View<A> v, ColumnOperands<V> o) {
  constexpr int rows = rows_of_thread(block), together = steps_together(block), steps = static_cast<int>(group_steps);
  using P = Pack<V>;
  const std::uint64_t item = first_item(), of_lane = item / o.lanes;
  const std::uint32_t slice_number = static_cast<std::uint32_t>(of_lane / (lanes / rows)),
                      first = static_cast<std::uint32_t>(of_lane % (lanes / rows)) * rows;
  if (of_lane >= v.slice_count * (lanes / rows)) return;
  const ColumnLane<V> lane(o, static_cast<std::uint32_t>(item - of_lane * o.lanes));
  const V alpha = o.alpha.get();
  const std::uint32_t slice_row = slice_number * lanes, row = slice_row + first;
  P total[rows][block] = {};
  std::uint32_t seen = 0;
  if (alpha != V{0}) {
    const uint4 header = __ldg(reinterpret_cast<const uint4*>(v.slices) + slice_number);
    const Slice slice{header.x, header.y, header.z, header.w};
    std::uint32_t id_bytes = source == Source::mirror ? slice.reference_bytes() : 0;
    const A* table = nullptr;
    if constexpr (source == Source::table) {
      const Tile tile = v.tiles[slice_number / v.tile_slices];
      id_bytes = tile.id_bytes();
      table = v.values + tile.begin;
    }
    const ColumnWalk walk(slice, v.patterns, v.stream, id_bytes);
#pragma unroll 1
    for (std::uint32_t part = 0; part < v.sums; ++part) {
      ColumnValues<source, block, A, V> values(v, walk, slice, table, first);
      P sum[rows][block] = {};
      P last[rows][block];          // of X in the step before
      std::uint32_t next_base = 0;  // its base and one more
      bool last_full = false;       // whether all lanes had it
#pragma unroll 1
      for (std::uint32_t g = 0; g < walk.groups; ++g) {
        const GroupHeader group(walk.header(g));
        if (v.sums > 1 && g % v.sums != part) {
          values.pass(group.entries());
          last_full = false;
          continue;
        }
        const bool is_pattern = g < walk.end_pattern;
        uint4 offset[rows] = {};
        if (!is_pattern) {
#pragma unroll
          for (int i = 0; i < rows; ++i) offset[i] = walk.offsets(g, first + i, o.once);
        }
        values.begin(g, o.once);
#pragma unroll
        for (int begin = 0; begin < steps; begin += together) {
          if (group.mask[begin] == 0) break;
          P element[together][rows][block];
          V value[together][rows][block * block];
#pragma unroll
          for (int k = begin; k < begin + together; ++k) {
            const std::uint32_t mask = group.mask[k];
            std::uint32_t column[rows];
#pragma unroll
            for (int i = 0; i < rows; ++i) {
              const std::uint32_t own = k == 0   ? offset[i].x
                                        : k == 1 ? offset[i].y
                                        : k == 2 ? offset[i].z
                                                 : offset[i].w;
              column[i] = group.base[k] + (is_pattern ? row + i : own);
            }
            P(&x)[rows][block] = element[k - begin];
            const P(&x_before)[rows][block] = k == begin ? last : element[k == begin ? 0 : k - begin - 1];
            const bool follows = rows > 1 && is_pattern && last_full && group.base[k] == next_base;
#pragma unroll
            for (int i = 0; i < rows; ++i) {
              const bool on = (mask >> (first + i) & 1U) != 0;
              if (i + 1 < rows && follows) {
#pragma unroll
                for (int c = 0; c < block; ++c) x[i][c] = x_before[i + 1 < rows ? i + 1 : i][c];
              } else {
#pragma unroll
                for (int c = 0; c < block; ++c) x[i][c] = on ? lane.load(column[i] * block + c) : P{};
              }
            }
            values.load(g, k, mask, column, slice_row, o.once, value[k - begin]);
            values.pass(static_cast<std::uint32_t>(__popc(mask)));
            next_base = group.base[k] + 1;
            last_full = mask == ~0U;
            seen |= mask;
          }
          issue_loads();
#pragma unroll
          for (int k = begin; k < begin + together; ++k) {
#pragma unroll
            for (int i = 0; i < rows; ++i) {
              if ((group.mask[k] >> (first + i) & 1U) == 0) continue;
#pragma unroll
              for (int e = 0; e < block * block; ++e)
                sum[i][e / block].add_product(value[k - begin][i][e], element[k - begin][i][e % block]);
            }
          }
#pragma unroll
          for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int c = 0; c < block; ++c) last[i][c] = element[together - 1][i][c];
        }
      }
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int r = 0; r < block; ++r) total[i][r] = part == 0 ? sum[i][r] : total[i][r] + sum[i][r];
    }
  }
  const V beta = o.beta.get();
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    if (row + i >= v.rows) break;
#pragma unroll
    for (int r = 0; r < block; ++r)
      lane.put(std::uint64_t{row + i} * block + r, total[i][r], (seen >> (first + i) & 1U) != 0, alpha, beta);
  }
}

template <Source source>
void multiply_columns(const DevicePart& part, const MultiplyCall& call) {
  dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    dispatch_constant<1, 2, 3, 4>(static_cast<int>(part.view.info().params[param_block]), [&](auto block) {
      const ColumnOperands<V> operands(call);
      launch(columns_kernel<source, block(), A, V>,
             column_blocks(operands, slices_of(part.view.info()) * (lanes / rows_of_thread(block()))), column_threads,
             call.stream, view<A>(part.view), operands);
    });
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
