#pragma once
/// Where the value of an entry lies, and how it is read and written there, for host and device.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::layouts {

/// What a stored value becomes when it is read.
enum class Change : std::uint8_t { none, negate };

/// Whether entries own, share or compute their values.
enum class ValuesAre : std::uint8_t {
  own,      ///< of one entry each: every slot can be given another value
  shared,   ///< of all entries with the same id or step, or of two mirrors: no slot can be changed for one of them
  computed  ///< of no slot: an integer of 32 bits, divided by a power of ten
};

/// A value in a section of its part.
struct ValueSlot {
  std::uint64_t byte = 0;    ///< where it begins in the section
  std::uint8_t section = 0;  ///< the section's place in Layout::sections
  ValuesAre are = ValuesAre::own;
  Change change = Change::none;
  std::uint8_t exponent = 0;  ///< of a computed value: that of the power of ten
  /// Whether the slot's bits say that it has an entry: if none is set, it has one only if a list names it.
  bool holds_by_bits = false;
};

/// The slot that is an element of an array of values.
template <class T>
constexpr SPMVPACK_HOST_DEVICE ValueSlot element_slot(std::uint8_t section, std::uint64_t element,
                                                      ValuesAre are = ValuesAre::own) noexcept {
  return {element * sizeof(T), section, are};
}

inline constexpr std::uint32_t max_exponent = 22;  ///< 10^22 is the last power of ten that an f64 has
/// 10^n, exactly for n up to max_exponent.
constexpr SPMVPACK_HOST_DEVICE double power_of_ten(std::uint32_t n) noexcept {
  double power = 1;
  for (; n != 0; --n) power *= 10;
  return power;
}

inline constexpr std::array<double, max_exponent + 1> powers_of_ten = [] {
  std::array<double, max_exponent + 1> all{};
  for (std::uint32_t n = 0; n <= max_exponent; ++n) all[n] = power_of_ten(n);
  return all;
}();

/// The value's bits, which a NaN keeps. `section`: where the slot's section begins.
template <class T>
SPMVPACK_HOST_DEVICE bits_of<T> read_value(const std::byte* section, const ValueSlot& slot) noexcept {
  bits_of<T> bits = 0;
  if (slot.are == ValuesAre::computed) {
    std::int32_t integer = 0;
    std::memcpy(&integer, section + slot.byte, sizeof integer);
#ifdef __CUDA_ARCH__
    const double power = power_of_ten(slot.exponent);
#else
    const double power = powers_of_ten[slot.exponent];
#endif
    const T value = static_cast<T>(integer / power);
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  std::memcpy(&bits, section + slot.byte, sizeof bits);
  return slot.change == Change::negate ? bits ^ ValueTraits<T>::sign_bits : bits;
}

/// Gives an entry another value. False, and nothing is written, if its slot is not its own, or if the value would make
/// it another pattern: where bits say whether a slot has an entry, +0 remains +0, and others do not become it.
template <class T>
SPMVPACK_HOST_DEVICE bool write_value(std::byte* section, const ValueSlot& slot, bits_of<T> bits) noexcept {
  if (slot.are != ValuesAre::own) return false;
  if (slot.holds_by_bits && (read_value<T>(section, slot) == 0) != (bits == 0)) return false;
  std::memcpy(section + slot.byte, &bits, sizeof bits);
  return true;
}

}  // namespace spmvpack::layouts
