#include "spmvpack/container/layouts/csr.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "csr_order.hpp"
#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

/// A task has at least and at most so many entries; a row counts as some, too.
constexpr std::uint64_t least_task = 1U << 14U, most_task = 1U << 18U, entries_of_row = 4, tasks_per_thread = 4;

/// From so many entries a row on, sums go on side by side: they are chains of fma whose ends are too far away for
/// processors to begin the next. As they do not take several short streams for one, that is prefetched.
constexpr std::uint64_t long_row = 32, chains = 4, ahead_entries = 512, prefetched_entries = 256;

/// Rows of at least two pieces are added up piece by piece, each like a row, and then piece after piece, so that
/// several threads can share them. The last piece has the rest, too.
constexpr std::uint64_t piece = 1024;

/// A matrix, or its rows.
template <class A, class V, class Pointer>
struct Rows {
  const Pointer* row_ptr;
  const std::uint32_t* col_idx;
  const A* values;
  Operands<V> operands;

  SPMVPACK_INLINE void add(V& sum, Pointer k) const { sum = std::fma(V{values[k]}, operands.x[col_idx[k]], sum); }

  /// Rows [begin, end), one after the other.
  SPMVPACK_INLINE void in_turn(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t r = begin; r < end; ++r) {
      V sum = 0;
      const Pointer first = row_ptr[r], last = row_ptr[r + 1];
      for (Pointer k = first; k < last; ++k) add(sum, k);
      if (first == last)
        operands.scale(r, r + 1);
      else
        operands.put(r, sum);
    }
  }

  /// The same, several side by side.
  SPMVPACK_INLINE void side_by_side(std::uint64_t begin, std::uint64_t end) const {
    std::array<std::uint64_t, chains> row{};
    std::array<Pointer, chains> at{}, left{};  // the next entry of each chain's row, and how many there are
    std::array<V, chains> sum{};
    const Pointer all_end = row_ptr[end];
    const auto take_row = [&](std::uint64_t i) {
      for (; begin < end && row_ptr[begin] == row_ptr[begin + 1]; ++begin) operands.scale(begin, begin + 1);
      if (begin == end) return false;
      row[i] = begin;
      at[i] = row_ptr[begin];
      left[i] = row_ptr[++begin] - at[i];
      sum[i] = 0;
      const std::uint64_t ahead = at[i] + ahead_entries, of_row = std::min<std::uint64_t>(left[i], prefetched_entries),
                          ahead_end = std::min<std::uint64_t>(ahead + of_row, all_end);
      for (std::uint64_t k = ahead; k < ahead_end; k += cache_line / sizeof(V)) {
        __builtin_prefetch(values + k);
        __builtin_prefetch(col_idx + k);
      }
      return true;
    };
    bool all = true;
    for (std::uint64_t i = 0; i < chains; ++i) all = take_row(i) && all;
    while (all) {
      const Pointer n = *std::min_element(left.begin(), left.end());
      std::array<V, chains> sums = sum;  // which registers can hold
      for (Pointer k = 0; k < n; ++k)
        for (std::uint64_t i = 0; i < chains; ++i) add(sums[i], at[i] + k);
      sum = sums;
      for (std::uint64_t i = 0; i < chains; ++i) {
        at[i] += n;
        left[i] -= n;
        if (left[i] != 0) continue;
        operands.put(row[i], sum[i]);
        all = take_row(i) && all;
      }
    }
    for (std::uint64_t i = 0; i < chains; ++i) {
      if (left[i] == 0) continue;
      for (Pointer k = 0; k < left[i]; ++k) add(sum[i], at[i] + k);
      operands.put(row[i], sum[i]);
    }
  }

  /// The entries that the visits of a window fetch meanwhile, some with each row: those of the next one. Visits are in
  /// no order that a processor foresees.
  struct Ahead {
    Pointer at, step;
    SPMVPACK_INLINE void fetch(const Rows& rows) {
      constexpr Pointer of_line = cache_line / sizeof(A);
      for (Pointer k = 0; k < step; k += of_line) __builtin_prefetch(rows.values + at + k);
      for (Pointer k = 0; k < step; k += 2 * of_line) __builtin_prefetch(rows.col_idx + at + k);
      at += step;
    }
  };

  /// Rows of so many entries: a number, or a constant, for which the loop is unrolled.
  template <class Length>
  SPMVPACK_INLINE void of_length(Length length, const std::uint8_t* row, std::uint64_t count, std::uint64_t first,
                                 Ahead& ahead) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t r = first + row[i];
      ahead.fetch(*this);
      V sum = 0;
      const Pointer begin = row_ptr[r], end = begin + length;
      for (Pointer k = begin; k < end; ++k) add(sum, k);
      operands.put(r, sum);
    }
  }

  template <Pointer n>
  using Constant = std::integral_constant<Pointer, n>;

  /// The rows of a window in its order. Those of the next one end at `next_end`.
  SPMVPACK_INLINE void in_order(const RowOrder& order, std::uint64_t w, std::uint64_t next_end) const {
    const std::uint64_t first = w * RowOrder::window, next = first + RowOrder::window;
    Ahead ahead{row_ptr[next], static_cast<Pointer>((row_ptr[next_end] - row_ptr[next]) / RowOrder::window + 1)};
    const std::uint8_t* row = order.row.data() + first;
    for (std::uint32_t i = order.first_run[w]; i < order.first_run[w + 1]; ++i) {
      const std::uint64_t count = order.runs[i].rows_less_1 + std::uint64_t{1};
      const auto length = Pointer{order.runs[i].length};
      switch (length) {
        case 0:
          for (std::uint64_t j = 0; j < count; ++j) operands.scale(first + row[j], first + row[j] + 1);
          break;
        case 1:
          of_length(Constant<1>{}, row, count, first, ahead);
          break;
        case 2:
          of_length(Constant<2>{}, row, count, first, ahead);
          break;
        case 3:
          of_length(Constant<3>{}, row, count, first, ahead);
          break;
        case 4:
          of_length(Constant<4>{}, row, count, first, ahead);
          break;
        case 5:
          of_length(Constant<5>{}, row, count, first, ahead);
          break;
        case 6:
          of_length(Constant<6>{}, row, count, first, ahead);
          break;
        case 7:
          of_length(Constant<7>{}, row, count, first, ahead);
          break;
        case RowOrder::long_row:
          for (std::uint64_t j = 0; j < count; ++j) in_turn(first + row[j], first + row[j] + 1);
          break;
        default:
          of_length(length, row, count, first, ahead);
          break;
      }
      row += count;
    }
  }

  [[nodiscard]] std::uint64_t pieces_of(std::uint64_t r) const { return (row_ptr[r + 1] - row_ptr[r]) / piece; }

  /// The sums of pieces [begin, end) of row r, several side by side.
  SPMVPACK_INLINE void add_pieces(std::uint64_t r, std::uint64_t begin, std::uint64_t end, V* sums) const {
    const auto add_all = [&](V& sum, Pointer first, Pointer last) {
      for (Pointer k = first; k < last; ++k) add(sum, k);
    };
    auto at = static_cast<Pointer>(row_ptr[r] + begin * piece);
    std::fill(sums + begin, sums + end, V{0});
    for (; end - begin >= chains; begin += chains) {
      std::array<V, chains> some{};
      for (Pointer k = 0; k < piece; ++k)
        for (Pointer i = 0; i < chains; ++i) add(some[i], at + i * static_cast<Pointer>(piece) + k);
      std::copy(some.begin(), some.end(), sums + begin);
      at += static_cast<Pointer>(chains * piece);
    }
    for (; begin < end; ++begin, at += static_cast<Pointer>(piece))
      add_all(sums[begin], at, at + static_cast<Pointer>(piece));
    if (end == pieces_of(r)) add_all(sums[end - 1], at, row_ptr[r + 1]);
  }
};

