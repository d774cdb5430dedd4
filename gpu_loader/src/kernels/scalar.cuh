#pragma once
// alpha and beta inside kernels.

#include "kernels/call.hpp"

namespace spmvpack::gpu_loader {

/// A Scalar as passed to kernels, in the vectors' type V.
template <class V>
struct DeviceScalar {
  V value;
  const V* pointer;
  bool negated = false;  ///< of what the pointer leads to
  __device__ V get() const { return pointer == nullptr ? value : negated ? -*pointer : *pointer; }
};

/// Converts a multiply's scalar, which is of the vectors' type V.
template <class V>
DeviceScalar<V> device_scalar(const AnyScalar& any) {
  const auto& s = std::get<Scalar<V>>(any);
  return {s.value, s.device, s.negated};
}

/// beta y; y is not read if beta is 0.
template <class V>
__device__ V scaled(V beta, const V* y) {
  return beta == V{0} ? V{0} : beta * *y;
}

}  // namespace spmvpack::gpu_loader
