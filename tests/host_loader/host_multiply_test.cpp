// The host multiply: right within the error bound, in any variant, in parts and in lists, and harmless.

#include "host_loader/host_multiply.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "columns.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "variants.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

template <class A>
void all_correct() {
  for (const int values : {0, 2, 3}) {
    if (sanitized && (values == 2) != std::is_same_v<A, float>) continue;
    for (const NamedMatrix& m : random_matrices<A>(23, values)) {
      for (const Variant& variant : every_layout()) {
        const std::optional<Container> file = container_if_suits(m.matrix, variant);
        if (!file) continue;
        const HostMatrix a = HostMatrix::load(*file);
        with_vectors<A>([&]<class V>(V) {
          INFO(variant.name() << ", " << m.name << ", values " << values << ", vectors " << sizeof(V));
          const auto x = random_vector<V>(m.matrix.cols, 7);
          const std::vector<V> y = multiply(a, x, 1);
          require_correct<A>(m.matrix, x, y);
          REQUIRE(same_bits(y, multiply(a, x, 3)));
        });
      }
    }
  }
}

/// Rows and columns of a matrix that become a part; maps of all where a list is missing.
struct Piece {
  std::string layout;
  std::optional<std::vector<std::uint32_t>> rows, cols;
};

/// The entries of `a` in a piece's rows and columns, in its local indices.
CsrMatrix local(const CsrMatrix& a, const Piece& piece) {
  std::vector<std::uint32_t> everything(std::max(a.rows, a.cols));
  std::iota(everything.begin(), everything.end(), 0U);
  std::vector<std::uint32_t> rows = piece.rows.value_or(everything), cols = piece.cols.value_or(everything);
  if (!piece.rows) rows.resize(a.rows);
  if (!piece.cols) cols.resize(a.cols);
  Entries entries;
  for (std::uint32_t r = 0; r < rows.size(); ++r)
    for (std::uint64_t k = a.row_ptr[rows[r]]; k < a.row_ptr[rows[r] + std::uint64_t{1}]; ++k) {
      const auto at = std::lower_bound(cols.begin(), cols.end(), a.col_idx[k]);
      if (at != cols.end() && *at == a.col_idx[k])
        entries[{r, static_cast<std::uint32_t>(at - cols.begin())}] = std::get<Array<double>>(a.values)[k];
    }
  return make_csr(rows.size(), cols.size(), entries);
}

/// A file whose parts are these pieces of `a`, loaded.
HostMatrix load_parts(const CsrMatrix& a, const std::vector<Piece>& pieces) {
  const auto indices = [](const std::optional<std::vector<std::uint32_t>>& list, std::uint64_t all) {
    return list ? encoder::PartIndices::of(*list) : encoder::PartIndices::all(all);
  };
  std::vector<encoder::PartPlan> parts;
  for (const Piece& piece : pieces) {
    const auto entries = std::make_shared<const CsrMatrix>(local(a, piece));
    parts.push_back(encoder::find_layout_encoder(piece.layout)
                        .plan({*entries, indices(piece.rows, a.rows), indices(piece.cols, a.cols), nullptr,
                               encoder::own_entries(entries)},
                              {}));
  }
  // Of several parts, none is without entries.
  if (a.nnz() == 0) parts.resize(1);
  if (parts.size() > 1) std::erase_if(parts, [](const encoder::PartPlan& part) { return part.info.nnz == 0; });
  return HostMatrix::load(open(file_of(a.rows, a.cols, a.value_type(), parts)));
}

/// The same entries of type A, in the wider type W.
template <class A, class W>
CsrMatrix widened(const CsrMatrix& a) {
  CsrMatrix wide = clone(a);
  const auto& narrow = std::get<Array<A>>(a.values);
  Array<W> values(narrow.size());
  for (std::uint64_t k = 0; k < narrow.size(); ++k) values[k] = narrow[k];
  wide.values = std::move(values);
  return wide;
}

