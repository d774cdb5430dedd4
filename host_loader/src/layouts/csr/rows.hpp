#pragma once
// Rows of csr, in the order of additions of docs/LAYOUTS.md, without instructions of any one processor.

#include <array>
#include <utility>

#include "layouts/csr/order.hpp"
#include "layouts/kernels.hpp"
#include "spmvpack/launch_rules/long_rows.hpp"

namespace spmvpack::host_loader::layouts {

using namespace launch_rules::long_rows;

/// A matrix, or its rows.
template <class A, class V, class Pointer>
struct CsrRows {
  using Vector = V;
  const Pointer* row_ptr;
  const std::uint32_t* col_idx;
  const A* values;
  Operands<V> operands;
  std::uint64_t ahead;  ///< entries, if they are fetched before they are needed; else 0

  SPMVPACK_INLINE void fetch(std::uint64_t k) const {
    prefetch(values + k, ahead * sizeof(A));
    prefetch(col_idx + k, ahead * sizeof(std::uint32_t));
  }

  SPMVPACK_INLINE void add(V& sum, std::uint64_t k) const { sum = fused(V{values[k]}, operands.x[col_idx[k]], sum); }

  /// The sum of n entries: up to 7 in turn, more by eight lanes.
  SPMVPACK_INLINE V sum(std::uint64_t begin, std::uint64_t n) const {
    if (n < RowOrder::by_fours) {
      V in_turn = 0;
      for (std::uint64_t k = begin; k < begin + n; ++k) add(in_turn, k);
      return in_turn;
    }
    constexpr std::uint64_t lanes = 8;
    std::array<V, lanes> s{};
    const std::uint64_t end = begin + n, full = end - n % lanes;
    for (std::uint64_t k = begin; k < full; k += lanes)
      for (std::uint64_t i = 0; i < lanes; ++i) add(s[i], k + i);
    for (std::uint64_t k = full; k < end; ++k) add(s[k - full], k);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }

  /// Completes a row that has entries. `plain`: beta is 0, and there is no list of rows.
  template <bool plain>
  SPMVPACK_INLINE void put(std::uint64_t r, V sum_of_row) const {
    if constexpr (plain)
      operands.y[r] = completed(operands.alpha, sum_of_row, V{0});
    else
      operands.put(r, sum_of_row);
  }

  template <std::uint64_t n>
  SPMVPACK_INLINE V in_turn(std::uint64_t begin) const {
    V sum_of_row = 0;
    for (std::uint64_t k = 0; k < n; ++k) add(sum_of_row, begin + k);
    return sum_of_row;
  }
  /// Rows of n entries each: some that follow each other, or those that are listed from the first one of a window on.
  template <std::uint64_t n, class How>
  SPMVPACK_INLINE void of_length(How, std::uint64_t r, std::uint64_t count) const {
    if constexpr (n == 0) {
      operands.scale(r, r + count);
    } else {
      std::uint64_t at = row_ptr[r];
      for (const std::uint64_t end = r + count; r < end; ++r, at += n) put<How::plain>(r, in_turn<n>(at));
    }
  }
  template <std::uint64_t n, class How>
  SPMVPACK_INLINE void of_length(How, const std::uint8_t* row, std::uint64_t count, std::uint64_t first) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t r = first + row[i];
      if constexpr (n == 0) {
        operands.scale(r, r + 1);
      } else {
        const std::uint64_t at = row_ptr[r];
        if constexpr (How::fetches) fetch(at);
        put<How::plain>(r, in_turn<n>(at));
      }
    }
  }
  /// Rows of a run of up to 7 entries.
  template <class How, std::uint64_t n = 0>
  SPMVPACK_INLINE void few(How how, RowOrder::Run run, const std::uint8_t* row, std::uint64_t first) const {
    if constexpr (n + 1 < RowOrder::by_fours)
      if (run.kind != n) return few<How, n + 1>(how, run, row, first);
    if (run.shape != RowOrder::listed)
      of_length<n>(how, first + row[0], run.rows_less_1 + std::uint64_t{1});
    else
      of_length<n>(how, row, run.rows_less_1 + std::uint64_t{1}, first);
  }

  /// Rows of any lengths.
  SPMVPACK_INLINE void any(const std::uint8_t* row, std::uint64_t count, std::uint64_t first) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t r = first + row[i], n = row_ptr[r + 1] - row_ptr[r];
      if (n != 0)
        operands.put(r, sum(row_ptr[r], n));
      else
        operands.scale(r, r + 1);
    }
  }

  /// The entries of a piece: the first and their number.
  SPMVPACK_INLINE std::pair<std::uint64_t, std::uint64_t> entries_of(RowOrder::Piece piece) const {
    const std::uint64_t begin = row_ptr[piece.row] + piece.number * RowOrder::piece;
    return {begin, std::min<std::uint64_t>(row_ptr[piece.row + std::uint64_t{1}] - begin, RowOrder::piece)};
  }
  SPMVPACK_INLINE PieceColumns columns_of(RowOrder::Piece piece) const {
    const auto [begin, n] = entries_of(piece);
    return {col_idx[begin], col_idx[begin + n - 1]};
  }
};

/// How runs are gone through: whether what comes is fetched before it is needed, and whether y only becomes alpha A x.
template <bool with_fetches, bool is_plain>
struct How {
  static constexpr bool fetches = with_fetches, plain = is_plain;
};

/// Runs [begin, end), and the sums of pieces.
template <class Rows>
SPMVPACK_INLINE void portable_runs(Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end) {
  for (; begin < end; ++begin) {
    const RowOrder::Run run = order.runs[begin];
    const std::uint8_t* const row = order.row.data() + run.first;
    const std::uint64_t first = run.first - run.first % RowOrder::window;
    if (run.kind < RowOrder::by_fours)
      a.few(How<false, false>(), run, row, first);
    else
      a.any(row, run.rows_less_1 + std::uint64_t{1}, first);
  }
}
template <class Rows>
SPMVPACK_INLINE void portable_pieces(Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end,
                                     typename Rows::Vector* sums) {
  for (; begin < end; ++begin) {
    const auto [first, n] = a.entries_of(order.pieces[begin]);
    sums[order.pieces[begin].place] = a.sum(first, n);
  }
}

template <class Rows>
SPMVPACK_TARGET_GENERIC void runs_generic(Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end) {
  portable_runs(a, order, begin, end);
}
template <class Rows>
SPMVPACK_TARGET_GENERIC void pieces_generic(Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end,
                                            typename Rows::Vector* sums) {
  portable_pieces(a, order, begin, end, sums);
}

}  // namespace spmvpack::host_loader::layouts
