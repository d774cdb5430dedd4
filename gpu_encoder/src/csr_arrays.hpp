#pragma once
// The matrix as passes read it: arrays in the memory of what executes them.

#include <cstdint>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::gpu_encoder {

struct Csr {
  std::uint64_t rows = 0, cols = 0, nnz = 0;
  const std::uint32_t* narrow = nullptr;  ///< row pointers of 32 bits, or null
  const std::uint64_t* wide = nullptr;    ///< row pointers of 64 bits
  const std::uint32_t* col_idx = nullptr;
  const void* value_bits = nullptr;
  ValueType type = ValueType::f64;

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_ptr(std::uint64_t i) const {
    return narrow != nullptr ? narrow[i] : wide[i];
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_length(std::uint64_t i) const {
    return row_ptr(i + 1) - row_ptr(i);
  }
  /// The row of entry k < nnz, by bisection.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_of(std::uint64_t k) const {
    std::uint64_t low = 0, high = rows;  // row_ptr(low) <= k < row_ptr(high)
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (row_ptr(middle) <= k ? low : high) = middle;
    }
    return low;
  }
  /// The bits of the values; Bits is as large as one.
  template <class Bits>
  [[nodiscard]] SPMVPACK_HOST_DEVICE const Bits* values() const {
    return static_cast<const Bits*>(value_bits);
  }
};

/// Calls f with a zero of the unsigned type of a value's size: passes are compiled for sizes, not for types.
template <class F>
decltype(auto) dispatch_bits(ValueType type, F&& f) {
  return size_of(type) == sizeof(std::uint32_t) ? f(std::uint32_t{0}) : f(std::uint64_t{0});
}

}  // namespace spmvpack::gpu_encoder
