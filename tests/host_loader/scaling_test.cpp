// Multiplies with D_r A D_c: the roundings of docs/LAYOUTS.md, by the plain multiply; for powers of two the bits of a
// matrix whose values are scaled; and what is read, and refused.

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "columns.hpp"
#include "containers.hpp"
#include "dealt.hpp"
#include "matrices.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;

constexpr Operation operations[] = {Operation::none, Operation::transpose};

template <class A>
std::vector<NamedMatrix> matrices_to_scale() {
  std::mt19937_64 rng(7);
  using Row = std::vector<std::uint32_t>;
  std::vector<NamedMatrix> all;
  const auto add = [&](std::string name, std::uint64_t rows, std::uint64_t cols, const std::function<Row(int)>& row) {
    all.push_back(
        {std::move(name), from_rows<A>(rows, cols, rng, 3, [&](auto r) { return row(static_cast<int>(r)); })});
  };
  add("0 rows", 0, 7, [](int) { return Row{}; });
  add("0 columns", 7, 0, [](int) { return Row{}; });
  add("0 nonzeros", 40, 9, [](int) { return Row{}; });
  add("one column", 70, 1, [](int r) { return r % 3 == 0 ? Row{0} : Row{}; });
  add("rows of any lengths, one full", 90, 130, [&](int r) {
    Row row;
    for (std::uint32_t c = 0; c < 130; ++c)
      if (r == 5 || (r % 4 != 0 && rng() % 9 == 0)) row.push_back(c);
    return row;
  });
  return all;
}

template <class V>
struct Factors {
  std::vector<V> rows, columns;
  Factors(const MatrixFacts& facts, bool of_rows, bool of_columns)
      : rows(of_rows ? random_vector<V>(facts.rows, 3) : std::vector<V>()),
        columns(of_columns ? random_vector<V>(facts.cols, 4) : std::vector<V>()) {}
  [[nodiscard]] Scaling<V> scaling() const { return {rows, columns}; }
};

/// Of every number of columns, in every order of X and Y, real and complex.
template <class V>
void check_roundings(const HostMatrix& a, Operation operation, bool of_rows, bool of_columns) {
  const Factors<V> factors(a.facts(), of_rows, of_columns);
  const std::uint64_t x_rows = operation == Operation::none ? a.facts().cols : a.facts().rows,
                      y_rows = operation == Operation::none ? a.facts().rows : a.facts().cols;
  for (const V beta : {V{0}, V(0.75)}) {
    const auto one = [&](const std::vector<V>& x, const std::vector<V>& y) {
      const bool turned = operation != Operation::none;
      return with_factors<V>(turned ? factors.columns : factors.rows, turned ? factors.rows : factors.columns, V(-1.5),
                             x, beta, y, [&](V alpha, const std::vector<V>& of_a, V b, std::vector<V> before) {
                               a.multiply<V>(alpha, of_a, b, before, 2, describe<V>(operation));
                               return before;
                             });
    };
    const auto all = [&]<class W>(StoredColumns<W>& x, StoredColumns<W>& y) {
      a.multiply<W>(V(-1.5), x.view(), beta, y.view(), 2, describe<W>(operation), factors.scaling());
    };
    const auto report = [&](bool same, std::size_t count, std::string_view of_x, std::string_view of_y) {
      if (same) return;
      INFO(count << " columns, X in " << of_x << ", Y in " << of_y << ", beta " << beta);
      CHECK(same);
    };
    compare_columns<V>(x_rows, y_rows, one, all, report);
    compare_complex_columns<V>(x_rows, y_rows, one, all, report);
  }
}

template <class A, class V>
void check_roundings_of(const std::vector<std::string>& layouts) {
  for (const NamedMatrix& m : matrices_to_scale<A>())
    for (const std::string& layout : layouts) {
      INFO(m.name << ", " << layout << ", vectors of " << sizeof(V));
      const SourceMatrix source{clone(m.matrix), Field::real, Symmetry::general, {}};
      const encoder::EncodeRequest request{.strategy = layout, .transpose = true, .threads = 2, .force_size = true};
      MemorySink sink;
      if (layout != "parts") encoder::encode(m.matrix, request, sink);
      const HostMatrix a =
          HostMatrix::load(open(layout == "parts" ? encode(source, dealt(2), request).bytes : bytes_of(sink)));
      for (const Operation operation : operations)
        for (const int which : {1, 2, 3}) check_roundings<V>(a, operation, which != 1, which != 2);
    }
}

