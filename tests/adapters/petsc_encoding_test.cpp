// What PETSc's plug-in makes of a matrix in arrays, without PETSc.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "encoding.hpp"
#include "spmvpack/container/base/error.hpp"

namespace spmvpack::test {
namespace {

using petsc::Encoding;
using petsc::EncodingOptions;

/// Arrays as PETSc has them.
struct Arrays {
  std::uint64_t cols = 0;
  std::vector<std::int32_t> row_ptr{0}, col_idx;
  std::vector<double> values;

  void entry(std::int32_t column, double value) {
    col_idx.push_back(column);
    values.push_back(value);
  }
  void end_row() { row_ptr.push_back(static_cast<std::int32_t>(col_idx.size())); }
  [[nodiscard]] CsrView view() const {
    return {row_ptr.size() - 1, cols, std::span<const std::int32_t>(row_ptr), std::span<const std::int32_t>(col_idx),
            std::span<const double>(values)};
  }
  /// y + A x, and the error that each row may have.
  void add_to(std::vector<double>& y, const std::vector<double>& x, std::vector<double>& bound) const {
    for (std::size_t r = 0; r + 1 < row_ptr.size(); ++r) {
      long double sum = y[r], magnitude = std::abs(y[r]);
      for (auto k = static_cast<std::size_t>(row_ptr[r]); k < static_cast<std::size_t>(row_ptr[r + 1]); ++k) {
        sum += static_cast<long double>(values[k]) * x[static_cast<std::size_t>(col_idx[k])];
        magnitude += std::abs(static_cast<long double>(values[k]) * x[static_cast<std::size_t>(col_idx[k])]);
      }
      y[r] = static_cast<double>(sum);
      bound[r] = static_cast<double>((row_ptr[r + 1] - row_ptr[r] + 4) * 0x1p-53L * magnitude);
    }
  }
};

/// Rows of up to `most` entries in random columns, in falling order if `falling`; of every `step` rows one is filled.
Arrays random_arrays(std::size_t rows, std::size_t cols, std::size_t most, std::size_t step, bool falling) {
  std::mt19937_64 rng(rows + cols + most + step);
  Arrays a;
  a.cols = cols;
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<std::int32_t> columns;
    for (std::size_t k = 0; r % step == 0 && k < 1 + rng() % most; ++k)
      columns.push_back(static_cast<std::int32_t>(rng() % cols));
    std::sort(columns.begin(), columns.end());
    if (!falling) columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    if (falling) std::reverse(columns.begin(), columns.end());  // with repetitions
    for (const std::int32_t c : columns) a.entry(c, std::uniform_real_distribution(-1.0, 1.0)(rng));
    a.end_row();
  }
  return a;
}

void require_product(const Arrays& a, const Encoding& encoding) {
  REQUIRE(encoding.matrix);
  std::mt19937_64 rng(5);
  std::vector<double> x(a.cols), y(a.row_ptr.size() - 1), bound(y.size());
  for (double& e : x) e = std::uniform_real_distribution(-1.0, 1.0)(rng);
  for (double& e : y) e = std::uniform_real_distribution(-1.0, 1.0)(rng);
  std::vector<double> expected = y;
  a.add_to(expected, x, bound);
  encoding.matrix->multiply<double>(1, x, 1, y, 1);
  for (std::size_t r = 0; r < y.size(); ++r) {
    CAPTURE(r);
    REQUIRE(std::abs(y[r] - expected[r]) <= bound[r]);
  }
}

constexpr double always = 1e9;

TEST_CASE("arrays as they are, and with columns in any order and repeated") {
  for (const bool falling : {false, true})
    for (const char* const layout : {"auto", "csr", "ccoo", "csell", "bitflag", "split"}) {
      INFO(layout << (falling ? ", falling" : ""));
      const Arrays a = random_arrays(3000, 900, 12, 1, falling);
      require_product(a, petsc::encode(a.view(), {.layout = layout, .at_most = always}));
    }
}

TEST_CASE("rows without entries cost nothing where they are most") {
  const Arrays a = random_arrays(400'000, 500, 3, 1000, false);
  for (const char* const layout : {"auto", "csr", "ccoo", "csell", "bitflag", "split", "hyb"}) {
    INFO(layout);
    const Encoding encoding = petsc::encode(a.view(), {.layout = layout, .at_most = always});
    require_product(a, encoding);
    CHECK(encoding.filled_rows == 400);
    CHECK(encoding.csr_bytes > 4 * 400'000);
    if (std::string_view(layout) != "split" && std::string_view(layout) != "hyb")  // these cut the whole matrix
      CHECK(encoding.bytes < 100 * 400);
  }
}

TEST_CASE("auto encodes up to the share of csr's time that it is given, and says why not") {
  Arrays a;  // rows that are alike
  a.cols = 100'000;
  for (std::int32_t r = 0; r < 100'000; ++r) {
    for (std::int32_t k = 0; k < 8; ++k)
      if (r + k < 100'000) a.entry(r + k, 1 + k);
    a.end_row();
  }
  const Encoding taken = petsc::encode(a.view(), {.at_most = 1});
  require_product(a, taken);
  CHECK(petsc::encode(a.view(), {.layout = "csell", .at_most = always}).bytes < taken.csr_bytes / 2);
  const Encoding left = petsc::encode(a.view(), {.at_most = 0.001});
  CHECK_FALSE(left.matrix);
  CHECK(left.layout == taken.layout);
  CHECK(left.reason.find("of csr's time, more than 0.1 %") != std::string::npos);
  // A layout that is asked for is taken whatever is predicted.
  require_product(a, petsc::encode(a.view(), {.layout = "coo", .at_most = 0.001}));
}

/// The same pattern with other values, special ones among them.
Arrays with_new_values(const Arrays& a, unsigned seed) {
  Arrays b = a;
  std::mt19937_64 rng(seed);
  for (double& v : b.values) v = std::uniform_real_distribution(-1.0, 1.0)(rng);
  for (std::size_t k = 0; k < b.values.size(); k += 7) b.values[k] = k % 2 == 0 ? 0.0 : -0.0;
  if (!b.values.empty()) b.values[b.values.size() / 2] = 5e-324;
  return b;
}

std::vector<double> product(const Encoding& encoding, std::size_t rows, std::size_t cols) {
  REQUIRE(encoding.matrix);
  std::vector<double> x(cols), y(rows);
  for (std::size_t i = 0; i < cols; ++i) x[i] = 1.0 / static_cast<double>(i % 13 + 1) - 0.3;
  encoding.matrix->multiply<double>(1, x, 0, y, 1);
  return y;
}

TEST_CASE("new values give the bits of a matrix that is encoded anew") {
  // Columns that fall are without repetitions here: those are added up, and have no place of their own.
  Arrays falling = random_arrays(500, 300, 8, 1, false);
  for (std::size_t r = 0; r + 1 < falling.row_ptr.size(); ++r)
    std::reverse(falling.col_idx.begin() + falling.row_ptr[r], falling.col_idx.begin() + falling.row_ptr[r + 1]);
  const Arrays all[] = {random_arrays(500, 300, 8, 1, false), falling, random_arrays(4000, 50, 3, 40, false),
                        random_arrays(1, 400, 300, 1, false), random_arrays(300, 1, 1, 1, false)};
  for (const Arrays& a : all)
    for (const bool transpose : {false, true})
      for (const char* const layout : {"auto", "csr", "sjds", "csell", "bitflag", "split"}) {
        INFO(a.row_ptr.size() - 1 << " rows, " << layout << (transpose ? ", A^T" : ""));
        EncodingOptions options{.layout = layout, .at_most = always};
        options.transpose = transpose;
        options.updatable = true;
        options.multiplies_per_update = 1e6;
        options.aij_over_csr = 2;
        Encoding encoding = petsc::encode(a.view(), options);
        REQUIRE(encoding.updatable);
        const std::size_t rows = a.row_ptr.size() - 1, m = transpose ? a.cols : rows, n = transpose ? rows : a.cols;
        for (unsigned step = 1; step < 3; ++step) {
          const Arrays b = with_new_values(a, step);
          petsc::update_values(encoding, b.values, 1);
          const Encoding anew = petsc::encode(b.view(), options);
          CHECK(anew.layout == encoding.layout);
          const std::vector<double> found = product(encoding, m, n), expected = product(anew, m, n);
          CHECK(std::memcmp(found.data(), expected.data(), m * sizeof(double)) == 0);
          options.updatable = false;
          options.layout = "csr";
          const std::vector<double> other = product(petsc::encode(b.view(), options), m, n);
          for (std::size_t r = 0; r < m; ++r) REQUIRE(std::abs(found[r] - other[r]) <= 1e-12);
          options.updatable = true;
          options.layout = layout;
        }
      }
}

TEST_CASE("what takes no new values is encoded as without") {
  const auto is_updatable = [](const Arrays& a, const char* layout) {
    EncodingOptions options{.layout = layout, .at_most = always};
    options.updatable = true;
    options.multiplies_per_update = 1e6;
    options.aij_over_csr = 2;
    const Encoding encoding = petsc::encode(a.view(), options);
    require_product(a, encoding);
    return encoding.updatable;
  };
  CHECK_FALSE(is_updatable(random_arrays(300, 40, 12, 1, true), "auto"));  // columns repeat
  Arrays diagonal;
  diagonal.cols = 200;
  for (std::int32_t r = 0; r < 200; ++r) {
    diagonal.entry(r, 1.5);
    diagonal.end_row();
  }
  CHECK_FALSE(is_updatable(diagonal, "dia"));  // bits say which slots have entries
  CHECK(is_updatable(diagonal, "csr"));
  CHECK(is_updatable(diagonal, "auto"));
}

TEST_CASE("what an update takes is weighed against multiplies") {
  const Arrays a = random_arrays(20'000, 20'000, 9, 1, false);
  const auto encoded = [&](double multiplies, double aij_over_csr, double at_most) {
    EncodingOptions options{.at_most = at_most};
    options.updatable = true;
    options.multiplies_per_update = multiplies;
    options.aij_over_csr = aij_over_csr;
    return petsc::encode(a.view(), options);
  };
  const Encoding few = encoded(1, 2, 1), some = encoded(2, 2, 1), many = encoded(1e6, 2, 1);
  CHECK(few.updatable);
  CHECK_FALSE(few.matrix);
  CHECK(few.reason == "with 1 multiplies from one update to the next, updates would cost more than is gained");
  REQUIRE(some.matrix);
  CHECK(some.layout == "csr");
  CHECK(some.reason == "with 2 multiplies from one update to the next, updates of " + many.layout + " would cost more");
  REQUIRE(many.matrix);
  CHECK(many.layout != "csr");
  CHECK(many.reason.find("of csr's time") != std::string::npos);
  // What AIJ would do as fast as csr: nothing is gained by csr, and by others from as many multiplies on as is said.
  const Encoding none = encoded(3, 1, 1);
  CHECK_FALSE(none.matrix);
  REQUIRE(none.pays_from > 3);
  CHECK_FALSE(encoded(none.pays_from - 1, 1, 1).matrix);
  CHECK(encoded(none.pays_from + 1, 1, 1).layout == many.layout);
  // What is asked for rules out csr, too.
  const Encoding ruled_out = encoded(1e6, 2, 0.01);
  CHECK_FALSE(ruled_out.matrix);
  CHECK(ruled_out.pays_from == 0);
}

TEST_CASE("what cannot be encoded is an error with a remedy") {
  CHECK_NOTHROW(petsc::check_layout("auto"));
  CHECK_NOTHROW(petsc::check_layout("split"));
  try {
    petsc::check_layout("zip");
    FAIL("there is no such layout");
  } catch (const Error& e) {
    CHECK(e.code() == errc::usage);
    CHECK(std::string(e.what()).find("bitflag") != std::string::npos);
  }
  const Arrays a = random_arrays(6000, 6000, 3, 1, false);  // as many diagonals as entries
  try {
    (void)petsc::encode(a.view(), {.layout = "dia"});
    FAIL("dia is not for this matrix");
  } catch (const Error& e) {
    CHECK(e.code() == errc::unsupported);
    CHECK_FALSE(e.remedy().empty());
  }
}

}  // namespace
}  // namespace spmvpack::test
