// A^T beside A: stored on request, checked like A, multiplied with, and nothing at all where A is its own transpose.

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using format::Role;
using host_loader::HostMatrix;

/// The transpose entry by entry, by way of a list for each of its rows.
template <class T>
CsrMatrix naive_transpose(const CsrMatrix& a) {
  std::vector<std::vector<std::pair<std::uint32_t, T>>> rows(a.cols);
  const auto& values = std::get<Array<T>>(a.values);
  for (std::uint64_t r = 0; r < a.rows; ++r)
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
      rows[a.col_idx[k]].emplace_back(static_cast<std::uint32_t>(r), values[k]);
  CsrMatrix t = allocate_csr(a.cols, a.rows, a.nnz(), a.value_type());
  std::uint64_t k = 0;
  for (std::uint64_t r = 0; r < a.cols; ++r) {
    t.row_ptr[r] = k;
    for (const auto& [column, value] : rows[r]) {
      t.col_idx[k] = column;
      std::get<Array<T>>(t.values)[k++] = value;
    }
  }
  t.row_ptr[a.cols] = k;
  return t;
}

std::vector<std::byte> encoded(const CsrView& a, encoder::EncodeRequest request) {
  MemorySink sink;
  encoder::encode(a, request, sink);
  const Array<std::byte> bytes = sink.take();
  return {bytes.begin(), bytes.end()};
}

encoder::EncodeRequest with_transpose(const std::string& layout = "auto") {
  return {.strategy = layout, .transpose = true, .threads = 2, .force_size = true};
}

template <class V>
std::vector<V> multiply(const HostMatrix& a, Operation operation, const std::vector<V>& x, V alpha = 1,
                        int threads = 2) {
  std::vector<V> y(operation == Operation::none ? a.facts().rows : a.facts().cols, std::numeric_limits<V>::quiet_NaN());
  a.multiply<V>(alpha, x, 0, std::span<V>(y), threads, describe<V>(operation));
  return y;
}

template <class F>
errc code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return {};
}

/// A container with A^T, changed before it is written.
template <class Change>
std::vector<std::byte> changed(const CsrMatrix& a, Change&& change) {
  const CsrMatrix t = transposed(a);
  encoder::Plan plan = encoder::find_strategy("csr").plan(a, {}), of_t = encoder::find_strategy("csr").plan(t, {});
  of_t.parts[0].info.role = Role::transpose;
  ContainerSource source =
      encoder::container_source(encoder::facts_of(a.view()), {}, {a, plan}, {}, encoder::PlannedMatrix{t, of_t});
  change(source);
  MemorySink sink;
  write_container(sink, source);
  const Array<std::byte> bytes = sink.take();
  return {bytes.begin(), bytes.end()};
}

