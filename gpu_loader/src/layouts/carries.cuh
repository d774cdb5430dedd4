#pragma once
// The second pass over chunks of entries: rows that chunks share are finished, in order. Of coo, csr's `merge` and
// ccoo.

#include <cstdint>

#include "launch.cuh"
#include "reduce.cuh"
#include "scalar.cuh"

namespace spmvpack::gpu_loader {

/// Adds up the sums that chunks left of the rows that they share, in chunk order: 32 at a time by the tree, these in
/// sequence. A lane looks at each chunk; rows of more than two chunks are done by the warp together.
///
/// `Chunks` tells how many there are (`count`), the `first_row(c)` of each, and whether chunk c `continues(c)` the last
/// row of the one before it. `first_sum[c]` is chunk c's part of its first row, where that continues; `last_sum[c]` of
/// its last row, where that starts in chunk c and goes on. Where alpha is 0 all of y has been written. `in_workspace`:
/// the kernel before this one writes not only the sums, but also what Chunks tells.
template <class V, class Chunks>
__global__ void __launch_bounds__(tuning::carry_threads)
    carry_kernel(Chunks chunks, const V* first_sum, const V* last_sum, DeviceScalar<V> alpha_in,
                 DeviceScalar<V> beta_in, V* y) {
  if constexpr (Chunks::in_workspace) wait_for_last_kernel();
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const auto put = [&](std::uint32_t row, V sum) { y[row] = fma(alpha, sum, scaled(beta, y + row)); };
  const unsigned lane = lane_id();
  const std::uint64_t c = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  bool starts = false, is_long = false;
  std::uint32_t row = 0;
  if (c + 1 < chunks.count && chunks.continues(c + 1)) {
    row = chunks.first_row(c + 1);
    starts = !(chunks.first_row(c) == row && chunks.continues(c));
    is_long = starts && c + 2 < chunks.count && chunks.first_row(c + 2) == row;
  }
  if constexpr (!Chunks::in_workspace) wait_for_last_kernel();
  if (alpha == V{0}) return;
  if (starts && !is_long) put(row, V{0} + (last_sum[c] + first_sum[c + 1]));
  for (unsigned left = __ballot_sync(full_warp, is_long); left != 0; left &= left - 1) {
    const std::uint64_t start = c - lane + static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
    const std::uint32_t its_row = chunks.first_row(start + 1);
    V total = 0;
    for (std::uint64_t begin = start;; begin += 32) {
      const std::uint64_t i = begin + lane;
      // Rows never fall: a later chunk that begins in the row continues it.
      const bool belongs = i == start || (i < chunks.count && chunks.first_row(i) == its_row);
      const auto n = static_cast<unsigned>(__popc(__ballot_sync(full_warp, belongs)));
      if (n == 0) break;
      total = total + segment_sum(!belongs     ? V{0}
                                  : i == start ? last_sum[i]
                                               : first_sum[i],
                                  lane, n);  // lane 0's counts
      if (n < 32) break;
    }
    if (lane == 0) put(its_row, total);
  }
}

/// Launches it.
template <class V, class Chunks>
void add_carries(const Chunks& chunks, const V* first_sum, const V* last_sum, DeviceScalar<V> alpha,
                 DeviceScalar<V> beta, V* y, Stream stream) {
  if (chunks.count <= 1) return;
  launch_early(carry_kernel<V, Chunks>, blocks_for(chunks.count, tuning::carry_threads), tuning::carry_threads, stream,
               chunks, first_sum, last_sum, alpha, beta, y);
}

}  // namespace spmvpack::gpu_loader
