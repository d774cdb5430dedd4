// Layouts that add up rows in turn, csr in an order of its own: whatever the lengths of rows.

#include <cmath>
#include <complex>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "catch.hpp"
#include "containers.hpp"
#include "host_loader/host_columns.hpp"
#include "matrices.hpp"
#include "orders/csr.hpp"
#include "products.hpp"
#include "variants.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

/// The host adds each row's entries in turn, but with csr.
template <class A>
void require_in_turn(const CsrMatrix& matrix, const HostMatrix& a, int threads, bool csr = false) {
  with_vectors<A>([&]<class V>(V) {
    INFO(threads << " threads, vectors " << sizeof(V));
    const auto x = random_vector<V>(matrix.cols, 4);
    const Orders<A, V> orders(matrix, x);
    std::vector<V> y = csr ? orders.on_host() : orders.in_turn();
    for (V& element : y) element = orders::completed(V{1}, element, V{0});
    REQUIRE(same_bits(multiply(a, x, threads), y));
  });
}

/// csr's own order, with any number of threads, and what alpha and beta add to it.
template <class A>
void require_order_of_csr(const CsrMatrix& matrix) {
  const HostMatrix a = load(encode(matrix, "csr"));
  for (const int threads : {1, 2, 5}) require_in_turn<A>(matrix, a, threads, true);
  with_vectors<A>([&]<class V>(V) {
    const auto x = random_vector<V>(matrix.cols, 4), before = random_vector<V>(matrix.rows, 5);
    V alpha = -2.5, beta = 0.75;
    if constexpr (is_complex<V>) alpha = {-2.5, 0.5}, beta = {0.75, -0.125};
    std::vector<V> y = before, expected = Orders<A, V>(matrix, x).on_host();
    for (std::uint64_t r = 0; r < matrix.rows; ++r) {
      const bool empty = matrix.row_ptr[r] == matrix.row_ptr[r + 1];
      const V scaled = orders::scaled(beta, before[r]);
      expected[r] = empty ? scaled : orders::completed(alpha, expected[r], scaled);
    }
    a.multiply<V>(alpha, x, beta, y, 2);
    REQUIRE(same_bits(y, expected));
    if (matrix.rows + matrix.cols < 50'000)
      require_columns<A, V>(a, nullptr, Operation::none, matrix.nnz(), one_count(matrix.nnz(), 5));
  });
}

template <class A>
void rows_in_turn() {
  for (const NamedMatrix& m : random_matrices<A>(47, 3))
    for (const std::string layout : {"csr", "coo", "ell", "ellpack_r", "sell", "pjds", "dia"}) {
      const std::optional<Container> file = container_if_suits(m.matrix, Variant{layout, {}});
      if (!file) continue;
      INFO(layout << ", " << m.name);
      require_in_turn<A>(m.matrix, HostMatrix::load(*file), 2, layout == "csr");
    }
}

/// Rows of every length around those where loops end, in an order that nothing foretells.
template <class A>
void rows_of_all_lengths() {
  constexpr std::uint32_t cols = 400;
  std::mt19937_64 random(5);
  for (const std::uint64_t rows : {1U, 2U, 3U, 40U, 255U, 256U, 257U, 1500U}) {
    INFO(rows << " rows");
    const CsrMatrix matrix = from_rows<A>(rows, cols, random, 3, [&](std::uint64_t) {
      std::vector<std::uint32_t> columns = shuffled(cols, random());
      columns.resize(random() % 8 == 0 ? random() % cols : random() % 36);
      return columns;
    });
    require_order_of_csr<A>(matrix);
  }
}

/// Rows of one length at the end of the arrays: what reads whole fours must not go beyond.
template <class A>
void rows_at_the_end() {
  std::mt19937_64 random(8);
  for (std::uint64_t length = 0; length < 35; ++length)
    for (const std::uint64_t rows : {1U, 2U, 5U}) {
      INFO(rows << " rows of " << length);
      require_order_of_csr<A>(from_rows<A>(rows, 64, random, 3, [&](std::uint64_t) {
        std::vector<std::uint32_t> columns = shuffled(64, random());
        columns.resize(length);
        return columns;
      }));
    }
}

/// Rows whose columns are those of the row before, one higher, in runs of 1 to 30 rows; between them the columns jump,
/// the length changes, or a row is empty.
template <class A>
void shifted_rows(std::uint64_t length) {
  constexpr std::uint32_t cols = 900;
  std::mt19937_64 random(length + 1);
  std::vector<std::uint32_t> columns;
  std::uint64_t left = 0;
  const CsrMatrix matrix = from_rows<A>(700, cols, random, 3, [&](std::uint64_t) {
    for (std::uint32_t& c : columns) ++c;
    if (left-- != 0) return columns;
    left = random() % 30;
    columns = shuffled(cols - 40, random());
    columns.resize(random() % 4 == 0 ? random() % 12 : length);
    return columns;
  });
  INFO("length " << length);
  require_order_of_csr<A>(matrix);
}

/// Rows that are added up in pieces, at the lengths where their number changes, between shorter and empty ones, and
/// some that several threads share.
template <class A>
void rows_in_pieces() {
  constexpr std::uint64_t cols = 70000;
  std::mt19937_64 random(6);
  const std::vector<std::vector<std::uint64_t>> all{
      {70000},
      {4095, 4096},
      {4097},
      {0, 4096, 0, 4103, 4104, 5, 8191, 0, 8192, 8193, 8199, 33, 12288, 12289, 12301, 1},
      {20000, 20000, 20000, 16384, 16384, 16380, 16388, 65536, 4097, 0}};
  for (const std::vector<std::uint64_t>& lengths : all) {
    INFO(lengths.size() << " rows");
    require_order_of_csr<A>(from_rows<A>(lengths.size(), cols, random, 3, [&](std::uint64_t r) {
      std::vector<std::uint32_t> columns(lengths[r]);
      std::iota(columns.begin(), columns.end(), static_cast<std::uint32_t>((cols - lengths[r]) / 2));
      return columns;
    }));
  }
}

/// Rows of lengths that nothing foretells: they are visited by length, in windows. In others they can be foretold.
template <class A>
void rows_visited_by_length(std::uint64_t rows, std::uint64_t longest, std::uint64_t very_long_row) {
  constexpr std::uint32_t cols = 5000;
  std::mt19937_64 random(rows);
  std::uint32_t next = 0;
  const CsrMatrix matrix = from_rows<A>(rows, cols, random, 3, [&](std::uint64_t r) {
    const std::uint64_t length = r == very_long_row   ? cols
                                 : r / 5000 % 3 == 2  ? r % 3
                                 : random() % 50 == 0 ? 30
                                                      : random() % (longest + 1);
    std::vector<std::uint32_t> columns;
    while (columns.size() < length) columns.push_back(next = (next + 7) % cols);
    return columns;
  });
  INFO(rows << " rows of up to " << longest);
  require_order_of_csr<A>(matrix);
}

}  // namespace

