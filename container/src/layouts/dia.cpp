#include "spmvpack/container/layouts/dia.hpp"

#include <algorithm>
#include <atomic>

#include "spmvpack/container/parallel.hpp"
#include "stored_zeros.hpp"

namespace spmvpack::layouts::dia {
namespace {

constexpr std::uint64_t rows_per_task = 1024;

/// The part's diagonals in memory.
struct Diagonals {
  std::span<const std::uint64_t> offsets;
  std::uint64_t rows, cols;

  /// Calls f(slot, column) for the slots of a row that have a column, from left to right.
  template <class F>
  void each(std::uint64_t row, F&& f) const {
    // Offsets increase, and so do the columns.
    const auto begin = std::lower_bound(offsets.begin(), offsets.end(), offset_of(row, 0, rows));
    for (auto d = begin; d != offsets.end() && column_of(row, *d, rows) < cols; ++d)
      f(static_cast<std::uint64_t>(d - offsets.begin()) * rows + row, column_of(row, *d, rows));
  }
};

Diagonals diagonals(const PartView& part) { return {part.get<std::uint64_t>("offsets"), part.rows(), part.cols()}; }

void check(const PartView& part, int threads) {
  const Diagonals d = diagonals(part);
  for (std::size_t i = 0; i < d.offsets.size(); ++i) {
    const auto require = [&](bool ok, const char* what) {
      part.require(ok, "offsets", [&] { return fmt::format("diagonal {}: {}", i, what); });
    };
    // The last diagonal is that of the upper right corner. A part without rows or columns has none.
    require(part.rows() != 0 && part.cols() != 0 && d.offsets[i] <= offset_of(0, part.cols() - 1, part.rows()),
            "outside the matrix");
    require(i == 0 || d.offsets[i] > d.offsets[i - 1], "offsets do not rise");
  }
  std::atomic<std::uint64_t> entries{0};
  dispatch(part.info().value_type, [&]<class T>(T) {
    const Slots<T> slots(part);
    slots.check_zeros(part);
    const std::uint64_t rows = d.offsets.empty() ? 0 : part.rows();
    parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t r = first; r < last; ++r) {
        d.each(r, [&](std::uint64_t slot, std::uint64_t /*column*/) { sum += slots.is_filled(slot) ? 1 : 0; });
        for (std::size_t i = 0; i < d.offsets.size(); ++i)
          part.require(column_of(r, d.offsets[i], d.rows) < d.cols || !slots.is_filled(i * d.rows + r), "values",
                       [&] { return fmt::format("row {}, diagonal {}: a value without a column", r, i); });
      }
      entries += sum;
    });
    for (const std::uint64_t slot : slots.zeros())
      part.require(column_of(slot % d.rows, d.offsets[slot / d.rows], d.rows) < d.cols, "stored_zeros",
                   [&] { return fmt::format("slot {} has no column", slot); });
    entries += slots.zeros().size();
  });
  const std::uint64_t nnz = part.info().nnz;
  part.require(entries == nnz, {},
               [&] { return fmt::format("{} entries, the part table says {}", entries.load(), nnz); });
}

CsrMatrix unpack(const PartView& part, int threads) {
  const Diagonals d = diagonals(part);
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  m.row_ptr[0] = 0;
  dispatch(m.value_type(), [&]<class T>(T) {
    const Slots<T> slots(part);
    const auto from = part.get<T>("values");
    auto& to = std::get<Array<T>>(m.values);
    parallel_pieces(m.rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r) {
        m.row_ptr[r + 1] = 0;
        d.each(r, [&](std::uint64_t slot, std::uint64_t) { m.row_ptr[r + 1] += slots.has_entry(slot) ? 1 : 0; });
      }
    });
    for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
    parallel_pieces(m.rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r) {
        std::uint64_t k = m.row_ptr[r];
        d.each(r, [&](std::uint64_t slot, std::uint64_t column) {
          if (!slots.has_entry(slot)) return;
          m.col_idx[k] = static_cast<std::uint32_t>(column);
          std::memcpy(&to[k++], &from[slot], sizeof(T));
        });
      }
    });
  });
  return m;
}

}  // namespace

const Layout layout{"dia", sections, parameters, nullptr, check, unpack};

}  // namespace spmvpack::layouts::dia