template <class A, class W>
void widening_changes_no_bit() {
  for (const NamedMatrix& m : random_matrices<A>(43, 3)) {
    const CsrMatrix wide = widened<A, W>(m.matrix);
    const auto x = random_vector<W>(m.matrix.cols, 6);
    for (Variant variant : every_layout()) {
      if (!suits(m.matrix, variant)) continue;
      if (variant.layout == "ccoo") variant.settings["ccoo.k"] = "4";  // left alone it depends on the size of a value
      INFO(variant.name() << ", " << m.name);
      REQUIRE(same_bits(multiply(load(encode(m.matrix, variant.layout, variant.settings)), x),
                        multiply(load(encode(wide, variant.layout, variant.settings)), x)));
    }
  }
}

}  // namespace

TEST_CASE("every layout multiplies correctly, the same at any number of threads") {
  SECTION("f64") { all_correct<double>(); }
  SECTION("f32, with vectors of both types") { all_correct<float>(); }
  SECTION("c128") { all_correct<std::complex<double>>(); }
  SECTION("c64, with vectors of both types") { all_correct<std::complex<float>>(); }
}

TEST_CASE("a permuted basis: the same sums, for permuted vectors and for the user's") {
  for (const NamedMatrix& m : random_matrices<double>(61, 3)) {
    if (m.matrix.rows != m.matrix.cols || !suits(m.matrix, Variant{"pjds", {}})) continue;
    INFO(m.name);
    const Encoded file = encode(m.matrix, "pjds", {{"pjds.basis", "permuted"}});
    CHECK(equal_bits(unpack(open(file.bytes)), m.matrix));
    const HostMatrix a = load(file), user = load(encode(m.matrix, "pjds"));
    const auto x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
    auto expected = y0;
    user.multiply<double>(-2.5, x, 0.75, expected);
    auto y = y0;
    a.multiply<double>(-2.5, x, 0.75, y);
    REQUIRE(same_bits(y, expected));
    std::vector<double> permuted_x(x.size()), permuted_y(y.size());
    a.permute<double>(x, permuted_x);
    a.permute<double>(y0, permuted_y);
    a.multiply<double>(-2.5, permuted_x, 0.75, permuted_y, 2, {.basis = Basis::permuted});
    a.unpermute<double>(permuted_y, y);
    REQUIRE(same_bits(y, expected));
    // Others have no such basis.
    CHECK_THROWS_AS(user.multiply<double>(1, x, 0, y, 1, {.basis = Basis::permuted}), Error);
    CHECK_THROWS_AS(user.permute<double>(x, y), Error);
    CHECK_THROWS_AS(user.unpermute<double>(x, y), Error);
  }
}

TEST_CASE("an f32 matrix times f64 vectors has the bits of the same matrix in f64, and a c64 one those of c128") {
  widening_changes_no_bit<float, double>();
  widening_changes_no_bit<std::complex<float>, std::complex<double>>();
}

TEST_CASE("the instructions are those that SPMVPACK_ISA names, where the processor has them") {
  const char* const isa = std::getenv("SPMVPACK_ISA");
  const std::string_view chosen = isa == nullptr ? "" : isa;
  if (chosen == "generic" || chosen == "v3" || chosen == "v4") CHECK_FALSE(use_gathers());
  if (chosen == "gathers") CHECK(use_gathers() == use_v4());
  CHECK(use_gathers() == (instruction_set() == "x86-64-v4 (AVX-512, gathers)"));
  CHECK(use_gathers() == use_gathers());
}

TEST_CASE("alpha and beta") {
  for (const NamedMatrix& m : random_matrices<double>(31, 3)) {
    const auto x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
    const std::vector<double> nan(x.size(), std::numeric_limits<double>::quiet_NaN());
    for (const Variant& variant : every_layout()) {
      const std::optional<Container> file = container_if_suits(m.matrix, variant);
      if (!file) continue;
      INFO(variant.name() << ", " << m.name);
      const HostMatrix a = HostMatrix::load(*file);
      const auto sums = multiply(a, x);
      for (const double alpha : {1.0, 0.0, -2.5})
        for (const double beta : {0.0, 1.0, 0.75}) {
          auto y = y0;
          if (beta == 0) std::fill(y.begin(), y.end(), std::numeric_limits<double>::quiet_NaN());  // must not be read
          a.multiply<double>(alpha, alpha == 0 ? nan : x, beta, y, 2);
          for (std::size_t r = 0; r < y.size(); ++r) {
            const double scaled = beta == 0 ? 0.0 : beta * y0[r];
            const bool empty = m.matrix.row_ptr[r] == m.matrix.row_ptr[r + 1];
            const double expected = empty ? scaled : std::fma(alpha, sums[r], scaled);
            REQUIRE(std::memcmp(&y[r], &expected, sizeof expected) == 0);
          }
        }
    }
  }
}