TEST_CASE("layouts without chunks add the entries of a row in turn, csr in an order of its own", "[sequential]") {
  rows_in_turn<double>();
  rows_in_turn<float>();
}

TEST_CASE("dia: few rows, of which each is a task, add their entries in turn") {
  for (const std::uint64_t rows : {1U, 2U, 4U, 5U}) {
    Entries entries;
    for (std::uint32_t r = 0; r < rows; ++r)
      for (std::uint32_t c = r == 2 ? 3000 : 7 * r; c < 3000; c += 1 + r % 2) entries[{r, c}] = 1.0 / (1 + r + c);
    const CsrMatrix matrix = make_csr<double>(rows, 3000, entries);
    INFO(rows << " rows");
    for (const int threads : {1, 3}) require_in_turn<double>(matrix, load(encode(matrix, "dia")), threads);
  }
}

TEST_CASE("dia: up to four diagonals, which end within tasks, and five") {
  constexpr std::uint32_t rows = 5000;
  for (const std::vector<std::int64_t>& diagonals : std::vector<std::vector<std::int64_t>>{
           {0}, {-1}, {3000}, {-2500, 7}, {-1, 0, 1}, {-4000, -3, 100, 2100}, {-4000, -3, 0, 100, 2100}}) {
    Entries entries;
    for (std::uint32_t r = 0; r < rows; ++r)
      for (const std::int64_t d : diagonals)
        if (const std::int64_t c = r + d; c >= 0 && c < rows)
          entries[{r, static_cast<std::uint32_t>(c)}] = 1.0 / static_cast<double>(1 + r + c);
    const CsrMatrix matrix = make_csr<double>(rows, rows, entries);
    const HostMatrix a = load(encode(matrix, "dia"));
    INFO(diagonals.size() << " diagonals, the first " << diagonals[0]);
    for (const int threads : {1, 3}) require_in_turn<double>(matrix, a, threads);
    const auto x = random_vector<double>(rows, 1), y0 = random_vector<double>(rows, 2), sums = multiply(a, x);
    auto y = y0;
    a.multiply<double>(-2.5, x, 0.75, y, 2);
    for (std::size_t r = 0; r < y.size(); ++r) {
      const bool empty = matrix.row_ptr[r] == matrix.row_ptr[r + 1];
      REQUIRE(y[r] == (empty ? 0.75 * y0[r] : std::fma(-2.5, sums[r], 0.75 * y0[r])));
    }
  }
}

