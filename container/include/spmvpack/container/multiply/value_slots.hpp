#pragma once
/// The information of value_sources() seen from where values are stored, for code that copies values there element by
/// element.

#include <cstddef>
#include <cstdint>
#include <variant>

#include "spmvpack/container/multiply/value_sources.hpp"

namespace spmvpack {

/// An element of a section that is no entry's value: padding, or other bytes.
template <class Index>
inline constexpr Index no_value = static_cast<Index>(~Index{0});
/// Whether the numbers of `nnz` entries, and no_value, need 64 bits.
constexpr bool are_wide_numbers(std::uint64_t nnz) { return nnz >= no_value<std::uint32_t> - 1; }

/// Where a part has the values of its entries.
struct ValueSlots {
  std::size_t section = 0;     ///< a place in Layout::sections; its elements are of the size of the part's values
  std::uint64_t elements = 0;  ///< of the section
  /// Which of A's values each element is, in the order of A's CSR, or no_value. Numbers have 64 bits if A has 2^32 - 2
  /// entries or more. Empty if element k is value k and there are no others.
  std::variant<Array<std::uint32_t>, Array<std::uint64_t>> value;
  /// Whether bits say which elements hold entries: such an element must neither become +0 nor stop being +0.
  bool held_by_bits = false;
};

/// Whether a matrix can have ValueSlots: any can, except an f32 matrix with so many entries that their numbers need 64
/// bits.
constexpr bool fits_value_slots(ValueType type, std::uint64_t nnz) {
  return type != ValueType::f32 || !are_wide_numbers(nnz);
}

/// For a part with these sources, in host memory; `nnz` is A's. Temporarily needs memory for another copy of the part's
/// sections. Errors: errc::unsupported if A is f32 and has 2^32 - 2 entries or more.
SPMVPACK_EXPORT ValueSlots value_slots(const PartView& part, const ValueSource& source, std::uint64_t nnz,
                                       int threads = 0);

}  // namespace spmvpack
