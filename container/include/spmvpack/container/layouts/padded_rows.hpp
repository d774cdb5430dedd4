#pragma once
/// What ell, ellpack_r, sell and pjds share: rows of slots, the entries first, then padding. They differ in where the
/// slots of a row are, which their *geometry* computes: geometry(row).has(step) and geometry(row).slot(step).

#include <cstdint>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts {

/// The column of a slot that holds no entry. No matrix has so many columns.
inline constexpr std::uint32_t no_column = 0xFFFFFFFF;

/// A row whose slots are a fixed distance apart.
struct StridedRow {
  std::uint64_t first, stride, width;
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool has(std::uint64_t step) const noexcept { return step < width; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t slot(std::uint64_t step) const noexcept {
    return first + step * stride;
  }
};

/// ell: slot s of all rows, then slot s + 1.
struct EllGeometry {
  std::uint64_t rows, width;
  SPMVPACK_HOST_DEVICE StridedRow operator()(std::uint64_t row) const noexcept { return {row, rows, width}; }
  /// How many rows from `row` on have their slots side by side, and equally many.
  [[nodiscard]] std::uint64_t together(std::uint64_t row) const noexcept { return rows - row; }
};

/// ellpack_r: as ell, but a row ends with its last entry.
struct EllpackRGeometry {
  const std::uint32_t* row_len;
  std::uint64_t rows;
  SPMVPACK_HOST_DEVICE StridedRow operator()(std::uint64_t row) const noexcept { return {row, rows, row_len[row]}; }
};

/// sell: slices of `slice_rows` rows, each like a small ell.
struct SellGeometry {
  const std::uint32_t* slice_ptr;
  std::uint32_t slice_rows;
  SPMVPACK_HOST_DEVICE StridedRow operator()(std::uint64_t row) const noexcept {
    const auto slice = static_cast<std::uint32_t>(row) / slice_rows,
               lane = static_cast<std::uint32_t>(row) % slice_rows;
    const std::uint32_t begin = slice_ptr[slice];
    return {std::uint64_t{begin} * slice_rows + lane, slice_rows, std::uint64_t{slice_ptr[slice + 1]} - begin};
  }
  [[nodiscard]] std::uint64_t together(std::uint64_t row) const noexcept { return slice_rows - row % slice_rows; }
};

/// pjds: jagged columns, each of the rows from the first on.
struct JaggedRow {
  const std::uint64_t* col_start;
  std::uint64_t row, width;
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool has(std::uint64_t step) const noexcept {
    return step < width && slot(step) < col_start[step + 1];
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t slot(std::uint64_t step) const noexcept {
    return col_start[step] + row;
  }
};
struct PjdsGeometry {
  const std::uint64_t* col_start;
  std::uint64_t width;
  std::uint64_t block_rows;  ///< b_r of Kreutzer et al., section 2.1
  SPMVPACK_HOST_DEVICE JaggedRow operator()(std::uint64_t row) const noexcept { return {col_start, row, width}; }
  [[nodiscard]] std::uint64_t together(std::uint64_t row) const noexcept { return block_rows - row % block_rows; }
};

/// Entries of a row: the slots before the first without one.
template <class Row>
SPMVPACK_HOST_DEVICE std::uint64_t row_entries(const std::uint32_t* columns, const Row& row) {
  std::uint64_t n = 0;
  while (row.has(n) && columns[row.slot(n)] != no_column) ++n;
  return n;
}

/// What Entries<T> of these layouts share: a unit is a row, and every entry has a value of its own.
template <class T, class Geometry, std::uint8_t section_values>
struct PaddedEntries {
  Geometry geometry;
  const std::uint32_t* columns;
  std::uint64_t rows;

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return rows; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return 0; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    const auto row = geometry(unit);
    auto&& put = begin(static_cast<std::uint32_t>(unit), first_run);
    for (std::uint32_t i = lane; row.has(i) && columns[row.slot(i)] != no_column; i += lanes)
      put(i, columns[row.slot(i)], element_slot<T>(section_values, row.slot(i)));
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each_run(std::uint64_t unit, F&& f) const {
    f(static_cast<std::uint32_t>(unit), first_run, static_cast<std::uint32_t>(row_entries(columns, geometry(unit))));
  }
};

}  // namespace spmvpack::layouts
