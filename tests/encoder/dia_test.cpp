// Diagonals: the worked example of docs/LAYOUTS.md, stored zeros, shapes, fill that reads x.

#include "spmvpack/container/layouts/dia.hpp"

#include <bit>
#include <cmath>
#include <tuple>

#include "catch.hpp"
#include "products.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

/// All entries of the diagonals column - row = offsets.
CsrMatrix full_diagonals(std::uint32_t rows, std::uint32_t cols, const std::vector<int>& offsets) {
  Entries entries;
  for (std::uint32_t r = 0; r < rows; ++r)
    for (const int offset : offsets)
      if (const int c = static_cast<int>(r) + offset; c >= 0 && c < static_cast<int>(cols))
        entries[{r, static_cast<std::uint32_t>(c)}] = 1 + r * 0.1 + offset;
  return make_csr(rows, cols, entries);
}

Container stored(const CsrMatrix& a) {
  Container c = open(encode(a, "dia").bytes);
  CHECK(c.device_bytes() == plan_of(a, "dia").device_bytes());
  CHECK(equal_bits(unpack(c), a));
  return c;
}

}  // namespace

TEST_CASE("the worked example of docs/LAYOUTS.md in dia") {
  const Container c = stored(worked_example());
  CHECK(layouts::dia::diagonals_of(c.parts()[0]) == 4);
  CHECK(elements<std::uint64_t>(c, "offsets") == U64{2, 3, 4, 6});
  CHECK(elements<double>(c, "values") == F64{0, -1, 0, 0, 2, 2, 0, 2, -1, 0, 0, -1, 0, .5, 0, 0});
  CHECK(elements<std::uint64_t>(c, "stored_zeros").empty());
  CHECK(c.device_bytes() == 8 * 4 + 8 * 4 * 4);
  const encoder::PartPlan plan = plan_of(worked_example(), "dia");
  CHECK(plan.padding == 9);
  CHECK(plan.fill_reads_x);
}

TEST_CASE("stored zeros of both signs and NaNs survive in dia") {
  const auto nan = std::bit_cast<double>(std::uint64_t{0xFFF8000000000123});
  const Container c = stored(make_csr(3, 3, {{{0, 0}, 0.0}, {{0, 2}, 0.0}, {{1, 1}, -0.0}, {{2, 0}, nan}}));
  CHECK(elements<std::uint64_t>(c, "offsets") == U64{0, 2, 4});
  // -0 is told by its sign.
  CHECK(elements<std::uint64_t>(c, "stored_zeros") == U64{3, 6});
}

TEST_CASE("matrices that are not square have the diagonals of both corners") {
  const Container tall = stored(make_csr(3, 2, {{{0, 1}, 1.0}, {{2, 0}, 2.0}}));
  CHECK(elements<std::uint64_t>(tall, "offsets") == U64{0, 3});
  CHECK(elements<double>(tall, "values") == F64{0, 0, 2, 1, 0, 0});
  const Container wide = stored(make_csr(2, 4, {{{0, 3}, 1.0}, {{1, 0}, 2.0}}));
  CHECK(elements<std::uint64_t>(wide, "offsets") == U64{0, 4});
  CHECK(elements<double>(wide, "values") == F64{0, 2, 1, 0});
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 4}, {4, 0}, {4, 4}})
    CHECK(stored(make_csr(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), {})).device_bytes() == 0);
}

TEST_CASE("fill reads x unless every slot with a column is an entry") {
  for (const auto& [rows, cols] : {std::pair{9U, 9U}, {12U, 5U}, {5U, 12U}, {1U, 1U}, {1U, 7U}, {7U, 1U}}) {
    INFO(rows << " x " << cols);
    CsrMatrix a = full_diagonals(rows, cols, {-static_cast<int>(rows) + 1, -1, 0, 1, static_cast<int>(cols) - 1});
    CHECK_FALSE(plan_of(a, "dia").fill_reads_x);
    stored(a);
  }
  Entries holes;
  for (std::uint32_t r = 0; r < 9; ++r)
    if (r != 4) holes[{r, r}] = 1;
  CHECK(plan_of(make_csr(9, 9, holes), "dia").fill_reads_x);
}

