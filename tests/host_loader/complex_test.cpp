// Complex matrices on the host, and complex scalars: A, A^T and A^H, with stored parts and by symmetry.

#include <array>
#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "columns.hpp"
#include "dealt.hpp"
#include "host_loader/host_columns.hpp"
#include "matrices.hpp"
#include "orders/scalars.hpp"
#include "products.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using C128 = std::complex<double>;
using C64 = std::complex<float>;

constexpr std::array operations{Operation::none, Operation::transpose, Operation::conjugate_transpose};

/// op(A), as a matrix of its own.
template <class A>
CsrMatrix operated(const CsrMatrix& a, Operation operation) {
  CsrMatrix result = operation == Operation::none ? clone(a) : transposed(a);
  if (operation == Operation::conjugate_transpose)
    for (A& value : std::get<Array<A>>(result.values)) value = std::conj(value);
  return result;
}

/// With parts of A^T unless it is symmetric of some kind.
HostMatrix with_transpose(const CsrMatrix& a, const encoder::Strategy& strategy) {
  return load(encode({clone(a), field_of(a.value_type()), Symmetry::general, {}}, strategy,
                     {.transpose = true, .threads = 2, .force_size = true}));
}
HostMatrix with_transpose(const CsrMatrix& a, const std::string& layout) {
  return with_transpose(a, encoder::find_strategy(layout));
}