/// Factors of powers of two, of both signs.
template <class V>
std::vector<V> powers_of_two(std::uint64_t n, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<V> all(n);
  for (V& f : all) f = std::ldexp(rng() % 2 == 0 ? V{1} : V{-1}, static_cast<int>(rng() % 9) - 4);
  return all;
}

template <class A>
CsrMatrix scaled_values(const CsrMatrix& a, const std::vector<A>& rows, const std::vector<A>& columns) {
  CsrMatrix b = clone(a);
  A* const values = std::get<Array<A>>(b.values).data();
  for (std::uint64_t r = 0; r < b.rows; ++r)
    for (std::uint64_t k = b.row_ptr[r]; k < b.row_ptr[r + 1]; ++k)
      values[k] = rows[r] * values[k] * columns[b.col_idx[k]];
  return b;
}

template <class A>
HostMatrix updatable(const CsrMatrix& a, const Variant& variant) {
  MemorySink sink;
  encoder::encode(a,
                  {.strategy = variant.layout,
                   .settings = variant.settings,
                   .transpose = true,
                   .threads = 2,
                   .force_size = true,
                   .updatable = true},
                  sink);
  return HostMatrix::load(open(bytes_of(sink)));
}

}  // namespace

TEST_CASE("a multiply with factors is x times factors, the plain multiply, and sums times alpha and factors",
          "[scaling]") {
  check_roundings_of<double, double>({"csr", "csell", "bitflag", "sjds", "coo", "parts"});
  check_roundings_of<float, float>({"csell", "pjds"});
  check_roundings_of<float, double>({"csr", "bitflag"});
}

TEST_CASE("factors that are powers of two have the bits of a matrix whose values are scaled", "[scaling]") {
  for (const NamedMatrix& m : matrices_to_scale<double>())
    for (const Variant& variant : every_layout()) {
      if (!suits(m.matrix, variant) || !suits(transposed(m.matrix), variant)) continue;
      INFO(m.name << ", " << variant.name());
      const auto r = powers_of_two<double>(m.matrix.rows, 1), c = powers_of_two<double>(m.matrix.cols, 2);
      const HostMatrix plain = updatable<double>(m.matrix, variant),
                       scaled = updatable<double>(scaled_values(m.matrix, r, c), variant);
      for (const Operation operation : operations) {
        const bool turned = operation != Operation::none;
        const auto x = random_vector<double>(turned ? m.matrix.rows : m.matrix.cols, 5);
        for (const double beta : {0.0, 0.3}) {
          auto y = random_vector<double>(turned ? m.matrix.cols : m.matrix.rows, 6), expected = y;
          plain.multiply<double>(-1.7, x, beta, y, 2, describe<double>(operation), {r, c});
          scaled.multiply<double>(-1.7, x, beta, expected, 2, describe<double>(operation));
          CHECK(same_bits(y, expected));
        }
      }
    }
}

TEST_CASE("a multiply with factors is near one in long double", "[scaling]") {
  const CsrMatrix a = clone(matrices_to_scale<double>().back().matrix);
  const HostMatrix m = HostMatrix::load(open(encode(a, "csell").bytes));
  const Factors<double> factors(m.facts(), true, true);
  const auto x = random_vector<double>(a.cols, 8);
  std::vector<double> y(a.rows);
  m.multiply<double>(1, x, 0, y, 2, describe<double>(), factors.scaling());
  const auto& values = std::get<Array<double>>(a.values);
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    long double sum = 0, size = 0;
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const long double product = static_cast<long double>(factors.rows[r]) * values[k] *
                                  factors.columns[a.col_idx[k]] * static_cast<long double>(x[a.col_idx[k]]);
      sum += product;
      size += std::abs(product);
    }
    const auto n = static_cast<long double>(a.row_ptr[r + 1] - a.row_ptr[r]);
    REQUIRE(std::abs(static_cast<long double>(y[r]) - sum) <= (n + 6) * 0x1p-53L * size);
  }
}

