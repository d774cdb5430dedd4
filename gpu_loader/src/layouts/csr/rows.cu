// csr: one thread or a few lanes per row (Bell, Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA,
// NVR-2008-004, CSR-scalar and CSR-vector).

#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/csr/kernels.hpp"
#include "layouts/csr/tuning.cuh"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

/// `Lanes` lanes per row: lane i takes entries i, i + Lanes, ...; then the tree. Blocks have `most` threads at most.
/// runs: rows_are_runs().
template <unsigned Lanes, unsigned most, bool runs, class A, class V, class P>
__global__ void __launch_bounds__(most, tuning::csr_rows_blocks(most))
    rows_kernel(Arrays<A, P> a, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y,
                RowMap map, Prefetch prefetch) {
  const V alpha = alpha_in.get(), beta = beta_in.get();
  prefetch(alpha);
  const std::uint64_t row = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / Lanes;
  const unsigned lane = threadIdx.x % Lanes;
  std::uint64_t begin = 0, end = 0;
  if (row < a.rows && alpha != V{0}) {
    begin = a.row_ptr[row];
    end = a.row_ptr[row + 1];
  }
  const bool empty = begin == end;
  // With several lanes before the entries: a list's load would be waited for behind them. A thread alone has the loads
  // of its entries to wait for, and no register to spare.
  [[maybe_unused]] V* early = nullptr;
  if constexpr (Lanes > 1) early = y + (row < a.rows ? map(row) : 0);
  V sum = 0;
  if constexpr (constexpr unsigned batch = tuning::vector_batch(Lanes); batch == 1) {
    for (std::uint64_t k = begin + lane; k < end; k += Lanes)
      sum = fma(static_cast<V>(a.values[k]), x[a.col_idx[k]], sum);
  } else {
    [[maybe_unused]] const std::uint64_t row_begin = begin;
    [[maybe_unused]] const std::uint32_t first_column = runs && begin < end ? a.col_idx[begin] : 0;
    // Lanes that have one entry more than others would otherwise take theirs one after the other, apart from them.
    for (; begin < end; begin += batch * Lanes) {
      V value[batch], element[batch];
      std::uint32_t column[batch];
      bool has[batch];
#pragma unroll
      for (unsigned i = 0; i < batch; ++i) {
        const std::uint64_t k = begin + i * Lanes + lane;
        has[i] = k < end;
        if constexpr (runs)
          column[i] = first_column + static_cast<std::uint32_t>(k - row_begin);
        else
          column[i] = has[i] ? a.col_idx[k] : 0;
        value[i] = has[i] ? static_cast<V>(a.values[k]) : V{0};
      }
#pragma unroll
      for (unsigned i = 0; i < batch; ++i) element[i] = has[i] ? x[column[i]] : V{0};
#pragma unroll
      for (unsigned i = 0; i < batch; ++i)
        if (has[i]) sum = fma(value[i], element[i], sum);
    }
  }
#pragma unroll
  for (unsigned distance = 1; distance < Lanes; distance *= 2) {
    const V right = __shfl_down_sync(full_warp, sum, distance, Lanes);
    sum = sum + right;  // values of lanes without a right neighbour are not used
  }
  if (lane != 0 || row >= a.rows) return;
  V* const at = Lanes > 1 ? early : y + map(static_cast<std::uint32_t>(row));
  const V before = scaled(beta, at);
  *at = empty ? before : fma(alpha, sum, before);
}

template <unsigned Lanes, class V, class A, class P>
void launch_rows(const PartView& part, const Arrays<A, P>& a, const MultiplyCall& call, bool runs = false) {
  const auto start = [&](auto kernel, unsigned block_threads) {
    const unsigned blocks = blocks_for(std::uint64_t{a.rows} * Lanes, block_threads);
    launch(kernel, blocks, block_threads, call.stream, a, device_scalar<V>(call.alpha),
           static_cast<const V*>(call.columns.x), device_scalar<V>(call.beta), static_cast<V*>(call.columns.y),
           RowMap{call.row_list},
           Prefetch::of<V>(blocks, call, part, runs ? DeviceBytes{} : bytes_of(part.get<std::uint32_t>("col_idx")),
                           bytes_of(part.get<A>("values")), launch_rules::prefetch::csr_limit));
  };
  if constexpr (Lanes == 1) {
    if (call.device.multiprocessor_threads == 2 * tuning::csr_scalar_threads)
      return start(rows_kernel<Lanes, tuning::csr_scalar_threads, false, A, V, P>,
                   tuning::csr_scalar_block(a.rows, call.device.multiprocessors));
  }
  if constexpr (Lanes == 32) {  // as many as rows that are looked at have
    if (runs) return start(rows_kernel<Lanes, tuning::csr_rows_threads, true, A, V, P>, tuning::csr_rows_threads);
  }
  start(rows_kernel<Lanes, tuning::csr_rows_threads, false, A, V, P>, tuning::csr_rows_threads);
}

/// Sets *other if the columns of a row do not follow one another. They rise.
template <class A, class P>
__global__ void other_rows_kernel(Arrays<A, P> a, std::uint32_t* other) {
  bool found = false;
  for (std::uint64_t r = first_item(); r < a.rows && !found; r += stride()) {
    const std::uint64_t begin = a.row_ptr[r], end = a.row_ptr[r + 1];
    found = begin < end && a.col_idx[end - 1] - a.col_idx[begin] != end - begin - 1;
  }
  if (found) *other = 1;
}

}  // namespace

bool rows_are_runs(const PartView& part, const LoadContext& context) {
  const std::shared_ptr<void> memory = context.scratch(sizeof(std::uint32_t));
  auto* const other = static_cast<std::uint32_t*>(memory.get());
  require_cuda(cudaMemsetAsync(other, 0, sizeof *other, context.stream), "looking at rows");
  with_arrays(part, part.info().value_type, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    launch(other_rows_kernel<A, P>, stride_blocks(a.rows, tuning::vector_threads), tuning::vector_threads,
           context.stream, a, other);
  });
  std::uint32_t found = 0;
  require_cuda(cudaMemcpyAsync(&found, other, sizeof found, cudaMemcpyDeviceToHost, context.stream), "looking at rows");
  require_cuda(cudaStreamSynchronize(context.stream), "looking at rows");
  return found == 0;
}

void multiply_rows(const PartView& part, const MultiplyCall& call, std::uint32_t lanes, bool runs) {
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    switch (lanes) {
      case 1:
        return launch_rows<1, V>(part, a, call);
      case 2:
        return launch_rows<2, V>(part, a, call);
      case 4:
        return launch_rows<4, V>(part, a, call);
      case 8:
        return launch_rows<8, V>(part, a, call);
      case 16:
        return launch_rows<16, V>(part, a, call);
      default:
        return launch_rows<32, V>(part, a, call, runs);
    }
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
