// Parts whose rows lie anywhere in y: a list costs neither workspace nor launches, and changes no bit. Part of
// gpu_test.

#include <algorithm>
#include <numeric>

#include "catch.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;

/// The rows of a part in a matrix of `size` rows: those of the list, or as many from `begin` on.
struct Rows {
  std::uint64_t size = 0, begin = 0;
  std::vector<std::uint32_t> list;
};

std::vector<std::byte> with_rows(const CsrMatrix& a, const std::string& layout,
                                 const std::map<std::string, std::string>& settings, const Rows& rows) {
  const auto places =
      rows.list.empty() ? encoder::PartIndices::range(rows.begin, a.rows) : encoder::PartIndices::of(rows.list);
  return test::with_rows(a, layout, {.settings = settings}, places, rows.size);
}

std::vector<std::uint32_t> some_rows(std::uint64_t count, std::uint64_t size, std::uint64_t seed) {
  std::vector<std::uint32_t> rows(size);
  std::iota(rows.begin(), rows.end(), 0U);
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(seed));
  rows.resize(count);
  return rows;
}

/// Compares, for every kernel, the part at `listed` with itself at `plain`: the same bits at other places of y, and
/// beta y between them. Where `values` is 1 all numbers are integers, so that atomic kernels' sums are exact.
void require_same_rows(const Variant& variant, const NamedMatrix& m, int values, const Rows& listed,
                       const std::vector<std::byte>& plain, std::uint64_t plain_begin) {
  const DeviceMatrix a = load_device(plain),
                     b = load_device(with_rows(m.matrix, variant.layout, variant.settings, listed));
  std::vector<double> x = random_vector<double>(m.matrix.cols, 1);
  std::vector<double> y0 = random_vector<double>(std::max(a.facts().rows, b.facts().rows), 2);
  if (values == 1)
    for (std::vector<double>* const v : {&x, &y0})
      for (double& e : *v) e = std::round(e * 8);
  for (const auto& kernel : a.kernels()) {
    INFO(variant.name() << " " << kernel.name << ", " << m.name);
    CHECK(b.workspace_bytes(by<double>(kernel.name)) == a.workspace_bytes(by<double>(kernel.name)));
    if (values != 1 && kernel.determinism != gpu_loader::Determinism::bitwise) continue;
    for (const double beta : {0.0, 1.0, 0.5}) {
      CHECK(launches(b, kernel.name, beta) == launches(a, kernel.name, beta));
      for (const double alpha : {1.0, 0.0, 2.0}) {
        // y before: what the row has, wherever it lies.
        std::vector<double> before_a(a.facts().rows), before_b(b.facts().rows);
        for (std::size_t r = 0; r < before_a.size(); ++r) before_a[r] = y0[r];
        for (std::size_t r = 0; r < before_b.size(); ++r) before_b[r] = -y0[r];
        for (std::size_t i = 0; i < listed.list.size(); ++i) before_b[listed.list[i]] = before_a[plain_begin + i];
        const std::vector<double> ya =
            multiply<double>(a, x, kernel.name, alpha, beta, beta == 0 ? nullptr : &before_a);
        const std::vector<double> yb =
            multiply<double>(b, x, kernel.name, alpha, beta, beta == 0 ? nullptr : &before_b);
        std::vector<double> expected(before_b.size());
        for (std::size_t r = 0; r < expected.size(); ++r) expected[r] = beta == 0 ? 0.0 : beta * before_b[r];
        for (std::size_t i = 0; i < listed.list.size(); ++i) expected[listed.list[i]] = ya[plain_begin + i];
        REQUIRE(same_bits(yb, expected));
      }
    }
  }
}

}  // namespace

TEST_CASE("a list of all rows, in any order: no more workspace and launches than without, and the same bits",
          "[short]") {
  for (const int values : {1, 3})
    for (const NamedMatrix& m : random_matrices<double>(67, values)) {
      if (m.matrix.rows == 0) continue;
      for (const Variant& variant : every_variant()) {
        if (!suits(m.matrix, variant)) continue;
        const Rows listed{m.matrix.rows, 0, some_rows(m.matrix.rows, m.matrix.rows, 5)};
        require_same_rows(variant, m, values, listed, encode(m.matrix, variant.layout, variant.settings).bytes, 0);
      }
    }
}

