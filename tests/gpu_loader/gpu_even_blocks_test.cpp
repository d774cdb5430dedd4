// Rows and slices that are all on the device at once, in one block of each multiprocessor or in two, and a few more:
// the host's bits. Rows of csr whose columns follow one another. Part of gpu_test.

#include <numeric>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "host_products.hpp"
#include "orders/csr.hpp"

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

/// Rows of up to `longest` entries, so that `csr/scalar` is the default of csr if these are eight at most.
template <class V>
void rows_of_all_layouts(std::uint64_t rows, std::uint32_t longest) {
  std::mt19937_64 rng(rows);
  const CsrMatrix matrix = from_rows<V>(rows, 5000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row((r * 7 + r / 1000) % (longest + 1));
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 5000);
    return row;
  });
  const HostProducts<V> in_order(encode(matrix, "ell"), matrix);  // each row's entries from the first to the last
  const auto same = [&](const char* layout, const Settings& settings) {
    INFO(layout << ", " << rows << " rows");
    require_products(encode(matrix, layout, settings), in_order);
  };
  for (const char* const layout : {"ell", "ellpack_r", "pjds"}) same(layout, {});
  for (const char* const sigma : {"1", "256"}) same("sell", {{"sell.sigma", sigma}});
  if (longest <= 8) same("csr", {});
}

TEST_CASE("rows that are all on the device at once: in order, whatever the number and the size of blocks") {
  const std::uint64_t m = multiprocessors();
  for (const std::uint64_t rows :
       {m - 1, 33 * m, 512 * m, 512 * m + 1, 1024 * m, 1024 * m + 1, 1536 * m, 2048 * m + 1}) {
    rows_of_all_layouts<double>(rows, 5);
    rows_of_all_layouts<float>(rows, 5);
  }
  for (const std::uint64_t rows : {512 * m, 512 * m + 1, 1024 * m}) rows_of_all_layouts<double>(rows, 30);
}

TEST_CASE("csell: few slices and not so few, several of a block: the host's bits, with any number of sums") {
  const std::uint64_t m = multiprocessors();
  for (const std::uint64_t slices : {3 * m + 1, 8 * m - 1, 16 * m - 1, 16 * m, 31 * m})
    for (const char* const sums : {"1", "2", "4"}) {
      const std::uint64_t rows = 32 * slices - 5;
      const auto same = [&](const CsrMatrix& matrix, const char* values) {
        INFO(slices << " slices, sums " << sums << ", " << values);
        require_bits_of_host<double>(matrix, "csell", {{"csell.values", values}, {"csell.sums", sums}});
      };
      for (const char* const values : {"raw", "table"}) {
        const int kind = values == std::string("raw") ? 3 : 2;
        same(band<double>(rows, 23, kind), values);  // six groups of a slice
        same(clustered<double>(rows, 100'000, 400, 9, kind), values);
      }
      same(band<double>(rows, 23, 0), "single");
      same(with_values<double>(band<double>(rows, 9, 0), [](auto r, auto c) { return static_cast<double>(c - r); }),
           "step");
    }
}

/// Rows of such lengths, in turn, whose columns follow one another from anywhere on; but for those of row `torn`.
template <class A, class V>
void rows_of_neighbours(std::uint64_t rows, const std::vector<std::uint32_t>& lengths, std::uint64_t torn) {
  std::mt19937_64 rng(rows);
  const CsrMatrix matrix = from_rows<A>(rows, 7000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(lengths[r % lengths.size()]);
    std::iota(row.begin(), row.end(), static_cast<std::uint32_t>(rng() % (7000 - row.size())));
    if (r == torn) row.back() = 6999;
    return row;
  });
  INFO(rows << " rows, of " << lengths[0] << ", torn " << torn);
  const gpu_loader::DeviceMatrix a = load_device(encode(matrix, "csr").bytes);
  const std::vector<V> x = random_vector<V>(matrix.cols, 1), y0 = random_vector<V>(matrix.rows, 2);
  const Orders<A, V> orders(matrix, x);
  for (const auto& kernel : a.kernels()) {
    INFO(kernel.name);
    const std::vector<V> sums = orders.by(std::string(kernel.name));
    REQUIRE(same_bits(multiply<V>(a, x, kernel.name), sums));
    std::vector<V> y = y0;
    for (std::size_t r = 0; r < y.size(); ++r) {
      const V before = V{0.75} * y0[r];
      y[r] = matrix.row_ptr[r] == matrix.row_ptr[r + 1] ? before : std::fma(V{-2.5}, sums[r], before);
    }
    REQUIRE(same_bits(multiply<V>(a, x, kernel.name, V{-2.5}, V{0.75}, &y0), y));
  }
}

TEST_CASE("csr: rows of columns that follow one another, of which but the first is read: the same bits") {
  const auto all = [](std::uint64_t rows, const std::vector<std::uint32_t>& lengths) {
    for (const std::uint64_t torn : {rows, std::uint64_t{0}, rows - 1}) {
      rows_of_neighbours<double, double>(rows, lengths, torn);
      rows_of_neighbours<float, float>(rows, lengths, torn);
      rows_of_neighbours<float, double>(rows, lengths, torn);
    }
  };
  all(60, {2049, 4000, 2500, 6998});         // a block for each row
  all(150, {1500, 2000, 1, 2047, 0, 2048});  // and for two, and rows of one entry and none
  all(150, {700, 650, 33, 900});             // three
  all(2000, {120, 99, 0, 130});              // twenty
  all(4000, {33, 34, 48, 31});               // sixty
  for (const std::uint32_t length : {40U, 64U, 100U, 250U}) all(777, {length, length + 1, length - 1, 0});
}

}  // namespace
}  // namespace spmvpack::test
