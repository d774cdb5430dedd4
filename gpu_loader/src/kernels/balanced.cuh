#pragma once
// Kernels with equal shares of the entries: coo's, and csr's `merge`. The entries are split into chunks of 256, one per
// warp, regardless of rows; rows that chunks share are finished after that, in order. After listings 1.1 and 1.2 of
// Aliaga et al., Euro-Par 2020 Workshops, with K = 1 and without atomics. docs/LAYOUTS.md, "coo", defines the order.

#include <algorithm>
#include <type_traits>

#include "kernels/call.hpp"
#include "kernels/carries.cuh"
#include "kernels/chunks.hpp"
#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/vectors.hpp"

namespace spmvpack::gpu_loader::balanced {

inline constexpr int groups = chunk_entries / 32;
inline constexpr std::uint32_t no_row = ~0U;

/// The rows of the first and the last entry of each chunk. A chunk's first row goes on from the previous chunk if
/// last[c - 1] == first[c]; only then is its first sum valid, and likewise its last one. They are in the workspace if
/// the chunks' kernel finds them.
template <bool found>
struct ChunkEnds {
  static constexpr bool in_workspace = found;
  using Pointer = std::conditional_t<found, std::uint32_t*, const std::uint32_t*>;
  std::uint64_t count;
  Pointer first, last;
  __device__ std::uint32_t first_row(std::uint64_t c) const { return first[c]; }
  __device__ bool continues(std::uint64_t c) const { return c != 0 && last[c - 1] == first[c]; }
};

/// The rows of a chunk's entries, of which each lane has those 32 apart, and of the entries before and after it.
struct ChunkRows {
  std::uint32_t row[groups];    ///< past the end of the last chunk: the last entry's
  std::uint32_t before, after;  ///< no_row: there is none
};

/// The trees over the segments of all groups: v[g] of a segment's first lane becomes its sum. `heads` gets the lanes of
/// each group that start segments, none where a group has no entries. Those of a few groups do not wait for each other,
/// and steps are left out if none of them has a segment that long.
template <class V>
__device__ void segment_sums(const std::uint32_t (&row)[groups], V (&v)[groups], unsigned (&heads)[groups],
                             unsigned entries) {
  constexpr int together = 4;  // with more, registers do not suffice
  const unsigned lane = lane_id();
#pragma unroll
  for (int from = 0; from < groups; from += together) {
    unsigned end[together], runs[together];  // lanes that begin a run of `distance` lanes that have a right neighbour
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const int g = from + i;
      const unsigned first = static_cast<unsigned>(g) * 32;
      const unsigned lanes = entries <= first ? 0 : entries - first < 32 ? entries - first : 32;
      const std::uint32_t left = __shfl_up_sync(full_warp, row[g], 1);
      heads[g] = __ballot_sync(full_warp, lane < lanes && (lane == 0 || row[g] != left));
      end[i] = segment_end(heads[g], lane, lanes);
      runs[i] = lanes < 2 ? 0 : ~(heads[g] >> 1U) & (full_warp >> (33U - lanes));
    }
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      unsigned further = 0;
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const V right = __shfl_down_sync(full_warp, v[from + i], distance);
        if (lane + distance < end[i]) v[from + i] = v[from + i] + right;
        runs[i] &= runs[i] >> distance;
        further |= runs[i];
      }
      if (further == 0) break;
    }
  }
}

/// The trees over all groups, one after the other: the sum of a chunk in a single row, in all lanes. The trees take
/// their steps together: in the first one, lanes 2 i + 1 take those of every second group from lanes 2 i, and so on,
/// with a quarter of the shuffles.
template <class V>
__device__ V sum_of_chunk(const V (&v)[groups]) {
  static_assert(groups == 8);
  const unsigned lane = lane_id();
  const auto halve = [&](V even, V odd, unsigned distance) {
    const bool is_right = (lane & distance) != 0;
    return (is_right ? odd : even) + __shfl_xor_sync(full_warp, is_right ? even : odd, distance);
  };
  V pair[4], four[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) pair[i] = halve(v[2 * i], v[2 * i + 1], 1);
#pragma unroll
  for (int i = 0; i < 2; ++i) four[i] = halve(pair[2 * i], pair[2 * i + 1], 2);
  V sum = halve(four[0], four[1], 4);  // of group lane % 8
#pragma unroll
  for (unsigned distance = 8; distance < 32; distance *= 2) sum = sum + __shfl_xor_sync(full_warp, sum, distance);
  V total = __shfl_sync(full_warp, sum, 0);
#pragma unroll
  for (int g = 1; g < groups; ++g) total = total + __shfl_sync(full_warp, sum, g);
  return total;
}