TEST_CASE("a list of some rows: as a range of rows, and the rows of no part become beta y") {
  for (const int values : {1, 3})
    for (const NamedMatrix& m : random_matrices<double>(71, values)) {
      if (m.matrix.rows == 0) continue;
      const std::uint64_t size = 2 * m.matrix.rows + 3;
      for (const Variant& variant : every_variant()) {
        if (!suits(m.matrix, variant)) continue;
        const Rows listed{size, 0, some_rows(m.matrix.rows, size, 6)};
        require_same_rows(variant, m, values, listed,
                          with_rows(m.matrix, variant.layout, variant.settings, {size, 3, {}}), 3);
      }
    }
}

TEST_CASE("a list of rows of amb, which lie in few segments or in many", "[short]") {
  for (const std::uint32_t most : {4U, 5U, 40U}) {
    const NamedMatrix m{std::to_string(most) + " segments", rows_over_ranges<double>(3000, 40, 100, most)};
    for (const char* const block : {"1", "2"}) {
      const Variant variant{"amb", {{"amb.segment", "100"}, {"amb.block", block}}};
      const Rows listed{6003, 0, some_rows(3000, 6003, most)};
      require_same_rows(variant, m, 3, listed, with_rows(m.matrix, variant.layout, variant.settings, {6003, 3, {}}), 3);
    }
  }
}

TEST_CASE("short rows and long ones, split: each row's own sum and beta y, by a launch for each part", "[short]") {
  // Integers, of which all sums are exact; rows of 0 to 8 entries, and some of 300.
  std::mt19937_64 rng(8);
  CsrMatrix a = from_rows<double>(7000, 5000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(r % 700 == 5 ? 300 : r % 9);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 5000);
    return row;
  });
  std::uint64_t k = 0;
  for (double& v : std::get<Array<double>>(a.values)) v = static_cast<double>(k++ % 17) - 8;
  std::vector<double> x(a.cols), y(a.rows), sums(a.rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13) - 6;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i % 7) + 1;
  for (std::uint64_t r = 0; r < a.rows; ++r)
    for (k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) sums[r] += std::get<Array<double>>(a.values)[k] * x[a.col_idx[k]];
  for (const char* const layout : {"csell", "sell"}) {
    INFO(layout);
    const DeviceMatrix m = load_device(encode(a, "split", {{"split.length", "8"}, {"split.short", layout}}).bytes);
    for (const double beta : {0.0, 1.0, -2.0}) {
      CHECK(launches(m, "", beta) == 2);
      for (const double alpha : {1.0, 0.0, 3.0}) {
        std::vector<double> expected(a.rows);
        for (std::size_t r = 0; r < expected.size(); ++r) expected[r] = alpha * sums[r] + beta * y[r];
        CHECK(multiply<double>(m, x, "", alpha, beta, beta == 0 ? nullptr : &y) == expected);
      }
    }
  }
}

TEST_CASE("a list of rows is in any order, but in range and without repetition", "[short]") {
  std::mt19937_64 rng(3);
  const CsrMatrix m = from_rows<double>(
      5000, 40, rng, 3, [](std::uint64_t r) { return std::vector<std::uint32_t>{static_cast<std::uint32_t>(r % 40)}; });
  const auto refuses = [&](const Rows& rows) {
    try {
      load_device(with_rows(m, "coo", {}, rows));
    } catch (const Error& e) {
      CHECK(e.code() == errc::corrupt);
      CHECK(e.message() == "row_map: an index is not below the matrix's rows, or comes twice");
      return true;
    }
    return false;
  };
  Rows rows{6000, 0, some_rows(5000, 6000, 1)};
  CHECK(!refuses(rows));
  const std::uint32_t first = rows.list[0];
  rows.list[0] = rows.list[4999];  // far apart
  CHECK(refuses(rows));
  rows.list[0] = 6000;
  CHECK(refuses(rows));
  rows.list[0] = ~0U;
  CHECK(refuses(rows));
  rows.list[0] = first;
  CHECK(!refuses(rows));
}

}  // namespace spmvpack::test
