// csr: the structure check on the device.

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "layouts/csr/kernels.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

constexpr std::uint64_t most_length = ~std::uint32_t{0};

/// Also writes the length of the longest row to `longest`, capped at 32 bits: in a longer row, columns cannot increase.
/// And counts in `falls` the positions at which columns do not increase, minus those at which a row starts: 0 if
/// columns increase within rows. Each position is counted by an entry and subtracted by at most one row, the one that
/// is not empty.
template <class P>
__global__ void check_kernel(const P* row_ptr, const std::uint32_t* col_idx, std::uint32_t rows, std::uint64_t cols,
                             std::uint64_t nnz, std::uint32_t* errors, std::uint32_t* longest,
                             unsigned long long* falls) {
  std::uint32_t found = 0, length = 0;
  unsigned long long more = 0;
  if (first_item() == 0 && (row_ptr[0] != 0 || row_ptr[rows] != nnz)) found |= 1U;
  for (std::uint64_t r = first_item(); r < rows; r += stride()) {
    const std::uint64_t begin = row_ptr[r], end = row_ptr[r + 1];
    if (begin > end || end > nnz) found |= 2U;
    if (begin < end) length = max(length, static_cast<std::uint32_t>(min(end - begin, most_length)));
    if (begin != 0 && begin < end && begin < nnz && col_idx[begin] <= col_idx[begin - 1]) --more;
  }
  for (std::uint64_t k = first_item(); k < nnz; k += stride()) {
    if (col_idx[k] >= cols) found |= 4U;
    if (k != 0 && col_idx[k] <= col_idx[k - 1]) ++more;
  }
  if (found != 0) atomicOr(errors, found);
  for (int distance = 16; distance != 0; distance /= 2) {
    more += __shfl_xor_sync(full_warp, more, distance);
    length = max(length, __shfl_xor_sync(full_warp, length, distance));
  }
  if (lane_id() != 0) return;
  if (more != 0) atomicAdd(falls, more);  // modulo 2^64
  if (length != 0) atomicMax(longest, length);
}

__global__ void check_totals_kernel(const unsigned long long* falls, const std::uint32_t* longest,
                                    std::uint64_t expected_longest, std::uint32_t* errors) {
  if (*falls != 0) atomicOr(errors, 8U);
  if (*longest != expected_longest) atomicOr(errors, 16U);
}

}  // namespace

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  std::uint32_t* const longest = errors + 1;
  auto* const falls = reinterpret_cast<unsigned long long*>(errors + 2);
  with_arrays(part, part.info().value_type, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const std::uint64_t work = a.nnz > a.rows ? a.nnz : std::uint64_t{a.rows} + 1;
    launch_check(check_kernel<P>, work, stream, a.row_ptr, a.col_idx, a.rows, part.cols(), a.nnz, errors, longest,
                 falls);
  });
  launch(check_totals_kernel, 1, 1, stream, falls, longest,
         part.info().params[spmvpack::layouts::csr::param_longest_row], errors);
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