/// A square matrix of this symmetry, some of whose rows are empty.
template <class A>
CsrMatrix symmetric_matrix(Symmetry symmetry, std::uint32_t size) {
  std::mt19937_64 rng(size);
  std::map<std::pair<std::uint32_t, std::uint32_t>, A> entries;
  for (std::uint32_t r = 0; r < size; ++r)
    for (std::uint32_t c = 0; c < r; ++c) {
      if (r % 7 == 3 || c % 7 == 3 || rng() % 5 != 0) continue;
      const A value = random_value<A>(rng, 3);
      entries[{r, c}] = value;
      entries[{c, r}] = symmetry == Symmetry::hermitian        ? std::conj(value)
                        : symmetry == Symmetry::skew_symmetric ? -value
                                                               : value;
    }
  for (std::uint32_t r = 0; r < size && symmetry != Symmetry::skew_symmetric; r += 3) {
    const A value = random_value<A>(rng, 3);
    entries[{r, r}] = symmetry == Symmetry::hermitian ? A{value.real()} : value;
  }
  CsrMatrix a = allocate_csr(size, size, entries.size(), value_type_of<A>);
  std::fill(a.row_ptr.begin(), a.row_ptr.end(), 0);
  std::uint64_t k = 0;
  for (const auto& [at, value] : entries) {
    ++a.row_ptr[at.first + std::uint64_t{1}];
    a.col_idx[k] = at.second;
    std::get<Array<A>>(a.values)[k++] = value;
  }
  for (std::uint64_t r = 0; r < size; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
  return a;
}

template <class V>
std::vector<V> nans(std::uint64_t n) {
  const auto nan = std::numeric_limits<real_of<V>>::quiet_NaN();
  return std::vector<V>(n, V{nan, nan});
}

template <class V>
std::vector<V> product(const HostMatrix& a, Operation operation, V alpha, const std::vector<V>& x, V beta,
                       std::vector<V> y, int threads = 2) {
  a.multiply<V>(alpha, x, beta, y, threads, describe<V>(operation));
  return y;
}

/// Every operation against the reference, then with scalars of every kind against the sums, bit for bit.
template <class A>
void require_operations(const HostMatrix& a, const CsrMatrix& matrix) {
  with_vectors<A>([&]<class V>(V) {
    using T = real_of<V>;
    for (const Operation operation : operations) {
      INFO("operation " << static_cast<int>(operation) << ", vectors " << sizeof(V));
      const CsrMatrix of_a = operated<A>(matrix, operation);
      const auto x = random_vector<V>(of_a.cols, 1), y0 = random_vector<V>(of_a.rows, 2);
      const std::vector<V> sums = product(a, operation, V{1}, x, V{0}, nans<V>(of_a.rows), 1);
      require_correct<A>(of_a, x, sums);
      REQUIRE(same_bits(sums, product(a, operation, V{1}, x, V{0}, nans<V>(of_a.rows), 3)));
      for (const V alpha : {V{0}, V{T(-2.5)}, V{T(-2.5), T(0.5)}, V{0, 1}})
        for (const V beta : {V{0}, V{1}, V{T(0.75)}, V{T(0.75), T(-2)}}) {
          // What must not be read is not.
          const std::vector<V> y = product(a, operation, alpha, alpha == V{0} ? nans<V>(x.size()) : x, beta,
                                           beta == V{0} ? nans<V>(y0.size()) : y0);
          std::vector<V> expected = y0;
          for (std::uint64_t r = 0; r < of_a.rows; ++r) {
            expected[r] = orders::scaled(beta, y0[r]);
            if (alpha != V{0} && of_a.row_ptr[r] != of_a.row_ptr[r + 1])
              expected[r] = orders::completed(alpha, sums[r], expected[r]);
          }
          INFO("alpha " << alpha << ", beta " << beta);
          REQUIRE(same_bits_or_nan(y, expected));
        }
    }
  });
}

template <class A>
void stored_transposes() {
  for (const NamedMatrix& m : random_matrices<A>(71, 3)) {
    if (m.matrix.nnz() > 20'000) continue;
    for (const char* const layout : {"csr", "coo"}) {
      INFO(m.name << ", " << layout);
      require_operations<A>(with_transpose(m.matrix, layout), m.matrix);
    }
  }
}

}  // namespace

TEST_CASE("complex: A, A^T and A^H with parts of A^T, and scalars of every kind", "[complex]") {
  SECTION("c128") { stored_transposes<C128>(); }
  SECTION("c64, with vectors of both types") { stored_transposes<C64>(); }
}

TEST_CASE("complex: A^T and A^H of symmetric, skew-symmetric and Hermitian matrices need nothing", "[complex]") {
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    INFO(to_string(symmetry));
    const CsrMatrix wide = symmetric_matrix<C128>(symmetry, 150), narrow = symmetric_matrix<C64>(symmetry, 40);
    for (const char* const layout : {"csr", "coo"}) {
      const Container file = open(encode(wide, layout).bytes);
      REQUIRE(file.facts().bitwise_symmetry() == symmetry);
      REQUIRE(file.parts(format::Role::transpose).empty());
      require_operations<C128>(HostMatrix::load(file), wide);
      require_operations<C64>(load(encode(narrow, layout)), narrow);
    }
    // What the matrix has as such is not conjugated: the bits are those of A.
    const HostMatrix a = load(encode(wide, "csr"));
    const auto x = random_vector<C128>(wide.cols, 1), y = random_vector<C128>(wide.rows, 2);
    const Operation own = symmetry == Symmetry::hermitian ? Operation::conjugate_transpose : Operation::transpose;
    const C128 alpha{2, -3}, sign = symmetry == Symmetry::skew_symmetric ? -1 : 1;
    CHECK(same_bits(product(a, own, alpha, x, C128{1, 1}, y), product(a, Operation::none, sign * alpha, x, {1, 1}, y)));
  }
}

TEST_CASE("complex: without A^T there is neither A^T nor A^H", "[complex]") {
  CsrMatrix a = symmetric_matrix<C128>(Symmetry::general, 20);
  std::get<Array<C128>>(a.values)[1] = {7, 7};  // beside the diagonal
  const HostMatrix loaded = load(encode(a, "csr"));
  REQUIRE_FALSE(loaded.has_transpose());
  for (const Operation operation : {Operation::transpose, Operation::conjugate_transpose})
    CHECK_THROWS_AS(product(loaded, operation, C128{1}, nans<C128>(20), C128{0}, nans<C128>(20)), Error);
}

