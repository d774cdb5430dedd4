// csr: PCSR and IPCSR (Gao, Qi, He: Efficient CSR-Based Sparse Matrix-Vector Multiplication on GPU, Mathematical
// Problems in Engineering 2016). docs/LAYOUTS.md lists the paper's errata.

#include <algorithm>

#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/csr/kernels.hpp"
#include "layouts/csr/tuning.cuh"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

constexpr RowBlockLimits limits;
constexpr unsigned threads = limits.threads;  // of a block of PCSR's second kernel, and of IPCSR
constexpr unsigned warps = threads / 32;
static_assert(warps == 8);

/// Algorithm 1: writes every product, rounded, to `products`.
template <class A, class V, class P>
__global__ void __launch_bounds__(tuning::pcsr_product_threads)
    pcsr_product_kernel(Arrays<A, P> a, DeviceScalar<V> alpha, const V* __restrict__ x, V* products) {
  if (alpha.get() == V{0}) return;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < a.nnz; k += stride)
    products[k] = static_cast<V>(a.values[k]) * x[a.col_idx[k]];
}

/// Algorithm 2: a block takes `threads` rows, moves their products through shared memory and adds them up, one thread
/// per row.
template <class A, class V, class P>
__global__ void __launch_bounds__(threads)
    pcsr_sum_kernel(Arrays<A, P> a, DeviceScalar<V> alpha_in, DeviceScalar<V> beta_in, const V* __restrict__ products,
                    V* y, RowMap map) {
  __shared__ V staged[limits.entries];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const std::uint64_t first_row = std::uint64_t{blockIdx.x} * threads;
  const std::uint64_t end_row = first_row + threads < a.rows ? first_row + threads : a.rows;
  const std::uint64_t row = first_row + threadIdx.x;
  const std::uint64_t block_end = alpha != V{0} ? a.row_ptr[end_row] : 0;
  const std::uint64_t begin = row < end_row && alpha != V{0} ? a.row_ptr[row] : 0;
  const std::uint64_t end = row < end_row && alpha != V{0} ? a.row_ptr[row + 1] : 0;
  V sum = 0;
  for (std::uint64_t piece = a.row_ptr[first_row]; piece < block_end; piece += limits.entries) {
    const std::uint64_t piece_end = block_end - piece < limits.entries ? block_end : piece + limits.entries;
    __syncthreads();
    for (std::uint64_t k = piece + threadIdx.x; k < piece_end; k += threads) staged[k - piece] = products[k];
    __syncthreads();
    const std::uint64_t from = begin < piece ? piece : begin, to = end < piece_end ? end : piece_end;
    for (std::uint64_t k = from; k < to; ++k) sum = sum + staged[k - piece];
  }
  if (row >= end_row) return;
  V* const at = y + map(static_cast<std::uint32_t>(blockIdx.x * threads + threadIdx.x));  // anew: row took registers
  const V before = scaled(beta, at);
  *at = begin == end ? before : fma(alpha, sum, before);
}

/// Sums over groups of `each` neighbouring threads (a power of two) by the tree at distances 1, 2, 4, ...; the first
/// thread of a group gets its sum. All threads of the block call it with the same `each`.
template <class V>
__device__ V group_sum(V v, unsigned each, V* of_warps) {
  for (unsigned distance = 1; distance < 32 && distance < each; distance *= 2) {
    const V right = __shfl_down_sync(full_warp, v, distance);
    v = v + right;
  }
  if (each <= 32) return v;
  const unsigned warp = threadIdx.x / 32;
  if (lane_id() == 0) of_warps[warp] = v;
  __syncthreads();
  if (threadIdx.x % each != 0) return v;
  const V* const w = of_warps + warp;
  if (each == 64) return w[0] + w[1];
  if (each == 128) return (w[0] + w[1]) + (w[2] + w[3]);
  return ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]));
}

/// Algorithm 9: a block with several rows stages their products and assigns threads_per_row() threads to each row; a
/// block with one row assigns all of them.
template <class A, class V, class P>
__global__ void __launch_bounds__(threads)
    ipcsr_kernel(Arrays<A, P> a, const std::uint32_t* __restrict__ starts, DeviceScalar<V> alpha_in,
                 const V* __restrict__ x, DeviceScalar<V> beta_in, V* y, RowMap map, Prefetch prefetch) {
  __shared__ V staged[limits.entries];
  __shared__ V of_warps[warps];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  prefetch(alpha);
  const std::uint32_t first_row = starts[blockIdx.x], rows = starts[blockIdx.x + std::uint64_t{1}] - first_row;
  if (alpha == V{0}) {
    if (threadIdx.x >= rows) return;
    V* const at = y + map(first_row + threadIdx.x);
    *at = scaled(beta, at);
    return;
  }
  const std::uint64_t begin = a.row_ptr[first_row], end = a.row_ptr[first_row + std::uint64_t{rows}];
  V sum = 0;
  std::uint32_t row = first_row;
  unsigned each = threads;
  bool empty = begin == end;
  if (rows == 1) {
    for (std::uint64_t k = begin + threadIdx.x; k < end; k += threads)
      sum = fma(static_cast<V>(a.values[k]), x[a.col_idx[k]], sum);
  } else {
    const unsigned count = static_cast<unsigned>(end - begin);
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < count; i += threads)
      staged[i] = static_cast<V>(a.values[begin + i]) * x[a.col_idx[begin + i]];
    each = threads_per_row(threads, rows);
    row = first_row + threadIdx.x / each;
    unsigned from = 0, to = 0;
    if (row < first_row + rows) {
      from = static_cast<unsigned>(a.row_ptr[row] - begin);
      to = static_cast<unsigned>(a.row_ptr[row + std::uint64_t{1}] - begin);
    }
    empty = from == to;
    __syncthreads();
    for (unsigned i = from + threadIdx.x % each; i < to; i += each) sum = sum + staged[i];
  }
  sum = group_sum(sum, each, of_warps);
  if (threadIdx.x % each != 0 || row - first_row >= rows) return;
  V* const at = y + map(row);
  const V before = scaled(beta, at);
  *at = empty ? before : fma(alpha, sum, before);
}

