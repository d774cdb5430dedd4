#pragma once
/// What dia and amb share: slots without an entry are +0, and a list names the entries that are +0, too.

#include <algorithm>

#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts {

/// Whether slots of `values` hold entries. Those of the list are +0, others are not: write_value() keeps it so.
template <class T>
struct HeldSlots {
  const T* values;
  const std::uint64_t* zeros;  ///< rising
  std::uint64_t zero_count;

  static HeldSlots of(const PartView& part) {
    const auto zeros = part.find("stored_zeros") == nullptr ? std::span<const std::uint64_t>{}
                                                            : part.get<std::uint64_t>("stored_zeros");
    return {part.get<T>("values").data(), zeros.data(), zeros.size()};
  }
  /// Whether any bit of the value is set.
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool is_filled(std::uint64_t slot) const {
    bits_of<T> bits = 0;
    std::memcpy(&bits, values + slot, sizeof bits);
    return bits != 0;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool has_entry(std::uint64_t slot) const {
    return is_filled(slot) || std::binary_search(zeros, zeros + zero_count, slot);
  }
  /// Element `slot` of `values`, the place of that section in Layout::sections.
  static constexpr SPMVPACK_HOST_DEVICE ValueSlot slot_of(std::uint8_t section, std::uint64_t slot) noexcept {
    ValueSlot of = element_slot<T>(section, slot);
    of.holds_by_bits = true;
    return of;
  }
};

}  // namespace spmvpack::layouts
