#pragma once
// What a multiply reads and writes beside the matrix.

#include "kernels/read_once.cuh"
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
  ReadOnce once;
  /// y = alpha A x, with alpha by value and y in the order of the rows: a store then takes few instructions, which are
  /// what bounds these kernels.
  bool plain;

  explicit Operands(const MultiplyCall& call)
      : alpha(device_scalar<V>(call.alpha)),
        x(static_cast<const V*>(call.columns.x)),
        beta(device_scalar<V>(call.beta)),
        y(static_cast<V*>(call.columns.y)),
        map{call.row_list},
        once(call),
        plain(alpha.pointer == nullptr && beta.pointer == nullptr && beta.value == V{0} && map.list == nullptr) {}

  /// y = beta y, by all threads of the grid.
  __device__ void scale_all(std::uint64_t rows) const {
    const V factor = beta.get();
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < rows; r += stride)
      y[map(r)] = scaled(factor, y + map(r));
  }
};

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