TEST_CASE("factors are read where they count, and no further", "[scaling]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const HostMatrix a =
      HostMatrix::load(open(encode(make_csr(4, 3, {{{0, 0}, 2.0}, {{1, 0}, 3.0}, {{1, 1}, 4.0}}), "csr").bytes));
  const std::vector<double> x{1, 1, 1}, ones{1, 1, 1, 1};
  std::vector<double> y{nan, nan, nan, nan};
  const auto multiply = [&](double alpha, double beta, const Scaling<double>& scaling) {
    a.multiply<double>(alpha, x, beta, y, 1, describe<double>(), scaling);
  };
  multiply(1, 0, {ones, std::vector{inf, 1.0, nan}});  // column 2 has no entries
  CHECK(y == std::vector{inf, inf, 0.0, 0.0});
  multiply(1, 0, {std::vector{0.0, nan, -2.0, inf}, {}});
  CHECK((y[0] == 0 && std::isnan(y[1]) && y[2] == 0));
  CHECK(std::isnan(y[3]));  // 0 times infinity: a row without entries is scaled as others are
  y = {1, 2, 3, 4};
  multiply(0, 2, {std::vector(4, nan), std::vector(3, nan)});  // alpha is 0
  CHECK(y == std::vector<double>{2, 4, 6, 8});
  multiply(1, 0, {std::vector{inf, inf, 1.0, 1.0}, std::vector{0.0, 0.0, 0.0}});
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
}

TEST_CASE("factors scale the transpose of a skew-symmetric matrix, whose parts are A's", "[scaling]") {
  const CsrMatrix a = make_csr(3, 3, {{{0, 1}, 2.0}, {{1, 0}, -2.0}, {{1, 2}, 5.0}, {{2, 1}, -5.0}});
  MemorySink sink;
  encoder::encode(a, {.strategy = "csr", .force_size = true}, sink);
  const HostMatrix m = HostMatrix::load(open(bytes_of(sink)));
  REQUIRE(m.facts().bitwise_symmetry() == Symmetry::skew_symmetric);
  std::vector<double> y(3);
  m.multiply<double>(1, std::vector<double>{1, 1, 1}, 0, y, 1, describe<double>(Operation::transpose),
                     {std::vector<double>{1, 10, 100}, std::vector<double>{3, 5, 7}});
  CHECK(y == std::vector<double>{-2.0 * 10 * 3, (2.0 * 1 - 5.0 * 100) * 5, 5.0 * 10 * 7});
}

TEST_CASE("factors of the wrong number, and those that overlap y, are refused before anything is computed",
          "[scaling]") {
  MemorySink sink;
  encoder::encode(make_csr(4, 3, {{{0, 0}, 2.0}}), {.strategy = "csr", .transpose = true, .force_size = true}, sink);
  const HostMatrix a = HostMatrix::load(open(bytes_of(sink)));
  std::vector<double> memory(32, 1), y(4, 5), four(4, 1), three(3, 1);
  const auto refused = [&](DenseView<double> to, const Scaling<double>& scaling, Operation operation,
                           const char* text) {
    const std::vector<double> before = memory;
    const std::vector<double>& x = operation == Operation::none ? three : four;
    CHECK_THROWS_WITH(a.multiply<double>(1, x, 0, to, 1, describe<double>(operation), scaling), Catch::Contains(text));
    CHECK(memory == before);
  };
  refused(y, {three, {}}, Operation::none, "3 factors of rows, A has 4");
  refused(y, {{}, four}, Operation::none, "4 factors of columns, A has 3");
  refused(three, {three, {}}, Operation::transpose, "3 factors of rows, A has 4");
  const std::span<double> all(memory);
  refused(all.subspan(3, 4), {all.first(4), {}}, Operation::none, "the factors of rows and y overlap");
  refused(all.subspan(2, 4), {{}, all.first(3)}, Operation::none, "the factors of columns and y overlap");
  refused({memory.data(), 4, 1, 2, 0}, {{}, all.subspan(6, 3)}, Operation::none,
          "the factors of columns and y overlap");
  auto* const complex = reinterpret_cast<std::complex<double>*>(memory.data());
  const std::vector<std::complex<double>> complex_x(6, 1);
  const DenseView<const std::complex<double>> of_x(complex_x.data(), 3, 2, 1, 3);
  const DenseView<std::complex<double>> by_columns(complex, 4, 2, 1, 6);  // elements 0 to 7, and 12 to 19
  CHECK_THROWS_AS(a.multiply<std::complex<double>>(1, of_x, 0, by_columns, 1, describe<std::complex<double>>(),
                                                   {all.subspan(9, 4), {}}),
                  Error);
  CHECK_NOTHROW(a.multiply<std::complex<double>>(1, of_x, 0, by_columns, 1, describe<std::complex<double>>(),
                                                 {all.subspan(8, 4), {}}));
  CHECK_NOTHROW(a.multiply<double>(1, three, 0, y, 1, describe<double>(), {{}, three}));  // x may be the factors
}

}  // namespace spmvpack::test
