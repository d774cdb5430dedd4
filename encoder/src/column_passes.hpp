#pragma once
// From the work of one column to that of several.

#include <cstdint>
#include <string_view>
#include <vector>

#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

/// How a multiply of all of an aim's columns takes them.
struct ColumnPasses {
  std::uint64_t passes = 1;   ///< over the matrix
  std::uint64_t further = 0;  ///< columns beyond the first of each pass
};
/// If so many are taken at once. Error(errc::usage) if the aim has none, or too many.
ColumnPasses passes_of(std::uint64_t at_once, const Aim& aim);

/// How the aim's machine multiplies columns of a part in a layout, with so many entries: as `gpu` says, or as hosts do
/// (launch_rules/columns.hpp).
ColumnsWork columns_on(const Aim& aim, std::string_view layout, std::uint64_t entries, const ColumnsWork& gpu);

/// Work in so many passes instead of one, with what passes and further columns do.
void repeat(std::vector<Counter>& work, const ColumnPasses& columns, const ColumnsWork& more);

}  // namespace spmvpack::encoder
