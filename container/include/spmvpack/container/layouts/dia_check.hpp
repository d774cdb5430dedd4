#pragma once
/// What a part of dia must be like, for host and device. Reads nothing outside `offsets`.

#include "spmvpack/container/layouts/dia.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::dia {

enum Violation : std::uint32_t {
  sound = 0,
  outside_matrix = violation(1, 0),
  offsets_fall = violation(2, 0),
  value_without_column = violation(3, 1),
};

/// Diagonal i is in the matrix, and after the one before it. A part without rows or columns has none.
inline SPMVPACK_HOST_DEVICE Violation check_diagonal(const View& v, std::uint64_t i) {
  // The last one is that of the upper right corner.
  if (v.rows == 0 || v.cols == 0 || v.offsets[i] > offset_of(0, v.cols - 1, v.rows)) return outside_matrix;
  return i != 0 && v.offsets[i] <= v.offsets[i - 1] ? offsets_fall : sound;
}

/// Where a row has an entry of diagonal i, it has a column.
inline SPMVPACK_HOST_DEVICE Violation check_entry(const View& v, std::uint64_t row, std::uint64_t i) {
  return column_of(row, v.offsets[i], v.rows) < v.cols ? sound : value_without_column;
}

}  // namespace spmvpack::layouts::dia
