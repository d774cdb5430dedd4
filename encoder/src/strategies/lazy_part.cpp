#include "strategies/lazy_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder {
namespace strategy {
namespace {

/// Copies entries that lie side by side in the rows of `a`, of each row as many as it has in to.row_ptr.
template <class T>
void copy_runs(const CsrView& a, const Cut& cut, CsrMatrix& to, int threads) {
  auto& values = std::get<Array<T>>(to.values);
  const std::uint32_t begin = cut.cols.map.kind == format::MapKind::range ? cut.cols[0] : 0;
  parallel_pieces(to.rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t at = to.row_ptr[i], n = to.row_ptr[i + 1] - at, row = cut.rows[i];
      if (n == 0) continue;
      const std::uint32_t* columns = a.col_idx() + a.row_ptr(row) + cut.first;
      if (begin != 0) columns = std::lower_bound(columns, a.col_idx() + a.row_ptr(row + 1), begin);
      std::memcpy(&values[at], a.values<T>() + (columns - a.col_idx()), n * sizeof(T));
      if (begin == 0)
        std::memcpy(&to.col_idx[at], columns, n * sizeof(std::uint32_t));
      else
        std::transform(columns, columns + n, &to.col_idx[at], [&](std::uint32_t column) { return column - begin; });
    }
  });
}

/// Copies entries whose columns are at places of an order, each row sorted by place.
template <class T>
void copy_placed(const CsrView& a, const Cut& cut, CsrMatrix& to, int threads) {
  const std::uint64_t begin = cut.begin, end = begin + cut.cols.map.count;
  auto& values = std::get<Array<T>>(to.values);
  parallel_pieces(to.rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    CountedVector<std::pair<std::uint32_t, std::uint64_t>> row;  // column of the part, entry
    for (std::uint64_t i = first; i < last; ++i) {
      row.clear();
      for (std::uint64_t k = a.row_ptr(cut.rows[i]); k < a.row_ptr(cut.rows[i] + std::uint64_t{1}); ++k)
        if (const std::uint64_t place = (*cut.place)[a.col_idx()[k]]; place >= begin && place < end)
          row.emplace_back(static_cast<std::uint32_t>(place - begin), k);
      std::sort(row.begin(), row.end());
      std::uint64_t at = to.row_ptr[i];
      for (const auto& [column, k] : row) {
        to.col_idx[at] = column;
        std::memcpy(&values[at++], a.values<T>() + k, sizeof(T));
      }
    }
  });
}

/// Copies entries whose row and column are in different groups, of a part over all rows and columns.
template <class T>
void copy_between_groups(const CsrView& a, const Cut& cut, CsrMatrix& to, int threads) {
  auto& values = std::get<Array<T>>(to.values);
  const CountedVector<std::uint32_t>& group = *cut.group;
  parallel_items(to.rows, rows_per_task, threads, [&](std::uint64_t r) {
    std::uint64_t at = to.row_ptr[r];
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) {
      if (group[a.col_idx()[k]] == group[r]) continue;
      to.col_idx[at] = a.col_idx()[k];
      std::memcpy(&values[at++], a.values<T>() + k, sizeof(T));
    }
  });
}

/// Copied when they are first wanted.
class CutEntries final : public PartEntries {
 public:
  CutEntries(Cut cut, ValueType type, int threads) : cut_(std::move(cut)), threads_(threads) {
    const std::uint64_t nnz = cut_.row_ptr[cut_.rows.map.count];
    copy_.rows = cut_.rows.map.count;
    copy_.cols = cut_.cols.map.count;
    copy_.row_ptr = std::move(cut_.row_ptr);
    // Memory that nobody touches costs nothing, and is counted when it is.
    const MemoryScope uncounted{MemoryScope::Uncounted{}};
    copy_.col_idx = Array<std::uint32_t>(nnz);
    dispatch(type, [&]<class T>(T) { copy_.values = Array<T>(nnz); });
  }

  /// With row pointers alone unless they have been copied.
  [[nodiscard]] CsrView view() const { return copy_.view(); }
  [[nodiscard]] CsrView of(const CsrView& whole) const override {
    std::call_once(copied_, [&] {
      counted_ = MemoryReservation(copy_.nnz() * (4 + size_of(copy_.value_type())),
                                   fmt::format("a part of {} nonzeros", copy_.nnz()));
      dispatch(copy_.value_type(), [&]<class T>(T) {
        (cut_.group != nullptr   ? copy_between_groups<T>
         : cut_.place != nullptr ? copy_placed<T>
                                 : copy_runs<T>)(whole, cut_, copy_, threads_);
      });
    });
    return view();
  }

 private:
  Cut cut_;
  int threads_;
  mutable CsrMatrix copy_;
  mutable std::once_flag copied_;
  mutable MemoryReservation counted_;  ///< of columns and values, once they are there
};

}  // namespace

PartMatrix copied_part(const CsrView& a, Cut cut, int threads) {
  const PartIndices rows = cut.rows, cols = cut.cols;
  const auto entries = std::make_shared<const CutEntries>(std::move(cut), a.value_type(), threads);
  return {entries->of(a), rows, cols, nullptr, entries};
}

PartPlan plan_part(const LayoutEncoder& layout, Cut cut, ValueType type, const PlanOptions& options) {
  const PartIndices rows = cut.rows, cols = cut.cols;
  const auto entries = std::make_shared<const CutEntries>(std::move(cut), type, options.threads);
  return layout.plan({entries->view(), rows, cols, nullptr, entries}, options);
}

PartMatrix longer_rows(const CsrView& a, std::uint64_t length, int threads) {
  CountedVector<std::uint32_t> list;
  for (std::uint64_t r = 0; r < a.rows(); ++r)
    if (a.row_length(r) > length) list.push_back(static_cast<std::uint32_t>(r));
  Array<std::uint64_t> row_ptr(list.size() + 1);
  row_ptr[0] = 0;
  for (std::size_t i = 0; i < list.size(); ++i) row_ptr[i + 1] = row_ptr[i] + a.row_length(list[i]);
  return copied_part(a, {PartIndices::of(std::move(list)), PartIndices::all(a.cols()), std::move(row_ptr)}, threads);
}

}  // namespace strategy

std::shared_ptr<const PartEntries> own_entries(std::shared_ptr<const CsrMatrix> copy) {
  class Own final : public PartEntries {
   public:
    explicit Own(std::shared_ptr<const CsrMatrix> m) : m_(std::move(m)) {}
    [[nodiscard]] CsrView of(const CsrView& /*whole*/) const override { return m_->view(); }

   private:
    std::shared_ptr<const CsrMatrix> m_;
  };
  return std::make_shared<const Own>(std::move(copy));
}

}  // namespace spmvpack::encoder