template <class A>
void both_operations(int values, const std::vector<std::string>& layouts) {
  for (const NamedMatrix& m : random_matrices<A>(83, values)) {
    const CsrMatrix t = naive_transpose<A>(m.matrix);
    const std::tuple xs{random_vector<double>(m.matrix.rows, 7), random_vector<float>(m.matrix.rows, 7)};
    for (const std::string& layout : layouts) {
      if (layout != "auto" && !(suits(m.matrix, Variant{layout, {}}) && suits(t, Variant{layout, {}}))) continue;
      INFO(m.name << ", " << layout << ", values " << values);
      const std::vector<std::byte> bytes = encoded(m.matrix, with_transpose(layout));
      const Container file = open(bytes);
      REQUIRE(equal_bits(unpack(file), m.matrix));
      if (file.facts().bitwise_symmetry() == Symmetry::general) {
        REQUIRE(!file.parts(Role::transpose).empty());
        REQUIRE(equal_bits(unpack(file, {}, Role::transpose), m.matrix));
      }
      REQUIRE(file.parts(Role::a).size() + file.parts(Role::transpose).size() == file.parts().size());
      auto request = with_transpose(layout);
      request.threads = 3;
      REQUIRE(encoded(m.matrix, request) == bytes);
      request.transpose = false;
      const Container alone = open(encoded(m.matrix, request)), turned = open(encoded(t, request));
      CHECK(file.device_bytes() == alone.device_bytes());
      const HostMatrix both = HostMatrix::load(file), a = HostMatrix::load(alone), at = HostMatrix::load(turned);
      const auto check = [&]<class V>(V) {
        const auto& x = std::get<std::vector<V>>(xs);
        const std::vector<V> y = multiply<V>(both, Operation::transpose, x);
        if (values != 4) require_correct<A>(t, x, y);
        // Bit for bit what the container of A^T alone gives; but for symmetric ones, whose T is A's own.
        if (file.facts().bitwise_symmetry() == Symmetry::general)
          REQUIRE(same_bits(y, multiply<V>(at, Operation::none, x, 1, 1)));
        const auto own = random_vector<V>(m.matrix.cols, 8);
        REQUIRE(same_bits(multiply<V>(both, Operation::none, own), multiply<V>(a, Operation::none, own)));
      };
      check(double{});
      if constexpr (std::is_same_v<A, float>) check(float{});
    }
  }
}

}  // namespace