/// The same where every block has a single row, and long ones: a thread's loads are `together` at a time. In the kernel
/// above they would take registers from the blocks of several rows.
template <class A, class V, class P>
__global__ void __launch_bounds__(threads)
    ipcsr_single_rows_kernel(Arrays<A, P> a, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in,
                             V* y, RowMap map, Prefetch prefetch) {
  constexpr unsigned together = 8;
  __shared__ V of_warps[warps];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  prefetch(alpha);
  const std::uint32_t row = blockIdx.x;
  const std::uint64_t begin = a.row_ptr[row], end = alpha != V{0} ? a.row_ptr[row + std::uint64_t{1}] : begin;
  V sum = 0;
  for (std::uint64_t k = begin + threadIdx.x; k < end; k += std::uint64_t{together} * threads) {
    std::uint32_t column[together];
    A value[together];
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const std::uint64_t at = k + i * threads;
      column[i] = at < end ? a.col_idx[at] : 0;
      value[i] = at < end ? a.values[at] : A{0};
    }
    issue_loads();
    V element[together];
#pragma unroll
    for (unsigned i = 0; i < together; ++i) element[i] = k + i * threads < end ? x[column[i]] : V{0};
#pragma unroll
    for (unsigned i = 0; i < together; ++i)
      if (k + i * threads < end) sum = fma(static_cast<V>(value[i]), element[i], sum);
  }
  __syncwarp();
  sum = group_sum(sum, threads, of_warps);
  if (threadIdx.x != 0) return;
  V* const at = y + map(row);
  const V before = scaled(beta, at);
  *at = begin == end ? before : fma(alpha, sum, before);
}

/// The same, with the same sums, where each row's columns follow one another: no thread waits for a column before it
/// asks for x, and none needs to be told which row another one's entry is in, so that no product is staged.
template <class A, class V, class P>
__global__ void __launch_bounds__(threads)
    ipcsr_runs_kernel(Arrays<A, P> a, const std::uint32_t* __restrict__ starts, DeviceScalar<V> alpha_in,
                      const V* __restrict__ x, DeviceScalar<V> beta_in, V* y, RowMap map, Prefetch prefetch) {
  constexpr unsigned together = 2;
  __shared__ V of_warps[warps];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  prefetch(alpha);
  const std::uint32_t first_row = starts[blockIdx.x], rows = starts[blockIdx.x + std::uint64_t{1}] - first_row;
  const bool single = rows == 1;
  const unsigned each = single ? threads : threads_per_row(threads, rows);
  const std::uint32_t of_block = threadIdx.x / each;
  std::uint64_t begin = 0, end = 0;
  if (of_block < rows && alpha != V{0}) {
    begin = a.row_ptr[first_row + std::uint64_t{of_block}];
    end = a.row_ptr[first_row + std::uint64_t{of_block} + 1];
  }
  const V* const x_row = x + (begin < end ? a.col_idx[begin] : 0);
  V sum = 0;
  for (std::uint64_t k = begin + threadIdx.x % each; k < end; k += together * each) {
    A value[together];
    V element[together];
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const std::uint64_t at = k + i * each;
      value[i] = at < end ? a.values[at] : A{0};
      element[i] = at < end ? x_row[at - begin] : V{0};
    }
    issue_loads();
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      if (k + i * each >= end) continue;
      const V v = static_cast<V>(value[i]);
      sum = single ? fma(v, element[i], sum) : sum + v * element[i];
    }
  }
  __syncwarp();
  sum = group_sum(sum, each, of_warps);
  if (threadIdx.x % each != 0 || of_block >= rows) return;
  V* const at = y + map(first_row + of_block);
  const V before = scaled(beta, at);
  *at = begin == end ? before : fma(alpha, sum, before);
}