/// The row that a chunk is at, and what has been added up of it.
template <class V>
struct OpenRow {
  std::uint64_t chunk;
  std::uint32_t first_row;  ///< of the chunk
  bool continues;           ///< the first row goes on from the previous chunk
  std::uint32_t row = first_row;
  V sum = 0;

  [[nodiscard]] __device__ bool is_continued() const { return continues && row == first_row; }
  __device__ void finish(const RowSums<V>& to) const {
    if (lane_id() != 0) return;
    if (is_continued())
      to.first[chunk] = sum;
    else
      to.put(row, sum);
  }
};

/// Adds the products of a chunk of several rows to their sums, group by group, and finishes all rows but the last.
template <class V>
__device__ void add_groups(const std::uint32_t (&row)[groups], V (&product)[groups], unsigned entries, OpenRow<V>& open,
                           const RowSums<V>& to) {
  const unsigned lane = lane_id();
  unsigned heads[groups];  // the lanes of each group that start a segment
  segment_sums(row, product, heads, entries);
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    if (heads[g] == 0) break;  // past the end of the last chunk; uniform across lanes
    const unsigned last_head = 31U - static_cast<unsigned>(__clz(static_cast<int>(heads[g])));
    const std::uint32_t left_row = __shfl_sync(full_warp, row[g], 0);
    const V left_sum = __shfl_sync(full_warp, product[g], 0);
    if (left_row == open.row) {
      open.sum = open.sum + left_sum;
    } else {
      open.finish(to);
      open.row = left_row;
      open.sum = left_sum;
    }
    if (last_head == 0) continue;
    open.finish(to);
    if (lane != 0 && lane != last_head && (heads[g] >> lane & 1U) != 0) to.put(row[g], product[g]);
    open.row = __shfl_sync(full_warp, row[g], static_cast<int>(last_head));
    open.sum = __shfl_sync(full_warp, product[g], static_cast<int>(last_head));
  }
}

/// A chunk by a warp. `beta` is that of rows without entries; the target's is that of sums.
template <class A, class V, class Rows>
__device__ void chunk(const Rows& rows, std::uint64_t c, const std::uint32_t* __restrict__ col_idx,
                      const A* __restrict__ values, std::uint64_t nnz, const V* __restrict__ x, std::uint32_t* staged,
                      V beta, const RowSums<V>& to) {
  const unsigned lane = lane_id();
  const std::uint64_t begin = c * chunk_entries;
  const std::uint64_t end = nnz - begin < chunk_entries ? nnz : begin + chunk_entries;

  // All loads of a kind come before those that depend on them.
  const auto place = rows.place(c, begin, end);
  std::uint32_t col[groups];
  A value[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const std::uint64_t k = begin + static_cast<unsigned>(g) * 32 + lane;
    const std::uint64_t at = k < end ? k : end - 1;  // the last entry instead of none: its product is not used
    col[g] = col_idx[at];
    value[g] = values[at];
  }
  issue_loads();
  auto pointers = rows.pointers(place);
  V element[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g) element[g] = x[col[g]];
  issue_loads();
  const ChunkRows of = rows.of_entries(place, pointers, begin, staged, to);
  V product[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g) product[g] = fma(static_cast<V>(value[g]), element[g], V{0});

  const std::uint32_t first_row = __shfl_sync(full_warp, of.row[0], 0);
  const std::uint32_t last_row = __shfl_sync(full_warp, of.row[groups - 1], 31);
  if constexpr (Rows::scales_first) {
    if (beta != V{1}) {  // the rows after the entry before, up to the last one: the chunk's own, and empty ones
      const std::uint64_t to_row = end == nnz ? rows.row_count : std::uint64_t{last_row} + 1;
      RowSums<V> gap = to;
      gap.beta = beta;
      for (std::uint64_t r = (begin == 0 ? 0 : std::uint64_t{of.before} + 1) + lane; r < to_row; r += 32) gap.scale(r);
      __syncwarp();  // before sums are added to them
    }
  }
  OpenRow<V> open{c, first_row, of.before == first_row};
  if (first_row == last_row && end - begin == chunk_entries)
    open.sum = sum_of_chunk(product);
  else
    add_groups(of.row, product, static_cast<unsigned>(end - begin), open, to);
  // A row that fills the chunk and is shared on both sides leaves its sum in `first`.
  if (of.after == open.row && !open.is_continued()) {
    if (lane == 0) to.last[c] = open.sum;
  } else {
    open.finish(to);
  }
  if constexpr (Rows::Ends::in_workspace) {
    if (lane == 0) {
      rows.ends.first[c] = first_row;
      rows.ends.last[c] = open.row;
    }
  }
}

