// The host multiply: right within the error bound, in the order of additions that docs/LAYOUTS.md gives, harmless.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "orders/ccoo.hpp"
#include "products.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

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

template <class T>
void all_correct(const std::string& layout, const std::map<std::string, std::string>& settings = {}) {
  for (const int values : {0, 2, 3})
    for (const NamedMatrix& m : random_matrices<T>(23, values)) {
      INFO(m.name << ", values " << values);
      const HostMatrix a = load(encode(m.matrix, layout, settings));
      const std::vector<T> x = random_vector<T>(m.matrix.cols, 7);
      const std::vector<T> y = multiply(a, x, 1);
      require_correct<T>(m.matrix, x, y);
      REQUIRE(same_bits(y, multiply(a, x, 3)));
    }
}

}  // namespace

TEST_CASE("every layout multiplies correctly, the same at any number of threads") {
  for (const char* const layout : {"csr", "coo", "ccoo"}) {
    DYNAMIC_SECTION(layout << " f64") { all_correct<double>(layout); }
    DYNAMIC_SECTION(layout << " f32") { all_correct<float>(layout); }
  }
}

TEST_CASE("ccoo adds in the documented order, for every K and B") {
  for (const std::uint32_t k : {1U, 2U, 4U, 8U})
    for (const std::uint32_t b : {256U, 8U})
      for (const NamedMatrix& m : random_matrices<double>(29, 3)) {
        INFO(m.name << ", K " << k << ", B " << b);
        const HostMatrix a =
            load(encode(m.matrix, "ccoo", {{"ccoo.k", std::to_string(k)}, {"ccoo.b", std::to_string(b)}}));
        const auto x = random_vector<double>(m.matrix.cols, 3);
        REQUIRE(same_bits(multiply(a, x), OrderOfCcoo<double>(m.matrix, b, k).multiply(x)));
      }
}

TEST_CASE("alpha and beta") {
  for (const char* const layout : {"csr", "coo", "ccoo"})
    for (const NamedMatrix& m : random_matrices<double>(31, 3)) {
      INFO(layout << ", " << m.name);
      const HostMatrix a = load(encode(m.matrix, layout));
      const auto x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
      const auto sums = multiply(a, x);
      for (const double alpha : {1.0, 0.0, -2.5})
        for (const double beta : {0.0, 1.0, 0.75}) {
          auto y = y0;
          if (beta == 0) std::fill(y.begin(), y.end(), std::numeric_limits<double>::quiet_NaN());  // must not be read
          const std::vector<double> nan(x.size(), std::numeric_limits<double>::quiet_NaN());
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

TEST_CASE("Inf and NaN in x reach the rows that touch them and no others") {
  for (const char* const layout : {"csr", "coo", "ccoo"})
    for (const char* const k : {"1", "2", "4", "8"})
      for (const NamedMatrix& m : random_matrices<double>(37, 0)) {  // all ones: +Inf stays +Inf, whatever is padded
        if (m.matrix.cols == 0) continue;
        const std::uint64_t column = m.matrix.cols / 2;
        std::map<std::string, std::string> settings;
        if (std::string(layout) == "ccoo") settings["ccoo.k"] = k;
        const HostMatrix a = load(encode(m.matrix, layout, settings));
        for (const double poison :
             {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
          auto x = random_vector<double>(m.matrix.cols, 5);
          x[column] = poison;
          const auto y = multiply(a, x);
          for (std::uint64_t r = 0; r < m.matrix.rows; ++r) {
            const auto* const begin = m.matrix.col_idx.begin() + m.matrix.row_ptr[r];
            const auto* const end = m.matrix.col_idx.begin() + m.matrix.row_ptr[r + 1];
            INFO(layout << " K " << k << ", " << m.name << ", row " << r);
            if (!std::binary_search(begin, end, column))
              REQUIRE(std::isfinite(y[r]));
            else if (std::isinf(poison))
              REQUIRE(y[r] == poison);
            else
              REQUIRE(std::isnan(y[r]));
          }
        }
      }
}

TEST_CASE("no element past the end of x is read") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const char* const layout : {"csr", "coo", "ccoo"})
    for (const NamedMatrix& m : random_matrices<double>(41, 2)) {
      const std::size_t bytes = m.matrix.cols * sizeof(double), room = (bytes + page - 1) / page * page;
      auto* const start = static_cast<std::byte*>(
          ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      REQUIRE(start != MAP_FAILED);
      REQUIRE(::mprotect(start + room, page, PROT_NONE) == 0);
      auto* const x = reinterpret_cast<double*>(start + room - bytes);
      std::fill(x, x + m.matrix.cols, 1.0);
      std::vector<double> y(m.matrix.rows);
      load(encode(m.matrix, layout)).multiply<double>(1, {x, m.matrix.cols}, 0, y, 2);
      ::munmap(start, room + page);
    }
}

TEST_CASE("vectors that do not fit are refused") {
  const HostMatrix a = load(encode(make_csr(3, 2, {{{0, 0}, 1.0}, {{2, 1}, 2.0}}), "ccoo"));
  std::vector<double> x(2), y(3), both(4);
  std::vector<float> xf(2), yf(3);
  CHECK_NOTHROW(a.multiply<double>(1, x, 0, y));
  CHECK_THROWS_AS(a.multiply<double>(1, y, 0, y), Error);
  CHECK_THROWS_AS(a.multiply<double>(1, x, 0, x), Error);
  CHECK_THROWS_AS(a.multiply<float>(1, xf, 0, yf), Error);
  CHECK_THROWS_AS(a.multiply<double>(1, std::span(both).first(2), 0, std::span(both).subspan(1, 3)), Error);
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
