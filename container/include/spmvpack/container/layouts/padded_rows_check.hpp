#pragma once
/// What a row of slots must be like in ell, ellpack_r, sell and pjds, for host and device. Reads nothing outside the
/// slots of its geometry, which must be right.

#include <cstring>

#include "spmvpack/container/base/types.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::padded_rows {

enum Violation : std::uint32_t {
  sound = 0,
  column_out_of_range = violation(1, 0),
  columns_fall = violation(2, 1),
  entry_after_padding = violation(3, 2),
  padding_with_value = violation(4, 3),
  row_out_of_range = violation(5, 2),
};

/// Further kinds of violations, besides those of rows: for totals, for a geometry, and the first for a layout's own.
inline constexpr std::uint32_t kind_of_totals = 4, kind_of_geometry = 5, own_kind = 6;

/// What a row of a part is checked against.
struct RowSizes {
  std::uint64_t rows, cols;
  const std::uint32_t* order;  ///< columns rise by order[column]; null: by themselves
};

/// What check_row() finds first, at which step of the row, and the row's entries up to there.
struct RowCheck {
  Violation found = sound;
  std::uint64_t step = 0, entries = 0;
};

/// Entries, whose columns rise and are in range, then padding of value 0. Rows that the part does not have are empty.
template <class T, class Row>
SPMVPACK_HOST_DEVICE RowCheck check_row(const std::uint32_t* columns, const T* values, const Row& row, std::uint64_t r,
                                        const RowSizes& n) {
  RowCheck check;
  std::uint32_t before = 0;
  for (; row.has(check.step); ++check.step) {
    const std::uint64_t slot = row.slot(check.step);
    const std::uint32_t column = columns[slot];
    if (column == no_column) {
      bits_of<T> bits = 0;
      std::memcpy(&bits, values + slot, sizeof bits);
      if (bits != 0) check.found = padding_with_value;
    } else if (check.entries != check.step) {
      check.found = entry_after_padding;
    } else if (r >= n.rows) {
      check.found = row_out_of_range;
    } else if (column >= n.cols) {
      check.found = column_out_of_range;
    } else {
      const std::uint32_t place = n.order != nullptr ? n.order[column] : column;
      if (check.step != 0 && place <= before) check.found = columns_fall;
      before = place;
      ++check.entries;
    }
    if (check.found != sound) break;
  }
  return check;
}

}  // namespace spmvpack::layouts::padded_rows