/// One warp per chunk. `Rows` knows the rows of entries, `ends` those of the chunks. All lanes call what it loads with:
/// place(), then pointers(), which may depend on it, then of_entries(), which has a chunk's worth of shared memory if
/// Rows `stages`. Rows without entries are written along the way if `writes_gaps`: by of_entries(), or if Rows
/// `scales_first` with all rows of the chunk, before sums are added to them.
template <class A, class V, class Rows>
__global__ void __launch_bounds__(tuning::balanced_threads, tuning::balanced_blocks)
    chunk_kernel(Rows rows, const std::uint32_t* __restrict__ col_idx, const A* __restrict__ values, std::uint64_t nnz,
                 DeviceScalar<V> alpha, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y, RowMap map,
                 V* first_sum, V* last_sum) {
  constexpr unsigned staged_entries = Rows::stages ? tuning::balanced_threads / 32 * chunk_entries : 1;
  __shared__ std::uint32_t staged[staged_entries];
  const V beta = beta_in.get();
  // Rows that are beta y before sums are added to them are not scaled again; +0 need not be read for that.
  const V of_sums = !Rows::scales_first || beta == V{0} ? beta : V{1};
  const RowSums<V> to{alpha.get(), of_sums, y, map, first_sum, last_sum};
  if (to.alpha == V{0}) {  // x must not be read
    if (rows.writes_gaps && beta != V{1}) RowSums<V>{V{0}, beta, y, map, nullptr, nullptr}.scale_share(rows.row_count);
    return;
  }
  const unsigned warp = threadIdx.x / 32;
  const std::uint64_t c = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (c < rows.ends.count)
    chunk<A, V>(rows, c, col_idx, values, nnz, x, staged + (Rows::stages ? warp * chunk_entries : 0), beta, to);
}

/// y = alpha A x + beta y for a part, with two sums for each chunk.
template <class A, class V, class Rows>
void multiply(const Rows& rows, const std::uint32_t* col_idx, const A* values, std::uint64_t nnz, V* sums,
              const MultiplyCall& call) {
  const bool no_sums = nnz == 0 || is_known(call.alpha, 0);
  const bool scales = !no_sums && rows.writes_gaps;
  if (!scales)
    scale_vector(call.description.vectors, call.beta, call.columns.y, call.row_list, rows.row_count, call.stream);
  if (no_sums) return;
  const auto alpha = device_scalar<V>(call.alpha);
  const DeviceScalar<V> one{V{1}, nullptr}, beta = scales ? device_scalar<V>(call.beta) : one;
  const std::uint64_t chunks = rows.ends.count;
  auto* const y = static_cast<V*>(call.columns.y);
  const RowMap map{call.row_list};
  // Few chunks are spread over all multiprocessors.
  const auto threads = static_cast<unsigned>(
      std::min<std::uint64_t>(tuning::balanced_threads, 32 * div_up(chunks, call.device.multiprocessors)));
  launch(chunk_kernel<A, V, Rows>, blocks_for(chunks * 32, threads), threads, call.stream, rows, col_idx, values, nnz,
         alpha, static_cast<const V*>(call.columns.x), beta, y, map, sums, sums + chunks);
  add_carries<V>(rows.ends, sums, sums + chunks, alpha, Rows::scales_first ? one : beta, y, map, call);
}

}  // namespace spmvpack::gpu_loader::balanced
