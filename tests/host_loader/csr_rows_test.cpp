// csr's multiply with row pointers of 64 bits, which files have from 2^31 nonzeros on: more than a test has room for.

#include <numeric>

#include "catch.hpp"
#include "layouts/csr/rows.hpp"
#include "matrices.hpp"
#include "orders/csr.hpp"
#include "products.hpp"
#if SPMVPACK_HAS_V3
#include "layouts/csr/v3.hpp"
#endif

namespace spmvpack::test {
namespace {

using namespace host_loader;
using namespace host_loader::layouts;

/// A x by all runs and pieces, one after the other.
template <class V, class A, class Run, class Piece>
std::vector<V> multiply(const CsrMatrix& a, const std::vector<V>& x, std::uint64_t ahead, Run&& run, Piece&& piece) {
  const auto order =
      RowOrderOf(std::span<const std::uint64_t>(a.row_ptr), std::span<const std::uint32_t>(a.col_idx), 2).take();
  std::vector<V> y(a.rows, V{-1}), sums(order->pieces.size());
  const CsrRows<A, V, std::uint64_t> rows{a.row_ptr.data(),
                                          a.col_idx.data(),
                                          std::get<Array<A>>(a.values).data(),
                                          {.alpha = 1, .x = x.data(), .y = y.data()},
                                          ahead};
  run(rows, *order, 0, order->runs.size());
  piece(rows, *order, 0, sums.size(), sums.data());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    V& element = y[order->piece_row[i]];
    element = i == 0 || order->piece_row[i - 1] != order->piece_row[i] ? sums[i] : element + sums[i];
  }
  return y;
}

template <class A, class V>
void in_order(const CsrMatrix& a) {
  const auto x = random_vector<V>(a.cols, 3);
  std::vector<V> expected = Orders<A, V>(a, x).on_host();
  for (V& sum : expected) sum = std::fma(V{1}, sum, V{0});
  using Rows = CsrRows<A, V, std::uint64_t>;
  for (const std::uint64_t ahead : {0U, 100U}) {
    INFO("vectors " << sizeof(V) << ", " << ahead << " entries fetched ahead");
    CHECK(same_bits(multiply<V, A>(a, x, ahead, runs_generic<Rows>, pieces_generic<Rows>), expected));
#if SPMVPACK_HAS_V3
    if (use_v3()) CHECK(same_bits(multiply<V, A>(a, x, ahead, runs_v3<Rows>, pieces_v3<Rows>), expected));
#endif
  }
}

}  // namespace

TEST_CASE("csr with row pointers of 64 bits, fetched ahead or not, by all instructions: the documented order") {
  std::mt19937_64 random(3);
  std::vector<std::uint32_t> columns;
  const auto row = [&](std::uint64_t r) {
    if (r == 77) columns.resize(9000);
    if (r % 13 == 0 || r == 77) {
      columns.resize(r == 77 ? 9000 : random() % 40);
      std::iota(columns.begin(), columns.end(), static_cast<std::uint32_t>(random() % 500));
    } else {
      if (columns.size() > 1000) columns.resize(20);
      for (std::uint32_t& c : columns) ++c;
    }
    return columns;
  };
  in_order<double, double>(from_rows<double>(1000, 10000, random, 3, row));
  const CsrMatrix narrow = from_rows<float>(1000, 10000, random, 3, row);
  in_order<float, float>(narrow);
  in_order<float, double>(narrow);
}

TEST_CASE("csr's rows are visited as they follow each other where their lengths repeat, and else by length") {
  constexpr std::uint64_t windows = 8, rows = windows * RowOrder::window;
  constexpr std::array<std::uint64_t, 4> lengths{5, 9, 0, 13};
  std::mt19937_64 random(5);
  const CsrMatrix a = from_rows<double>(rows, 8000, random, 3, [&](std::uint64_t r) {
    const bool repeats = r / RowOrder::window % 2 == 0;
    std::vector<std::uint32_t> columns(r == 700 ? 5000 : repeats ? lengths.at(r % lengths.size()) : 1 + random() % 12);
    std::iota(columns.begin(), columns.end(), static_cast<std::uint32_t>(random() % 3000));
    return columns;
  });
  in_order<double, double>(a);
  const auto order =
      RowOrderOf(std::span<const std::uint64_t>(a.row_ptr), std::span<const std::uint32_t>(a.col_idx), 2).take();
  std::vector<int> visits(rows);
  for (const RowOrder::Run& run : order->runs) {
    const std::uint64_t window = run.first / RowOrder::window, last = run.first + run.rows_less_1;
    if (run.kind >= RowOrder::by_fours && run.kind != RowOrder::at_end)
      CHECK((run.kind == RowOrder::mixed) == (window % 2 == 0));
    for (std::uint64_t i = run.first; i <= last; ++i) ++visits[window * RowOrder::window + order->row[i]];
  }
  for (const RowOrder::Piece& piece : order->pieces) {
    CHECK(piece.row == 700);
    if (piece.number == 0) ++visits[piece.row];
  }
  CHECK(visits == std::vector<int>(rows, 1));
}

TEST_CASE("shares of csr's rows: together all of them, each of about the same cost") {
  std::mt19937_64 random(4);
  const CsrMatrix a = from_rows<double>(5000, 20000, random, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> columns(r == 4000 ? 20000 : r < 2500 ? random() % 4 : random() % 20);
    std::iota(columns.begin(), columns.end(), 0U);
    return columns;
  });
  const auto order =
      RowOrderOf(std::span<const std::uint64_t>(a.row_ptr), std::span<const std::uint32_t>(a.col_idx), 2).take();
  const std::uint64_t items = order->runs.size() + order->pieces.size();
  std::uint64_t largest = 0;
  for (std::uint64_t i = 0; i < items; ++i)
    largest = std::max(largest, order->cost_before[i + 1] - order->cost_before[i]);
  for (const int shares : {1, 2, 3, 8}) {
    std::uint64_t next = 0;
    for (int share = 0; share < shares; ++share) {
      CHECK(order->first_of(share, shares) == next);
      next = order->first_of(share + 1, shares);
      const std::uint64_t cost = order->cost_before[next] - order->cost_before[order->first_of(share, shares)];
      CHECK(cost <= order->cost_before[items] / static_cast<std::uint64_t>(shares) + largest + 1);
    }
    CHECK(next == items);
  }
}

}  // namespace spmvpack::test
