#include "spmvpack/container/layouts/dia.hpp"

#include <algorithm>
#include <atomic>

#include "spmvpack/container/parallel.hpp"
#include "stored_zeros.hpp"

namespace spmvpack::layouts::dia {
namespace {

constexpr std::uint64_t rows_per_task = 1024;

void check(const PartView& part, int threads) {
  const View d = view(part);
  for (std::uint64_t i = 0; i < d.count; ++i) {
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
    const std::uint64_t rows = d.count == 0 ? 0 : part.rows();
    parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t r = first; r < last; ++r) {
        d.each_slot(r, [&](std::uint64_t slot, std::uint32_t /*column*/) { sum += slots.is_filled(slot) ? 1 : 0; });
        for (std::uint64_t i = 0; i < d.count; ++i)
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
  const View d = view(part);
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  m.row_ptr[0] = 0;
  dispatch(m.value_type(), [&]<class T>(T) {
    const Slots<T> slots(part);
    const auto has_entry = [&](std::uint64_t slot) { return slots.has_entry(slot); };
    const T* const from = part.get<T>("values").data();
    auto& to = std::get<Array<T>>(m.values);
    parallel_pieces(m.rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r) {
        std::uint64_t n = 0;
        each_entry<T>(d, r, has_entry, [&](std::uint32_t /*column*/, const ValueSlot& /*slot*/) { ++n; });
        m.row_ptr[r + 1] = n;
      }
    });
    for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
    parallel_pieces(m.rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r) {
        std::uint64_t k = m.row_ptr[r];
        each_entry<T>(d, r, has_entry, [&](std::uint32_t column, const ValueSlot& slot) {
          m.col_idx[k] = column;
          copy_value<T>(from, slot, &to[k++]);
        });
      }
    });
  });
  return m;
}

}  // namespace

const Layout layout{"dia", sections, {}, nullptr, check, unpack};

}  // namespace spmvpack::layouts::dia
