#pragma once
// The second pass over chunks of entries finishes the rows that chunks share, in order. For coo, csr's `merge` and
// ccoo.

#include <cstdint>

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {

/// Adds up the sums that chunks left for the rows that they share, in chunk order: trees over 32 chunks each, in
/// sequence. Each chunk has a lane; the whole warp works on rows of more than four chunks.
///
/// `Chunks` has the number of chunks (`count`), the `first_row(c)` of each, and whether chunk c `continues(c)` the last
/// row of the one before it. `first_sum[c]` is chunk c's part of its first row, if that continues; `last_sum[c]` that
/// of its last row, if that starts in chunk c and goes on. If alpha is 0, all of y has already been written.
/// `in_workspace`: the kernel before this one writes not only the sums, but also the data of Chunks.
template <class V, class Chunks>
__global__ void __launch_bounds__(tuning::carry_threads)
    carry_kernel(Chunks chunks, const V* first_sum, const V* last_sum, DeviceScalar<V> alpha_in,
                 DeviceScalar<V> beta_in, V* y, RowMap map) {
  if constexpr (Chunks::in_workspace) wait_for_last_kernel();
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const auto put = [&](std::uint32_t row, V sum) {
    V* const at = y + map(row);
    *at = fma(alpha, sum, scaled(beta, at));
  };
  const unsigned lane = lane_id();
  const std::uint64_t c = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  bool starts = false;
  std::uint32_t row = 0;
  if (c + 1 < chunks.count && chunks.continues(c + 1)) {
    row = chunks.first_row(c + 1);
    starts = !(chunks.first_row(c) == row && chunks.continues(c));
  }
  // Row indices never decrease: a later chunk that begins in the row continues it.
  const auto is_in_row = [&](std::uint64_t i, std::uint32_t of) {
    return i < chunks.count && chunks.first_row(i) == of;
  };
  constexpr unsigned most = 4;  // chunks of a row that a lane adds up alone
  unsigned count = 2;
#pragma unroll
  for (unsigned k = 2; k <= most; ++k)
    if (starts && is_in_row(c + k, row)) count = k + 1;
  const bool is_long = starts && count > most;
  if constexpr (!Chunks::in_workspace) wait_for_last_kernel();
  if (alpha == V{0}) return;
  if (starts && !is_long) {
    V sum = last_sum[c] + first_sum[c + 1];
    if (count == 3) sum = sum + first_sum[c + 2];
    if (count == 4) sum = sum + (first_sum[c + 2] + first_sum[c + 3]);
    put(row, V{0} + sum);
  }
  for (unsigned left = __ballot_sync(full_warp, is_long); left != 0; left &= left - 1) {
    const std::uint64_t start = c - lane + static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
    const std::uint32_t its_row = chunks.first_row(start + 1);
    constexpr unsigned batch = 4;  // of 32 chunks, whose loads are in flight together
    V total = 0;
    unsigned n = 32;
    for (std::uint64_t begin = start + lane; n == 32; begin += std::uint64_t{32} * batch) {
      bool belongs[batch];
      V sum[batch];
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) belongs[k] = begin + k * 32 == start || is_in_row(begin + k * 32, its_row);
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const std::uint64_t i = begin + k * 32;
        sum[k] = !belongs[k] ? V{0} : i == start ? last_sum[i] : first_sum[i];
      }
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        if (n < 32) break;
        n = static_cast<unsigned>(__popc(__ballot_sync(full_warp, belongs[k])));
        if (n != 0) total = total + segment_sum(sum[k], lane, n);  // only lane 0's is used
      }
    }
    if (lane == 0) put(its_row, total);
  }
}

/// Launches this kernel.
template <class V, class Chunks>
void add_carries(const Chunks& chunks, const V* first_sum, const V* last_sum, DeviceScalar<V> alpha,
                 DeviceScalar<V> beta, V* y, RowMap map, const MultiplyCall& call) {
  if (chunks.count <= 1) return;
  launch_early(call.device, carry_kernel<V, Chunks>, blocks_for(chunks.count, tuning::carry_threads),
               tuning::carry_threads, call.stream, chunks, first_sum, last_sum, alpha, beta, y, map);
}

}  // namespace spmvpack::gpu_loader