/// A place between two rows, or between two pieces of one.
struct Place {
  std::uint64_t row, piece;
};

/// Multiplies rows [begin, end). The entries of a row are added in column order, one fma each, starting from +0.
template <class A, class V, class Pointer>
SPMVPACK_INLINE void multiply_rows(const Rows<A, V, Pointer>& rows, const RowOrder* order, std::uint64_t begin,
                                   std::uint64_t end) {
  if (rows.row_ptr[end] - rows.row_ptr[begin] >= (end - begin) * long_row) return rows.side_by_side(begin, end);
  if (order == nullptr) return rows.in_turn(begin, end);
  while (begin < end) {
    const std::uint64_t w = begin / RowOrder::window;
    const std::uint64_t next = std::min(end, (w + 1) * RowOrder::window);
    if (next - begin == RowOrder::window && order->first_run[w] != order->first_run[w + 1])
      rows.in_order(*order, w, std::min(end, next + RowOrder::window));
    else
      rows.in_turn(begin, next);
    begin = next;
  }
}
template <class A, class V, class Pointer>
SPMVPACK_TARGET_V3 void rows_v3(Rows<A, V, Pointer> rows, const RowOrder* order, std::uint64_t begin,
                                std::uint64_t end) {
  multiply_rows(rows, order, begin, end);
}
template <class A, class V, class Pointer>
void rows_generic(Rows<A, V, Pointer> rows, const RowOrder* order, std::uint64_t begin, std::uint64_t end) {
  multiply_rows(rows, order, begin, end);
}