TEST_CASE("auto takes dia for full diagonals if bytes matter, and never where its fill reads x") {
  encoder::PlanOptions fewest_bytes;
  fewest_bytes.aim.optimize = encoder::Objective::bytes;
  CsrMatrix a = full_diagonals(3000, 3000, {-1, 0, 1});
  std::mt19937_64 rng(3);
  for (double& v : std::get<Array<double>>(a.values)) v = random_value<double>(rng, 3);
  CHECK(encoder::find_strategy("auto").plan(a, fewest_bytes).strategy == "dia");
  // One entry less.
  CsrMatrix b = from_rows<double>(3000, 3000, rng, 3, [](std::uint64_t r) {
    const auto row = static_cast<std::uint32_t>(r);
    std::vector<std::uint32_t> columns{row};
    if (r != 0) columns.push_back(row - 1);
    if (r != 2999 && r != 1500) columns.push_back(row + 1);
    return columns;
  });
  const encoder::Plan chosen = encoder::find_strategy("auto").plan(b, fewest_bytes);
  CHECK(plan_of(b, "dia").device_bytes() < chosen.device_bytes());
  CHECK_FALSE(chosen.fill_reads_x());
  CHECK_FALSE(encoder::find_strategy("auto").plan(b, {}).fill_reads_x());
}

TEST_CASE("diagonals of many rows, wherever they begin and end, add up in column order") {
  const std::vector<std::tuple<std::uint32_t, std::uint32_t, std::vector<int>>> cases{
      {2500, 2500, {-2400, -700, -3, -1, 0, 1, 2, 600, 2499}},
      {600, 9000, {-599, 0, 7, 300, 8000, 8400, 8999}},
      {9000, 600, {-8999, -8500, -4000, -3999, -3998, -3997, -3000, 599}},
      {2049, 2049, {-2048, -2047, -2046, -2045, 2045, 2046, 2047, 2048}},
      {5000, 5000, {-4000, -3999, 3999, 4000}},
      {511, 511, {-2, -1, 0, 1, 2}}};
  for (const auto& [rows, cols, offsets] : cases) {
    CAPTURE(rows, cols);
    const CsrMatrix a = full_diagonals(rows, cols, offsets);
    const auto x = random_vector<double>(cols, 7);
    const auto y_before = random_vector<double>(rows, 8);
    std::vector<double> y = y_before, expected = y_before;
    for (std::uint64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        sum = std::fma(std::get<Array<double>>(a.values)[k], x[a.col_idx[k]], sum);
      expected[r] = a.row_ptr[r] == a.row_ptr[r + 1] ? -0.5 * y[r] : std::fma(2.0, sum, -0.5 * y[r]);
    }
    host_loader::HostMatrix::load(stored(a)).multiply<double>(2, x, -0.5, std::span(y), 2);
    CHECK(same_bits(y, expected));
  }
}

TEST_CASE("fill multiplies x: an infinite element reaches rows that do not have it") {
  const auto product = [](const char* layout) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> x{1, 1, 1, infinity, 1}, y(4);
    host_loader::HostMatrix::load(open(encode(worked_example(), layout).bytes)).multiply<double>(1, x, 0, y);
    return y;
  };
  const std::vector<double> exact = product("csr"), diagonals = product("dia");
  CHECK(exact == F64{1, 1.5, 0, std::numeric_limits<double>::infinity()});
  CHECK(std::isnan(diagonals[0]));
  CHECK(diagonals[1] == 1.5);
  CHECK(std::isnan(diagonals[2]));
  CHECK(diagonals[3] == exact[3]);
}

TEST_CASE("dia whose bytes lie is refused") {
  const std::vector<std::byte> file = encode(worked_example(), "dia").bytes;
  CHECK(refusal_of<std::uint64_t>(file, "offsets", 3, 6).empty());
  CHECK(refusal_of<std::uint64_t>(file, "offsets", 3, 8) == "diagonal 3: outside the matrix");
  CHECK(refusal_of<std::uint64_t>(file, "offsets", 3, 4) == "diagonal 3: offsets do not rise");
  CHECK(refusal_of<double>(file, "values", 0, 1) == "row 0, diagonal 0: a value without a column");
  CHECK(refusal_of<double>(file, "values", 2, 1) == "8 entries, the part table says 7");
}

}  // namespace spmvpack::test
