#pragma once
/// Where the value of an entry lies, for host and device. Each layout has an each_entry() that gives the entries of a
/// row, lane or chunk in the order of CSR, with their slots; of csr and coo, entry k has element k.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::layouts {

/// What a stored value becomes when it is read.
enum class Change : std::uint8_t { none, negate };

/// Whose values are.
enum class ValuesAre : std::uint8_t {
  own,      ///< of one entry each: every slot can be given another value
  shared,   ///< of all entries with the same id or step, or of two mirrors: no slot can be changed for one of them
  computed  ///< of no slot: the value is made of integers
};

/// A value in its section, which is `values` unless the layout says otherwise.
struct ValueSlot {
  std::uint64_t section_byte;
  Change change = Change::none;
};

/// The slot that is an element of an array.
template <class T>
constexpr SPMVPACK_HOST_DEVICE ValueSlot element_slot(std::uint64_t element) noexcept {
  return {element * sizeof(T)};
}

/// The value's bits, which a NaN keeps.
template <class T>
SPMVPACK_HOST_DEVICE bits_of<T> value_bits(const void* section, const ValueSlot& slot) noexcept {
  bits_of<T> bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(section) + slot.section_byte, sizeof bits);
  return slot.change == Change::negate ? bits ^ ValueTraits<T>::sign_bits : bits;
}

/// Writes the value there, bit for bit.
template <class T>
SPMVPACK_HOST_DEVICE void copy_value(const void* section, const ValueSlot& slot, T* to) noexcept {
  const bits_of<T> bits = value_bits<T>(section, slot);
  std::memcpy(to, &bits, sizeof bits);
}

}  // namespace spmvpack::layouts
