#pragma once
// Checks rows of slots, whatever their geometry.

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <optional>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows_check.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::padded_rows {

inline constexpr std::uint64_t rows_per_task = 1024;

/// By the violations' numbers; of a row, its step, the part's rows.
inline constexpr std::array<ViolationText, 5> texts{{{"col_idx", "row {0}, slot {1}: a column out of range"},
                                                     {"col_idx", "row {0}, slot {1}: columns do not rise"},
                                                     {"col_idx", "row {0}, slot {1}: an entry after padding"},
                                                     {"values", "row {0}, slot {1}: padding with a value"},
                                                     {"col_idx", "an entry in row {0} of {2}"}}};
static_assert(texts.size() == number_of(row_out_of_range));

/// Checks the first `lanes` rows of the geometry, of which those from part.rows() on are empty, and that there are as
/// many entries as the part table says, `width` of them in the longest row (none: any number). Columns rise by
/// order[column], if there is an order.
template <class Geometry>
void check(const PartView& part, const Geometry& geometry, std::uint64_t lanes, std::optional<std::uint64_t> width,
           int threads, const std::uint32_t* order = nullptr) {
  std::atomic<std::uint64_t> longest{0};
  if (part.get<std::uint32_t>("col_idx").empty()) lanes = 0;  // rows without slots, of which a small file may have many
  dispatch(part.info().value_type, [&]<class T>(T) {
    const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
    const T* const values = part.get<T>("values").data();
    const RowSizes sizes{part.rows(), part.cols(), order};
    check_pieces(part, lanes, rows_per_task, threads, [&](std::uint64_t r) {
      const RowCheck row = check_row(columns, values, geometry(r), r, sizes);
      require_sound(row.found, part, texts, r, row.step, sizes.rows);
      std::uint64_t known = longest;
      while (known < row.entries && !longest.compare_exchange_weak(known, row.entries)) {
      }
      return row.entries;
    });
  });
  part.require(!width || longest == *width, {},
               [&] { return fmt::format("no row has the width of {} entries", *width); });
}

}  // namespace spmvpack::layouts::padded_rows
