#pragma once
/// How the entries of a part are visited, for host and device: unpacking, reading and changing values go by it alone.
/// Each layout has a type `Entries<T>`, T the type of its values, of parts that have been checked:
///
///     static Entries of(const PartView& part);  // whose sections may be in any memory
///     std::uint64_t units() const;              // what threads take one by one: rows, chunks, slices or packets
///     std::uint64_t runs() const;
///     template <class Begin>
///     void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const;
///
/// A *run* is an uninterrupted piece of a row in a unit. If the row begins in the unit, the run is `first_run`; other
/// runs have a number below runs(), and those of a row rise from left to right. each() calls begin(row, run) for the
/// runs of a unit, and what that returns with (index, column, slot) for the run's entries, whose indices count from 0.
/// Of several lanes, each takes some of the unit's entries, and all together take all; neighbouring lanes take
/// neighbouring slots at the same time, as far as the layout has them side by side. Where counting is quicker than
/// visiting there is also each_run(unit, f), which calls f(row, run, entries).

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts {

/// Needs no number, as no entry of the row comes before it.
inline constexpr std::uint64_t first_run = ~std::uint64_t{0};

/// The places of runs in CSR. entry_order.hpp makes the arrays, which may be in any memory.
struct EntryOrder {
  const std::uint64_t* row_ptr;  ///< of the part as CSR
  const std::uint32_t* before;   ///< of each run, the row's entries in runs before it

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t first(std::uint32_t row, std::uint64_t run) const {
    return row_ptr[row] + (run == first_run ? 0 : before[run]);
  }
};

/// The bytes of a part's sections in any memory, by their places in Layout::sections. Byte: std::byte, or const.
template <class Byte>
struct SectionBytes {
  Byte* begin[max_layout_sections] = {};  // NOLINT(*-avoid-c-arrays): shared with kernels

  /// The value's bits.
  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE bits_of<T> read(const ValueSlot& slot) const noexcept {
    return read_value<T>(begin[slot.section], slot);
  }
  /// False if the value is not the entry's own, or would make it another pattern (write_value()).
  template <class T>
  SPMVPACK_HOST_DEVICE bool write(const ValueSlot& slot, bits_of<T> bits) const noexcept {
    return write_value<T>(begin[slot.section], slot, bits);
  }
};
SPMVPACK_EXPORT SectionBytes<const std::byte> section_bytes(const PartView& part);

}  // namespace spmvpack::layouts
