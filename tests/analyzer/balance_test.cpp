#include "spmvpack/analyzer/balance.hpp"

#include <complex>
#include <limits>
#include <utility>

#include "catch.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/x_traffic.hpp"

using namespace spmvpack;
using namespace spmvpack::analyzer;

namespace {

/// A square matrix of `per_row` entries in each row.
BalanceInput square(double alpha, std::uint64_t per_row = 1, std::uint64_t value_size = 8) {
  return {.rows = 1000, .cols = 1000, .nnz = 1000 * per_row, .value_size = value_size, .alpha = alpha};
}

}  // namespace

TEST_CASE("Equation 1 of Kreutzer et al.") {
  for (const double alpha : {0.0, 0.2, 1.0, 3.5})
    for (const std::uint64_t n : {1U, 7U, 144U})
      CHECK(code_balance(square(alpha, n)) == Approx(6 + 4 * alpha + 8.0 / static_cast<double>(n)));
  CHECK(code_balance(square(0.5, 4, 4)) == Approx((4 + 4 + 2 + 2.0) / 2));
}

TEST_CASE("Equation 2 of Kreutzer et al.") {
  const Speeds speeds{.memory = 100e9, .pcie = 5e9};
  for (const double alpha : {0.0, 0.2, 1.0}) {
    const double n = 15;
    CHECK(multiply_seconds(square(alpha, 15), speeds) == Approx(8 * 1000 / 100e9 * (n * (alpha + 1.5) + 2)));
    // Two flops an entry at the code balance.
    CHECK(multiply_seconds(square(alpha, 15), speeds) ==
          Approx(code_balance(square(alpha, 15)) * 2 * 15 * 1000 / 100e9));
  }
  CHECK(copy_seconds(square(0.2), speeds) == Approx(16 * 1000 / 5e9));
  CHECK(copy_seconds(square(0.2, 1, 4), speeds) == Approx(8 * 1000 / 5e9));
  CHECK(copy_seconds({.rows = 10, .cols = 990, .nnz = 5000}, speeds) == Approx(8 * 1000 / 5e9));
}

TEST_CASE("Equations 3 and 4 of Kreutzer et al.") {
  const Speeds ratio_20{.memory = 20, .pcie = 1}, ratio_10{.memory = 10, .pcie = 1};
  // The paper prints 25 and 266, then 7 and 80. Its alpha for the first pair is 1/n; the numbers are those of 0.
  CHECK(entries_per_row_for(1, square(1.5 / 37), ratio_20) == Approx(37 / 1.5));
  CHECK(entries_per_row_for(10, square(1.5 / 397), ratio_20) == Approx(397 / 1.5));
  CHECK(entries_per_row_for(1, square(0), ratio_20) == Approx(25.33).margin(0.005));
  CHECK(entries_per_row_for(10, square(0), ratio_20) == Approx(265.33).margin(0.005));
  CHECK(entries_per_row_for(1, square(1), ratio_10) == Approx(7.2));
  CHECK(entries_per_row_for(10, square(1), ratio_10) == Approx(79.2));
  CHECK(entries_per_row_for(1, square(0), {.memory = 1, .pcie = 2}) == 0);
  // Where they say so, the two times are equal, whatever the shape and the type.
  for (const std::uint64_t value_size : {4U, 8U})
    for (const std::uint64_t cols : {100U, 1000U, 70'000U}) {
      BalanceInput in{.rows = 1'000'000, .cols = cols * 1000, .nnz = 0, .value_size = value_size, .alpha = 0.3};
      for (const double times : {1.0, 10.0}) {
        in.nnz = static_cast<std::uint64_t>(entries_per_row_for(times, in, {}) * static_cast<double>(in.rows));
        CHECK(multiply_seconds(in, {}) == Approx(times * copy_seconds(in, {})));
      }
    }
}

TEST_CASE("The model of a matrix") {
  for (const test::NamedMatrix& m : test::random_matrices<double>(3, 2)) {
    INFO(m.name);
    const CsrMatrix& a = m.matrix;
    const Speeds speeds{.memory = 1e12, .pcie = 3e10};
    const Balance balance = balance_of(a, speeds, 2);
    CHECK(balance.x_lines == encoder::x_lines_loaded(a, {.bytes = 50'000'000}));
    CHECK(balance.copy_seconds == Approx(static_cast<double>(a.rows + a.cols) * 8 / 3e10));
    CHECK(balance.alpha.has_value() == (a.nnz() != 0));
    CHECK(balance.bytes_per_flop.has_value() == (a.nnz() != 0));
    if (a.nnz() == 0) continue;
    const auto nnz = static_cast<double>(a.nnz());
    CHECK(*balance.alpha * 8 * nnz == Approx(static_cast<double>(balance.x_lines * 32)));
    CHECK(*balance.bytes_per_flop * 2 * nnz == Approx(balance.multiply_seconds * 1e12));
    CHECK(balance.copies_dominate() == (nnz / static_cast<double>(a.rows) <= *balance.dominated_below));
    CHECK(*balance.tenth_from >= *balance.dominated_below);
    REQUIRE(balance.worst);
    REQUIRE(balance.best);
    CHECK(balance.worst->alpha == 1);
    CHECK(balance.best->alpha * nnz == Approx(static_cast<double>(a.cols)));
    for (const BalanceBound& bound : {*balance.worst, *balance.best}) {
      CHECK(bound.bytes_per_flop * bound.gflops == Approx(1e3));  // all of the bandwidth
      CHECK(1 / bound.gflops_with_copies == Approx(1 / bound.gflops + balance.copy_seconds / (2e-9 * nnz)));
    }
  }
  const CsrMatrix complex = std::move(test::random_matrices<std::complex<double>>(3, 2).back().matrix);
  const Balance of_complex = balance_of(complex, Speeds{.memory = 1e12, .pcie = 3e10}, 2);
  CHECK(*of_complex.bytes_per_flop * 8 * static_cast<double>(complex.nnz()) ==
        Approx(of_complex.multiply_seconds * 1e12));
  CHECK(of_complex.worst->bytes_per_flop * of_complex.worst->gflops == Approx(1e3));
  // Kreutzer et al., after (4): 15 and 7 nonzeros a row are too few if the memory is 10 times as fast as PCIe.
  const BalanceInput hmep = square(1, 15);
  CHECK(entries_per_row_for(1, hmep, {.memory = 1e12, .pcie = 1e11}) == Approx(7.2));
  // Every second sector of x, for one element of each: more than the paper's limit of 1.
  const CsrMatrix sparse = test::make_csr(3, 24, {{{0, 0}, 1}, {{1, 8}, 1}, {{2, 16}, 1}});
  CHECK(balance_of(sparse).alpha == 4.0);
  const CsrMatrix single = test::make_csr<float>(3, 24, {{{0, 0}, 1}, {{1, 8}, 1}, {{2, 16}, 1}});
  CHECK(balance_of(single).alpha == 8.0);
}

TEST_CASE("Speeds are positive") {
  const CsrMatrix a = test::make_csr(1, 1, {{{0, 0}, 1}});
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    for (const Speeds& speeds : {Speeds{.memory = bad}, Speeds{.pcie = bad}})
      CHECK_THROWS_AS(balance_of(a, speeds), Error);
}
