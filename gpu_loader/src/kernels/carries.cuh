#pragma once
// Rows that chunks of entries share are finished in order by a second kernel, from the sums that the chunks leave in
// the workspace. For coo, csr's `merge` and ccoo.

#include <cstdint>

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {

/// y = alpha A x + beta y, and the sums of rows that chunks share.
template <class V>
struct Target {
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
  static constexpr unsigned most = 4;  ///< chunks of a row that a lane adds up alone
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
__device__ V short_sum(const Target<V>& to, std::uint64_t c, const SharedRow& shared) {
  const unsigned chunks = shared.is_short() ? shared.chunks : 0;
  V part[SharedRow::most];
  part[0] = chunks != 0 ? to.last[c] : V{0};
#pragma unroll
  for (unsigned k = 1; k < SharedRow::most; ++k) part[k] = k < chunks ? to.first[c + k] : V{0};
  static_assert(SharedRow::most == 4);
  return V{0} + ((part[0] + part[1]) + (part[2] + part[3]));
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
    look(chunks, start);
  }
  /// Looks at the batch of chunks from `begin` on.
  __device__ void look(const Chunks& chunks, std::uint64_t begin) {
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const std::uint64_t i = begin + k * 32 + lane_id();
      belongs[k] = i == start || (i < chunks.count && chunks.first_row(i) == row);
    }
  }
  template <class V>
  __device__ void finish(const Chunks& chunks, const Target<V>& to) {
    const unsigned lane = lane_id();
    V total = 0;
    unsigned n = 32;
    for (std::uint64_t begin = start;;) {
      V sum[batch];
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const std::uint64_t i = begin + k * 32 + lane;
        sum[k] = !belongs[k] ? V{0} : i == start ? to.last[i] : to.first[i];
      }
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        if (n < 32) break;
        n = static_cast<unsigned>(__popc(__ballot_sync(full_warp, belongs[k])));
        if (n != 0) total = total + segment_sum(sum[k], lane, n);  // only lane 0's is used
      }
      if (n < 32) break;
      begin += std::uint64_t{32} * batch;
      look(chunks, begin);
    }
    if (lane == 0) to.put(row, total);
  }
};

/// The second kernel: adds up the sums that chunks left for the rows that they share, in chunk order: trees over 32
/// chunks each, in sequence. Each chunk has a lane; the whole warp works on long rows. If alpha is 0, all of y has
/// already been written. `Chunks::in_workspace`: the kernel before this one writes not only the sums, but also the data
/// of Chunks.
template <class V, class Chunks>
__global__ void __launch_bounds__(tuning::carry_threads)
    carry_kernel(Chunks chunks, V* first_sum, V* last_sum, DeviceScalar<V> alpha, DeviceScalar<V> beta, V* y,
                 RowMap map) {
  if constexpr (Chunks::in_workspace) wait_for_last_kernel();
  const Target<V> to{alpha.get(), beta.get(), y, map, first_sum, last_sum};
  const std::uint64_t c = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const SharedRow shared = shared_row(chunks, c);
  // The whole warp works on long rows, one after the other. The first one's chunks are known before the sums are.
  unsigned with_long = __ballot_sync(full_warp, shared.is_long());
  const auto first_long = [&] { return LongRow<Chunks>(chunks, c - lane_id(), with_long, shared.row); };
  if (with_long == 0) {
    if constexpr (!Chunks::in_workspace) wait_for_last_kernel();
    if (to.alpha != V{0} && shared.is_short()) to.put(shared.row, short_sum(to, c, shared));
    return;
  }
  LongRow<Chunks> row = first_long();
  if constexpr (!Chunks::in_workspace) wait_for_last_kernel();
  if (to.alpha == V{0}) return;
  for (;;) {
    row.finish(chunks, to);
    with_long &= with_long - 1;
    if (with_long == 0) break;
    row = first_long();
  }
  if (shared.is_short()) to.put(shared.row, short_sum(to, c, shared));
}

/// Launches the second kernel, if there is more than one chunk.
template <class V, class Chunks>
void add_carries(const Chunks& chunks, V* first_sum, V* last_sum, DeviceScalar<V> alpha, DeviceScalar<V> beta, V* y,
                 RowMap map, const MultiplyCall& call) {
  if (chunks.count <= 1) return;
  launch_early(call.device, carry_kernel<V, Chunks>, blocks_for(chunks.count, tuning::carry_threads),
               tuning::carry_threads, call.stream, chunks, first_sum, last_sum, alpha, beta, y, map);
}

}  // namespace spmvpack::gpu_loader
