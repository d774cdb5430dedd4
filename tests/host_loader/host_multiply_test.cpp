// The host multiply: right within the error bound, in the order of additions that docs/LAYOUTS.md gives, harmless.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <tuple>

#include "bitflag_cases.hpp"
#include "catch.hpp"
#include "containers.hpp"
#include "csell_cases.hpp"
#include "matrices.hpp"
#include "orders/amb.hpp"
#include "orders/bitflag.hpp"
#include "orders/ccoo.hpp"
#include "orders/csell.hpp"
#include "orders/csr.hpp"
#include "orders/sjds.hpp"
#include "products.hpp"
#include "sjds_cases.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/sjds.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;

HostMatrix load(const Encoded& file) { return HostMatrix::load(open(file.bytes)); }

template <class T>
std::vector<T> multiply(const HostMatrix& a, const std::vector<T>& x, int threads = 2) {
  std::vector<T> y(a.facts().rows, std::numeric_limits<T>::quiet_NaN());
  a.multiply<T>(1, x, 0, y, threads);
  return y;
}

/// f(V{}) for every type of vectors that goes with values of type A.
template <class A, class F>
void with_vectors(F&& f) {
  f(double{});
  if constexpr (std::is_same_v<A, float>) f(float{});
}

template <class A>
void all_correct() {
  for (const int values : {0, 2, 3})
    for (const NamedMatrix& m : random_matrices<A>(23, values)) {
      const std::tuple xs{random_vector<double>(m.matrix.cols, 7), random_vector<float>(m.matrix.cols, 7)};
      for (const Variant& variant : every_layout()) {
        if (!suits(m.matrix, variant)) continue;
        const HostMatrix a = load(encode(m.matrix, variant.layout));
        with_vectors<A>([&]<class V>(V) {
          INFO(variant.name() << ", " << m.name << ", values " << values << ", vectors " << sizeof(V));
          const auto& x = std::get<std::vector<V>>(xs);
          const std::vector<V> y = multiply(a, x, 1);
          require_correct<A>(m.matrix, x, y);
          REQUIRE(same_bits(y, multiply(a, x, 3)));
        });
      }
    }
}

template <class A>
void ccoo_in_order() {
  for (const std::uint32_t k : {1U, 2U, 4U, 8U})
    for (const std::uint32_t b : {256U, 8U})
      for (const NamedMatrix& m : random_matrices<A>(29, 3)) {
        const HostMatrix a =
            load(encode(m.matrix, "ccoo", {{"ccoo.k", std::to_string(k)}, {"ccoo.b", std::to_string(b)}}));
        with_vectors<A>([&]<class V>(V) {
          INFO(m.name << ", K " << k << ", B " << b << ", vectors " << sizeof(V));
          const auto x = random_vector<V>(m.matrix.cols, 3);
          REQUIRE(same_bits(multiply(a, x), OrderOfCcoo<A, V>(m.matrix, b, k).multiply(x)));
        });
      }
}

template <class A>
void amb_in_order() {
  for (const Variant& variant : every_variant()) {
    if (variant.layout != "amb") continue;
    for (const NamedMatrix& m : random_matrices<A>(47, 3)) {
      if (!suits(m.matrix, variant)) continue;
      const Container file = open(encode(m.matrix, variant.layout, variant.settings).bytes);
      const auto& params = file.parts()[0].params;  // the segments' width, the block
      const HostMatrix a = HostMatrix::load(file);
      with_vectors<A>([&]<class V>(V) {
        INFO(variant.name() << ", " << m.name << ", vectors " << sizeof(V));
        const auto x = random_vector<V>(m.matrix.cols, 3);
        REQUIRE(same_bits(multiply(a, x), multiply_in_order_of_amb<A, V>(m.matrix, params[0], params[1], x)));
      });
    }
  }
}

template <class A>
void require_order_of_sjds(const CsrMatrix& matrix, const std::map<std::string, std::string>& settings) {
  const Container file = open(encode(matrix, "sjds", settings).bytes);
  const std::uint64_t window_rows = file.parts()[0].params[layouts::sjds::param_window_rows];
  const HostMatrix a = HostMatrix::load(file);
  with_vectors<A>([&]<class V>(V) {
    INFO("vectors " << sizeof(V));
    const auto x = random_vector<V>(matrix.cols, 3);
    const std::vector<V> y = multiply(a, x);
    REQUIRE(same_bits(y, OrderOfSjds<A, V>(matrix, window_rows).multiply(x)));
    REQUIRE(same_bits(y, multiply(a, x, 5)));
  });
}

