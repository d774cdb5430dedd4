// Rows and slices that are all on the device at once, in one block of each multiprocessor or in two, and a few more:
// the host's bits. Part of gpu_test.

#include "catch.hpp"
#include "csell_cases.hpp"
#include "host_products.hpp"

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

}  // namespace
}  // namespace spmvpack::test
