#pragma once
// Rows that chunks of entries share are finished in order by a second kernel, from the sums that the chunks leave in
// the workspace. For coo, csr's `merge` and ccoo.

#include <cstdint>

#include "kernels/call.hpp"
#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "spmvpack/launch_rules/csr.hpp"

namespace spmvpack::gpu_loader {

/// y = alpha A x + beta y, and the sums of rows that chunks share.
template <class V>
struct RowSums {
  V alpha, beta;
  V* y;
  RowMap map;
  V *first, *last;  ///< by chunk: the sum of its first row, if that continues; of its last row, if that goes on

  __device__ void put(std::uint32_t row, V sum) const {
    V* const at = y + map(row);
    *at = fma(alpha, sum, scaled(beta, at));
  }
  /// Writes a row without entries.
  template <class Row>
  __device__ void scale(Row row) const {
    V* const at = y + map(row);
    *at = scaled(beta, at);
  }
  /// Writes this thread's share of the rows, as if all were without entries.
  __device__ void scale_share(std::uint64_t rows) const {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < rows; r += stride) scale(r);
  }
};

/// A row that starts in one chunk and goes on in others.
struct SharedRow {
  static constexpr unsigned most = 8;  ///< chunks of a row that a lane adds up alone
  std::uint32_t row = 0;
  unsigned chunks = 0;  ///< 0: there is none; most + 1: any number above `most`
  [[nodiscard]] __device__ bool is_short() const { return chunks != 0 && chunks <= most; }
  [[nodiscard]] __device__ bool is_long() const { return chunks > most; }
};

/// The row that starts in chunk c and goes on, if there is one.
///
/// `Chunks` has the number of chunks (`count`), the `first_row(c)` of each, and whether chunk c `continues(c)` the last
/// row of the one before it. Row indices never decrease: a later chunk that begins in the row continues it.
template <class Chunks>
__device__ SharedRow shared_row(const Chunks& chunks, std::uint64_t c) {
  // No load depends on another one.
  const auto place = [&](std::uint64_t i) { return i < chunks.count ? i : chunks.count - 1; };
  std::uint32_t first[SharedRow::most + 1];
#pragma unroll
  for (unsigned k = 0; k <= SharedRow::most; ++k) first[k] = chunks.first_row(place(c + k));
  const bool continues = chunks.continues(place(c)), goes_on = chunks.continues(place(c + 1));
  SharedRow shared{first[1]};
  if (c + 1 >= chunks.count || !goes_on || (continues && first[0] == first[1])) return shared;
  shared.chunks = 2;
#pragma unroll
  for (unsigned k = 2; k <= SharedRow::most; ++k)
    if (c + k < chunks.count && first[k] == first[1]) shared.chunks = k + 1;
  return shared;
}

/// The sum of a short row that starts in chunk c. Loads depend on no branch, so that those of several chunks are in
/// flight together; the zeros of chunks that the row does not reach change no bit.
template <class V>
__device__ V short_sum(const RowSums<V>& to, std::uint64_t c, const SharedRow& shared) {
  const unsigned chunks = shared.is_short() ? shared.chunks : 0;
  V part[SharedRow::most];
  part[0] = chunks != 0 ? to.last[c] : V{0};
#pragma unroll
  for (unsigned k = 1; k < SharedRow::most; ++k) part[k] = k < chunks ? to.first[c + k] : V{0};
#pragma unroll
  for (unsigned distance = 1; distance < SharedRow::most; distance *= 2)  // the tree of a warp
#pragma unroll
    for (unsigned k = 0; k < SharedRow::most; k += 2 * distance) part[k] = part[k] + part[k + distance];
  return V{0} + part[0];
}

