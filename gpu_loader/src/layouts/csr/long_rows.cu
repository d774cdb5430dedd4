// csr: many blocks of threads for each row, for few rows that are long.

#include <bit>

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/csr/kernels.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

/// The tree over `count` values, a power of two, in the first lanes of a warp or of each of its parts of that many.
template <unsigned count, class V>
__device__ V tree(V v) {
#pragma unroll
  for (unsigned distance = 1; distance < count; distance *= 2) v = v + __shfl_down_sync(full_warp, v, distance, count);
  return v;
}

/// The sum of each block's share of its row, which has 2^`log_blocks` of them. The next entries are on their way while
/// x is waited for.
template <class A, class V, class P>
__global__ void __launch_bounds__(LongRows::threads)
    shares_kernel(Arrays<A, P> a, unsigned log_blocks, DeviceScalar<V> alpha, const V* x, V* sums) {
  constexpr unsigned together = 4;
  __shared__ V of_warp[LongRows::threads / 32];
  allow_next_kernel();
  if (alpha.get() == V{0}) return;  // x must not be read
  const unsigned row = blockIdx.x >> log_blocks, block = blockIdx.x & ((1U << log_blocks) - 1), lane = lane_id();
  const unsigned all_threads = LongRows::threads << log_blocks;
  const std::uint64_t begin = a.row_ptr[row] + std::uint64_t{block} * LongRows::threads + threadIdx.x,
                      end = a.row_ptr[row + std::uint64_t{1}];
  std::uint32_t column[together];
  A value[together];
  const auto load = [&](std::uint64_t k) {
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const std::uint64_t at = k + std::uint64_t{i} * all_threads;
      column[i] = at < end ? __ldcs(a.col_idx + at) : 0;
      value[i] = at < end ? __ldcs(a.values + at) : A{0};
    }
  };
  load(begin);
  V sum = 0;
  for (std::uint64_t k = begin; k < end; k += std::uint64_t{together} * all_threads) {
    V element[together], factor[together];
    issue_loads();
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      element[i] = k + std::uint64_t{i} * all_threads < end ? x[column[i]] : V{0};
      factor[i] = static_cast<V>(value[i]);
    }
    load(k + std::uint64_t{together} * all_threads);
    issue_loads();
#pragma unroll
    for (unsigned i = 0; i < together; ++i)
      if (k + std::uint64_t{i} * all_threads < end) sum = fma(factor[i], element[i], sum);
  }
  __syncwarp();
  sum = tree<32>(sum);
  if (lane == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = tree<LongRows::threads / 32>(of_warp[lane % (LongRows::threads / 32)]);
  if (lane == 0) sums[blockIdx.x] = sum;
}

/// Adds up the shares of each row: a lane for each block.
template <class V, class P>
__global__ void __launch_bounds__(LongRows::threads)
    add_shares_kernel(const P* row_ptr, std::uint32_t rows, unsigned log_blocks, DeviceScalar<V> alpha_in,
                      const V* sums, DeviceScalar<V> beta_in, V* y, RowMap map) {
  constexpr unsigned most_warps = LongRows::most_blocks / 32;  // of a row
  static_assert(LongRows::least_blocks == 16 && LongRows::most_blocks <= LongRows::threads);
  __shared__ V of_warp[LongRows::threads / 32];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const unsigned blocks = 1U << log_blocks;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, row = i >> log_blocks;
  const bool is_row = row < rows, has_entries = is_row && alpha != V{0} && row_ptr[row] != row_ptr[row + 1];
  V* const at = y + (is_row ? map(row) : 0);
  wait_for_last_kernel();
  V sum = has_entries ? sums[i] : V{0};
  if (blocks < 32) {
    sum = tree<16>(sum);
  } else {
    sum = tree<32>(sum);
    if (lane_id() == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x % blocks == 0) {
      V part[most_warps];
#pragma unroll
      for (unsigned w = 0; w < most_warps; ++w) part[w] = w * 32 < blocks ? of_warp[threadIdx.x / 32 + w] : V{0};
#pragma unroll
      for (unsigned distance = 1; distance < most_warps; distance *= 2)
        if (distance * 32 < blocks)
#pragma unroll
          for (unsigned w = 0; w + distance < most_warps; w += 2 * distance) part[w] = part[w] + part[w + distance];
      sum = part[0];
    }
  }
  if (!is_row || threadIdx.x % blocks != 0) return;
  const V before = scaled(beta, at);
  *at = has_entries ? fma(alpha, sum, before) : before;
}

}  // namespace

void multiply_long(const PartView& part, const MultiplyCall& call) {
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
    auto* const sums = reinterpret_cast<V*>(call.workspace);
    const std::uint64_t longest = part.info().params[spmvpack::layouts::csr::param_longest_row];
    const std::uint32_t blocks = LongRows::blocks(a.rows, longest, a.nnz);
    const auto log_blocks = static_cast<unsigned>(std::countr_zero(blocks));
    const std::uint64_t shares = std::uint64_t{a.rows} * blocks;
    launch(shares_kernel<A, V, P>, blocks_for(shares, 1), LongRows::threads, call.stream, a, log_blocks, alpha,
           static_cast<const V*>(call.columns.x), sums);
    launch_early(call.device, add_shares_kernel<V, P>, blocks_for(shares, LongRows::threads), LongRows::threads,
                 call.stream, a.row_ptr, a.rows, log_blocks, alpha, sums, beta, static_cast<V*>(call.columns.y),
                 RowMap{call.row_list});
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
