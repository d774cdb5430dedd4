#pragma once
// csell by several columns. A thread takes a few neighbouring rows of a slice for one column lane: a value, or an
// element of X that is also the next row's in the next step, is read once for all of them. The order of additions is
// that of one column.

#include <type_traits>

#include "kernels/columns.cuh"
#include "layouts/csell/kernels.hpp"
#include "layouts/csell/walks.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

// Mirrors have no kernel here: their values are a load behind another, for which the lanes of a single column,
// neighbours in the slice, share the lines of the cache. With column lanes in between, several columns are slower than
// as many single multiplies. docs/notebook/GPU.md, "Constants".

/// What a kernel of columns is compiled for. `patterns`: all groups are, so that the rows of a thread share elements of
/// X. `rows`: block rows of a thread; `together`: steps whose loads are on their way together; `blocks`: of threads,
/// that a multiprocessor holds; `pieces`: of a column lane.
template <Source value_source, int block_rows, bool patterns_only, int thread_rows, int steps_together,
          unsigned resident_blocks, unsigned lane_pieces>
struct ColumnsKernel {
  static constexpr Source source = value_source;
  static constexpr bool patterns = patterns_only;
  static constexpr int block = block_rows, rows = thread_rows, together = steps_together;
  static constexpr unsigned blocks = resident_blocks, pieces = lane_pieces;
};

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
template <class K, class A, class V>
struct ColumnValues {
  static constexpr Source source = K::source;
  static constexpr int block = K::block, rows = K::rows, block_values = block * block;

  const View<A>& v;
  const ColumnWalk& walk;
  const A* values;      ///< raw: of the next step; table: of the tile; step: of the slice's first pattern
  std::uint32_t first;  ///< the thread's first lane in the slice
  V single = 0;
  uint2 ids[rows][source != Source::table ? 1 : block_values];

