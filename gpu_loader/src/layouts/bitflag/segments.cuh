#pragma once
// The sums of the segments of bitflag's rows, which a kernel of their own adds up.

#include <cstdint>

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/bitflag/tuning.cuh"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

/// Writes the sum of a row's segments; it is -0 if none has entries, or alpha is 0.
template <class V>
__device__ void put_sum(V sum, V alpha, V beta, V* at) {
  const V before = scaled(beta, at);
  const bool has_entries = sum != V{0} || !signbit(sum);
  *at = has_entries && alpha != V{0} ? fma(alpha, sum, before) : before;
}

/// y = alpha A x + beta y from the sums of the rows of all segments: trees over 32 segments each, in sequence. A block
/// of 32 warps takes 32 rows: to read them, a warp has a segment, to add them up, a row.
template <class V>
__global__ void __launch_bounds__(1024)
    add_segments_kernel(const V* sums, std::uint32_t segments, std::uint64_t rows, DeviceScalar<V> alpha_in,
                        DeviceScalar<V> beta_in, V* y, RowMap map) {
  __shared__ V of_segment[32][33];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const unsigned lane = lane_id(), warp = threadIdx.x / 32;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * 32;
  wait_for_last_kernel();
  V total = -V{0};
  for (std::uint32_t begin = 0; begin < segments && alpha != V{0}; begin += 32) {
    const std::uint32_t s = begin + warp;
    of_segment[warp][lane] = s < segments && first + lane < rows ? sums[s * rows + first + lane] : -V{0};
    __syncthreads();
    total = total + segment_sum(of_segment[lane][warp], lane, 32);
    __syncthreads();
  }
  if (const std::uint64_t row = first + warp; lane == 0 && row < rows) put_sum(total, alpha, beta, y + map(row));
}

/// The same of few segments, by a thread for each row, whose tree is that of a warp.
template <class V>
__global__ void __launch_bounds__(tuning::add_threads)
    add_few_segments_kernel(const V* sums, std::uint32_t segments, std::uint64_t rows, DeviceScalar<V> alpha_in,
                            DeviceScalar<V> beta_in, V* y, RowMap map) {
  const V alpha = alpha_in.get(), beta = beta_in.get();
  wait_for_last_kernel();
  const std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  static_assert(tuning::few_segments == 32);
  V sum[32];
#pragma unroll
  for (std::uint32_t s = 0; s < 32; ++s) sum[s] = s < segments && alpha != V{0} ? sums[s * rows + row] : -V{0};
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2)
#pragma unroll
    for (unsigned s = 0; s < 32; s += 2 * distance) sum[s] = sum[s] + sum[s + distance];
  put_sum(sum[0], alpha, beta, y + map(row));
}

/// Makes the sums of segments those of no entries, to which the kernel without near elements may then add with beta
/// = 1. The element after them is its alpha: 0 if that of the multiply is, so that x is not read.
template <class V>
__global__ void __launch_bounds__(tuning::add_threads)
    clear_segments_kernel(V* sums, std::uint64_t count, DeviceScalar<V> alpha) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) sums[i] = -V{0};
  if (i == count) sums[i] = alpha.get() == V{0} ? V{0} : V{1};
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
