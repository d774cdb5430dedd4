#pragma once
/// The entries of a part of ccoo, for host and device.

#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts::ccoo {

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

/// A unit is a chunk, of which lanes take its lanes in turn. The row that it continues has a run in it.
template <class T>
struct Entries {
  View<T> v;

  static Entries of(const PartView& part) { return {view<T>(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.chunks; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return v.chunks; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    const Blob blob = Blob::of(v, unit);
    with_offsets(blob, [&](const auto* offsets) {
      if (!blob.encoding.lut())
        return each_slot(blob, offsets, unit, lane, lanes, begin, [values = blob.values - v.blob](std::uint32_t slot) {
          return ValueSlot{static_cast<std::uint64_t>(values) + slot * sizeof(T), section_blob};
        });
      each_slot(blob, offsets, unit, lane, lanes, begin, [&](std::uint32_t slot) {
        const auto id = v.single ? std::uint8_t{0} : static_cast<std::uint8_t>(blob.values[slot]);
        return element_slot<T>(section_lut, id, blob.encoding.values_are());
      });
    });
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each_run(std::uint64_t unit, F&& f) const {
    const Blob blob = Blob::of(v, unit);
    with_offsets(blob, [&](const auto* offsets) {
      each_row(blob, unit, [&](std::uint32_t row, std::uint64_t run, std::uint32_t first, std::uint32_t end) {
        std::uint32_t n = 1;
        for (std::uint32_t slot = first * v.slots + 1; slot < end * v.slots; ++slot)
          n += offsets[slot] != offsets[slot - 1] ? 1 : 0;  // what repeats a column is padding
        f(row, run, n);
      });
    });
  }

 private:
  /// Calls f with the column offsets of a chunk.
  template <class F>
  static SPMVPACK_HOST_DEVICE void with_offsets(const Blob& blob, F&& f) {
    switch (blob.encoding.column_code()) {
      case 0:
        return f(reinterpret_cast<const std::uint8_t*>(blob.columns));
      case 1:
        return f(reinterpret_cast<const std::uint16_t*>(blob.columns));
      default:
        return f(reinterpret_cast<const std::uint32_t*>(blob.columns));
    }
  }
  /// Calls f(row, run, first lane, end) for the rows of a chunk.
  template <class F>
  SPMVPACK_HOST_DEVICE void each_row(const Blob& blob, std::uint64_t unit, F&& f) const {
    const std::uint32_t stored = stored_lanes(v, unit);
    for (std::uint32_t first = 0, end = 0; first < stored; first = end) {
      const std::uint32_t row = blob.row(first);
      do ++end;
      while (end < stored && blob.row(end) == row);
      f(row, first == 0 && blob.encoding.continues() ? unit : first_run, first, end);
    }
  }
  template <class Offset, class Begin, class Slot>
  SPMVPACK_HOST_DEVICE void each_slot(const Blob& blob, const Offset* offsets, std::uint64_t unit, std::uint32_t lane,
                                      std::uint32_t lanes, Begin&& begin, Slot&& value_slot) const {
    const std::uint32_t k = v.slots, col_base = v.col_base[unit];
    std::uint32_t next = lane;
    each_row(blob, unit, [&](std::uint32_t row, std::uint64_t run, std::uint32_t first, std::uint32_t end) {
      auto&& put = begin(row, run);
      std::uint32_t i = 0;
      for (std::uint32_t l = first; l < end; ++l) {
        const bool is_own = l == next;
        if (is_own) next += lanes;
        for (std::uint32_t slot = l * k; slot < (l + 1) * k; ++slot) {
          if (slot != first * k && offsets[slot] == offsets[slot - 1]) continue;  // padding
          if (is_own) put(i, col_base + offsets[slot], value_slot(slot));
          ++i;
        }
      }
    });
  }
};

}  // namespace spmvpack::layouts::ccoo