/// A long row and which of the chunks from its first one on it has: each lane knows of some.
template <class Chunks>
struct LongRow {
  static constexpr unsigned batch = 4;  ///< of 32 chunks, whose loads are in flight together
  std::uint64_t start;
  std::uint32_t row;
  bool belongs[batch];
  /// The one that starts in the chunk of the first lane of `lanes`, which are not none; `row` of each lane is that of
  /// its chunk, c is the chunk of lane 0.
  __device__ LongRow(const Chunks& chunks, std::uint64_t c, unsigned lanes, std::uint32_t row_of_lane) {
    const int lane = __ffs(static_cast<int>(lanes)) - 1;
    start = c + static_cast<unsigned>(lane);
    row = __shfl_sync(full_warp, row_of_lane, lane);
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const std::uint64_t i = start + k * 32 + lane_id();
      belongs[k] = i == start || (i < chunks.count && chunks.first_row(i) == row);
    }
  }
  /// Adds up the first batch. Writes y if the row ends in it, and returns the sum so far otherwise: true.
  template <class To, class V>
  __device__ bool goes_on(const To& to, V& total) const {
    const unsigned lane = lane_id();
    V sum[batch];
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const std::uint64_t i = start + k * 32 + lane;
      sum[k] = !belongs[k] ? V{0} : i == start ? to.last[i] : to.first[i];
    }
    unsigned n = 32;
    total = 0;
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      if (n < 32) break;
      n = static_cast<unsigned>(__popc(__ballot_sync(full_warp, belongs[k])));
      if (n != 0) total = total + segment_sum(sum[k], lane, n);  // only lane 0's is used
    }
    if (n == 32) return true;
    if (lane == 0) to.put(row, total);
    return false;
  }
};

/// What follows of the rows that go on after the first batches of a block's warps. One such row has so many chunks that
/// each warp begins one at most. All warps of the block work on it: a row of the whole matrix is not one warp's.
template <class V>
struct FurtherChunks {
  static constexpr unsigned warps = tuning::carry_threads / 32, batch = 8, round = warps * batch;
  static_assert(round * 32 == launch_rules::csr::chunks_at_once);
  std::uint64_t begin[warps];  ///< by the warp that the row starts in: the next chunk; 0: it has no such row
  std::uint32_t row[warps];
  V total[warps];
  V sum[round];  ///< of 32 chunks each, in order
  unsigned chunks[round];

  template <class Chunks, class To>
  __device__ void finish(const Chunks& all, const To& to, unsigned of) {
    const unsigned lane = lane_id(), warp = threadIdx.x / 32;
    V so_far = total[of];
    for (std::uint64_t at = begin[of];; at += std::uint64_t{round} * 32) {
      V mine[batch];
      bool belongs[batch];
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {  // sums do not wait for rows
        const std::uint64_t i = at + (warp * batch + k) * 32 + lane;
        belongs[k] = i < all.count && all.first_row(i) == row[of];
        mine[k] = i < all.count ? to.first[i] : V{0};
      }
      __syncthreads();  // the round before has been read
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const auto n = static_cast<unsigned>(__popc(__ballot_sync(full_warp, belongs[k])));
        const V tree = segment_sum(mine[k], lane, n);
        if (lane != 0) continue;
        sum[warp * batch + k] = tree;
        chunks[warp * batch + k] = n;
      }
      __syncthreads();
      unsigned n = 32;
      for (unsigned k = 0; k < round && n == 32; ++k) {
        n = chunks[k];
        if (n != 0) so_far = so_far + sum[k];
      }
      if (n == 32) continue;
      if (threadIdx.x == 0) to.put(row[of], so_far);
      return;
    }
  }
};

/// RowSums of one of several columns, whose elements of Y are `stride` apart.
template <class V>
struct ColumnSums : RowSums<V> {
  std::int64_t stride;
  __device__ void put(std::uint32_t row, V sum) const {
    V* const at = this->y + static_cast<std::int64_t>(this->map(row)) * stride;
    *at = fma(this->alpha, sum, scaled(this->beta, at));
  }
};