TEST_CASE("a matrix is transposed with the bits of its values, on any number of threads") {
  for (const NamedMatrix& m : random_matrices<double>(81, 4)) {
    INFO(m.name);
    const CsrMatrix expected = naive_transpose<double>(m.matrix);
    for (const int threads : {1, 2, 7}) {
      const CsrMatrix t = transposed(m.matrix, threads);
      REQUIRE_NOTHROW(t.view().check());
      REQUIRE(equal_bits(t, expected));
      REQUIRE(equal_bits(transposed(t, threads), m.matrix));
    }
  }
  for (const NamedMatrix& m : random_matrices<float>(82, 4))
    REQUIRE(equal_bits(transposed(m.matrix, 3), naive_transpose<float>(m.matrix)));
  // So few entries that nothing is counted for each column.
  std::mt19937_64 rng(83);
  for (const std::uint64_t cols : {100'000U, 65'536U, 200'001U}) {
    Entries entries{{{0, 0}, 1}, {{9, cols - 1}, -0.0}, {{8, cols - 1}, std::numeric_limits<double>::quiet_NaN()}};
    for (std::uint64_t k = 0; k < 3000; ++k) entries[{rng() % 4 * 2, rng() % (cols / 3)}] = 1 + static_cast<double>(k);
    const CsrMatrix a = make_csr(10, cols, entries), expected = naive_transpose<double>(a);
    for (const int threads : {1, 3}) {
      const MemoryScope memory(expected.view().bytes() + (std::uint64_t{1} << 18U), "the transpose");
      const CsrMatrix t = transposed(a, threads);
      REQUIRE(equal_bits(t, expected));
      REQUIRE(equal_bits(transposed(t, threads), a));
    }
  }
  const CsrMatrix none = transposed(make_csr(3, 100'000, Entries{}), 2);
  REQUIRE(none.row_ptr.size() == 100'001);
  REQUIRE(std::all_of(none.row_ptr.begin(), none.row_ptr.end(), [](std::uint64_t p) { return p == 0; }));
}

TEST_CASE("symmetry is bit for bit") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto symmetry = [](std::uint64_t rows, std::uint64_t cols, const Entries& entries) {
    return symmetry_of(make_csr(rows, cols, entries), 2);
  };
  CHECK(symmetry(2, 2, {{{0, 1}, 5.0}, {{1, 0}, 5.0}, {{1, 1}, 1.0}}) == Symmetry::symmetric);
  CHECK(symmetry(2, 2, {{{0, 1}, 5.0}, {{1, 0}, -5.0}}) == Symmetry::skew_symmetric);
  CHECK(symmetry(2, 2, {{{0, 1}, 5.0}, {{1, 0}, -5.0}, {{1, 1}, 0.0}}) == Symmetry::general);  // a diagonal entry
  CHECK(symmetry(2, 2, {{{0, 1}, 0.0}, {{1, 0}, -0.0}}) == Symmetry::skew_symmetric);
  CHECK(symmetry(2, 2, {{{0, 1}, nan}, {{1, 0}, nan}}) == Symmetry::symmetric);
  CHECK(symmetry(2, 2, {{{0, 1}, nan}, {{1, 0}, -nan}}) == Symmetry::skew_symmetric);
  CHECK(symmetry(2, 2, {{{0, 1}, 5.0}}) == Symmetry::general);
  CHECK(symmetry(2, 2, {{{1, 0}, 5.0}}) == Symmetry::general);
  CHECK(symmetry(3, 3, {{{0, 1}, 5.0}, {{1, 0}, 5.0}, {{2, 0}, 5.0}}) == Symmetry::general);
  CHECK(symmetry(2, 3, {}) == Symmetry::general);
  CHECK(symmetry(3, 3, {}) == Symmetry::symmetric);
  CHECK(symmetry(0, 0, {}) == Symmetry::symmetric);
  const CsrMatrix late = make_csr(3, 3, {{{0, 1}, 2.0}, {{1, 0}, 2.0}, {{1, 2}, 3.0}, {{2, 1}, 4.0}});
  CHECK(first_without_mirror(late, Symmetry::symmetric) == 2);
}

TEST_CASE("A and A^T of one container multiply as if each were alone") {
  both_operations<double>(3, {"auto", "csell"});
  both_operations<float>(2, {"csr", "pjds", "amb"});
}

TEST_CASE("nasty values keep their bits in A^T") { both_operations<double>(4, {"csr", "ccoo"}); }

TEST_CASE("a symmetric matrix is its own transpose and costs nothing") {
  Entries entries;
  std::mt19937_64 rng(5);
  for (std::uint32_t i = 0; i < 500; ++i) {
    const auto j = static_cast<std::uint32_t>(rng() % 500);
    entries[{i, j}] = entries[{j, i}] = random_value<double>(rng, 3);
    if (i == j) entries.erase({i, j});
  }
  for (const bool skew : {false, true}) {
    if (skew)
      for (auto& [at, value] : entries)
        if (at.first < at.second) value = -value;
    const CsrMatrix a = make_csr(500, 500, entries);
    auto request = with_transpose();
    const std::vector<std::byte> asked_for = encoded(a, request);
    request.transpose = false;  // it has its transpose in any case
    const std::vector<std::byte> bytes = encoded(a, request);
    CHECK(open(asked_for).parts().size() == open(bytes).parts().size());
    const Container file = open(bytes);
    CHECK(file.facts().symmetry == Symmetry::general);  // as the source says
    CHECK(file.facts().bitwise_symmetry() == (skew ? Symmetry::skew_symmetric : Symmetry::symmetric));
    CHECK(file.parts(Role::transpose).empty());
    CHECK(file.device_bytes(Role::transpose) == 0);
    CHECK(equal_bits(unpack(file), a));
    const HostMatrix loaded = HostMatrix::load(file);
    CHECK(loaded.has_transpose());
    const auto x = random_vector<double>(500, 3);
    const std::vector<double> y = multiply(loaded, Operation::transpose, x);
    require_correct<double>(transposed(a), x, y);
    CHECK(same_bits(y, multiply(loaded, Operation::none, x, skew ? -1.0 : 1.0)));
    CHECK(same_bits(y, multiply(loaded, Operation::conjugate_transpose, x)));
    // It is found again, and the source still says that it is general.
    const SourceMatrix source{unpack(file), file.facts().field, file.facts().symmetry, {}};
    const Container again = open(encode(source, encoder::find_strategy("csr"), {}).bytes);
    CHECK(HostMatrix::load(again).has_transpose());
    CHECK(again.facts().symmetry == Symmetry::general);
    // One entry that differs in a bit, and it is not its transpose.
    CsrMatrix other = clone(a);
    double& last = std::get<Array<double>>(other.values)[other.nnz() - 1];
    last = std::nextafter(last, 0.0);
    CHECK(open(encoded(other, request)).facts().bitwise_symmetry() == Symmetry::general);
    CHECK(!HostMatrix::load(open(encoded(other, request))).has_transpose());
  }
}

TEST_CASE("alpha and beta of a transposed multiply, and what it does not read") {
  const CsrMatrix a = make_csr(3, 2, {{{0, 0}, 2.0}, {{2, 0}, 3.0}, {{2, 1}, 5.0}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HostMatrix m = HostMatrix::load(open(encoded(a, with_transpose())));
  const std::vector<double> x{1, nan, 10};
  std::vector<double> y{1, 2};
  m.multiply<double>(2, x, -1, std::span(y), 1, describe<double>(Operation::transpose));
  CHECK(y == std::vector<double>{63, 98});  // row 1 of A is empty: its element of x is not read
  y = {nan, nan};
  m.multiply<double>(1, x, 0, std::span(y), 1, describe<double>(Operation::transpose));
  CHECK(y == std::vector<double>{32, 50});
  m.multiply<double>(0, std::vector<double>(3, nan), 2, std::span(y), 1, describe<double>(Operation::transpose));
  CHECK(y == std::vector<double>{64, 100});
}

TEST_CASE("no element of x reaches a row of A^T that does not have it") {
  for (const NamedMatrix& m : random_matrices<double>(84, 3)) {
    if (m.matrix.rows == 0 || m.matrix.nnz() == 0) continue;
    INFO(m.name);
    const CsrMatrix t = naive_transpose<double>(m.matrix);
    const HostMatrix a = HostMatrix::load(open(encoded(m.matrix, with_transpose())));
    for (const double poison : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      std::vector<double> x(m.matrix.rows, 1.0);
      const auto poisoned = static_cast<std::uint32_t>(m.matrix.rows / 2);
      x[poisoned] = poison;
      const std::vector<double> y = multiply(a, Operation::transpose, x);
      for (std::uint64_t r = 0; r < t.rows; ++r) {
        const auto* const begin = t.col_idx.begin() + t.row_ptr[r];
        if (!std::binary_search(begin, t.col_idx.begin() + t.row_ptr[r + 1], poisoned)) REQUIRE(std::isfinite(y[r]));
      }
    }
  }
}

TEST_CASE("without A^T, and with vectors of another size, a transposed multiply is refused") {
  const CsrMatrix a = make_csr(3, 2, {{{0, 0}, 2.0}, {{2, 1}, 5.0}});
  const HostMatrix without = HostMatrix::load(open(encode(a, "csr").bytes));
  CHECK(!without.has_transpose());
  std::vector<double> x(3), y(2);
  const auto go = [](const HostMatrix& m, const std::vector<double>& in, std::vector<double>& out) {
    m.multiply<double>(1, in, 0, std::span(out), 1, describe<double>(Operation::transpose));
  };
  try {
    go(without, x, y);
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code() == errc::usage);
    CHECK(e.remedy().find("--transpose") != std::string::npos);
  }
  const HostMatrix with = HostMatrix::load(open(encoded(a, with_transpose("csr"))));
  CHECK_NOTHROW(go(with, x, y));
  CHECK(code_of([&] { go(with, y, x); }) == errc::usage);
  CHECK(code_of([&] { go(with, x, x); }) == errc::usage);
  CHECK(code_of([&] { with.multiply<double>(1, y, 0, x); }) == errc{});
  CHECK(code_of([&] { static_cast<void>(unpack(open(encode(a, "csr").bytes), {}, Role::transpose)); }) == errc::usage);
  // Without nonzeros there is nothing to store.
  const HostMatrix empty = HostMatrix::load(open(encode(make_csr(3, 2, {}), "csr").bytes));
  y = {5, 5};
  go(empty, x, y);
  CHECK(y == std::vector<double>{0, 0});
}

TEST_CASE("A^T in a permuted basis is for the user's vectors alone") {
  const CsrMatrix a = make_csr(3, 3, {{{0, 0}, 2.0}, {{2, 1}, 5.0}, {{2, 2}, 7.0}});
  auto request = with_transpose("pjds");
  request.settings = {{"pjds.basis", "permuted"}};
  const HostMatrix m = HostMatrix::load(open(encoded(a, request)));
  const std::vector<double> x{1, 10, 100};
  CHECK(multiply(m, Operation::transpose, x) == std::vector<double>{2, 500, 700});
  std::vector<double> y(3);
  CHECK(code_of([&] {
          m.multiply<double>(1, x, 0, std::span(y), 1, {.operation = Operation::transpose, .basis = Basis::permuted});
        }) == errc::usage);
  CHECK_NOTHROW(m.multiply<double>(1, x, 0, std::span(y), 1, {.basis = Basis::permuted}));
}

TEST_CASE("compressed, and encoded again, A^T stays the same") {
  const CsrMatrix a = std::move(random_matrices<double>(85, 2)[6].matrix);
  auto request = with_transpose();
  request.codec = format::Codec::zstd;
  const Container file = open(encoded(a, request));
  CHECK(equal_bits(unpack(file, {}, Role::transpose), a));
  CHECK(encoded(unpack(file), with_transpose()) == encoded(a, with_transpose()));
  request.transpose = false;
  CHECK(open(encoded(unpack(file), request)).parts(Role::transpose).empty());
}

TEST_CASE("a transpose that lies is found") {
  const CsrMatrix a = make_csr(3, 2, {{{0, 0}, 2.0}, {{2, 0}, 3.0}, {{2, 1}, 5.0}});
  const auto opens = [&](auto&& change) { return code_of([&] { static_cast<void>(open(changed(a, change))); }); };
  const auto unpacks = [&](auto&& change) {
    return code_of([&] { static_cast<void>(unpack(open(changed(a, change)), {}, Role::transpose)); });
  };
  CHECK(unpacks([](ContainerSource&) {}) == errc{});
  // What the writer refuses itself, golden files that the second writer makes say to readers.
  CHECK(opens([](ContainerSource& s) { s.parts[1].info.role = Role::a; }) == errc::usage);
  CHECK(opens([](ContainerSource& s) { std::swap(s.parts[0], s.parts[1]); }) == errc::corrupt);
  CHECK(opens([](ContainerSource& s) { std::swap(s.parts[1].info.rows, s.parts[1].info.cols); }) == errc::corrupt);
  CHECK(opens([](ContainerSource& s) { s.parts[1].info.nnz = 2; }) == errc::usage);
  CHECK(opens([](ContainerSource& s) { s.parts.push_back(s.parts[1]); }) == errc::usage);
  CHECK(opens([](ContainerSource& s) {
          s.facts.rows = 2;
          s.facts.symmetry = Symmetry::symmetric;
        }) == errc::corrupt);
  CHECK(opens([](ContainerSource& s) { s.facts.found = Symmetry::skew_symmetric; }) == errc::bad_input);
  // Another value: only the comparison with A finds it, and A itself is as it was.
  const CsrMatrix other = make_csr(2, 3, {{{0, 0}, 2.0}, {{0, 2}, 3.0}, {{1, 2}, 5.5}});
  const encoder::Plan lie = encoder::find_strategy("csr").plan(other, {});
  const auto swap_values = [&](ContainerSource& s) {
    s.parts[1].sections = encoder::part_source(lie.parts[0], other).sections;
  };
  CHECK(unpacks(swap_values) == errc::corrupt);
  CHECK(equal_bits(unpack(open(changed(a, swap_values))), a));
}

}  // namespace spmvpack::test
