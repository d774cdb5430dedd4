#include "spmvpack/container/layouts/ell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::ell {
namespace {

constexpr std::uint64_t rows_per_task = 1024;

/// Entries of row r: the slots before the first without one.
std::uint64_t row_length(std::span<const std::uint32_t> columns, std::uint64_t rows, std::uint64_t width,
                         std::uint64_t r) {
  std::uint64_t length = 0;
  while (length < width && columns[length * rows + r] != no_column) ++length;
  return length;
}

void check_shape(const PartView& part) {
  const std::uint64_t width = part.info().params[param_width], nnz = part.info().nnz;
  part.require(width <= nnz, {}, [&] { return fmt::format("a width of {} for {} entries", width, nnz); });
}

/// Columns that rise and are in range, padding behind them that is empty. Returns the row's length.
template <class T>
std::uint64_t check_row(const PartView& part, std::uint64_t r, std::uint64_t width) {
  const auto columns = part.get<std::uint32_t>("col_idx");
  const auto values = part.get<T>("values");
  const std::uint64_t rows = part.rows(), length = row_length(columns, rows, width, r);
  for (std::uint64_t step = 0; step < width; ++step) {
    const std::uint64_t slot = step * rows + r;
    const std::uint32_t column = columns[slot];
    const auto require = [&](bool ok, std::string_view section, std::string_view what) {
      part.require(ok, section, [&] { return fmt::format("row {}, slot {}: {}", r, step, what); });
    };
    if (step >= length) {
      require(column == no_column, "col_idx", "an entry after padding");
      require(std::bit_cast<bits_of<T>>(values[slot]) == 0, "values", "padding with a value");
      continue;
    }
    require(column < part.cols(), "col_idx", "a column out of range");
    require(step == 0 || column > columns[slot - rows], "col_idx", "columns do not rise");
  }
  return length;
}

void check(const PartView& part, int threads) {
  const std::uint64_t width = part.info().params[param_width], nnz = part.info().nnz;
  std::atomic<std::uint64_t> entries{0}, longest{0};
  dispatch(part.info().value_type, [&]<class T>(T) {
    parallel_pieces(part.rows(), rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      bool full = false;
      for (std::uint64_t r = first; r < last; ++r) {
        const std::uint64_t length = check_row<T>(part, r, width);
        sum += length;
        full = full || length == width;
      }
      entries += sum;
      if (full) longest = width;
    });
  });
  part.require(entries == nnz, {},
               [&] { return fmt::format("{} entries, the part table says {}", entries.load(), nnz); });
  part.require(longest == width, {}, [&] { return fmt::format("no row has the width of {} entries", width); });
}

CsrMatrix unpack(const PartView& part, int threads) {
  const std::uint64_t rows = part.rows(), width = part.info().params[param_width];
  const auto columns = part.get<std::uint32_t>("col_idx");
  CsrMatrix m = allocate_csr(rows, part.cols(), part.info().nnz, part.info().value_type);
  m.row_ptr[0] = 0;
  parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t r = first; r < last; ++r) m.row_ptr[r + 1] = row_length(columns, rows, width, r);
  });
  for (std::uint64_t r = 0; r < rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
  dispatch(m.value_type(), [&]<class T>(T) {
    const auto from = part.get<T>("values");
    auto& to = std::get<Array<T>>(m.values);
    parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r)
        for (std::uint64_t k = m.row_ptr[r], slot = r; k < m.row_ptr[r + 1]; ++k, slot += rows) {
          m.col_idx[k] = columns[slot];
          std::memcpy(&to[k], &from[slot], sizeof(T));
        }
    });
  });
  return m;
}

}  // namespace

const Layout layout{"ell", sections, parameters, check_shape, check, unpack};

}  // namespace spmvpack::layouts::ell