/// The second kernel: adds up the sums that chunks left for the rows that they share, in chunk order: trees over 32
/// chunks each, in sequence. Each chunk has a lane; the whole warp works on long rows, and the whole block on what is
/// left of longer ones. If alpha is 0, all of y has already been written. `Chunks::in_workspace`: the kernel before
/// this one writes not only the sums, but also the data of Chunks.
template <class V, class Chunks, class To>
__device__ __forceinline__ void add_carries(const Chunks& chunks, const To& to, FurtherChunks<V>& further) {
  const std::uint64_t c = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const SharedRow shared = shared_row(chunks, c);
  // The first long row's chunks are known before the sums are.
  unsigned with_long = __ballot_sync(full_warp, shared.is_long());
  const auto first_long = [&] { return LongRow<Chunks>(chunks, c - lane_id(), with_long, shared.row); };
  bool goes_on = false;
  if (with_long == 0) {
    if constexpr (!Chunks::in_workspace) wait_for_last_kernel();
  } else {
    LongRow<Chunks> row = first_long();
    if constexpr (!Chunks::in_workspace) wait_for_last_kernel();
    while (to.alpha != V{0}) {
      V total = 0;
      if (row.goes_on(to, total)) {
        goes_on = true;
        if (lane_id() == 0) {
          const unsigned warp = threadIdx.x / 32;
          further.begin[warp] = row.start + std::uint64_t{LongRow<Chunks>::batch} * 32;
          further.row[warp] = row.row;
          further.total[warp] = total;
        }
      }
      with_long &= with_long - 1;
      if (with_long == 0) break;
      row = first_long();
    }
  }
  if (to.alpha != V{0} && shared.is_short()) to.put(shared.row, short_sum(to, c, shared));
  const unsigned warp = threadIdx.x / 32;
  if (!goes_on && lane_id() == 0) further.begin[warp] = 0;
  if (__syncthreads_or(static_cast<int>(goes_on)) == 0) return;
  for (unsigned of = 0; of < FurtherChunks<V>::warps; ++of)
    if (further.begin[of] != 0) further.finish(chunks, to, of);
}

template <class V, class Chunks>
__global__ void __launch_bounds__(tuning::carry_threads)
    carry_kernel(Chunks chunks, V* first_sum, V* last_sum, DeviceScalar<V> alpha, DeviceScalar<V> beta, V* y,
                 RowMap map) {
  __shared__ FurtherChunks<V> further;
  if constexpr (Chunks::in_workspace) wait_for_last_kernel();
  add_carries<V>(chunks, RowSums<V>{alpha.get(), beta.get(), y, map, first_sum, last_sum}, further);
}

/// The same by columns, a row of blocks for each. `sums`: of each column, the first ones and then the last ones.
template <class V, class Chunks>
__global__ void __launch_bounds__(tuning::carry_threads)
    carry_columns_kernel(Chunks chunks, V* sums, DeviceScalar<V> alpha, DeviceScalar<V> beta, V* y,
                         std::int64_t row_stride, std::int64_t col_stride, RowMap map) {
  __shared__ FurtherChunks<V> further;
  if constexpr (Chunks::in_workspace) wait_for_last_kernel();
  V* const first = sums + blockIdx.y * 2 * chunks.count;
  V* const column = y + static_cast<std::int64_t>(blockIdx.y) * col_stride;
  add_carries<V>(chunks, ColumnSums<V>{{alpha.get(), beta.get(), column, map, first, first + chunks.count}, row_stride},
                 further);
}

/// Launches the second kernel, if there is more than one chunk.
template <class V, class Chunks>
void add_carries(const Chunks& chunks, V* first_sum, V* last_sum, DeviceScalar<V> alpha, DeviceScalar<V> beta, V* y,
                 RowMap map, const MultiplyCall& call) {
  if (chunks.count <= 1) return;
  launch_early(call.device, carry_kernel<V, Chunks>, blocks_for(chunks.count, tuning::carry_threads),
               tuning::carry_threads, call.stream, chunks, first_sum, last_sum, alpha, beta, y, map);
}

/// The same of several columns.
template <class V, class Chunks>
void add_column_carries(const Chunks& chunks, V* sums, DeviceScalar<V> alpha, DeviceScalar<V> beta,
                        const MultiplyCall& call) {
  if (chunks.count <= 1) return;
  cudaLaunchConfig_t config =
      launch_config(blocks_for(chunks.count, tuning::carry_threads), tuning::carry_threads, call.stream);
  config.gridDim.y = static_cast<unsigned>(call.columns.count);
  launch_early(call.device, config, carry_columns_kernel<V, Chunks>, chunks, sums, alpha, beta,
               static_cast<V*>(call.columns.y), call.columns.y_row_stride, call.columns.y_col_stride,
               RowMap{call.row_list});
}

}  // namespace spmvpack::gpu_loader