  __device__ ColumnValues(const View<A>& of, const ColumnWalk& w, const Slice& slice, const A* table,
                          std::uint32_t lane)
      : v(of), walk(w), values(table), first(lane) {
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
    }
  }
  /// Of a row's entry in step k, the id of a value of its block.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t id(int i, int e, int k) const {
    const std::uint32_t pair = k < 2 ? ids[i][e].x : ids[i][e].y;
    return k % 2 == 0 ? pair & 0xFFFF : pair >> 16;
  }
  /// The values of step k of group g, which has the mask. Of rows that lack the step, anything.
  __device__ __forceinline__ void load(std::uint32_t g, int k, std::uint32_t mask, ReadOnce once,
                                       V (&value)[rows][block_values]) const {
    if constexpr (source == Source::raw) {
      const auto n = static_cast<std::uint32_t>(__popc(mask));
      auto rank = static_cast<std::uint32_t>(__popc(mask & ((1U << first) - 1)));
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        // Of a row without the step, another row's value: there is one.
#pragma unroll
        for (int e = 0; e < block_values; ++e) value[i][e] = static_cast<V>(once(values + (e * n + min(rank, n - 1))));
        rank += mask >> (first + i) & 1U;
      }
    } else if constexpr (source == Source::table) {
      // Of a row without the step, the value of id 0: there is one.
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int e = 0; e < block_values; ++e) value[i][e] = static_cast<V>(__ldg(values + id(i, e, k)));
    } else if constexpr (source == Source::step) {
#pragma unroll
      for (int e = 0; e < block_values; ++e) {
        value[0][e] = static_cast<V>(__ldg(values + ((g * group_steps + k) * block_values + e)));
#pragma unroll
        for (int i = 1; i < rows; ++i) value[i][e] = value[0][e];
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

inline constexpr unsigned column_threads = 256;

/// Threads of a slice's rows: for each of its rows or few of them, for each of the part's sums, a thread for each
/// column lane. A block has whole ones.
struct ColumnThreads {
  std::uint32_t lanes, sums;
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t each() const { return lanes * sums; }
};

/// The sums of a thread's rows over the groups part, part + sums, ... of a slice. Masks of all steps go to `seen`.
template <class K, class A, class V>
__device__ __forceinline__ void column_sums(const View<A>& v, const ColumnWalk& walk, ColumnValues<K, A, V>& values,
                                            const ColumnLane<V, K::pieces>& lane, std::uint32_t part,
                                            std::uint32_t slice_row, std::uint32_t first, ReadOnce once,
                                            Pack<V, K::pieces> (&sum)[K::rows][K::block], std::uint32_t& seen) {
  using P = Pack<V, K::pieces>;
  constexpr int block = K::block, rows = K::rows, together = K::together, steps = static_cast<int>(group_steps);
  const std::uint32_t row = slice_row + first;
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
    const bool is_pattern = K::patterns || g < walk.end_pattern;
    uint4 offset[rows] = {};
    if (!is_pattern) {
#pragma unroll
      for (int i = 0; i < rows; ++i) offset[i] = walk.offsets(g, first + i, once);
    }
    const auto column_of = [&](int i, int k) {
      const std::uint32_t own = k == 0 ? offset[i].x : k == 1 ? offset[i].y : k == 2 ? offset[i].z : offset[i].w;
      return group.base[k] + (is_pattern ? row + i : own);
    };
    values.begin(g, once);
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
        for (int i = 0; i < rows; ++i) column[i] = column_of(i, k);
        P(&x)[rows][block] = element[k - begin];
        const P(&x_before)[rows][block] = k == begin ? last : element[k == begin ? 0 : k - begin - 1];
        const bool follows = K::patterns && rows > 1 && last_full && group.base[k] == next_base;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
          const bool on = (mask >> (first + i) & 1U) != 0;
          if (i + 1 < rows && follows) {
#pragma unroll
            for (int c = 0; c < block; ++c) x[i][c] = x_before[i + 1 < rows ? i + 1 : i][c];
          } else {
#pragma unroll
            for (int c = 0; c < block; ++c) x[i][c] = lane.load(column[i] * block + c, on);
          }
        }
        if (mask != 0) values.load(g, k, mask, once, value[k - begin]);
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
      if constexpr (K::patterns) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
          for (int c = 0; c < block; ++c) last[i][c] = element[together - 1][i][c];
      }
    }
  }
}

template <class K, class A, class V>
__global__ void __launch_bounds__(column_threads, K::blocks)
    columns_kernel(View<A> v, ColumnOperands<V> o, ColumnThreads threads) {
  constexpr int block = K::block, rows = K::rows;
  constexpr Source source = K::source;
  using P = Pack<V, K::pieces>;
  extern __shared__ __align__(16) std::byte shared_bytes[];  // with several sums of a row: those of threads
  const std::uint32_t each = threads.each(), in_block = threadIdx.x / each, mine = threadIdx.x - in_block * each,
                      part = mine / o.lanes;
  const std::uint64_t item = std::uint64_t{blockIdx.x} * (blockDim.x / each) + in_block;
  const std::uint32_t slice_number = static_cast<std::uint32_t>(item / (lanes / rows)),
                      first = static_cast<std::uint32_t>(item % (lanes / rows)) * rows,
                      slice_row = slice_number * lanes;
  const bool exists = item < v.slice_count * (lanes / rows);
  const ColumnLane<V, K::pieces> lane(o, mine - part * o.lanes);
  const V alpha = o.alpha.get();
  P sum[rows][block] = {};
  std::uint32_t seen = 0;
  if (exists && alpha != V{0}) {
    const uint4 header = __ldg(reinterpret_cast<const uint4*>(v.slices) + slice_number);
    const Slice slice{header.x, header.y, header.z, header.w};
    std::uint32_t id_bytes = 0;
    const A* table = nullptr;
    if constexpr (source == Source::table) {
      const Tile tile = v.tiles[slice_number / v.tile_slices];
      id_bytes = tile.id_bytes();
      table = v.values + tile.begin;
    }
    const ColumnWalk walk(slice, v.patterns, v.stream, id_bytes);
    ColumnValues<K, A, V> values(v, walk, slice, table, first);
    column_sums<K>(v, walk, values, lane, part, slice_row, first, o.once, sum, seen);
  }
  if (v.sums > 1) {
    auto* const sums = reinterpret_cast<P*>(shared_bytes);
    auto* const masks = reinterpret_cast<std::uint32_t*>(sums + blockDim.x * rows * block);
#pragma unroll
    for (int i = 0; i < rows * block; ++i) sums[i * blockDim.x + threadIdx.x] = sum[i / block][i % block];
    masks[threadIdx.x] = seen;
    __syncthreads();
    if (part != 0) return;
    for (std::uint32_t other = 1; other < v.sums; ++other) {
      const std::uint32_t there = threadIdx.x + other * o.lanes;
#pragma unroll
      for (int i = 0; i < rows * block; ++i)
        sum[i / block][i % block] = sum[i / block][i % block] + sums[i * blockDim.x + there];
      seen |= masks[there];
    }
  }
  if (!exists) return;
  const V beta = o.beta.get();
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const std::uint32_t row = slice_row + first + i;
    if (row >= v.rows) break;
#pragma unroll
    for (int r = 0; r < block; ++r)
      lane.put(std::uint64_t{row} * block + r, sum[i][r], (seen >> (first + i) & 1U) != 0, alpha, beta);
  }
}

