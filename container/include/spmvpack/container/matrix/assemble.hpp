#pragma once
/// Matrices from entries in the caller's arrays, in whatever order they are.

#include <cstdint>
#include <span>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack {

/// The matrix with value values[k] in row row_idx[k] and column col_idx[k]; those of one row and column are added up in
/// the order of the list, as the Matrix Market reader does. Index is std::int32_t, std::uint32_t or std::int64_t, Value
/// double or float. Takes up to twice the memory of the matrix (`memory_limit`, 0: available_memory()); parallel, with
/// a result that does not depend on the number of threads. Its field is real, its symmetry general; the provenance
/// counts entries, duplicates and zeros. Errors: errc::usage (arrays of different lengths); errc::bad_input (an index
/// that is out of range, a sum that overflows); errc::unsupported (2^32 - 1 rows or columns and more);
/// errc::out_of_memory.
template <class Index, class Value>
SPMVPACK_EXPORT SourceMatrix assemble(std::uint64_t rows, std::uint64_t cols, std::span<const Index> row_idx,
                                      std::span<const Index> col_idx, std::span<const Value> values, int threads = 0,
                                      std::uint64_t memory_limit = 0);

/// The same for a CSR matrix whose columns do not increase, or repeat, within rows.
SPMVPACK_EXPORT SourceMatrix assemble(const CsrView& a, int threads = 0, std::uint64_t memory_limit = 0);

}  // namespace spmvpack
