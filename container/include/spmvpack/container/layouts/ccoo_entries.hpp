#pragma once
/// The entries of a part of ccoo in the order of CSR, and where the value of each lies, for host and device.

#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::ccoo {

/// Of a chunk: ids name values of `lut`, others are in `blob`.
constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are(Encoding encoding) noexcept {
  return encoding.lut() ? ValuesAre::shared : ValuesAre::own;
}

/// The section of the slots of chunk c.
template <class T>
SPMVPACK_HOST_DEVICE const void* value_section(const View<T>& v, std::uint64_t c) {
  return Encoding{v.encoding[c]}.lut() ? static_cast<const void*>(v.lut) : v.blob;
}

/// A chunk's slots, read where they lie.
struct Blob {
  const std::byte *rows, *columns, *values;
  Encoding encoding;
  std::uint32_t row_base;

  template <class T>
  static SPMVPACK_HOST_DEVICE Blob of(const View<T>& v, std::uint64_t c) {
    const std::byte* const bytes = v.blob + v.blob_offset[c];
    const BlobLayout at = blob_layout(v, c);
    return {bytes, bytes + at.columns, bytes + at.values, {v.encoding[c]}, v.row_base[c]};
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t row(std::uint32_t lane) const {
    return lane_row(encoding, row_base, rows, lane);
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t offset(std::uint32_t slot) const {
    switch (encoding.column_code()) {
      case 0:
        return reinterpret_cast<const std::uint8_t*>(columns)[slot];
      case 1:
        return reinterpret_cast<const std::uint16_t*>(columns)[slot];
      default:
        return reinterpret_cast<const std::uint32_t*>(columns)[slot];
    }
  }
};

/// Whether slot `slot` holds no entry, because it repeats the row and column of the slot before it. `k`: slots of a
/// lane, a power of two. Slots: a Blob, or anything else that knows row(lane) and offset(slot), which is column -
/// col_base.
template <class Slots>
SPMVPACK_HOST_DEVICE bool is_padding(const Slots& s, std::uint32_t k, std::uint32_t slot) {
  return slot != 0 && s.offset(slot) == s.offset(slot - 1) && s.row(slot / k) == s.row((slot - 1) / k);
}

/// Calls f(row, column, slot) for the entries of chunk c, whose slots are `s`.
template <class T, class Slots, class F>
SPMVPACK_HOST_DEVICE void each_entry(const View<T>& v, std::uint64_t c, const Slots& s, F&& f) {
  const std::uint32_t count = stored_lanes(v, c) * v.slots;
  const std::uint64_t values = v.blob_offset[c] + blob_layout(v, c).values;
  const bool lut = Encoding{v.encoding[c]}.lut();
  const auto id = [&](std::uint32_t slot) {
    return v.single ? std::uint8_t{0} : static_cast<std::uint8_t>(v.blob[values + slot]);
  };
  for (std::uint32_t slot = 0; slot < count; ++slot)
    if (!is_padding(s, v.slots, slot))
      f(s.row(slot / v.slots), v.col_base[c] + s.offset(slot),
        lut ? element_slot<T>(id(slot)) : ValueSlot{values + slot * sizeof(T)});
}

}  // namespace spmvpack::layouts::ccoo
