#pragma once
// Kernels with equal shares of the entries: coo's, and csr's `merge`. The entries are split into chunks of 256, one per
// warp, regardless of rows; rows that chunks share are finished after that, in order. After listings 1.1 and 1.2 of
// Aliaga et al., Euro-Par 2020 Workshops, with K = 1 and without atomics. docs/LAYOUTS.md, "coo", defines the order.

#include <algorithm>

#include "kernels/carries.cuh"
#include "kernels/chunks.hpp"
#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/vectors.hpp"
#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader::balanced {

inline constexpr int groups = chunk_entries / 32;
inline constexpr std::uint32_t no_row = ~0U;

/// The rows at the ends of the chunks, in the workspace. A chunk's first row goes on from the previous chunk if
/// last[c - 1] == first[c]; only then is its first sum valid, and likewise its last one.
struct SharedRows {
  static constexpr bool in_workspace = true;
  std::uint64_t count;
  std::uint32_t *first, *last;
  __device__ std::uint32_t first_row(std::uint64_t c) const { return first[c]; }
  __device__ bool continues(std::uint64_t c) const { return c != 0 && last[c - 1] == first[c]; }
};

/// The rows of a chunk's entries, of which each lane has those 32 apart, and of the entries before and after it.
struct ChunkRows {
  std::uint32_t row[groups];    ///< past the end of the last chunk: the last entry's
  std::uint32_t before, after;  ///< no_row: there is none; or, unless the part `has_gaps`, any other than the chunk's
};

/// A chunk by a warp. `beta` is that of rows without entries; the target's is that of sums.
template <class A, class V, class Rows>
__device__ void chunk(const Rows& rows, std::uint64_t c, const std::uint32_t* __restrict__ col_idx,
                      const A* __restrict__ values, std::uint64_t nnz, const V* __restrict__ x, std::uint32_t* staged,
                      const SharedRows& shared, V beta, const Target<V>& to) {
  const unsigned lane = lane_id();
  const std::uint64_t begin = c * chunk_entries;
  const std::uint64_t end = nnz - begin < chunk_entries ? nnz : begin + chunk_entries;

  // All loads of a kind come before those that depend on them.
  const ChunkRows of = rows.load(begin, end, staged);
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
  V product[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g) product[g] = fma(static_cast<V>(value[g]), x[col[g]], V{0});

  const std::uint32_t first_row = __shfl_sync(full_warp, of.row[0], 0);
  if constexpr (Rows::has_gaps) {
    if (beta != V{1}) {  // the rows after the entry before, up to the last one: the chunk's own, and empty ones
      const std::uint64_t last_row = __shfl_sync(full_warp, of.row[groups - 1], 31);
      const std::uint64_t to_row = end == nnz ? rows.row_count : last_row + 1;
      Target<V> gap = to;
      gap.beta = beta;
      for (std::uint64_t r = (begin == 0 ? 0 : std::uint64_t{of.before} + 1) + lane; r < to_row; r += 32) gap.scale(r);
      __syncwarp();  // before sums are added to them
    }
  }
  const bool continues = of.before == first_row;
  std::uint32_t open_row = first_row;
  V open_sum = 0;
  const auto finish_open = [&] {
    if (lane != 0) return;
    if (continues && open_row == first_row)
      to.first[c] = open_sum;
    else
      to.put(open_row, open_sum);
  };
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const std::uint64_t first = begin + static_cast<unsigned>(g) * 32;
    if (first >= end) break;  // uniform across lanes
    const unsigned lanes = end - first < 32 ? static_cast<unsigned>(end - first) : 32;
    const std::uint32_t left = __shfl_up_sync(full_warp, of.row[g], 1);
    const unsigned heads = __ballot_sync(full_warp, lane < lanes && (lane == 0 || of.row[g] != left));
    const V sum = segment_sum(product[g], lane, segment_end(heads, lane, lanes));
    const unsigned last_head = 31U - static_cast<unsigned>(__clz(static_cast<int>(heads)));
    const std::uint32_t left_row = __shfl_sync(full_warp, of.row[g], 0);
    const V left_sum = __shfl_sync(full_warp, sum, 0);
    if (left_row == open_row) {
      open_sum = open_sum + left_sum;
    } else {
      finish_open();
      open_row = left_row;
      open_sum = left_sum;
    }
    if (last_head == 0) continue;
    finish_open();
    if (lane != 0 && lane != last_head && (heads >> lane & 1U) != 0) to.put(of.row[g], sum);
    open_row = __shfl_sync(full_warp, of.row[g], static_cast<int>(last_head));
    open_sum = __shfl_sync(full_warp, sum, static_cast<int>(last_head));
  }
  // A row that fills the chunk and is shared on both sides leaves its sum in `first`.
  if (of.after == open_row && !(continues && open_row == first_row)) {
    if (lane == 0) to.last[c] = open_sum;
  } else {
    finish_open();
  }
  if (lane == 0) {
    shared.first[c] = first_row;
    shared.last[c] = open_row;
  }
}

