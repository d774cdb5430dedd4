#pragma once
/// Matrices in the formats that other libraries multiply, with 32-bit indices.

#include <optional>

#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::bench {

/// The row of each entry.
Array<std::int32_t> coo_rows(const CsrView& a, int threads = 0);

/// Sliced ELL: slices of 32 rows, each as wide as its longest row, entries column by column; padding has the column -1
/// and the value 0.
template <class T>
struct SlicedEll {
  static constexpr std::uint64_t slice = 32;
  Array<std::int32_t> offsets;  ///< where a slice starts; slices + 1
  Array<std::int32_t> columns;
  Array<T> values;
};
/// Nothing if it would take more than `limit` slots, or more than 2^31 - 1.
template <class T>
std::optional<SlicedEll<T>> sliced_ell(const CsrView& a, std::uint64_t limit, int threads = 0);

/// Block CSR: blocks of size x size, row by row within a block; entries that the matrix does not have are 0. Rows and
/// columns are rounded up to whole blocks.
template <class T>
struct BlockCsr {
  std::uint64_t size = 0;
  Array<std::int32_t> row_ptr;  ///< block rows + 1
  Array<std::int32_t> columns;  ///< block columns, rising within a row
  Array<T> values;              ///< size * size for each
};
/// The most values that BlockCsr may store without taking more than `times` the bytes of CSR with 32-bit row pointers.
std::uint64_t block_value_limit(const CsrView& a, std::uint64_t size, std::uint64_t times);
/// Nothing if it would store more than `limit` values, or more than 2^31 - 1.
template <class T>
std::optional<BlockCsr<T>> block_csr(const CsrView& a, std::uint64_t size, std::uint64_t limit, int threads = 0);

}  // namespace spmvpack::bench
