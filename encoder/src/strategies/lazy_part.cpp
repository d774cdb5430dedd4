#include "strategies/lazy_part.hpp"

#include <fmt/format.h>

#include <cstring>
#include <mutex>

#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::encoder::strategy {
namespace {

struct Entries {
  CsrMatrix matrix;
  std::function<void(CsrMatrix&)> copy;
  std::once_flag copied;
  MemoryReservation counted;  ///< of columns and values, once they are there

  void require() {
    std::call_once(copied, [&] {
      counted = MemoryReservation(matrix.nnz() * (4 + size_of(matrix.value_type())),
                                  fmt::format("a part of {} nonzeros", matrix.nnz()));
      copy(matrix);
    });
  }
};

}  // namespace

PartPlan plan_part(std::string_view layout, LazyPart part, ValueType type, const PlanOptions& options) {
  const auto entries = std::make_shared<Entries>();
  const std::uint64_t rows = part.rows.map.count, nnz = part.row_ptr[rows];
  entries->matrix.rows = rows;
  entries->matrix.cols = part.cols.map.count;
  entries->matrix.row_ptr = std::move(part.row_ptr);
  {
    // Memory that nobody touches costs nothing, and is counted when it is.
    const MemoryScope uncounted{MemoryScope::Uncounted{}};
    entries->matrix.col_idx = Array<std::uint32_t>(nnz);
    dispatch(type, [&]<class T>(T) { entries->matrix.values = Array<T>(nnz); });
  }
  entries->copy = std::move(part.copy);
  PartPlan plan = find_layout_encoder(layout).plan(
      {entries->matrix.view(), std::move(part.rows), std::move(part.cols), nullptr, entries}, options);
  for (SectionSource& section : plan.sections)
    section.fill = [entries, fill = std::move(section.fill)](std::uint64_t begin, std::span<std::byte> out) {
      entries->require();
      fill(begin, out);
    };
  return plan;
}

void copy_rows(const CsrView& a, const PartIndices& rows, std::uint64_t first, CsrMatrix& to, int threads) {
  constexpr std::uint64_t rows_per_task = 1U << 14;
  dispatch(a.value_type(), [&]<class T>(T) {
    auto& values = std::get<Array<T>>(to.values);
    parallel_pieces(to.rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t at = to.row_ptr[i], n = to.row_ptr[i + 1] - at;
        if (n == 0) continue;
        const std::uint64_t from = a.row_ptr(rows[i]) + first;
        std::memcpy(&to.col_idx[at], a.col_idx() + from, n * sizeof(std::uint32_t));
        std::memcpy(&values[at], a.values<T>() + from, n * sizeof(T));
      }
    });
  });
}

PartMatrix copied_rows(const CsrView& a, PartIndices rows, Array<std::uint64_t> row_ptr, int threads) {
  const std::uint64_t nnz = row_ptr[rows.map.count];
  const MemoryScope part(fmt::format("a part of {} nonzeros", nnz));
  const auto m = std::make_shared<CsrMatrix>(allocate_csr(rows.map.count, a.cols(), nnz, a.value_type()));
  m->row_ptr = std::move(row_ptr);
  copy_rows(a, rows, 0, *m, threads);
  return {m->view(), std::move(rows), PartIndices::all(a.cols()), nullptr, m};
}

PartMatrix longer_rows(const CsrView& a, std::uint64_t length, int threads) {
  CountedVector<std::uint32_t> list;
  for (std::uint64_t r = 0; r < a.rows(); ++r)
    if (a.row_length(r) > length) list.push_back(static_cast<std::uint32_t>(r));
  Array<std::uint64_t> row_ptr(list.size() + 1);
  row_ptr[0] = 0;
  for (std::size_t i = 0; i < list.size(); ++i) row_ptr[i + 1] = row_ptr[i] + a.row_length(list[i]);
  return copied_rows(a, PartIndices::of(std::move(list)), std::move(row_ptr), threads);
}

}  // namespace spmvpack::encoder::strategy
