#include "spmvpack/container/matrix/assemble.hpp"

#include <fmt/format.h>

#include "spmvpack/container/matrix/triplets.hpp"

namespace spmvpack {

template <class Index, class Value>
SourceMatrix assemble(std::uint64_t rows, std::uint64_t cols, std::span<const Index> row_idx,
                      std::span<const Index> col_idx, std::span<const Value> values, int threads,
                      std::uint64_t memory_limit) {
  const MemoryScope memory(memory_limit, "assembling a matrix");
  if (row_idx.size() != values.size() || col_idx.size() != values.size())
    throw Error(errc::usage, fmt::format("{} rows, {} columns and {} values of entries", row_idx.size(), col_idx.size(),
                                         values.size()));
  // Negative indices become too large.
  const auto index = [](Index i) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(i)); };
  return assemble_lists<Value>(
      {.rows = rows, .cols = cols, .entries = values.size(), .field = field_of(value_type_of<Value>)},
      [&](std::uint64_t k) { return index(row_idx[k]); }, [&](std::uint64_t k) { return index(col_idx[k]); },
      [&](std::uint64_t k) { return values[k]; }, {threads, memory_limit, {}});
}

#define SPMVPACK_ASSEMBLE(Value, Index)                                                                        \
  template SourceMatrix assemble(std::uint64_t, std::uint64_t, std::span<const Index>, std::span<const Index>, \
                                 std::span<const Value>, int, std::uint64_t);
SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_ASSEMBLE, std::int32_t)
SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_ASSEMBLE, std::uint32_t)
SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_ASSEMBLE, std::int64_t)

SourceMatrix assemble(const CsrView& a, int threads, std::uint64_t memory_limit) {
  const MemoryScope memory(memory_limit, "assembling a matrix");
  static_cast<void>(a.columns_increase(threads));  // checks everything else
  return dispatch_any(a.value_type(), [&]<class T>(T) {
    return assemble_lists<T>(
        {.rows = a.rows(), .cols = a.cols(), .entries = a.nnz(), .field = field_of(value_type_of<T>)},
        [&](std::uint64_t k) { return a.row_of(k); }, [&](std::uint64_t k) { return std::uint64_t{a.col_idx()[k]}; },
        [&](std::uint64_t k) { return a.values<T>()[k]; }, {threads, memory_limit, {}});
  });
}

}  // namespace spmvpack
