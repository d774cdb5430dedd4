#pragma once
/// Layout `dia`: diagonals (Bell, Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA, NVR-2008-004, section
/// 3.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/stored_zeros.hpp"

namespace spmvpack::layouts::dia {

enum Section : std::uint8_t { section_offsets = 0, section_values = 1, section_stored_zeros = 2 };

constexpr std::uint64_t diagonals_of(const PartInfo& part) noexcept { return part.counts[section_offsets]; }
/// Slot r of diagonal d is element d * rows + r.
inline std::uint64_t slots_of(const PartInfo& part) {
  return checked_mul(part.rows.count, diagonals_of(part), "slots of dia");
}
inline constexpr std::array<SectionDescription, 3> sections{{
    {"offsets", Element::u64},
    {"values", Element::value, slots_of},
    {"stored_zeros", Element::u64, nullptr, 16, 0},
}};

/// The number of an entry's diagonal in `offsets`, counted from the lower left corner: 0 to rows + cols - 2.
constexpr SPMVPACK_HOST_DEVICE std::uint64_t offset_of(std::uint64_t row, std::uint64_t column,
                                                       std::uint64_t rows) noexcept {
  return column + rows - 1 - row;
}
/// The column of that diagonal in `row`; at least the number of columns if there is none.
constexpr SPMVPACK_HOST_DEVICE std::uint64_t column_of(std::uint64_t row, std::uint64_t offset,
                                                       std::uint64_t rows) noexcept {
  return offset + row - (rows - 1);
}

/// A part's diagonals, in host or device memory.
struct View {
  const std::uint64_t* offsets;
  std::uint64_t count, rows, cols;

  /// Calls f(element of `values`, column) for the slots of a row that have a column, from left to right.
  template <class F>
  SPMVPACK_HOST_DEVICE void each_slot(std::uint64_t row, F&& f) const {
    // Offsets rise, and so do the columns: the first diagonal that has one.
    std::uint64_t d = 0;
    for (std::uint64_t n = count; n != 0;) {
      const std::uint64_t half = n / 2;
      const bool before = offsets[d + half] < rows - 1 - row;
      d += before ? half + 1 : 0;
      n = before ? n - half - 1 : half;
    }
    for (; d < count && column_of(row, offsets[d], rows) < cols; ++d)
      f(d * rows + row, static_cast<std::uint32_t>(column_of(row, offsets[d], rows)));
  }
};
inline View view(const PartView& part) {
  return {part.get<std::uint64_t>("offsets").data(), diagonals_of(part.info()), part.rows(), part.cols()};
}

/// A unit is a row, and every entry has a value of its own.
template <class T>
struct Entries {
  View v;
  HeldSlots<T> slots;

  static Entries of(const PartView& part) { return {view(part), HeldSlots<T>::of(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.rows; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return 0; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    auto&& put = begin(static_cast<std::uint32_t>(unit), first_run);
    std::uint32_t i = 0, next = lane;
    v.each_slot(unit, [&](std::uint64_t element, std::uint32_t column) {
      if (!slots.has_entry(element)) return;
      if (i++ != next) return;
      put(next, column, slots.slot_of(section_values, element));
      next += lanes;
    });
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each_run(std::uint64_t unit, F&& f) const {
    std::uint32_t n = 0;
    v.each_slot(unit, [&](std::uint64_t element, std::uint32_t /*column*/) { n += slots.has_entry(element) ? 1 : 0; });
    f(static_cast<std::uint32_t>(unit), first_run, n);
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::dia