template <class K, class A, class V>
void launch_columns(const DevicePart& part, const MultiplyCall& call) {
  const ColumnOperands<V> operands(call, K::pieces);
  const View<A> v = view<A>(part.view);
  const ColumnThreads threads{operands.lanes, v.sums};
  const std::uint64_t items = v.slice_count * (lanes / K::rows);
  const unsigned at_once = column_threads / threads.each(), of_block = at_once * threads.each();
  cudaLaunchConfig_t config = launch_config(blocks_for(items, at_once), of_block, call.stream);
  if (v.sums > 1)
    config.dynamicSmemBytes = of_block * (K::rows * K::block * sizeof(Pack<V, K::pieces>) + sizeof(std::uint32_t));
  launch(config, columns_kernel<K, A, V>, v, operands, threads);
}

template <Source source>
void multiply_columns(const DevicePart& part, const MultiplyCall& call) {
  const PartInfo& info = part.view.info();
  dispatch_types(info.value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    dispatch_constant<1, 2, 3, 4>(static_cast<int>(info.params[param_block]), [&](auto block) {
      constexpr int b = block();
      constexpr bool raw = source == Source::raw, few = source == Source::step || source == Source::single;
      const bool patterns = info.params[param_patterns_only] != 0;
      // A lane of two pieces does half of the work beside its products; with one, there are more threads. Two pay from
      // 9 columns of f64 on. docs/notebook/GPU.md, "Constants".
      const bool two = call.columns.count > 4 * piece_columns<V>;
      if constexpr (b > 1) {
        constexpr unsigned blocks = b == 4 ? 2 : raw ? 4 : 3;
        launch_columns<ColumnsKernel<source, b, false, 1, 1, blocks, 1>, A, V>(part, call);
      } else if (two) {
        if (patterns) return launch_columns<ColumnsKernel<source, b, true, 2, 1, 3, 2>, A, V>(part, call);
        launch_columns<ColumnsKernel<source, b, false, 2, 1, 3, 2>, A, V>(part, call);
      } else if (!patterns) {
        launch_columns<ColumnsKernel<source, b, false, 2, 2, 4, 1>, A, V>(part, call);
      } else {
        // Four rows share more of X; with fewer columns, there would be few threads.
        if constexpr (few) {
          if (call.columns.count > 2 * piece_columns<V>)
            return launch_columns<ColumnsKernel<source, b, true, 4, 1, 4, 1>, A, V>(part, call);
        }
        launch_columns<ColumnsKernel<source, b, true, 2, raw ? 2 : 1, 4, 1>, A, V>(part, call);
      }
    });
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