template <class A>
void sjds_in_order() {
  for (const Variant& variant : every_variant()) {
    if (variant.layout != "sjds") continue;
    for (const int values : {0, 1, 3})
      for (const NamedMatrix& m : random_matrices<A>(53, values)) {
        if (!suits(m.matrix, variant)) continue;
        INFO(variant.name() << ", " << m.name << ", values " << values);
        require_order_of_sjds<A>(m.matrix, variant.settings);
      }
  }
}

/// Requires the order of additions of csell or bitflag, which its Order has.
template <class A, template <class, class> class Order>
void require_order(const char* layout, const CsrMatrix& matrix, const std::map<std::string, std::string>& settings) {
  const Container file = open(encode(matrix, layout, settings).bytes);
  const HostMatrix a = HostMatrix::load(file);
  with_vectors<A>([&]<class V>(V) {
    INFO("vectors " << sizeof(V));
    const auto x = random_vector<V>(matrix.cols, 3);
    const std::vector<V> y = multiply(a, x);
    require_correct<A>(matrix, x, y);
    REQUIRE(same_bits(y, Order<A, V>(file).multiply(x)));
  });
}

template <class A>
void csell_in_order() {
  for (const CsellCase& c : csell_cases<A>())
    for (const char* const sums : {"1", "2", "4"}) {
      INFO(c.name << ", " << c.values << ", sums " << sums);
      require_order<A, OrderOfCsell>("csell", c.matrix, {{"csell.values", c.values}, {"csell.sums", sums}});
    }
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : random_matrices<A>(47, 2)) {
      if (variant.layout != "csell" || !suits(m.matrix, variant)) continue;
      INFO(variant.name() << ", " << m.name);
      require_order<A, OrderOfCsell>("csell", m.matrix, variant.settings);
    }
}

template <class A>
void bitflag_in_order() {
  for (const BitflagCase& c : bitflag_cases<A>()) {
    const Variant variant{c.name, c.settings};
    INFO(variant.name());
    require_order<A, OrderOfBitflag>("bitflag", c.matrix, c.settings);
  }
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : random_matrices<A>(47, 2)) {
      if (variant.layout != "bitflag" || !suits(m.matrix, variant)) continue;
      INFO(variant.name() << ", " << m.name);
      require_order<A, OrderOfBitflag>("bitflag", m.matrix, variant.settings);
    }
}

/// The host adds each row's entries in turn, but with csr.
template <class A>
void require_in_turn(const CsrMatrix& matrix, const HostMatrix& a, int threads, bool csr = false) {
  with_vectors<A>([&]<class V>(V) {
    INFO(threads << " threads, vectors " << sizeof(V));
    const auto x = random_vector<V>(matrix.cols, 4);
    const Orders<A, V> orders(matrix, x);
    std::vector<V> y = csr ? orders.on_host() : orders.in_turn();
    for (V& element : y) element = std::fma(V{1}, element, V{0});
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
    const V alpha = -2.5, beta = 0.75;
    std::vector<V> y = before, expected = Orders<A, V>(matrix, x).on_host();
    for (std::uint64_t r = 0; r < matrix.rows; ++r) {
      const bool empty = matrix.row_ptr[r] == matrix.row_ptr[r + 1];
      expected[r] = empty ? beta * before[r] : std::fma(alpha, expected[r], beta * before[r]);
    }
    a.multiply<V>(alpha, x, beta, y, 2);
    REQUIRE(same_bits(y, expected));
  });
}

template <class A>
void rows_in_turn(const std::string& layout) {
  for (const NamedMatrix& m : random_matrices<A>(47, 3)) {
    if (!suits(m.matrix, Variant{layout, {}})) continue;
    INFO(layout << ", " << m.name);
    require_in_turn<A>(m.matrix, load(encode(m.matrix, layout)), 2, layout == "csr");
  }
}

