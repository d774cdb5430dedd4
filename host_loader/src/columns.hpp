#pragma once
// X and Y of several columns as parts take them: side by side, for layouts that multiply several at once, or one
// contiguous column. What lies otherwise is copied, in memory that counts.

#include <algorithm>
#include <type_traits>

#include "layouts/compiled.hpp"
#include "layouts/kernels.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/reader.hpp"

namespace spmvpack::host_loader {

/// Rows of X or Y that a thread copies or scales at once.
inline constexpr std::uint64_t rows_per_task = 16384;

/// Rows of X or Y that belong to a part, or all of them.
struct PartRows {
  const std::uint32_t* list = nullptr;  ///< or
  std::uint64_t begin = 0;
  std::uint64_t count = 0;

  static PartRows of(const PartView& part, const IndexMap& map, std::string_view list) {
    if (map.kind == format::MapKind::list) return {part.get<std::uint32_t>(list).data(), 0, map.count};
    return {nullptr, map.begin, map.count};
  }
  [[nodiscard]] std::int64_t operator()(std::uint64_t i) const {
    return static_cast<std::int64_t>(list != nullptr ? list[i] : begin + i);
  }
};

/// Calls f(element, copy, i) with references to each element of some columns and to the place of its copy, in row i of
/// copies whose rows are `row_stride` apart and columns `col_stride`.
template <class T, class F>
void each_copied(const DenseView<T>& columns, const PartRows& rows, std::remove_const_t<T>* copies,
                 std::int64_t row_stride, std::int64_t col_stride, int threads, F&& f) {
  constexpr std::uint64_t rows_in_cache = 64;
  parallel_pieces(rows.count, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t last = 0; begin < end; begin = last) {
      last = std::min(begin + rows_in_cache, end);
      for (std::uint64_t j = 0; j < columns.cols; ++j) {
        T* const column = columns.column(j);
        auto* copy = copies + static_cast<std::int64_t>(begin) * row_stride + static_cast<std::int64_t>(j) * col_stride;
        for (std::uint64_t i = begin; i < last; ++i, copy += row_stride)
          f(column[rows(i) * columns.row_stride], *copy, i);
      }
    }
  });
}

inline constexpr auto copy_in = [](const auto& element, auto& copy, std::uint64_t /*row*/) { copy = element; };
inline constexpr auto copy_out = [](auto& element, const auto& copy, std::uint64_t /*row*/) { element = copy; };

/// Neighbouring columns of X or Y: where they lie, or copies of them.
template <class T>
class ColumnCopies {
 public:
  /// Of `all`, up to `most` at a time. `by_rows`: they are to lie side by side; else each column is to be contiguous.
  /// `always`: they are copied wherever they lie.
  ColumnCopies(const DenseView<T>& all, std::uint64_t most, bool by_rows, bool always, int threads)
      : all_(all), by_rows_(by_rows), threads_(threads) {
    const bool fits = by_rows ? all.col_stride == 1 : all.has_contiguous_columns();
    if (always || !fits) copies_ = Array<std::remove_const_t<T>>(checked_mul(all.rows, most, "elements of columns"));
  }
  /// Takes `count` columns from `first` on. Of copies, the elements are whatever each() makes them.
  DenseView<T> take(std::uint64_t first, std::uint64_t count) {
    at_ = all_.part(first, count);
    if (copies_.empty()) return at_;
    return {copies_.data(), all_.rows, count, row_stride(), col_stride()};
  }
  /// What was taken, where it lies.
  [[nodiscard]] const DenseView<T>& taken() const { return at_; }
  /// Calls f(element, copy, row) for each element that was taken, if they are copied.
  template <class F>
  void each(F&& f) {
    if (!copies_.empty())
      each_copied(at_, {.count = all_.rows}, copies_.data(), row_stride(), col_stride(), threads_, f);
  }

 private:
  [[nodiscard]] std::int64_t row_stride() const { return by_rows_ ? static_cast<std::int64_t>(at_.cols) : 1; }
  [[nodiscard]] std::int64_t col_stride() const { return by_rows_ ? 1 : static_cast<std::int64_t>(all_.rows); }

  DenseView<T> all_;  ///< columns
  bool by_rows_;
  int threads_;
  Array<std::remove_const_t<T>> copies_;
  DenseView<T> at_;  ///< those that were taken last
};

/// Whether columns side by side are worth the copies that they need, for a matrix of so many entries. Copies are, if
/// what is then read of the matrix once instead of for each column is more than they move, with what the caches must
/// fetch for them; contiguous columns need none otherwise.
template <class T>
bool worth_copies(const DenseView<const T>& x, const DenseView<T>& y, std::uint64_t nnz) {
  if (!x.has_contiguous_columns() || !y.has_contiguous_columns()) return true;
  constexpr std::uint64_t moves = 5;
  const std::uint64_t columns = std::min<std::uint64_t>(y.cols, most_columns);
  return (columns - 1) * nnz * (sizeof(T) + sizeof(std::uint32_t)) >= moves * columns * (x.rows + y.rows) * sizeof(T);
}

