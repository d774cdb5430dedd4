#pragma once
/// What one quick pass over a matrix finds: enough for lower bounds on its plans (Traits::least).

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::encoder {

struct Survey {
  static constexpr std::uint32_t far_columns = 8, segment_columns = 65536, slice_rows = 32;

  CsrView a;
  std::shared_ptr<const ValueTable> values;
  std::uint64_t longest_row = 0, filled_rows = 0;  ///< filled: with entries
  std::uint64_t slice_slots = 0;                   ///< rows times the longest row, of each slice of slice_rows; the sum
  std::uint64_t far_apart = 0;      ///< entries that begin a row, or are far_columns and more behind the one before
  std::uint64_t pieces = 0;         ///< of rows, cut into segments of segment_columns
  std::uint64_t shared_pieces = 0;  ///< of rows that have several
  /// Columns, segments and diagonals with entries in a sample of the rows, one of 64 or fewer: the matrix has at least
  /// as many.
  std::uint64_t columns = 0, segments = 0, diagonals = 0;
  bool fewest_bytes = false;  ///< whether plans are to take the fewest bytes, not the least time
  Device device = {};         ///< of the aim
};

/// O(nnz), parallel; the result does not depend on the number of threads.
SPMVPACK_EXPORT Survey survey_of(const CsrView& a, std::shared_ptr<const ValueTable> values, int threads = 0);

}  // namespace spmvpack::encoder
