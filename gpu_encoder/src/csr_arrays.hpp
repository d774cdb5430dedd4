#pragma once
// The matrix as passes read it: arrays in the memory of what executes them.

#include <cstdint>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::gpu_encoder {

/// The last i of [low, high) with of(i) <= k, by bisection: `of` never falls, and of(low) <= k.
template <class Of>
SPMVPACK_HOST_DEVICE std::uint64_t last_at_most(std::uint64_t low, std::uint64_t high, std::uint64_t k, Of&& of) {
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (of(middle) <= k ? low : high) = middle;
  }
  return low;
}

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
  /// The row of entry k < nnz.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_of(std::uint64_t k) const {
    return last_at_most(0, rows, k, [&](std::uint64_t r) { return row_ptr(r); });
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
