// The kernel of large_grid.hpp. Part of gpu_test.

#include "large_grid.hpp"

namespace spmvpack::test {
namespace {

__global__ void make(LargeGrid grid, std::uint64_t* row_ptr, std::uint32_t* col_idx, float* values, double* x) {
  const std::uint64_t row = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (row > grid.rows()) return;
  row_ptr[row] = grid.row_ptr(row);
  if (row == grid.rows()) return;
  x[row] = LargeGrid::x(row);
  grid.each_entry(row, [&](std::uint64_t entry, std::uint64_t column) {
    col_idx[entry] = static_cast<std::uint32_t>(column);
    values[entry] = LargeGrid::value(entry);
  });
}

}  // namespace

bool make_large_grid(const LargeGrid& grid, std::uint64_t* row_ptr, std::uint32_t* col_idx, float* values, double* x) {
  constexpr unsigned threads = 256;
  make<<<static_cast<unsigned>(grid.rows() / threads + 1), threads>>>(grid, row_ptr, col_idx, values, x);
  return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

}  // namespace spmvpack::test
