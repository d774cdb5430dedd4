// csr: the structure check; a thread or a few lanes per row (Bell, Garland: Efficient Sparse Matrix-Vector
// Multiplication on CUDA, NVR-2008-004, CSR-scalar and CSR-vector); equal shares of the entries.

#include "layouts/balanced.cuh"
#include "layouts/csr_kernels.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

/// Also counts the places where columns do not rise, less those of them where a row starts, to `falls`: 0 where columns
/// rise within rows. Each place is counted by an entry and taken back by at most one row, the one that is not empty.
template <class P>
__global__ void check_kernel(const P* row_ptr, const std::uint32_t* col_idx, std::uint32_t rows, std::uint64_t cols,
                             std::uint64_t nnz, std::uint32_t* errors, unsigned long long* falls) {
  std::uint32_t found = 0;
  unsigned long long more = 0;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  if (first == 0 && (row_ptr[0] != 0 || row_ptr[rows] != nnz)) found |= 1U;
  for (std::uint64_t r = first; r < rows; r += stride) {
    const std::uint64_t begin = row_ptr[r], end = row_ptr[r + 1];
    if (begin > end || end > nnz) found |= 2U;
    if (begin != 0 && begin < end && begin < nnz && col_idx[begin] <= col_idx[begin - 1]) --more;
  }
  for (std::uint64_t k = first; k < nnz; k += stride) {
    if (col_idx[k] >= cols) found |= 4U;
    if (k != 0 && col_idx[k] <= col_idx[k - 1]) ++more;
  }
  if (found != 0) atomicOr(errors, found);
  for (int distance = 16; distance != 0; distance /= 2) more += __shfl_xor_sync(full_warp, more, distance);
  if (lane_id() == 0 && more != 0) atomicAdd(falls, more);  // modulo 2^64
}

__global__ void check_falls_kernel(const unsigned long long* falls, std::uint32_t* errors) {
  if (*falls != 0) atomicOr(errors, 8U);
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
  launch(rows_kernel<Lanes, A, V, P>, blocks_for(std::uint64_t{a.rows} * Lanes, threads), threads, call.stream, a,
         device_scalar<V>(call.alpha), static_cast<const V*>(call.x), device_scalar<V>(call.beta),
         static_cast<V*>(call.y));
}

/// The last row in [0, rows) whose pointer is at most k, found by the warp together: 32 probes at a time.
template <class P>
__device__ std::uint32_t row_of_by_warp(const P* row_ptr, std::uint32_t rows, std::uint64_t k) {
  std::uint64_t low = 0, count = rows;  // the row is in [low, low + count)
  while (count > 1) {
    const std::uint64_t step = (count + 31) / 32, probe = lane_id() * step;
    const bool at_most = probe < count && row_ptr[low + probe] <= k;
    const unsigned before = __ballot_sync(full_warp, at_most);
    const std::uint64_t skip = before == 0 ? 0 : static_cast<unsigned>(__popc(before) - 1) * step;
    low += skip;
    count = count - skip < step ? count - skip : step;
  }
  return static_cast<std::uint32_t>(low);
}

/// The rows of entries, from the row pointers: each warp writes down where rows start in its chunk.
template <class P>
struct RowsOfPointers {
  const P* row_ptr;
  std::uint32_t row_count;

  static constexpr bool stages = true;
  __device__ void load(std::uint64_t begin, std::uint64_t end, std::uint32_t* staged,
                       std::uint32_t (&row)[balanced::groups]) const {
    constexpr std::uint32_t none = ~0U;
    const unsigned lane = lane_id();
#pragma unroll
    for (int g = 0; g < balanced::groups; ++g) staged[g * 32 + lane] = none;
    __syncwarp();
    std::uint64_t first = row_of_by_warp(row_ptr, row_count, begin);
    for (bool more = true; more;) {
      const std::uint64_t r = first + lane;
      const bool is_row = r < row_count;
      const std::uint64_t from = is_row ? row_ptr[r] : end, to = is_row ? row_ptr[r + 1] : end;
      const std::uint64_t start = from > begin ? from : begin;
      const bool has_entries = to > start && start < end;
      if (has_entries) staged[start - begin] = static_cast<std::uint32_t>(r);
      more = __any_sync(full_warp, static_cast<int>(to >= end)) == 0;
      // A run of empty rows, which may be long, is jumped over.
      if (more && __any_sync(full_warp, static_cast<int>(has_entries)) == 0)
        first = row_of_by_warp(row_ptr, row_count, __shfl_sync(full_warp, to, 31));
      else
        first += 32;
    }
    __syncwarp();
    std::uint32_t open = 0;
#pragma unroll
    for (int g = 0; g < balanced::groups; ++g) {
      const std::uint32_t mine = staged[g * 32 + lane];
      const unsigned starts = __ballot_sync(full_warp, mine != none);
      const unsigned before = starts & (full_warp >> (31U - lane));
      const int head = before != 0 ? 31 - __clz(static_cast<int>(before)) : 0;
      const std::uint32_t found = __shfl_sync(full_warp, mine, head);
      row[g] = before != 0 ? found : open;
      open = __shfl_sync(full_warp, row[g], 31);
    }
  }
  __device__ bool continues(std::uint64_t begin, std::uint32_t row) const { return row_ptr[row] < begin; }
  __device__ bool goes_on(std::uint64_t end, std::uint32_t row) const { return row_ptr[row + std::uint64_t{1}] > end; }
};

}  // namespace

void check(const PartView& part, std::uint32_t* errors, Stream stream) {
  auto* const falls = reinterpret_cast<unsigned long long*>(errors + 2);
  with_arrays(part, part.info().value_type, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const std::uint64_t work = a.nnz > a.rows ? a.nnz : std::uint64_t{a.rows} + 1;
    launch(check_kernel<P>, stride_blocks(work, tuning::check_threads), tuning::check_threads, stream, a.row_ptr,
           a.col_idx, a.rows, part.cols(), a.nnz, errors, falls);
  });
  launch(check_falls_kernel, 1, 1, stream, falls, errors);
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
}

void multiply_merge(const PartView& part, const MultiplyCall& call) {
  with_arrays(part, call.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    balanced::multiply<A, V>(RowsOfPointers<P>{a.row_ptr, a.rows}, a.col_idx, a.values, a.nnz, a.rows, call);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
