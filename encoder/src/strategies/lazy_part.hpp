#pragma once
// Parts that a strategy copies out of the matrix.

#include <functional>
#include <memory>

#include "spmvpack/container/array.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::strategy {

/// The entries of a part, of which only the row pointers exist at first. They are enough for planning the layouts that
/// look at row lengths alone; the entries are copied when the first of them is written, so that a report copies none.
struct LazyPart {
  PartIndices rows, cols;
  Array<std::uint64_t> row_ptr;
  /// Writes columns and values. Called once.
  std::function<void(CsrMatrix& part)> copy;
};

/// Plans such a part. The layout's plan must not look at columns or values.
PartPlan plan_part(std::string_view layout, LazyPart part, ValueType type, const PlanOptions& options);

/// Copies entries of `rows` into `to`: of each as many as it has in to.row_ptr, from entry `first` on.
void copy_rows(const CsrView& a, const PartIndices& rows, std::uint64_t first, CsrMatrix& to, int threads);

/// A part with a copy of its entries, for plans that look at them: of `rows`, those with entries in row_ptr, complete.
PartMatrix copied_rows(const CsrView& a, PartIndices rows, Array<std::uint64_t> row_ptr, int threads);

/// The rows of more than `length` entries, with a copy of them.
PartMatrix longer_rows(const CsrView& a, std::uint64_t length, int threads);

}  // namespace spmvpack::encoder::strategy
