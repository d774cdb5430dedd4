#pragma once
// Rows of csr for several columns at once: the order of additions of rows.hpp for each.

#include "layouts/columns_v3.hpp"
#include "layouts/csr/rows.hpp"

namespace spmvpack::host_loader::layouts {

/// So many entries of a row are added up lane by lane, so that a lane's sums stay in registers, and what they read in
/// the nearest cache.
constexpr std::uint64_t entries_by_lane = 128;

template <class A, class V, class Pointer, std::uint32_t registers>
struct CsrColumns {
  using Rows = ColumnRows<V, registers>;
  using Sums = typename Rows::Sums;
  CsrRows<A, V, Pointer> a;  ///< without operands
  Rows rows;

  SPMVPACK_INLINE_V3 CsrColumns(const CsrRows<A, V, Pointer>& matrix, const ColumnOperands<V>& operands)
      : a(matrix), rows(operands) {}

  /// Adds entries `at`, `at` + step, ... before `end`.
  SPMVPACK_INLINE_V3 void add(Sums& sums, std::uint64_t at, std::uint64_t end, std::uint64_t step) const {
    for (; at < end; at += step) rows.add_product(sums, V{a.values[at]}, a.col_idx[at]);
  }
  [[nodiscard]] SPMVPACK_INLINE_V3 Sums lane(std::uint64_t at, std::uint64_t end) const {
    Sums sums = Sums::zero();
    add(sums, at, end, lanes);
    return sums;
  }
  /// As CsrRows::sum().
  [[nodiscard]] SPMVPACK_INLINE_V3 Sums sum(std::uint64_t at, std::uint64_t n) const {
    const std::uint64_t end = at + n;
    if (n < RowOrder::by_fours) {
      Sums sums = Sums::zero();
      add(sums, at, end, 1);
      return sums;
    }
    if (n > entries_by_lane) {
      alignas(cache_line) std::array<V, lanes * Sums::width> all{};
      add_long(at, end, all.data());
      return of_lanes([&](std::uint64_t i) SPMVPACK_LAMBDA_V3 { return Sums::load(all.data() + i * Sums::width); });
    }
    return of_lanes([&](std::uint64_t i) SPMVPACK_LAMBDA_V3 { return lane(at + i, end); });
  }
  SPMVPACK_INLINE_V3 void row(std::uint64_t r) const {
    const std::uint64_t at = a.row_ptr[r], n = a.row_ptr[r + 1] - at;
    if (n == 0)
      rows.scale(r, r + 1);
    else
      rows.put(r, sum(at, n));
  }

 private:
  static constexpr std::uint64_t lanes = 8;

  template <class Lane>
  SPMVPACK_INLINE_V3 static Sums of_lanes(Lane&& lane) {
    const auto two = [&](std::uint64_t i) SPMVPACK_LAMBDA_V3 {
      Sums sums = lane(i);
      sums.add(lane(i + 4));
      return sums;
    };
    Sums even = two(0), odd;
    even.add(two(2));
    odd = two(1);
    odd.add(two(3));
    even.add(odd);
    return even;
  }
  /// To `all`, lane by lane. Not by value: GCC 12 clears the upper halves of registers at the end of a function that
  /// returns them in a structure.
  [[gnu::noinline]] SPMVPACK_TARGET_V3 void add_long(std::uint64_t at, std::uint64_t end, V* all) const {
    for (; at < end; at += entries_by_lane)
      for (std::uint64_t i = 0; i < lanes; ++i) {
        V* const mine = all + i * Sums::width;
        Sums sums = Sums::load(mine);
        add(sums, at + i, std::min(at + entries_by_lane, end), lanes);
        sums.store(mine);
      }
  }
};

/// Runs [begin, end).
template <std::uint32_t registers, class A, class V, class Pointer>
SPMVPACK_TARGET_V3 void columns_of_runs(CsrRows<A, V, Pointer> matrix, ColumnOperands<V> operands,
                                        const RowOrder& order, std::uint64_t begin, std::uint64_t end) {
  const CsrColumns<A, V, Pointer, registers> a(matrix, operands);
  for (; begin < end; ++begin) {
    const RowOrder::Run run = order.runs[begin];
    const std::uint8_t* const row = order.row.data() + run.first;
    const std::uint64_t first = run.first - run.first % RowOrder::window, count = run.rows_less_1 + std::uint64_t{1};
    for (std::uint64_t i = 0; i < count; ++i) a.row(first + row[i]);
  }
}

/// The sums of pieces [begin, end), each by its place.
template <std::uint32_t registers, class A, class V, class Pointer>
SPMVPACK_TARGET_V3 void columns_of_pieces(CsrRows<A, V, Pointer> matrix, ColumnOperands<V> operands,
                                          const RowOrder& order, std::uint64_t begin, std::uint64_t end, V* sums) {
  const CsrColumns<A, V, Pointer, registers> a(matrix, operands);
  for (; begin < end; ++begin) {
    const auto [first, n] = matrix.entries_of(order.pieces[begin]);
    a.sum(first, n).store(sums + order.pieces[begin].place * ColumnSums<V, registers>::width);
  }
}

/// Completes rows of pieces.
template <std::uint32_t registers, class V>
SPMVPACK_TARGET_V3 void put_pieces(ColumnOperands<V> operands, const RowOrder& order, const V* sums) {
  using Sums = ColumnSums<V, registers>;
  const ColumnRows<V, registers> rows(operands);
  for (std::uint64_t i = 0; i < order.piece_row.size();) {
    const std::uint32_t row = order.piece_row[i];
    Sums sum = Sums::load(sums + i * Sums::width);
    for (++i; i < order.piece_row.size() && order.piece_row[i] == row; ++i) sum.add(Sums::load(sums + i * Sums::width));
    rows.put(row, sum);
  }
}

}  // namespace spmvpack::host_loader::layouts