TEST_CASE("complex vectors: real and imaginary parts have the bits of vectors of their own") {
  const auto compare = []<class A, class T>(A, T) {
    for (const NamedMatrix& m : random_matrices<A>(47, 3)) {
      if (m.matrix.nnz() > 300) continue;
      for (const Variant& variant : every_layout()) {
        if (!suits(m.matrix, variant)) continue;
        const HostMatrix a = load(encode(m.matrix, variant.layout));
        for (const auto& [alpha, beta] : {std::pair{T(-2.5), T(0.5)}, std::pair{T(2), T(0)}})
          compare_complex_columns<T>(
              m.matrix.cols, m.matrix.rows,
              [&, alpha = alpha, beta = beta](const std::vector<T>& x, std::vector<T> y) {
                a.multiply<T>(alpha, x, beta, y, 1);
                return y;
              },
              [&, alpha = alpha, beta = beta](auto& x, auto& y) { a.multiply(alpha, x.view(), beta, y.view(), 1); },
              [&](bool same, std::size_t count, std::string_view x, std::string_view y) {
                INFO(variant.name() << ", " << m.name << ": " << count << " columns, X in " << x << ", Y in " << y);
                REQUIRE(same);
              });
      }
    }
  };
  compare(double{}, double{});
  compare(float{}, float{});
  compare(float{}, double{});
  const HostMatrix a = load(encode(make_csr(3, 3, {{{0, 0}, 1.0}, {{2, 1}, 2.0}}), "ccoo"));
  using Complex = std::complex<double>;
  std::vector<Complex> x{{1, 2}, {3, 4}, {5, 6}}, y(3), both(6);
  a.multiply(1, x, 0, y);
  CHECK(y == std::vector<Complex>{{1, 2}, {}, {6, 8}});
  CHECK_THROWS_AS(a.multiply(1, x, 0, x), Error);
  CHECK_THROWS_AS(a.multiply<Complex>(1, x, 0, std::span(y).first(2)), Error);
  // Columns of one array by turns, and two that are one: nothing is computed before all columns are known.
  a.multiply<Complex>(1, {both.data(), 3, 1, 2, 0}, 0, {both.data() + 1, 3, 1, 2, 0});
  const std::vector<Complex> before = y;
  CHECK_THROWS_AS(a.multiply<Complex>(1, {x.data(), 3, 2, 1, 0}, 0, {y.data(), 3, 2, 1, 0}), Error);
  CHECK(y == before);
}

TEST_CASE("a list of rows in any order: the bits of the same rows in a matrix of their own", "[sequential]") {
  for (const NamedMatrix& m : random_matrices<double>(53, 3)) {
    if (m.matrix.nnz() > 60000) continue;
    const std::vector<std::uint32_t> order = shuffled(m.matrix.rows, 9);
    for (const std::uint64_t count : {m.matrix.rows, m.matrix.rows / 3})  // all rows, and some
      for (const Variant& variant : every_layout()) {
        const Piece piece{variant.layout,
                          std::vector(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)), std::nullopt};
        const CsrMatrix rows = local(m.matrix, piece);
        if (!suits(rows, variant)) continue;
        const Encoded file = encode(rows, variant.layout);
        const HostMatrix a = load_parts(m.matrix, {piece}), alone = load(file);
        const auto x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
        for (const double beta : {0.0, 0.75, 1.0}) {
          INFO(variant.name() << ", " << m.name << ", " << count << " rows, beta " << beta);
          std::vector<double> y = y0, y_local(count), expected(m.matrix.rows);
          constexpr double signaling = std::numeric_limits<double>::signaling_NaN();
          if (beta == 1)  // nothing passes over the rows that are not listed: it would make these quiet
            for (std::uint64_t r = count; r < y.size(); ++r) y[order[r]] = signaling;
          if (beta == 0) std::fill(y.begin(), y.end(), std::numeric_limits<double>::quiet_NaN());  // must not be read
          for (std::uint64_t r = 0; r < count; ++r) y_local[r] = y[order[r]];
          a.multiply<double>(-2.5, x, beta, y, 2);
          alone.multiply<double>(-2.5, x, beta, y_local, 1);
          for (std::uint64_t r = 0; r < expected.size(); ++r) expected[r] = beta == 0 ? 0.0 : beta * y0[r];
          for (std::uint64_t r = count; r < expected.size() && beta == 1; ++r) expected[order[r]] = signaling;
          for (std::uint64_t r = 0; r < count; ++r) expected[order[r]] = y_local[r];
          REQUIRE(same_bits(y, expected));
        }
      }
  }
}

