#pragma once
/// The values of a matrix from those of a list of entries, again and again: finite elements add up what each has for an
/// entry, and only the values differ from one time to the next.

#include <cstdint>
#include <span>
#include <variant>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack {

/// Error(errc::usage) unless so many values, or none, fit the list, and there is room for the matrix's.
SPMVPACK_EXPORT void require_sum_sizes(std::uint64_t list, std::uint64_t list_size, std::uint64_t values,
                                       std::uint64_t nnz);

/// What becomes of the values that a matrix has.
enum class InsertMode : std::uint8_t { insert, add };

/// Where each entry of a matrix finds its values in a list of (row, column) pairs. A pair with a negative index is
/// ignored, and so is its value. The values of a pair that the list repeats are added up in the order of the list,
/// whatever the mode. Plain data.
struct AssemblyMap {
  std::uint64_t rows = 0, cols = 0, list_size = 0;
  Array<std::uint64_t> row_ptr;  ///< the matrix's, as CsrMatrix has them
  Array<std::uint32_t> col_idx;
  /// Entry k of the matrix sums values[position[i]] of the list, i = first[k], ..., first[k + 1] - 1.
  Array<std::uint64_t> first;
  std::variant<Array<std::uint32_t>, Array<std::uint64_t>> position;  ///< of 64 bits from lists of 2^32 pairs on

  [[nodiscard]] std::uint64_t nnz() const noexcept { return col_idx.size(); }

  /// For the matrix whose entries are the pairs of the list. Index: std::int32_t or std::int64_t. Errors: errc::usage
  /// (arrays of different lengths); errc::bad_input (an index that is too large, with its place in the list);
  /// errc::unsupported (2^32 - 1 rows or columns and more). Parallel, but for two passes over the list.
  template <class Index>
  SPMVPACK_EXPORT static AssemblyMap of(std::uint64_t rows, std::uint64_t cols, std::span<const Index> row_idx,
                                        std::span<const Index> col_idx, int threads = 0);
  /// For a matrix with this pattern, which may have entries that the list does not name. Errors: as above;
  /// errc::bad_input, too, if the list names an entry that the pattern does not have.
  template <class Index>
  SPMVPACK_EXPORT static AssemblyMap of(const CsrView& pattern, std::span<const Index> row_idx,
                                        std::span<const Index> col_idx, int threads = 0);

  /// Writes the values of the matrix, in the order of its CSR, to `values`. With InsertMode::add, they are added to
  /// what is there. Entries that the list does not name become +0, or with `add` stay as they are. `list`: list_size
  /// values; or none, which means zeros. An entry that the list names once has the bits of its value; -0 is no zero
  /// that is added first. T: double or float. Error(errc::usage) if a size is wrong.
  template <class T>
  SPMVPACK_EXPORT void sum(std::span<const T> list, std::span<T> values, InsertMode mode = InsertMode::insert,
                           int threads = 0) const;
};

}  // namespace spmvpack
