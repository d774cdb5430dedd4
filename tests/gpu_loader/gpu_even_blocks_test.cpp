// Rows and slices that are all on the device at once, in one block of each multiprocessor or in two, and a few more:
// the host's bits. Part of gpu_test.

#include "catch.hpp"
#include "csell_cases.hpp"
#include "device.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

std::uint64_t multiprocessors() {
  int count = 0;
  cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<std::uint64_t>(count);
}

/// What the default kernel makes of x, without and with beta.
template <class V>
struct Products {
  std::vector<V> sums, scaled;
};
template <class V>
Products<V> on_host(const CsrMatrix& matrix, const std::string& layout, const Settings& settings) {
  const auto host = host_loader::HostMatrix::load(open(encode(matrix, layout, settings).bytes));
  const auto x = random_vector<V>(matrix.cols, 7), y0 = random_vector<V>(matrix.rows, 8);
  Products<V> y{std::vector<V>(matrix.rows), y0};
  host.multiply<V>(1, x, 0, y.sums, 2);
  host.multiply<V>(V{-2.5}, x, V{0.75}, y.scaled, 2);
  return y;
}
template <class V>
void require_on_device(const CsrMatrix& matrix, const std::string& layout, const Settings& settings,
                       const Products<V>& expected) {
  INFO(layout << ", " << matrix.rows << " rows");
  const auto a = load_device(encode(matrix, layout, settings).bytes);
  const auto x = random_vector<V>(matrix.cols, 7), y0 = random_vector<V>(matrix.rows, 8);
  REQUIRE(same_bits(multiply<V>(a, x, ""), expected.sums));
  REQUIRE(same_bits(multiply<V>(a, x, "", V{-2.5}, V{0.75}, &y0), expected.scaled));
}

/// Rows of up to `longest` entries, so that `csr/scalar` is the default of csr if these are eight at most.
template <class V>
void rows_of_all_layouts(std::uint64_t rows, std::uint32_t longest) {
  std::mt19937_64 rng(rows);
  const CsrMatrix matrix = from_rows<V>(rows, 5000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row((r * 7 + r / 1000) % (longest + 1));
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 5000);
    return row;
  });
  const Products<V> in_order = on_host<V>(matrix, "ell", {});  // each row's entries from the first to the last
  for (const char* const layout : {"ell", "ellpack_r", "pjds"}) require_on_device<V>(matrix, layout, {}, in_order);
  for (const char* const sigma : {"1", "256"}) require_on_device<V>(matrix, "sell", {{"sell.sigma", sigma}}, in_order);
  if (longest <= 8) require_on_device<V>(matrix, "csr", {}, in_order);
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
        const Settings settings{{"csell.values", values}, {"csell.sums", sums}};
        require_on_device<double>(matrix, "csell", settings, on_host<double>(matrix, "csell", settings));
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

}  // namespace
}  // namespace spmvpack::test
