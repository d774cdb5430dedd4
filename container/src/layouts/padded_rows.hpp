#pragma once
// Checks and unpacks rows of slots, whatever their geometry.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::padded_rows {

inline constexpr std::uint64_t rows_per_task = 1024;

/// Columns that rise and are in range, padding behind them that is empty. Returns the row's length.
template <class T, class Row>
std::uint64_t check_row(const PartView& part, std::uint64_t r, const Row& row, const std::uint32_t* order) {
  const auto columns = part.get<std::uint32_t>("col_idx");
  const auto values = part.get<T>("values");
  const std::uint64_t entries = row_entries(columns.data(), row);
  for (std::uint64_t step = 0; row.has(step); ++step) {
    const std::uint64_t slot = row.slot(step);
    const std::uint32_t column = columns[slot];
    const auto require = [&](bool ok, std::string_view section, std::string_view what) {
      part.require(ok, section, [&] { return fmt::format("row {}, slot {}: {}", r, step, what); });
    };
    if (step >= entries) {
      require(column == no_column, "col_idx", "an entry after padding");
      require(std::bit_cast<bits_of<T>>(values[slot]) == 0, "values", "padding with a value");
      continue;
    }
    require(column < part.cols(), "col_idx", "a column out of range");
    if (step == 0) continue;
    const std::uint32_t before = columns[row.slot(step - 1)];
    require(order != nullptr ? order[column] > order[before] : column > before, "col_idx", "columns do not rise");
  }
  return entries;
}

/// Checks the first `lanes` rows of the geometry, of which those from part.rows() on are empty, and that there are as
/// many entries as the part table says. Columns rise by order[column], if there is an order. Returns the entries of the
/// longest row.
template <class Geometry>
std::uint64_t check(const PartView& part, const Geometry& geometry, std::uint64_t lanes, int threads,
                    const std::uint32_t* order = nullptr) {
  std::atomic<std::uint64_t> entries{0}, longest{0};
  if (part.get<std::uint32_t>("col_idx").empty()) lanes = 0;  // rows without slots, of which a small file may have many
  dispatch(part.info().value_type, [&]<class T>(T) {
    parallel_pieces(lanes, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0, most = 0;
      for (std::uint64_t r = first; r < last; ++r) {
        const std::uint64_t n = check_row<T>(part, r, geometry(r), order);
        part.require(n == 0 || r < part.rows(), "col_idx",
                     [&] { return fmt::format("an entry in row {} of {}", r, part.rows()); });
        sum += n;
        most = std::max(most, n);
      }
      entries += sum;
      std::uint64_t known = longest;
      while (known < most && !longest.compare_exchange_weak(known, most)) {
      }
    });
  });
  const std::uint64_t nnz = part.info().nnz;
  part.require(entries == nnz, {},
               [&] { return fmt::format("{} entries, the part table says {}", entries.load(), nnz); });
  return longest;
}

/// The rows as they are stored: a row's columns are in the order of its slots.
template <class Geometry>
CsrMatrix unpack(const PartView& part, const Geometry& geometry, int threads) {
  const std::uint64_t rows = part.rows();
  const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
  CsrMatrix m = allocate_csr(rows, part.cols(), part.info().nnz, part.info().value_type);
  m.row_ptr[0] = 0;
  parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t r = first; r < last; ++r) m.row_ptr[r + 1] = row_entries(columns, geometry(r));
  });
  for (std::uint64_t r = 0; r < rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
  dispatch(m.value_type(), [&]<class T>(T) {
    const T* const from = part.get<T>("values").data();
    auto& to = std::get<Array<T>>(m.values);
    parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r) {
        std::uint64_t k = m.row_ptr[r];
        each_entry<T>(columns, geometry(r), [&](std::uint32_t column, const ValueSlot& slot) {
          m.col_idx[k] = column;
          copy_value<T>(from, slot, &to[k++]);
        });
      }
    });
  });
  return m;
}

}  // namespace spmvpack::layouts::padded_rows
