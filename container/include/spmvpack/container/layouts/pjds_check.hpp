#pragma once
/// What a part of pjds must be like beside its rows (padded_rows_check.hpp), for host and device. Once check_ends(),
/// and check_column() of all jagged columns, have found nothing, neither check_length() nor what looks at rows reads
/// anything outside the part's sections.

#include "spmvpack/container/layouts/padded_rows_check.hpp"

namespace spmvpack::layouts::pjds {

enum Violation : std::uint32_t {
  sound = 0,
  wrong_ends = violation(1, padded_rows::kind_of_geometry),
  bad_length = violation(2, padded_rows::kind_of_geometry),
  ends_in_block = violation(3, padded_rows::kind_of_geometry),
  padded_first_row = violation(4, padded_rows::own_kind),
  rows_rise = violation(5, padded_rows::own_kind),
};

/// Jagged columns begin with the slots, and end where these do.
inline SPMVPACK_HOST_DEVICE Violation check_ends(const PjdsGeometry& g, std::uint64_t slots) {
  return g.col_start[0] == 0 && g.col_start[g.width] == slots ? sound : wrong_ends;
}

/// Jagged column s of a part with so many rows is not empty, not longer than the one before it, and of whole blocks of
/// rows, or of all rows.
inline SPMVPACK_HOST_DEVICE Violation check_column(const PjdsGeometry& g, std::uint64_t rows, std::uint64_t s) {
  const std::uint64_t length = g.col_start[s + 1] - g.col_start[s];  // a fall makes it longer than the rows
  const std::uint64_t before = s == 0 ? rows : g.col_start[s] - g.col_start[s - 1];
  if (length == 0 || length > before) return bad_length;
  return length == rows || length % g.block_rows == 0 ? sound : ends_in_block;
}

/// Row r of so many is not shorter than the next, and has no padding if it is the first of its block.
inline SPMVPACK_HOST_DEVICE Violation check_length(const PjdsGeometry& g, const std::uint32_t* columns,
                                                   std::uint64_t rows, std::uint64_t r) {
  const JaggedRow row = g(r), next = g(r + 1);
  const std::uint64_t length = row_entries(columns, row);
  if (r % g.block_rows == 0 && row.has(length)) return padded_first_row;
  return r + 1 != rows && next.has(length) && columns[next.slot(length)] != no_column ? rows_rise : sound;
}

}  // namespace spmvpack::layouts::pjds