TEST_CASE("parts of every layout share out rows and columns by lists") {
  const std::vector<std::string> layouts = layout_names();
  for (const NamedMatrix& m : random_matrices<double>(59, 3)) {
    if (m.matrix.nnz() > 60000) continue;
    INFO(m.name);
    const std::vector<std::uint32_t> rows = shuffled(m.matrix.rows, 10);
    std::vector<std::uint32_t> cols = shuffled(m.matrix.cols, 11);
    const auto middle = cols.begin() + static_cast<std::ptrdiff_t>(cols.size() / 2);
    std::sort(cols.begin(), middle);
    std::sort(middle, cols.end());
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      std::vector<std::uint32_t> own;
      for (std::size_t r = i; r < rows.size(); r += layouts.size()) own.push_back(rows[r]);
      for (const auto& half : {std::vector(cols.begin(), middle), std::vector(middle, cols.end())}) {
        pieces.push_back({layouts[i], own, half});
        const CsrMatrix entries = local(m.matrix, pieces.back());
        if (!suits(entries, layouts[i])) pieces.back().layout = "csr";
      }
    }
    const HostMatrix a = load_parts(m.matrix, pieces);
    const auto x = random_vector<double>(m.matrix.cols, 12);
    const auto y = multiply(a, x, 1);
    require_correct<double>(m.matrix, x, y);
    REQUIRE(same_bits(y, multiply(a, x, 3)));
  }
}

TEST_CASE("Inf and NaN in x reach the rows that touch them, and no others unless the plan says that fill reads x",
          "[sequential]") {
  for (const NamedMatrix& m : random_matrices<double>(37, 0)) {  // all ones: +Inf stays +Inf, whatever is padded
    if (m.matrix.cols == 0) continue;
    const std::uint64_t column = m.matrix.cols / 2;
    auto x = random_vector<double>(m.matrix.cols, 5);
    for (const Variant& variant : every_variant()) {
      const auto plan = plan_if_suits(m.matrix, variant.layout, {.settings = variant.settings});
      if (!plan) continue;
      const HostMatrix a =
          HostMatrix::load(open(file_of(m.matrix.rows, m.matrix.cols, ValueType::f64, {*plan}, m.matrix)));
      const bool fill_reads_x = plan->fill_reads_x;
      for (const double poison : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        x[column] = poison;
        const auto y = multiply(a, x);
        INFO(variant.name() << ", " << m.name << ", " << poison);
        std::vector<std::uint64_t> wrong;  // rows
        for (std::uint64_t r = 0; r < m.matrix.rows; ++r) {
          const auto* const begin = m.matrix.col_idx.begin() + m.matrix.row_ptr[r];
          const auto* const end = m.matrix.col_idx.begin() + m.matrix.row_ptr[r + 1];
          const bool right = !std::binary_search(begin, end, column) ? fill_reads_x || std::isfinite(y[r])
                             : std::isinf(poison)                    ? y[r] == poison
                                                                     : std::isnan(y[r]);
          if (!right) wrong.push_back(r);
        }
        REQUIRE(wrong == std::vector<std::uint64_t>{});
      }
    }
  }
}

