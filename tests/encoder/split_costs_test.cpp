// What `split` reckons with before there is a plan, beside what plans then take.

#include "strategies/split_costs.hpp"

#include <array>

#include "catch.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::encoder::strategy {
namespace {

constexpr std::uint32_t rows = 4096, every = 64, long_rows = rows / every, long_row = 256, distinct = 7;

/// Short rows of up to 7 entries, and each 64th of 256, whose columns lie side by side: one chunk of bitflag.
CsrMatrix example() {
  test::Entries entries;
  for (std::uint32_t r = 0; r < rows; ++r) {
    const std::uint32_t n = r % every == 1 ? long_row : r * 5 % 8;
    for (std::uint32_t k = 0; k < n; ++k) entries[{r, r + k}] = 1 + k % distinct;
  }
  return test::make_csr(rows, rows + long_row, entries);
}

/// Plans and estimates that count bytes.
struct Bytes {
  CsrMatrix a = example();
  PlanOptions options{.settings = {{"split.length", "7"},
                                   {"split.short", "sell"},
                                   {"sell.c", "8"},
                                   {"sell.sigma", "256"},
                                   {"csell.values", "raw"},
                                   {"bitflag.values", "table"}},
                      .aim = {.optimize = Objective::bytes}};
  std::vector<ShortRows> cuts = count_short_rows(a, std::array<std::uint64_t, 2>{7, long_row}, 8, 1);

  [[nodiscard]] double planned(const std::string& layout, std::size_t part) {
    options.settings["split.short"] = layout;
    return static_cast<double>(find_strategy("split").plan(a, options).parts.at(part).device_bytes());
  }
};

TEST_CASE("rows are counted by length") {
  const Bytes bytes;
  CHECK(bytes.cuts[0].rows == rows - long_rows);
  CHECK(bytes.cuts[0].longest == 7);
  CHECK(bytes.cuts[1].rows == rows);
  CHECK(bytes.cuts[1].entries - bytes.cuts[0].entries == long_rows * long_row);
}

TEST_CASE("bytes of short rows in sell are those of the plan, but for where its last slice ends") {
  Bytes bytes;
  const SplitCosts costs(bytes.a, bytes.options);
  CHECK(bytes.planned("sell", 0) == costs.of_short(layouts::sell, bytes.cuts[0]) + sizeof(std::uint32_t));
}

TEST_CASE("bytes of short rows in csell are those of the plan if the sample has all of them") {
  Bytes bytes;
  SplitCosts costs(bytes.a, bytes.options);
  costs.sample_csell(bytes.cuts[0]);
  CHECK(bytes.planned("csell", 0) == costs.of_short(layouts::csell, bytes.cuts[0]));
}

TEST_CASE(
    "bytes of long rows in full chunks of bitflag are those of the plan, but for its table and the last chunk's end") {
  Bytes bytes;
  const SplitCosts costs(bytes.a, bytes.options);
  CHECK(bytes.planned("sell", 1) ==
        costs.of_long(bytes.cuts[0], long_row) + distinct * sizeof(double) + sizeof(spmvpack::layouts::bitflag::Chunk));
}

}  // namespace
}  // namespace spmvpack::encoder::strategy
