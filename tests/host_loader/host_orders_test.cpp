// The documented orders of additions of ccoo, sjds, amb, csell and bitflag.

#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bitflag_cases.hpp"
#include "catch.hpp"
#include "containers.hpp"
#include "csell_cases.hpp"
#include "host_loader/host_columns.hpp"
#include "matrices.hpp"
#include "orders/amb.hpp"
#include "orders/bitflag.hpp"
#include "orders/ccoo.hpp"
#include "orders/csell.hpp"
#include "orders/sjds.hpp"
#include "products.hpp"
#include "sjds_cases.hpp"
#include "spmvpack/container/layouts/sjds.hpp"
#include "variants.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

template <class A>
void ccoo_in_order() {
  const std::vector<NamedMatrix> matrices = random_matrices<A>(29, 3);
  for (const std::uint32_t k : {1U, 2U, 4U, 8U})
    for (const std::uint32_t b : {256U, 8U})
      for (const NamedMatrix& m : matrices) {
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
  const std::vector<NamedMatrix> matrices = random_matrices<A>(47, 3);
  for (const Variant& variant : every_variant()) {
    if (variant.layout != "amb") continue;
    for (const NamedMatrix& m : matrices) {
      const std::optional<Container> file = container_if_suits(m.matrix, variant);
      if (!file) continue;
      const auto& params = file->parts()[0].params;  // the segments' width, the block
      const HostMatrix a = HostMatrix::load(*file);
      with_vectors<A>([&]<class V>(V) {
        INFO(variant.name() << ", " << m.name << ", vectors " << sizeof(V));
        const auto x = random_vector<V>(m.matrix.cols, 3);
        REQUIRE(same_bits(multiply(a, x), multiply_in_order_of_amb<A, V>(m.matrix, params[0], params[1], x)));
      });
    }
  }
}

template <class A>
void require_order_of_sjds_in(const Container& file, const CsrMatrix& matrix) {
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
void require_order_of_sjds(const CsrMatrix& matrix, const std::map<std::string, std::string>& settings) {
  require_order_of_sjds_in<A>(open(encode(matrix, "sjds", settings).bytes), matrix);
}

template <class A>
void sjds_in_order() {
  for (const int values : {0, 1, 3}) {
    const std::vector<NamedMatrix> matrices = random_matrices<A>(53, values);
    for (const Variant& variant : every_variant()) {
      if (variant.layout != "sjds") continue;
      for (const NamedMatrix& m : matrices) {
        const std::optional<Container> file = container_if_suits(m.matrix, variant);
        if (!file) continue;
        INFO(variant.name() << ", " << m.name << ", values " << values);
        require_order_of_sjds_in<A>(*file, m.matrix);
      }
    }
  }
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

/// Requires the order of additions of csell or bitflag, which its Order has.
template <class A, template <class, class> class Order>
void require_order(const CsrMatrix& matrix, const Container& file) {
  const HostMatrix a = HostMatrix::load(file);
  with_vectors<A>([&]<class V>(V) {
    INFO("vectors " << sizeof(V));
    const auto x = random_vector<V>(matrix.cols, 3);
    const std::vector<V> y = multiply(a, x);
    require_correct<A>(matrix, x, y);
    REQUIRE(same_bits(y, Order<A, V>(file).multiply(x)));
    if (matrix.rows + matrix.cols < 50'000)
      require_columns<A, V>(a, nullptr, Operation::none, matrix.nnz(), one_count(matrix.nnz(), 5));
  });
}

template <class A, template <class, class> class Order>
void require_order(const char* layout, const CsrMatrix& matrix, const std::map<std::string, std::string>& settings) {
  require_order<A, Order>(matrix, open(encode(matrix, layout, settings).bytes));
}

/// The same of the layout's variants.
template <class A, template <class, class> class Order>
void require_order_of_variants(const char* layout) {
  const std::vector<NamedMatrix> matrices = random_matrices<A>(47, 2);
  for (const Variant& variant : every_variant()) {
    if (variant.layout != layout) continue;
    for (const NamedMatrix& m : matrices) {
      const std::optional<Container> file = container_if_suits(m.matrix, variant);
      if (!file) continue;
      INFO(variant.name() << ", " << m.name);
      require_order<A, Order>(m.matrix, *file);
    }
  }
}

template <class A>
void csell_in_order() {
  const std::array<const char*, 3> every_sums{"1", "2", "4"};
  std::size_t turn = 0;
  for (const CsellCase& c : csell_cases<A>()) {
    ++turn;
    for (std::size_t i = 0; i < every_sums.size(); ++i) {
      if (sanitized && turn % 3 != i) continue;  // by turns
      const char* const sums = every_sums[i];
      INFO(c.name << ", " << c.values << ", sums " << sums);
      require_order<A, OrderOfCsell>("csell", c.matrix, {{"csell.values", c.values}, {"csell.sums", sums}});
    }
  }
  require_order_of_variants<A, OrderOfCsell>("csell");
}

template <class A>
void bitflag_in_order() {
  for (const BitflagCase& c : bitflag_cases<A>()) {
    const Variant variant{c.name, c.settings};
    INFO(variant.name());
    require_order<A, OrderOfBitflag>("bitflag", c.matrix, c.settings);
  }
  require_order_of_variants<A, OrderOfBitflag>("bitflag");
}

}  // namespace

TEST_CASE("ccoo adds in the documented order, for every K and B", "[sequential]") {
  SECTION("f64") { ccoo_in_order<double>(); }
  SECTION("f32, with vectors of both types") { ccoo_in_order<float>(); }
}

TEST_CASE("sjds adds in the documented order, whatever its windows, slices and pieces", "[sequential]") {
  SECTION("f64") { sjds_in_order<double>(); }
  SECTION("f32, with vectors of both types") { sjds_in_order<float>(); }
}

TEST_CASE("sjds adds in the documented order where lanes have the same columns, or consecutive ones") {
  SECTION("f64") { sjds_of_nodes_and_grids<double>(); }
  SECTION("f32, with vectors of both types") { sjds_of_nodes_and_grids<float>(); }
}

TEST_CASE("pieces of long rows that are added up in turn have the documented order: sjds") {
  for (const int values : {0, 1, 3}) {  // kinds of random_value()
    INFO("values " << values);
    require_order_of_sjds<double>(scattered_long_rows<double>(values), {});
    require_order_of_sjds<float>(scattered_long_rows<float>(values), {{"sjds.values", values == 3 ? "raw" : "code"}});
  }
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

}  // namespace spmvpack::test