TEST_CASE("complex: parts with lists of rows and columns add in the order of their table", "[complex]") {
  for (const NamedMatrix& m : random_matrices<C128>(73, 3)) {
    if (m.matrix.nnz() > 30'000) continue;
    INFO(m.name);
    const HostMatrix a = with_transpose(m.matrix, dealt(3));
    const auto x = random_vector<C128>(m.matrix.cols, 1), y = random_vector<C128>(m.matrix.rows, 2);
    for (const C128 beta : {C128{0}, C128{0.5, 0.25}}) {
      const C128 alpha{-2.5, 1};
      const std::vector<C128> expected =
          multiply_dealt(deal(m.matrix, 3), alpha, x, beta, y,
                         [](const std::vector<std::byte>& file, const std::vector<C128>& of_part) {
                           return multiply(HostMatrix::load(open(file)), of_part);
                         });
      CHECK(same_bits(product(a, Operation::none, alpha, x, beta, y), expected));
    }
    for (const Operation operation : {Operation::transpose, Operation::conjugate_transpose}) {
      const CsrMatrix of_a = operated<C128>(m.matrix, operation);
      const auto of_rows = random_vector<C128>(m.matrix.rows, 3);
      require_correct<C128>(of_a, of_rows, product(a, operation, C128{1}, of_rows, C128{0}, nans<C128>(of_a.rows)));
    }
  }
}

TEST_CASE("complex: several columns of A, A^T and A^H have the bits of each alone", "[complex]") {
  std::size_t turn = 0;
  for (const NamedMatrix& m : random_matrices<C64>(79, 3)) {
    if (m.matrix.rows + m.matrix.cols > 10'000) continue;
    for (const char* const layout : {"csr", "coo"}) {
      const HostMatrix a = with_transpose(m.matrix, layout);
      for (const Operation operation : operations) {
        INFO(m.name << ", " << layout << ", operation " << static_cast<int>(operation));
        require_columns<C64, C128>(a, nullptr, operation, turn, one_count(turn));
        require_columns<C64, C64>(a, nullptr, operation, turn + 1, one_count(turn + 1, 6));
        ++turn;
      }
    }
  }
}

TEST_CASE("complex: factors of rows and columns", "[complex]") {
  std::mt19937_64 rng(5);
  const CsrMatrix matrix = from_rows<C128>(90, 70, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> columns = shuffled(70, rng());
    columns.resize(r % 12);
    return columns;
  });
  const HostMatrix a = with_transpose(matrix, "csr");
  const auto rows = random_vector<double>(90, 1), columns = random_vector<double>(70, 2);
  for (const Operation operation : operations) {
    const bool turned = operation != Operation::none;
    const auto x = random_vector<C128>(turned ? 90 : 70, 3), y = random_vector<C128>(turned ? 70 : 90, 4);
    const C128 alpha{-1.5, 0.25};
    for (const C128 beta : {C128{0}, C128{0.75}, C128{0.5, 2}})
      for (const int which : {1, 2, 3}) {
        INFO("operation " << static_cast<int>(operation) << ", beta " << beta << ", factors " << which);
        const std::vector<double> r = which == 1 ? std::vector<double>() : rows,
                                  c = which == 2 ? std::vector<double>() : columns;
        const std::vector<C128> expected = with_factors<C128>(
            turned ? c : r, turned ? r : c, alpha, x, beta, y,
            [&](C128 scalar, const std::vector<C128>& from, C128 before, const std::vector<C128>& to) {
              return product(a, operation, scalar, from, before, to);
            });
        std::vector<C128> result = y;
        a.multiply<C128>(alpha, x, beta, result, 2, describe<C128>(operation), {.rows = r, .columns = c});
        CHECK(same_bits_or_nan(result, expected));
      }
  }
}

TEST_CASE("complex scalars of real matrices, in every layout", "[complex]") {
  const auto check = []<class A, class V>(A, V) {
    using T = real_of<V>;
    for (const NamedMatrix& m : random_matrices<A>(67, 3)) {
      if (m.matrix.rows + m.matrix.cols > 2000) continue;
      for (const Variant& variant : every_layout()) {
        if (!suits(m.matrix, variant)) continue;
        INFO(variant.name() << ", " << m.name);
        const HostMatrix a = load(encode(m.matrix, variant.layout));
        for (const auto& scalars : {std::pair{V{T(-2.5), T(0.5)}, V{T(0.75), T(-2)}}, std::pair{V{2}, V{0, 1}},
                                    std::pair{V{0, 1}, V{0}}, std::pair{V{0}, V{1, 1}}}) {
          const V alpha = scalars.first, beta = scalars.second;
          compare_columns<V>(
              m.matrix.cols, m.matrix.rows,
              [&](const std::vector<V>& x, std::vector<V> y) {
                const std::vector<V> sums = product(a, Operation::none, V{1}, x, V{0}, nans<V>(y.size()));
                for (std::size_t r = 0; r < y.size(); ++r) {
                  y[r] = orders::scaled(beta, y[r]);
                  if (alpha != V{0} && m.matrix.row_ptr[r] != m.matrix.row_ptr[r + 1])
                    y[r] = orders::completed(alpha, sums[r], y[r]);
                }
                return y;
              },
              [&](StoredColumns<V>& x, StoredColumns<V>& y) { a.multiply<V>(alpha, x.view(), beta, y.view(), 2); },
              [&](bool same, std::size_t count, std::string_view x, std::string_view y) {
                INFO(count << " columns, X in " << x << ", Y in " << y << ", alpha " << alpha << ", beta " << beta);
                REQUIRE(same);
              });
        }
      }
    }
  };
  check(double{}, C128{});
  check(float{}, C64{});
  check(float{}, C128{});
}

TEST_CASE("complex: an infinite part is no NaN of the other if a scalar is real", "[complex]") {
  CsrMatrix a = allocate_csr(2, 1, 1, ValueType::c128);
  a.row_ptr[0] = 0, a.row_ptr[1] = a.row_ptr[2] = 1;
  a.col_idx[0] = 0;
  std::get<Array<C128>>(a.values)[0] = 1e300;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* const layout : {"csr", "coo"}) {
    std::vector<C128> y{{1, 1}, {5, -infinity}};
    load(encode(a, layout)).multiply(2, std::vector<C128>{{1, 1e300}}, 1, y);
    CHECK(y == std::vector<C128>{{2e300, infinity}, {5, -infinity}});
  }
}

