#pragma once
// What a multiply reads and writes beside the matrix.

#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

/// y = alpha A x + beta y.
template <class V>
struct Operands {
  DeviceScalar<V> alpha;
  const V* x;
  DeviceScalar<V> beta;
  V* y;
  RowMap map;

  /// y = beta y, by all threads of the grid.
  __device__ void scale_all(std::uint64_t rows) const {
    const V factor = beta.get();
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < rows; r += stride)
      y[map(r)] = scaled(factor, y + map(r));
  }
};

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