/// For each of the rows [first, first + count), as if a block started there: the number of the block's rows minus one.
template <class A, class P>
__global__ void row_block_rows_kernel(Arrays<A, P> a, std::uint64_t first, std::uint64_t count, RowBlockLimits of_block,
                                      std::uint8_t* more) {
  static_assert(limits.threads <= 256);
  for (std::uint64_t i = first_item(); i < count; i += stride())
    more[i] = static_cast<std::uint8_t>(
        row_block_rows([&](std::uint64_t r) { return a.row_ptr[r]; }, a.rows, first + i, of_block) - 1);
}

/// The first rows of the blocks, followed by the number of rows. The device computes, for every row, where a block that
/// starts there would end, which takes no time; the host then walks from block to block, and needs one byte per row
/// instead of all row pointers.
CountedVector<std::uint32_t> row_block_starts(const PartView& part, const LoadContext& context,
                                              RowBlockLimits of_block) {
  constexpr std::uint64_t piece = 1U << 20;
  CountedVector<std::uint32_t> starts{0};
  const std::uint64_t rows = part.rows();
  if (rows == 0) return starts;
  std::vector<std::uint8_t> more(std::min(rows, piece));
  const std::shared_ptr<void> memory = context.scratch(more.size());
  for (std::uint64_t first = 0, row = 0; first < rows; first += piece) {
    const std::uint64_t count = std::min(rows - first, piece);
    with_arrays(part, part.info().value_type, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
      launch(row_block_rows_kernel<A, P>, stride_blocks(count, tuning::vector_threads), tuning::vector_threads,
             context.stream, a, first, count, of_block, static_cast<std::uint8_t*>(memory.get()));
    });
    require_cuda(cudaMemcpyAsync(more.data(), memory.get(), count, cudaMemcpyDeviceToHost, context.stream),
                 "reading row blocks back");
    require_cuda(cudaStreamSynchronize(context.stream), "reading row blocks back");
    for (; row < first + count; starts.push_back(static_cast<std::uint32_t>(row))) row += more[row - first] + 1U;
  }
  return starts;
}

}  // namespace

RowBlocksOnDevice make_row_blocks(const PartView& part, const LoadContext& context, RowBlockLimits of_block) {
  const CountedVector<std::uint32_t> starts = row_block_starts(part, context, of_block);
  RowBlocksOnDevice blocks;
  blocks.count = starts.size() - 1;
  const std::uint64_t bytes = starts.size() * sizeof(std::uint32_t);
  blocks.memory = context.allocate(bytes);
  require_cuda(cudaMemcpyAsync(blocks.memory.get(), starts.data(), bytes, cudaMemcpyHostToDevice, context.stream),
               "copying row blocks");
  require_cuda(cudaStreamSynchronize(context.stream), "copying row blocks");
  return blocks;
}

void multiply_pcsr(const PartView& part, const MultiplyCall& call) {
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
    auto* const products = reinterpret_cast<V*>(call.workspace);
    if (a.nnz != 0 && !is_known(call.alpha, 0)) {
      constexpr unsigned product_threads = tuning::pcsr_product_threads;
      launch(pcsr_product_kernel<A, V, P>, stride_blocks(a.nnz, product_threads), product_threads, call.stream, a,
             alpha, static_cast<const V*>(call.columns.x), products);
    }
    launch(pcsr_sum_kernel<A, V, P>, blocks_for(a.rows, threads), threads, call.stream, a, alpha, beta, products,
           static_cast<V*>(call.columns.y), RowMap{call.row_list});
  });
}

void multiply_ipcsr(const PartView& part, const RowBlocksOnDevice& blocks, const MultiplyCall& call, bool runs) {
  if (blocks.count == 0) return;
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
    const auto* const x = static_cast<const V*>(call.columns.x);
    auto* const y = static_cast<V*>(call.columns.y);
    const RowMap map{call.row_list};
    const unsigned grid = blocks_for(blocks.count, 1);
    const Prefetch fetch =
        Prefetch::of<V>(grid, call, part, runs ? DeviceBytes{} : bytes_of(part.get<std::uint32_t>("col_idx")),
                        bytes_of(part.get<A>("values")), launch_rules::prefetch::csr_limit);
    if (runs)
      launch(ipcsr_runs_kernel<A, V, P>, grid, threads, call.stream, a, blocks.starts(), alpha, x, beta, y, map, fetch);
    else if (blocks.count == a.rows)
      launch(ipcsr_single_rows_kernel<A, V, P>, grid, threads, call.stream, a, alpha, x, beta, y, map, fetch);
    else
      launch(ipcsr_kernel<A, V, P>, grid, threads, call.stream, a, blocks.starts(), alpha, x, beta, y, map, fetch);
  });
}

void multiply_ipcsr_printed(const PartView& part, const RowBlocksOnDevice& blocks, const MultiplyCall& call) {
  if (blocks.count == 0) return;
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    launch(ipcsr_kernel<A, V, P>, blocks_for(blocks.count, 1), threads, call.stream, a, blocks.starts(),
           device_scalar<V>(call.alpha), static_cast<const V*>(call.columns.x), device_scalar<V>(call.beta),
           static_cast<V*>(call.columns.y), RowMap{call.row_list}, Prefetch::none());
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