std::vector<std::uint32_t> shuffled(std::uint64_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  std::shuffle(all.begin(), all.end(), std::mt19937_64(seed));
  return all;
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

/// Long rows whose pieces begin alike and are far apart in x, so that some entries of each are added up in turn; the
/// last one's pieces end where the arrays do.
template <class A>
CsrMatrix scattered_long_rows(int values) {
  constexpr std::uint64_t cols = 150'000;
  const std::vector<std::uint64_t> lengths{9000, 4097, 12'295, 3, 0, 8192, 9003, 20'001};
  std::mt19937_64 random(9);
  return from_rows<A>(lengths.size(), cols, random, values, [&](std::uint64_t r) {
    std::vector<std::uint32_t> columns(lengths[r]);
    for (std::uint64_t i = 0; i < columns.size(); ++i) {
      const std::uint64_t step = cols / columns.size();
      columns[i] = static_cast<std::uint32_t>(i * step + random() % step);
    }
    return columns;
  });
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

/// The same entries, in f64.
CsrMatrix widened(const CsrMatrix& a) {
  CsrMatrix wide = clone(a);
  const auto& narrow = std::get<Array<float>>(a.values);
  Array<double> values(narrow.size());
  for (std::uint64_t k = 0; k < narrow.size(); ++k) values[k] = narrow[k];
  wide.values = std::move(values);
  return wide;
}

}  // namespace

TEST_CASE("every layout multiplies correctly, the same at any number of threads") {
  SECTION("f64") { all_correct<double>(); }
  SECTION("f32, with vectors of both types") { all_correct<float>(); }
}

TEST_CASE("ccoo adds in the documented order, for every K and B", "[sequential]") {
  SECTION("f64") { ccoo_in_order<double>(); }
  SECTION("f32, with vectors of both types") { ccoo_in_order<float>(); }
}

TEST_CASE("layouts without chunks add the entries of a row in turn, csr in an order of its own", "[sequential]") {
  for (const char* const layout : {"csr", "coo", "ell", "ellpack_r", "sell", "pjds", "dia"}) {
    rows_in_turn<double>(layout);
    rows_in_turn<float>(layout);
  }
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
}

TEST_CASE("csr: rows that end where the arrays do") {
  SECTION("f64") { rows_at_the_end<double>(); }
  SECTION("f32, with vectors of both types") { rows_at_the_end<float>(); }
}

TEST_CASE("csr: rows whose columns are one higher in each have the same order") {
  for (std::uint64_t length = 0; length < 30; ++length) {
    shifted_rows<double>(length);
    shifted_rows<float>(length);
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
}

TEST_CASE("csr: rows of more than 4,096 entries are added up in pieces, which threads share") {
  SECTION("f64") { rows_in_pieces<double>(); }
  SECTION("f32, with vectors of both types") { rows_in_pieces<float>(); }
}

TEST_CASE("pieces of long rows that are added up in turn have the documented order") {
  require_order_of_csr<double>(scattered_long_rows<double>(0));
  require_order_of_csr<float>(scattered_long_rows<float>(0));
  for (const int values : {0, 1, 3}) {  // kinds of random_value()
    INFO("values " << values);
    require_order_of_sjds<double>(scattered_long_rows<double>(values), {});
    require_order_of_sjds<float>(scattered_long_rows<float>(values), {{"sjds.values", values == 3 ? "raw" : "code"}});
  }
}

TEST_CASE("sjds adds in the documented order, whatever its windows, slices and pieces", "[sequential]") {
  SECTION("f64") { sjds_in_order<double>(); }
  SECTION("f32, with vectors of both types") { sjds_in_order<float>(); }
}

template <class A>
void sjds_of_nodes_and_grids() {
  for (const int values : {0, 1, 3})
    for (const char* const source : {"raw", "code"}) {
      if (values == 3 && std::string_view(source) == "code") continue;
      INFO("values " << values << ", " << source);
      const std::map<std::string, std::string> settings{{"sjds.values", source}};
      for (const std::uint32_t rows_each : {2U, 3U, 4U, 6U, 8U})
        for (const std::uint32_t nodes_around : {2U, 40U, 600U}) {
          INFO("nodes of " << rows_each << " rows, " << nodes_around << " around");
          require_order_of_sjds<A>(rows_of_nodes<A>(601, rows_each, nodes_around, values), settings);
        }
      for (const std::uint32_t width : {9U, 40U, 1000U}) {
        INFO("a grid " << width << " wide");
        require_order_of_sjds<A>(rows_of_grid<A>(width, 4000 / width, values), settings);
      }
      for (const std::uint32_t gap : {5U, 100U, 70'000U}) {  // in window steps, columns of 16 bits, of 32
        INFO("two runs, " << gap << " apart");
        require_order_of_sjds<A>(rows_of_two_runs<A>(1500, gap, values), settings);
      }
    }
  if (!sanitized)
    for (const std::uint32_t rows_each : {3U, 8U})  // columns of 32 bits
      require_order_of_sjds<A>(rows_of_nodes<A>(75'000 / rows_each, rows_each, 75'000 / rows_each, 3), {});
}

TEST_CASE("sjds adds in the documented order where lanes have the same columns, or consecutive ones") {
  SECTION("f64") { sjds_of_nodes_and_grids<double>(); }
  SECTION("f32, with vectors of both types") { sjds_of_nodes_and_grids<float>(); }
}

TEST_CASE("amb adds in the documented order, whatever its blocks and segments", "[sequential]") {
  SECTION("f64") { amb_in_order<double>(); }
  SECTION("f32, with vectors of both types") { amb_in_order<float>(); }
}

TEST_CASE("csell adds in the documented order, whatever its columns, values, blocks and sums", "[sequential]") {
  SECTION("f64") { csell_in_order<double>(); }
  if (!sanitized) SECTION("f32, with vectors of both types") {
      csell_in_order<float>();
    }
}

TEST_CASE("csell: slices that are cut by lanes, as they are fewer than threads, have the same order") {
  for (const int values : {0, 1, 2}) {
    std::mt19937_64 random(5);
    const CsrMatrix matrix = from_rows<double>(45, 4000, random, values, [&](std::uint64_t r) {
      std::vector<std::uint32_t> columns;
      for (std::uint32_t c = 0; c < 4000 && r % 9 != 4; c += 1 + static_cast<std::uint32_t>(random() % 7))
        columns.push_back(c);
      return columns;
    });
    const HostMatrix a = load(encode(matrix, "csell"));
    const auto x = random_vector<double>(matrix.cols, 3);
    INFO(values << " values");
    require_order<double, OrderOfCsell>("csell", matrix, {});
    const auto y = multiply(a, x, 1);
    for (const int threads : {2, 3, 16}) CHECK(same_bits(y, multiply(a, x, threads)));
  }
}

TEST_CASE("bitflag adds in the documented order, whatever its columns, values, tiles and rows", "[sequential]") {
  SECTION("f64") { bitflag_in_order<double>(); }
  if (!sanitized) SECTION("f32, with vectors of both types") {
      bitflag_in_order<float>();
    }
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

TEST_CASE("an f32 matrix times f64 vectors has the bits of the same matrix in f64") {
  for (const NamedMatrix& m : random_matrices<float>(43, 3)) {
    const CsrMatrix wide = widened(m.matrix);
    const auto x = random_vector<double>(m.matrix.cols, 6);
    for (Variant variant : every_layout()) {
      if (!suits(m.matrix, variant)) continue;
      if (variant.layout == "ccoo") variant.settings["ccoo.k"] = "4";  // left alone it depends on the size of a value
      INFO(variant.name() << ", " << m.name);
      REQUIRE(same_bits(multiply(load(encode(m.matrix, variant.layout, variant.settings)), x),
                        multiply(load(encode(wide, variant.layout, variant.settings)), x)));
    }
  }
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
      if (!suits(m.matrix, variant)) continue;
      INFO(variant.name() << ", " << m.name);
      const HostMatrix a = load(encode(m.matrix, variant.layout));
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
      if (!suits(m.matrix, variant)) continue;
      const HostMatrix a = load(encode(m.matrix, variant.layout, variant.settings));
      const bool fill_reads_x = variant.plan(m.matrix).fill_reads_x;
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
      if (!suits(m.matrix, variant)) continue;
      const std::size_t bytes = m.matrix.cols * sizeof(double), room = (bytes + page - 1) / page * page;
      auto* const start = static_cast<std::byte*>(
          ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      REQUIRE(start != MAP_FAILED);
      REQUIRE(::mprotect(start + room, page, PROT_NONE) == 0);
      auto* const x = reinterpret_cast<double*>(start + room - bytes);
      std::fill(x, x + m.matrix.cols, 1.0);
      std::vector<double> y(m.matrix.rows);
      load(encode(m.matrix, variant.layout, variant.settings)).multiply<double>(1, {x, m.matrix.cols}, 0, y, 2);
      ::munmap(start, room + page);
    }
}

TEST_CASE("every variant of a layout gives the same bits at any number of threads") {
  for (const NamedMatrix& m : random_matrices<double>(61, 3)) {
    if (m.matrix.nnz() > 3000) continue;
    for (const Variant& variant : every_variant()) {
      if (!suits(m.matrix, variant)) continue;
      INFO(variant.name() << ", " << m.name);
      const HostMatrix a = load(encode(m.matrix, variant.layout, variant.settings));
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
