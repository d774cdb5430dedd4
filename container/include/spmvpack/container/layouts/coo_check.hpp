#pragma once
/// What an entry of coo must be like, for host and device.

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::coo {

enum Violation : std::uint32_t {
  sound = 0,
  row_out_of_range = violation(1, 0),
  column_out_of_range = violation(2, 1),
  not_after_last = violation(3, 2),
};

/// Rows and columns of the entries of a part with so many of either.
struct Indices {
  const std::uint32_t *row_idx, *col_idx;
  std::uint64_t rows, cols;
};

/// Entry i is in range, and after the one before it.
inline SPMVPACK_HOST_DEVICE Violation check_entry(const Indices& e, std::uint64_t i) {
  const std::uint32_t row = e.row_idx[i], column = e.col_idx[i];
  if (row >= e.rows) return row_out_of_range;
  if (column >= e.cols) return column_out_of_range;
  if (i == 0 || row > e.row_idx[i - 1]) return sound;
  return row == e.row_idx[i - 1] && column > e.col_idx[i - 1] ? sound : not_after_last;
}

}  // namespace spmvpack::layouts::coo