/// y = beta y, as no part does it along the way.
template <class T>
void scale(T beta, const DenseView<T>& y, int threads) {
  parallel_pieces(y.rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    if (y.cols == 1 && y.row_stride == 1)
      return Operands<T>{.beta = beta, .y = y.data}.scale(begin, end);  // a loop that vectors can take
    for (std::uint64_t i = begin; i < end; ++i)
      for (std::uint64_t j = 0; j < y.cols; ++j) {
        T& element = y.column(j)[static_cast<std::int64_t>(i) * y.row_stride];
        element = scaled(beta, element);
      }
  });
}

/// y_i = alpha f_i s_i + beta y_i, by completed(), for the rows [begin, end) of a column; s may be y if beta is 0.
template <class T>
SPMVPACK_INLINE void scale_sums_of_column(T alpha, const real_of<T>* f, const T* s, std::int64_t s_stride, T beta, T* y,
                                          std::int64_t y_stride, std::uint64_t begin, std::uint64_t end) {
  s += static_cast<std::int64_t>(begin) * s_stride;
  y += static_cast<std::int64_t>(begin) * y_stride;
  for (std::uint64_t i = begin; i < end; ++i, s += s_stride, y += y_stride)
    *y = completed(alpha * f[i], *s, scaled(beta, *y));
}
/// The same for columns of sums, which may be those of y if beta is 0.
template <class T>
void scale_sums(T alpha, const real_of<T>* factors, const DenseView<const T>& sums, T beta, const DenseView<T>& y,
                int threads) {
  constexpr std::uint64_t rows_in_cache = 64;
  const auto of_column = best_of<scale_sums_of_column<T>>();
  parallel_pieces(y.rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t step = y.cols == 1 ? end - begin : rows_in_cache;
    for (std::uint64_t last = 0; begin < end; begin = last) {
      last = std::min(begin + step, end);
      for (std::uint64_t j = 0; j < y.cols; ++j)
        of_column(alpha, factors, sums.column(j), sums.row_stride, beta, y.column(j), y.row_stride, begin, last);
    }
  });
}

/// How one part multiplies.
template <class T>
struct PartMultiply {
  const PartView& part;
  const LayoutState* state;
  PairMultiply<void, T> layout;
  PartRows x_rows, y_rows;
  int threads;

  /// Columns that lie side by side.
  void side_by_side(T alpha, const DenseView<const T>& x, T beta, const DenseView<T>& y) const {
    if (layout.columns == nullptr) return one_by_one(alpha, x, beta, y);
    const auto count = static_cast<std::uint32_t>(y.cols);
    ColumnOperands<T> operands{.alpha = alpha,
                               .x = x.data + static_cast<std::int64_t>(x_rows.begin) * x.row_stride,
                               .beta = beta,
                               .y = y.data,
                               .rows = y_rows.list,
                               .x_stride = x.row_stride,
                               .y_stride = y.row_stride,
                               .count = count};
    Array<T> gathered;
    if (x_rows.list != nullptr) {
      gathered = Array<T>(checked_mul(x_rows.count, count, "gathered elements"));
      operands.x = gathered.data();
      operands.x_stride = count;
      each_copied(x, x_rows, gathered.data(), count, 1, threads, copy_in);
    }
    if (y_rows.list == nullptr) operands.y += static_cast<std::int64_t>(y_rows.begin) * y.row_stride;
    layout.columns(part, state, operands, threads);
  }

  /// Columns of any strides.
  void one_by_one(T alpha, const DenseView<const T>& x, T beta, const DenseView<T>& y) const {
    const bool gathers = x_rows.list != nullptr || !x.has_contiguous_columns(), copies = !y.has_contiguous_columns();
    Array<T> of_x(gathers ? x_rows.count : 0), of_y(copies ? y_rows.count : 0);
    for (std::uint64_t j = 0; j < y.cols; ++j) {
      const DenseView<const T> from = x.part(j, 1);
      const DenseView<T> to = y.part(j, 1);
      Operands<T> operands{.alpha = alpha, .x = from.data + x_rows.begin, .beta = beta, .y = to.data};
      if (gathers) {
        operands.x = of_x.data();
        each_copied(from, x_rows, of_x.data(), 1, 0, threads, copy_in);
      }
      if (!copies) {
        operands.rows = y_rows.list;
        if (y_rows.list == nullptr) operands.y += y_rows.begin;
        layout.multiply(part, state, operands, threads);
        continue;
      }
      operands.y = of_y.data();
      if (beta != T{0}) each_copied(to, y_rows, of_y.data(), 1, 0, threads, copy_in);
      layout.multiply(part, state, operands, threads);
      each_copied(to, y_rows, of_y.data(), 1, 0, threads, copy_out);
    }
  }
};

}  // namespace spmvpack::host_loader
