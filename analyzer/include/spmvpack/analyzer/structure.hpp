#pragma once
/// The structure of a matrix: sizes, row lengths, bandwidth, symmetry, values.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::analyzer {

/// The distribution of row lengths (entries per row); all 0 for a matrix without rows.
struct RowLengths {
  static constexpr std::array<int, 6> ranks{10, 25, 50, 75, 90, 99};

  std::uint64_t min = 0, max = 0;
  double mean = 0;
  /// Nearest-rank percentiles: the smallest length that at least ranks[i] per cent of the rows do not exceed.
  std::array<std::uint64_t, ranks.size()> percentiles{};
  /// Rows by length: [0] counts length 0, [b] lengths 2^(b-1) to 2^b - 1. The last bin holds the longest row.
  std::vector<std::uint64_t> histogram;
  /// Rows by length relative to the longest: [b] counts lengths above b / 16 of it, up to (b + 1) / 16; [0] also rows
  /// without entries. Figure 3 of Kreutzer et al., Sparse Matrix-vector Multiplication on GPGPU Clusters.
  std::array<std::uint64_t, 16> relative{};
};

/// How far a square matrix is from symmetric, in off-diagonal entries. Two entries are equal if they compare equal (-0
/// and 0 do) or have the same bits (so that a NaN equals itself).
struct SymmetryCounts {
  std::uint64_t off_diagonal = 0;  ///< entries (i, j), i != j
  std::uint64_t mirrored = 0;      ///< of these, those whose mirror (j, i) is an entry, too
  std::uint64_t equal = 0;         ///< of these, those whose mirror has the same value
  std::uint64_t negated = 0;       ///< of these, those whose mirror has the negated value
  std::uint64_t conjugated = 0;    ///< of these, those whose mirror has the conjugate value; 0 of real matrices
  bool zero_diagonal = true;       ///< the diagonal's entries, if any, are all zero
  bool real_diagonal = false;      ///< the matrix is complex, and the diagonal's entries, if any, are real

  [[nodiscard]] bool pattern_symmetric() const noexcept { return mirrored == off_diagonal; }
  [[nodiscard]] bool symmetric() const noexcept { return equal == off_diagonal; }
  [[nodiscard]] bool skew_symmetric() const noexcept { return negated == off_diagonal && zero_diagonal; }
  [[nodiscard]] bool hermitian() const noexcept { return conjugated == off_diagonal && real_diagonal; }
};

struct Structure {
  std::uint64_t rows = 0, cols = 0, nnz = 0;
  ValueType value_type = ValueType::f64;
  std::optional<double> density;  ///< nnz / (rows cols); unset if there are no rows or columns

  RowLengths row_lengths;
  std::uint64_t empty_rows = 0, empty_cols = 0;
  std::uint64_t lower_bandwidth = 0;  ///< the largest i - j of an entry, at least 0
  std::uint64_t upper_bandwidth = 0;  ///< the largest j - i of an entry, at least 0
  std::uint64_t diagonal_entries = 0;
  std::optional<SymmetryCounts> symmetry;  ///< unset if the matrix is not square

  std::shared_ptr<const encoder::ValueTable> values;
  std::uint64_t explicit_zeros = 0;  ///< entries of value +0 or -0
  std::uint64_t not_finite = 0;      ///< entries that are infinite or NaN
};

/// Analyzes `a`; `values` is its value table, which is counted here if null. O(nnz log(longest row)), parallel; the
/// result does not depend on the number of threads. Needs one bit per column besides the matrix:
/// Error(errc::out_of_memory) if both exceed `memory_limit` bytes (0: if the bits alone exceed available_memory()).
SPMVPACK_EXPORT Structure analyze(const CsrView& a, int threads = 0,
                                  std::shared_ptr<const encoder::ValueTable> values = nullptr,
                                  std::uint64_t memory_limit = 0);

}  // namespace spmvpack::analyzer
