#pragma once
// The functions of DeviceMatrix for a type of vectors, of builds with CUDA and without.

#include "spmvpack/gpu_loader/device_matrix.hpp"

#define SPMVPACK_DEVICE_MULTIPLY_OF(T, V)                                                                            \
  template void DeviceMatrix::multiply(Scalar<T>, std::type_identity_t<DenseView<const V>>, Scalar<T>, DenseView<V>, \
                                       std::span<std::byte>, Stream, const MultiplyDescription&, const Scaling<T>&)  \
      const;
#define SPMVPACK_MULTIPLY_HOST_VECTORS_OF(T, V)                                                                     \
  template void DeviceMatrix::multiply_host_vectors(T, std::type_identity_t<DenseView<const V>>, T,                 \
                                                    std::type_identity_t<DenseView<V>>, const MultiplyDescription&) \
      const;
#define SPMVPACK_HOST_VECTORS_OF(T)       \
  SPMVPACK_MULTIPLY_HOST_VECTORS_OF(T, T) \
  SPMVPACK_MULTIPLY_HOST_VECTORS_OF(T, std::complex<T>)
#define SPMVPACK_DEVICE_MATRIX_OF(T)                                                   \
  SPMVPACK_DEVICE_MULTIPLY_OF(T, T)                                                    \
  SPMVPACK_DEVICE_MULTIPLY_OF(T, std::complex<T>)                                      \
  template void DeviceMatrix::update_values(std::span<const T>, Stream) const;         \
  template void DeviceMatrix::permute(std::span<const T>, std::span<T>, Stream) const; \
  template void DeviceMatrix::unpermute(std::span<const T>, std::span<T>, Stream) const;