TEST_CASE("no element past the end of x is read", "[sequential]") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const NamedMatrix& m : random_matrices<double>(41, 2))
    for (const Variant& variant : every_variant()) {
      const std::optional<Container> file = container_if_suits(m.matrix, variant);
      if (!file) continue;
      const std::size_t bytes = m.matrix.cols * sizeof(double), room = (bytes + page - 1) / page * page;
      auto* const start = static_cast<std::byte*>(
          ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      REQUIRE(start != MAP_FAILED);
      REQUIRE(::mprotect(start + room, page, PROT_NONE) == 0);
      auto* const x = reinterpret_cast<double*>(start + room - bytes);
      std::fill(x, x + m.matrix.cols, 1.0);
      std::vector<double> y(m.matrix.rows);
      HostMatrix::load(*file).multiply<double>(1, {x, m.matrix.cols}, 0, y, 2);
      ::munmap(start, room + page);
    }
}

TEST_CASE("every variant of a layout gives the same bits at any number of threads") {
  for (const NamedMatrix& m : random_matrices<double>(61, 3)) {
    if (m.matrix.nnz() > 3000) continue;
    for (const Variant& variant : every_variant()) {
      const std::optional<Container> file = container_if_suits(m.matrix, variant);
      if (!file) continue;
      INFO(variant.name() << ", " << m.name);
      const HostMatrix a = HostMatrix::load(*file);
      const auto x = random_vector<double>(m.matrix.cols, 5);
      REQUIRE(same_bits(multiply(a, x, 1), multiply(a, x, 4)));
    }
  }
}

TEST_CASE("vectors that do not fit are refused") {
  const HostMatrix a = load(encode(make_csr(3, 2, {{{0, 0}, 1.0}, {{2, 1}, 2.0}}), "ccoo"));
  std::vector<double> x(2), y(3), both(4);
  std::vector<float> xf(2), yf(3);  // narrower than the matrix
  CHECK_NOTHROW(a.multiply<double>(1, x, 0, y));
  CHECK_THROWS_AS(a.multiply<double>(1, y, 0, y), Error);
  CHECK_THROWS_AS(a.multiply<double>(1, x, 0, x), Error);
  CHECK_THROWS_AS(a.multiply<float>(1, xf, 0, yf), Error);
  CHECK_THROWS_AS(a.multiply<double>(1, std::span(both).first(2), 0, std::span(both).subspan(1, 3)), Error);
}

TEST_CASE("a description that the host cannot serve is refused, and y left alone") {
  const HostMatrix a = load(encode(make_csr<float>(3, 2, {{{0, 0}, 1.0}, {{2, 1}, 2.0}}), "csr"));
  const std::vector<double> x{1, 1}, before{5, 5, 5};
  std::vector<double> y = before;
  const auto verdict = [&](const MultiplyDescription& description) {
    try {
      a.multiply<double>(1, x, 0, y, 1, description);
    } catch (const Error& e) {
      REQUIRE(y == before);
      return e.code();
    }
    return errc{};
  };
  CHECK(verdict({.operation = Operation::transpose}) == errc::usage);  // the container has none
  CHECK(verdict({.kernel = {1}}) == errc::unsupported);
  CHECK(verdict({.vectors = ValueType::f32}) == errc::usage);  // not what x and y are
  CHECK(verdict({.scalars_on_device = true}) == errc::usage);
  CHECK(verdict({.right_hand_sides = 2}) == errc{});
  CHECK(y == std::vector<double>{1, 0, 2});
}

TEST_CASE("alpha that is infinite leaves empty rows alone") {
  const HostMatrix a = load(encode(make_csr(3, 1, {{{1, 0}, 1.0}}), "ccoo"));
  std::vector<double> x{1.0}, y{5.0, 5.0, 5.0};
  a.multiply<double>(std::numeric_limits<double>::infinity(), x, 1, y);
  CHECK(y[0] == 5.0);
  CHECK(std::isinf(y[1]));
  CHECK(y[2] == 5.0);
}

}  // namespace spmvpack::test
