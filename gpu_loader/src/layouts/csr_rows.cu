// csr: the structure check; a thread or a few lanes per row (Bell, Garland: Efficient Sparse Matrix-Vector
// Multiplication on CUDA, NVR-2008-004, CSR-scalar and CSR-vector); equal shares of the entries.

#include "layouts/balanced.cuh"
#include "layouts/csr_kernels.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

/// The last row in [low, high] whose pointer is at most k; low where there is none.
template <class P>
__device__ std::uint32_t row_of(const P* row_ptr, std::uint32_t low, std::uint32_t high, std::uint64_t k) {
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    if (row_ptr[middle] <= k)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

template <class P>
__global__ void check_kernel(const P* row_ptr, const std::uint32_t* col_idx, std::uint32_t rows, std::uint64_t cols,
                             std::uint64_t nnz, std::uint32_t* errors) {
  std::uint32_t found = 0;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  if (first == 0 && (row_ptr[0] != 0 || row_ptr[rows] != nnz)) found |= 1U;
  for (std::uint64_t r = first; r < rows; r += stride)
    if (row_ptr[r] > row_ptr[r + 1] || row_ptr[r + 1] > nnz) found |= 2U;
  for (std::uint64_t k = first; k < nnz; k += stride) {
    if (col_idx[k] >= cols) found |= 4U;
    // Where columns do not rise a row must start: one of the pointers is k.
    if (k != 0 && col_idx[k] <= col_idx[k - 1] && (rows == 0 || row_ptr[row_of(row_ptr, 0, rows, k)] != k)) found |= 8U;
  }
  if (found != 0) atomicOr(errors, found);
}

/// `Lanes` lanes for each row: lane i takes entries i, i + Lanes, ...; then the tree.
template <unsigned Lanes, class A, class V, class P>
__global__ void __launch_bounds__(tuning::csr_rows_threads)
    rows_kernel(Arrays<A, P> a, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y) {
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const std::uint64_t row = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / Lanes;
  const unsigned lane = threadIdx.x % Lanes;
  std::uint64_t begin = 0, end = 0;
  if (row < a.rows && alpha != V{0}) {
    begin = a.row_ptr[row];
    end = a.row_ptr[row + 1];
  }
  V sum = 0;
  for (std::uint64_t k = begin + lane; k < end; k += Lanes)
    sum = fma(static_cast<V>(a.values[k]), x[a.col_idx[k]], sum);
#pragma unroll
  for (unsigned distance = 1; distance < Lanes; distance *= 2) {
    const V right = __shfl_down_sync(full_warp, sum, distance, Lanes);
    sum = sum + right;  // lanes whose right neighbour is none give values that nobody takes
  }
  if (lane != 0 || row >= a.rows) return;
  const V before = scaled(beta, y + row);
  y[row] = begin == end ? before : fma(alpha, sum, before);
}

template <unsigned Lanes, class V, class A, class P>
void launch_rows(const Arrays<A, P>& a, const MultiplyCall& call) {
  constexpr unsigned threads = tuning::csr_rows_threads;
  rows_kernel<Lanes><<<blocks_for(std::uint64_t{a.rows} * Lanes, threads), threads, 0, call.stream>>>(
      a, device_scalar<V>(call.alpha), static_cast<const V*>(call.x), device_scalar<V>(call.beta),
      static_cast<V*>(call.y));
}

/// The rows of entries, searched in the row pointers.
template <class P>
struct SearchedRows {
  const P* row_ptr;
  std::uint32_t rows;

  struct Chunk {
    const P* row_ptr;
    std::uint32_t first, last;
    __device__ std::uint32_t row(std::uint64_t k) const { return row_of(row_ptr, first, last, k); }
    __device__ bool continues(std::uint64_t begin, std::uint32_t row) const { return row_ptr[row] < begin; }
    __device__ bool goes_on(std::uint64_t end, std::uint32_t row) const {
      return row_ptr[row + std::uint64_t{1}] > end;
    }
  };
  __device__ Chunk chunk(std::uint64_t begin, std::uint64_t end) const {
    const std::uint32_t first = row_of(row_ptr, 0, rows - 1, begin);
    return {row_ptr, first, row_of(row_ptr, first, rows - 1, end - 1)};
  }
};

}  // namespace

void check(const PartView& part, std::uint32_t* errors, Stream stream) {
  with_arrays(part, part.info().value_type, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const std::uint64_t work = a.nnz > a.rows ? a.nnz : std::uint64_t{a.rows} + 1;
    check_kernel<<<stride_blocks(work, tuning::check_threads), tuning::check_threads, 0, stream>>>(
        a.row_ptr, a.col_idx, a.rows, part.cols(), a.nnz, errors);
  });
  require_launch();
}

void multiply_rows(const PartView& part, const MultiplyCall& call, std::uint32_t lanes) {
  with_arrays(part, call.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    switch (lanes) {
      case 1:
        return launch_rows<1, V>(a, call);
      case 2:
        return launch_rows<2, V>(a, call);
      case 4:
        return launch_rows<4, V>(a, call);
      case 8:
        return launch_rows<8, V>(a, call);
      case 16:
        return launch_rows<16, V>(a, call);
      default:
        return launch_rows<32, V>(a, call);
    }
  });
  require_launch();
}

void multiply_merge(const PartView& part, const MultiplyCall& call) {
  with_arrays(part, call.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    balanced::multiply<A, V>(SearchedRows<P>{a.row_ptr, a.rows}, a.col_idx, a.values, a.nnz, a.rows, call);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