TEST_CASE("csr adds in the documented order, whatever the lengths of rows") {
  SECTION("f64") { rows_of_all_lengths<double>(); }
  SECTION("f32, with vectors of both types") { rows_of_all_lengths<float>(); }
  SECTION("c128") { rows_of_all_lengths<std::complex<double>>(); }
  SECTION("c64, with vectors of both types") { rows_of_all_lengths<std::complex<float>>(); }
}

TEST_CASE("csr: rows that end where the arrays do") {
  SECTION("f64") { rows_at_the_end<double>(); }
  SECTION("f32, with vectors of both types") { rows_at_the_end<float>(); }
  SECTION("c64, with vectors of both types") { rows_at_the_end<std::complex<float>>(); }
}

TEST_CASE("csr: rows whose columns are one higher in each have the same order") {
  for (std::uint64_t length = 0; length < 30; ++length) {
    shifted_rows<double>(length);
    shifted_rows<float>(length);
    shifted_rows<std::complex<double>>(length);
  }
}

TEST_CASE("csr: rows that are visited by length have the same order") {
  constexpr std::uint64_t none = std::uint64_t{1} << 32U;
  const auto all = []<class A>(A) {
    rows_visited_by_length<A>(30'011, 9, none);
    rows_visited_by_length<A>(24'000 + 255, 16, none);
    rows_visited_by_length<A>(25'600, 6, 12'345);  // a row of pieces
    rows_visited_by_length<A>(40'000, 1, none);
    if (!sanitized) rows_visited_by_length<A>(140'000, 40, none);  // so large that it is fetched ahead
  };
  SECTION("f64") { all(double{}); }
  SECTION("f32, with vectors of both types") { all(float{}); }
  SECTION("c64, with vectors of both types") { rows_visited_by_length<std::complex<float>>(25'600, 6, 12'345); }
}

TEST_CASE("csr: rows of more than 4,096 entries are added up in pieces, which threads share") {
  SECTION("f64") { rows_in_pieces<double>(); }
  SECTION("f32, with vectors of both types") { rows_in_pieces<float>(); }
  SECTION("c128") { rows_in_pieces<std::complex<double>>(); }
}

TEST_CASE("pieces of long rows that are added up in turn have the documented order: csr") {
  require_order_of_csr<double>(scattered_long_rows<double>(0));
  require_order_of_csr<float>(scattered_long_rows<float>(0));
}

}  // namespace spmvpack::test
