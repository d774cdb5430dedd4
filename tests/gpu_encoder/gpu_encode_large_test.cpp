// A matrix of more than 2^31 nonzeros, encoded on a GPU of 80 GB or more, which takes some seconds. Part of gpu_test,
// which runs it if it is asked for: gpu_test "[gpu_encoder_large]".

#include <chrono>
#include <cmath>

#include "catch.hpp"
#include "device.hpp"
#include "large_grid.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::test {
namespace {

/// Rows to look at: the first and the last, those around the 2^31st entry and its multiples, and many between.
std::vector<std::uint64_t> sampled_rows(const LargeGrid& grid) {
  std::vector<std::uint64_t> rows;
  const auto add = [&](std::uint64_t from, std::uint64_t count) {
    for (std::uint64_t r = from; r < from + count && r < grid.rows(); ++r) rows.push_back(r);
  };
  add(0, 1000);
  add(grid.rows() - std::min<std::uint64_t>(grid.rows(), 1000), 1000);
  for (std::uint64_t power = 28; power < 40 && std::uint64_t{1} << power < grid.nonzeros(); ++power) {
    std::uint64_t row = 0;
    for (std::uint64_t step = std::uint64_t{1} << 40U; step != 0; step /= 2)
      if (row + step <= grid.rows() && grid.row_ptr(row + step) <= std::uint64_t{1} << power) row += step;
    add(row - std::min<std::uint64_t>(row, 500), 1000);
  }
  for (std::uint64_t k = 0; k < 100'000; ++k) add(k * (grid.rows() / 100'000), 1);
  return rows;
}

void encode_and_multiply(const LargeGrid& grid, std::initializer_list<const char*> layouts) {
  const DeviceVector<std::uint64_t> row_ptr(grid.rows() + 1);
  const DeviceVector<std::uint32_t> col_idx(grid.nonzeros());
  const DeviceVector<float> values(grid.nonzeros());
  const DeviceVector<double> x(grid.rows());
  DeviceVector<double> y(grid.rows());
  REQUIRE(make_large_grid(grid, row_ptr.data(), col_idx.data(), values.data(), x.data()));
  const std::vector<std::uint64_t> rows = sampled_rows(grid);
  for (const char* const layout : layouts) {
    INFO(layout);
    const gpu_encoder::DeviceCsr csr(grid.rows(), grid.rows(), grid.nonzeros(), row_ptr.data(), col_idx.data(),
                                     values.data());
    const auto start = std::chrono::steady_clock::now();
    const gpu_encoder::DeviceEncoded encoded = gpu_encoder::encode_on_device(csr, {.strategy = layout});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    WARN(layout << ": " << grid.nonzeros() << " nonzeros in " << seconds.count() << " s, " << encoded.section_bytes
                << " bytes, at most " << encoded.peak_bytes << " at a time");
    const std::uint64_t csr_bytes = 8 * (grid.nonzeros() + grid.rows() + 1);
    if (grid.nonzeros() >> 31U != 0) CHECK(encoded.peak_bytes - encoded.section_bytes <= csr_bytes / 2 * 3);
    const MultiplyDescription d = by<double>("");
    const DeviceVector<std::byte> workspace(encoded.matrix.workspace_bytes(d));
    y.poison();
    encoded.matrix.multiply<double>(1, x.view(), 0, y.span(), workspace.span(), nullptr, d);
    const std::vector<double> found = y.get();
    std::uint64_t wrong = 0, first_wrong = 0;
    for (const std::uint64_t row : rows) {
      double sum = 0, size = 0;
      grid.each_entry(row, [&](std::uint64_t entry, std::uint64_t column) {
        const double product = double{LargeGrid::value(entry)} * LargeGrid::x(column);
        sum += product;
        size += std::abs(product);
      });
      if (std::abs(found[row] - sum) <= 1e-14 * size) continue;
      if (wrong++ == 0) first_wrong = row;
    }
    INFO("row " << first_wrong << " first");
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("a grid of its test is a CSR matrix, and is encoded", "[gpu_encoder]") {
  const LargeGrid grid{17};
  std::uint64_t entries = 0;
  for (std::uint64_t row = 0; row < grid.rows(); ++row) {
    REQUIRE(grid.row_ptr(row) == entries);
    grid.each_entry(row, [&](std::uint64_t entry, std::uint64_t /*column*/) { REQUIRE(entry == entries++); });
  }
  CHECK(entries == grid.nonzeros());
  encode_and_multiply(grid, {"csr", "csell"});
}

TEST_CASE("more than 2^31 nonzeros are encoded on a GPU", "[.][gpu_encoder_large]") {
  const LargeGrid grid{442};
  REQUIRE(grid.nonzeros() == 2'320'940'224);
  encode_and_multiply(grid, {"csell", "csr", "sell", "bitflag"});
}

}  // namespace spmvpack::test