/// One warp per chunk. `Rows` knows the rows of entries: load() returns those of a chunk, with a chunk's worth of
/// shared memory if it `stages`; all lanes call it. If it `has_gaps`, rows without entries are written, too.
template <class A, class V, class Rows>
__global__ void __launch_bounds__(tuning::balanced_threads, tuning::balanced_blocks)
    chunk_kernel(Rows rows, const std::uint32_t* __restrict__ col_idx, const A* __restrict__ values, std::uint64_t nnz,
                 DeviceScalar<V> alpha, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y, RowMap map,
                 V* first_sum, V* last_sum, SharedRows shared) {
  constexpr unsigned staged_entries = Rows::stages ? tuning::balanced_threads / 32 * chunk_entries : 1;
  __shared__ std::uint32_t staged[staged_entries];
  const V beta = beta_in.get();
  // Rows have been made beta y before sums are added to them; +0 need not be read for that.
  const Target<V> to{alpha.get(), Rows::has_gaps && beta == V{0} ? V{0} : V{1}, y, map, first_sum, last_sum};
  if (to.alpha == V{0}) {  // x must not be read
    if constexpr (Rows::has_gaps)
      if (beta != V{1}) Target<V>{V{0}, beta, y, map, nullptr, nullptr}.scale_share(rows.row_count);
    return;
  }
  const unsigned warp = threadIdx.x / 32;
  const std::uint64_t c = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (c < shared.count)
    chunk<A, V>(rows, c, col_idx, values, nnz, x, staged + (Rows::stages ? warp * chunk_entries : 0), shared, beta, to);
}

/// y = alpha A x + beta y for a part; `rows` knows the rows of entries.
template <class A, class V, class Rows>
void multiply(const Rows& rows, const std::uint32_t* col_idx, const A* values, std::uint64_t nnz,
              std::uint64_t row_count, const MultiplyCall& call) {
  const bool no_sums = nnz == 0 || is_known(call.alpha, 0);
  const bool scales = Rows::has_gaps && row_count <= std::max(tuning::gap_rows, 2 * nnz);
  if (no_sums || !scales)
    scale_vector(call.description.vectors, call.beta, call.y, call.row_list, row_count, call.stream);
  if (no_sums) return;
  const auto alpha = device_scalar<V>(call.alpha);
  const DeviceScalar<V> one{V{1}, nullptr};
  const std::uint64_t chunks = chunk_count(nnz);
  auto* const sums = reinterpret_cast<V*>(call.workspace);
  auto* const ends = reinterpret_cast<std::uint32_t*>(sums + 2 * chunks);
  const SharedRows shared{chunks, ends, ends + chunks};
  auto* const y = static_cast<V*>(call.y);
  const RowMap map{call.row_list};
  // Few chunks are spread over all multiprocessors.
  const auto threads = static_cast<unsigned>(
      std::min<std::uint64_t>(tuning::balanced_threads, 32 * div_up(chunks, call.device.multiprocessors)));
  launch(chunk_kernel<A, V, Rows>, blocks_for(chunks * 32, threads), threads, call.stream, rows, col_idx, values, nnz,
         alpha, static_cast<const V*>(call.x), scales ? device_scalar<V>(call.beta) : one, y, map, sums, sums + chunks,
         shared);
  add_carries<V>(shared, sums, sums + chunks, alpha, one, y, map, call);
}

}  // namespace spmvpack::gpu_loader::balanced
