#pragma once
// Parts that a strategy copies out of the matrix.

#include <memory>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::strategy {

/// Rows that a thread takes at a time.
inline constexpr std::uint64_t rows_per_task = 1U << 14;

/// The entries of a part: of each of its rows those in its columns, or some of them.
struct Cut {
  PartIndices rows, cols;
  Array<std::uint64_t> row_ptr;
  std::uint64_t first = 0;  ///< if it has all columns: of each row, the entries before the part's
  /// If its columns are a list: of each column of the matrix its place in an order, in which the part's come from
  /// `begin` on. Rows are sorted by place.
  std::shared_ptr<const CountedVector<std::uint32_t>> place = {};
  std::uint64_t begin = 0;
  /// If it has the entries whose row and column are in different groups: the group of each, of a square matrix.
  std::shared_ptr<const CountedVector<std::uint32_t>> group = {};
};

/// The part with a copy of its entries, for plans that look at them.
PartMatrix copied_part(const CsrView& a, Cut cut, int threads);

/// Plans a part of which only the row pointers exist at first: the layout's plan must not look at columns or values.
/// The entries are copied when the first of them is written, so that a report copies none.
PartPlan plan_part(const LayoutEncoder& layout, Cut cut, ValueType type, const PlanOptions& options);

/// The rows of more than `length` entries, with a copy of them.
PartMatrix longer_rows(const CsrView& a, std::uint64_t length, int threads);

}  // namespace spmvpack::encoder::strategy
