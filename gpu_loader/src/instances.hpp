#pragma once
// The functions of DeviceMatrix for a type of vectors, of builds with CUDA and without.

#include "spmvpack/gpu_loader/device_matrix.hpp"

#define SPMVPACK_DEVICE_MATRIX_OF(T)                                                                                \
  template void DeviceMatrix::multiply(std::type_identity_t<Scalar<T>>, std::type_identity_t<DenseView<const T>>,   \
                                       std::type_identity_t<Scalar<T>>, DenseView<T>, std::span<std::byte>, Stream, \
                                       const MultiplyDescription&) const;                                           \
  template void DeviceMatrix::permute(std::span<const T>, std::span<T>, Stream) const;                              \
  template void DeviceMatrix::unpermute(std::span<const T>, std::span<T>, Stream) const;                            \
  template void DeviceMatrix::multiply_host_vectors(T, std::type_identity_t<DenseView<const T>>, T,                 \
                                                    std::type_identity_t<DenseView<T>>, const MultiplyDescription&) \
      const;