template <class A, class V, class Pointer>
SPMVPACK_TARGET_V3 void pieces_v3(Rows<A, V, Pointer> rows, std::uint64_t r, std::uint64_t begin, std::uint64_t end,
                                  V* sums) {
  rows.add_pieces(r, begin, end, sums);
}
template <class A, class V, class Pointer>
void pieces_generic(Rows<A, V, Pointer> rows, std::uint64_t r, std::uint64_t begin, std::uint64_t end, V* sums) {
  rows.add_pieces(r, begin, end, sums);
}

template <class A, class V, class Pointer>
void multiply(const PartView& part, const RowOrder* order, const Operands<V>& operands, int threads) {
  const Rows<A, V, Pointer> rows{part.get<Pointer>("row_ptr").data(), part.get<std::uint32_t>("col_idx").data(),
                                 part.get<A>("values").data(), operands};
  const auto multiply_whole = use_v3() ? rows_v3<A, V, Pointer> : rows_generic<A, V, Pointer>;
  const auto add_pieces = use_v3() ? pieces_v3<A, V, Pointer> : pieces_generic<A, V, Pointer>;
  const bool any_long = part.info().params[spmvpack::layouts::csr::param_longest_row] >= 2 * piece;
  const auto is_long = [&](std::uint64_t r) { return rows.pieces_of(r) >= 2; };
  // Sums of pieces that begin at entry k: element k / piece, as no two such pieces begin in the same piece entries.
  Array<V> piece_sums(any_long ? part.info().nnz / piece : 0);
  const auto sums_of = [&](std::uint64_t r) { return piece_sums.data() + rows.row_ptr[r] / piece; };
  const auto complete = [&](std::uint64_t r) {
    const V* const sums = sums_of(r);
    V sum = sums[0];
    for (std::uint64_t i = 1; i < rows.pieces_of(r); ++i) sum = sum + sums[i];
    operands.put(r, sum);
  };

  // Tasks are cut from rows and entries together, so that neither few long rows nor many empty ones are one task.
  const std::uint64_t count = part.rows(), size = count * entries_of_row + part.info().nnz;
  const std::uint64_t task =
      std::clamp(size / (tasks_per_thread * static_cast<std::uint64_t>(thread_count(threads))), least_task, most_task);
  const auto place_at = [&](std::uint64_t place) -> Place {
    std::uint64_t low = 0, high = count;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (middle * entries_of_row + rows.row_ptr[middle] < place)
        low = middle + 1;
      else
        high = middle;
    }
    if (!any_long) return {low == count || order == nullptr ? low : low - low % RowOrder::window, 0};
    if (low == 0 || !is_long(low - 1)) return {low, 0};
    const std::uint64_t row = low - 1, of_row = place - row * entries_of_row - rows.row_ptr[row],
                        next = of_row / piece + (of_row % piece != 0);
    return next < rows.pieces_of(row) ? Place{row, next} : Place{low, 0};
  };
  parallel_pieces(size, task, threads, [&](std::uint64_t first, std::uint64_t last) {
    Place at = place_at(first);
    const Place end = place_at(last);
    while (at.row < end.row) {
      std::uint64_t next = any_long ? at.row : end.row;
      while (next < end.row && !is_long(next)) ++next;
      if (at.row < next) multiply_whole(rows, order, at.row, next);
      if (next < end.row) {
        add_pieces(rows, next, at.piece, rows.pieces_of(next), sums_of(next));
        if (at.piece == 0) complete(next);
        ++next;
      }
      at = {next, 0};
    }
    if (at.piece < end.piece) add_pieces(rows, end.row, at.piece, end.piece, sums_of(end.row));
  });
  if (!any_long) return;
  // Rows that tasks share, when the last place in them has been passed.
  for (std::uint64_t place = task; place < size; place += task)
    if (const Place in = place_at(place); in.piece != 0 && place_at(std::min(place + task, size)).row != in.row)
      complete(in.row);
}

}  // namespace

std::unique_ptr<const LayoutState> prepare_csr(const PartView& part, int threads) {
  if (part.type_of("row_ptr") == format::ElementType::u64) return order_of(part.get<std::uint64_t>("row_ptr"), threads);
  return order_of(part.get<std::uint32_t>("row_ptr"), threads);
}

template <class A, class V>
void multiply_csr(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads) {
  const auto* const order = static_cast<const RowOrder*>(state);
  if (part.type_of("row_ptr") == format::ElementType::u64)
    multiply<A, V, std::uint64_t>(part, order, operands, threads);
  else
    multiply<A, V, std::uint32_t>(part, order, operands, threads);
}
SPMVPACK_INSTANTIATE(multiply_csr)

}  // namespace spmvpack::host_loader::layouts