TEST_CASE("complex: what does not fit is refused, and y left alone", "[complex]") {
  const CsrMatrix matrix = symmetric_matrix<C128>(Symmetry::hermitian, 10);
  const Encoded file = encode(matrix, "coo");
  const HostMatrix a = load(file);
  const auto message = [](auto&& f) {
    try {
      f();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing is refused");
  };
  const std::vector<double> ones(10, 1.0);
  std::vector<double> real(10, 5.0);
  CHECK_THAT(message([&] { a.multiply<double>(1, ones, 0, real); }),
             Catch::Contains("x and y are real, the matrix has c128 values"));
  CHECK(real == std::vector<double>(10, 5.0));
  std::vector<C64> narrow(10);
  CHECK_THAT(message([&] { a.multiply<C64>(1, std::vector<C64>(10), 0, narrow); }),
             Catch::Contains("c64 vectors for a matrix of c128 values; use c128 vectors"));
  std::vector<C128> y(10, 3);
  CHECK_THAT(message([&] { a.multiply<C128>(1, std::vector<C128>(9), 0, y); }), Catch::Contains("x has 9 elements"));
  CHECK(y == std::vector<C128>(10, 3));
  CHECK_THAT(message([&] { HostMatrix::load(open(file.bytes), {.updatable = true}); }),
             Catch::Contains("a matrix of complex values (c128) takes no new ones yet"));
}

}  // namespace spmvpack::test
