#pragma once
// Sums within a warp, in the order of docs/LAYOUTS.md.

#include <cuda_runtime.h>

#include <cstdint>

namespace spmvpack::gpu_loader {

inline constexpr unsigned full_warp = 0xFFFFFFFFU;

__device__ inline unsigned lane_id() { return threadIdx.x & 31U; }

/// The end of the segment of `lane`, one past its last lane: the next bit of `heads` (the lanes that start a segment),
/// otherwise `lanes`.
__device__ inline unsigned segment_end(unsigned heads, unsigned lane, unsigned lanes) {
  const unsigned after = lane == 31 ? 0 : heads & (full_warp << (lane + 1));
  return after != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(after))) - 1 : lanes;
}

/// The tree: at distances 1, 2, 4, 8, 16, every lane adds the value that far to its right if that is before `end`. The
/// first lane of a segment gets its sum. All 32 lanes call it.
template <class V>
__device__ V segment_sum(V v, unsigned lane, unsigned end) {
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const V right = __shfl_down_sync(full_warp, v, distance);
    if (lane + distance < end) v = v + right;
  }
  return v;
}

/// The same sums, in fewer steps where all segments are short. `others`, the same to all lanes: those that another lane
/// of their segment follows, and any more; a step is left out if no lane has another one of its segment so far away.
template <class V>
__device__ V segment_sum(V v, unsigned lane, unsigned end, unsigned others) {
  unsigned runs = others;  // lanes that begin a run of at least `distance` of them
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const V right = __shfl_down_sync(full_warp, v, distance);
    if (lane + distance < end) v = v + right;
    runs &= runs >> distance;
    if (runs == 0) break;
  }
  return v;
}

}  // namespace spmvpack::gpu_loader
