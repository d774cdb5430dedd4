// ellpack_r, sell and pjds: the worked examples of docs/LAYOUTS.md, orders of rows, sizes, settings.

#include "spmvpack/container/layouts/padded_rows.hpp"

#include <algorithm>
#include <functional>

#include "catch.hpp"
#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

constexpr std::uint32_t none = layouts::no_column;

/// Rows of these lengths, at the first columns.
CsrMatrix rows_of(const std::vector<std::uint32_t>& lengths, std::uint64_t cols) {
  Entries entries;
  for (std::uint32_t r = 0; r < lengths.size(); ++r)
    for (std::uint32_t c = 0; c < lengths[r]; ++c) entries[{r, c}] = 10.0 * r + c;
  return make_csr(lengths.size(), cols, entries);
}

Container stored(const CsrMatrix& a, const std::string& layout, const Settings& settings = {}) {
  const Encoded file = encode(a, layout, settings);
  Container c = open(file.bytes);
  CHECK(c.device_bytes() == plan_of(a, layout, {.settings = settings}).device_bytes());
  CHECK(equal_bits(unpack(c), a));
  return c;
}

std::uint64_t pjds_slots(const CsrMatrix& a) { return layouts::pjds::slots_of(plan_of(a, "pjds").info); }

}  // namespace

TEST_CASE("the worked example of docs/LAYOUTS.md in ellpack_r") {
  const Container c = stored(worked_example(), "ellpack_r");
  CHECK(layouts::ellpack_r::slots_of(c.parts()[0]) == 4 * 3);
  CHECK(elements<std::uint32_t>(c, "row_len") == U32{2, 3, 0, 2});
  CHECK(elements<std::uint32_t>(c, "col_idx") == U32{0, 0, none, 3, 1, 1, none, 4, none, 4, none, none});
  CHECK(elements<double>(c, "values") == F64{2, -1, 0, 2, -1, 2, 0, -1, 0, .5, 0, 0});
  CHECK(c.device_bytes() == 4 * 3 * 12 + 4 * 4);
  const std::vector<std::byte> file = encode(worked_example(), "ellpack_r").bytes;
  CHECK(refusal_of<std::uint32_t>(file, "row_len", 2, 0).empty());
  CHECK(refusal_of<std::uint32_t>(file, "row_len", 2, 1) == "row 2 does not have 1 entries");
}

TEST_CASE("the worked example of docs/LAYOUTS.md in sell") {
  const Container c = stored(worked_example(), "sell", {{"sell.c", "3"}, {"sell.sigma", "4"}});
  CHECK(c.parts()[0].params[layouts::sell::param_slice_rows] == 3);
  CHECK(layouts::sell::steps_of(c.parts()[0]) == 3);
  CHECK(elements<std::uint32_t>(c, "row_map") == U32{1, 0, 3, 2});
  CHECK(elements<std::uint32_t>(c, "slice_ptr") == U32{0, 3, 3});
  CHECK(elements<std::uint32_t>(c, "col_idx") == U32{0, 0, 3, 1, 1, 4, 4, none, none});
  CHECK(elements<double>(c, "values") == F64{-1, 2, 2, 2, -1, -1, .5, 0, 0});
  CHECK(c.device_bytes() == 12 * 9 + 4 * 3 + 4 * 4);
  const std::vector<std::byte> file = encode(worked_example(), "sell", {{"sell.c", "2"}, {"sell.sigma", "1"}}).bytes;
  CHECK(refusal_of<std::uint32_t>(file, "slice_ptr", 1, 3).empty());
  CHECK(refusal_of<std::uint32_t>(file, "slice_ptr", 1, 6) == "falls at slice 2");
}

TEST_CASE("slices of any number of rows, in the matrix's order, with a last one partly filled") {
  const Container c = stored(worked_example(), "sell", {{"sell.c", "3"}, {"sell.sigma", "1"}});
  CHECK(elements<std::uint32_t>(c, "row_map").empty());
  CHECK(elements<std::uint32_t>(c, "slice_ptr") == U32{0, 3, 5});
  CHECK(elements<std::uint32_t>(c, "col_idx") ==
        U32{0, 0, none, 1, 1, none, none, 4, none, 3, none, none, 4, none, none});
  CHECK(elements<double>(c, "values") == F64{2, -1, 0, -1, 2, 0, 0, .5, 0, 2, 0, 0, -1, 0, 0});
  for (const char* const slice_rows : {"1", "2", "4", "5", "65536"})
    for (const char* const sigma : {"1", "2", "3", "1000", "auto"})
      stored(worked_example(), "sell", {{"sell.c", slice_rows}, {"sell.sigma", sigma}});
  CHECK(stored(worked_example(), "sell", {{"sell.c", "1"}, {"sell.sigma", "1"}}).device_bytes() == 12 * 7 + 4 * 5);
}

TEST_CASE("sell sorts rows by falling length within windows of sigma; rows of one length keep their order") {
  const CsrMatrix a = rows_of({1, 2, 2, 0, 3, 1, 1}, 4);
  const auto map = [&](const char* sigma) {
    return elements<std::uint32_t>(stored(a, "sell", {{"sell.c", "2"}, {"sell.sigma", sigma}}), "row_map");
  };
  CHECK(map("1").empty());
  CHECK(map("2") == U32{1, 0, 2, 3, 4, 5, 6});
  CHECK(map("3") == U32{1, 2, 0, 4, 5, 3, 6});
  CHECK(map("100") == U32{4, 1, 2, 0, 5, 6, 3});
  // Sorted already: no list.
  CHECK(elements<std::uint32_t>(stored(rows_of({3, 3, 1, 0}, 3), "sell", {{"sell.sigma", "4"}}), "row_map").empty());
}

TEST_CASE("sigma is the widest window that saves enough bytes over narrower ones") {
  std::vector<std::uint32_t> lengths(1000);
  for (std::size_t r = 0; r < lengths.size(); ++r) lengths[r] = r % 32 == 0 ? 100 : 1;
  const encoder::PartPlan sorted = plan_of(rows_of(lengths, 100), "sell");
  CHECK(counter(sorted, "sigma") == 4096);
  CHECK(counter(plan_of(rows_of(std::vector<std::uint32_t>(1000, 3), 3), "sell"), "sigma") == 1);
  for (const char* const sigma : {"1", "256", "4096", "32768"})
    CHECK(sorted.device_bytes() <=
          plan_of(rows_of(lengths, 100), "sell", {.settings = {{"sell.sigma", sigma}}}).device_bytes());
}

TEST_CASE("auto counts the steps of each sigma, whatever the slices and lengths") {
  // Slices across windows, rows too long to be counted, more rows than one task has.
  std::vector<std::uint32_t> lengths(70'000);
  for (std::size_t r = 0; r < lengths.size(); ++r)
    lengths[r] =
        r % 30'011 == 5000 ? 1500 + static_cast<std::uint32_t>(r / 1000) : static_cast<std::uint32_t>(r * r % 7);
  const CsrMatrix a = rows_of(lengths, 1600);
  for (const char* const slice_rows : {"1", "7", "32", "300", "65536"}) {
    // A fiftieth for sorting at all, a tenth for every wider window.
    std::uint64_t taken = 0, enough = ~std::uint64_t{0}, best = 0;
    for (const std::uint64_t sigma : std::initializer_list<std::uint64_t>{1, 256, 4096, 32768}) {
      const Settings settings{{"sell.c", slice_rows}, {"sell.sigma", std::to_string(sigma)}};
      const std::uint64_t bytes = plan_of(a, "sell", {.settings = settings}).device_bytes();
      if (bytes >= enough) continue;
      taken = bytes, best = sigma;
      enough = bytes - bytes / (sigma == 1 ? 50 : 10);
    }
    for (const int threads : {1, 4}) {
      const encoder::PartPlan plan = plan_of(a, "sell", {.threads = threads, .settings = {{"sell.c", slice_rows}}});
      CHECK(plan.device_bytes() == taken);
      CHECK(counter(plan, "sigma") == best);
    }
  }
}

TEST_CASE("settings of sell and pjds that are none are refused") {
  const CsrMatrix a = worked_example();
  const auto refusal = [&](const char* layout, const char* name, const char* value) {
    return plan_refusal(a, layout, {{name, value}}, errc::usage);
  };
  CHECK(refusal("sell", "sell.c", "0") == "sell.c is '0'; use a number from 1 to 65536");
  CHECK(refusal("sell", "sell.c", "65537") == "sell.c is '65537'; use a number from 1 to 65536");
  CHECK(refusal("sell", "sell.c", "auto") == "sell.c is 'auto'; use a number from 1 to 65536");
  CHECK(refusal("sell", "sell.sigma", "0") == "sell.sigma is '0'; use auto or a number from 1 to 4294967295");
  CHECK(refusal("pjds", "pjds.basis", "theirs") == "pjds.basis is 'theirs'; use user or permuted");
  CHECK(plan_refusal(a, "pjds", {{"pjds.basis", "permuted"}}, errc::unsupported) ==
        "pjds.basis is permuted for 4 rows and 5 columns; only a square matrix as a whole has a permuted basis");
}

TEST_CASE("the worked example of docs/LAYOUTS.md in pjds") {
  const Container c = stored(worked_example(), "pjds");
  CHECK(layouts::pjds::width_of(c.parts()[0]) == 3);
  CHECK(layouts::pjds::slots_of(c.parts()[0]) == 12);
  CHECK(elements<std::uint32_t>(c, "row_map") == U32{1, 0, 3, 2});
  CHECK(elements<std::uint64_t>(c, "col_start") == U64{0, 4, 8, 12});
  CHECK(elements<std::uint32_t>(c, "col_idx") == U32{0, 0, 3, none, 1, 1, 4, none, 4, none, none, none});
  CHECK(elements<double>(c, "values") == F64{-1, 2, 2, 0, 2, -1, -1, 0, .5, 0, 0, 0});
  CHECK(c.device_bytes() == 12 * 12 + 8 * 4 + 4 * 4);
  const std::vector<std::byte> file = encode(worked_example(), "pjds").bytes;
  CHECK(refusal_of<std::uint64_t>(file, "col_start", 1, 4).empty());
  CHECK(refusal_of<std::uint64_t>(file, "col_start", 1, 3) == "a jagged column ends inside a block of rows");
  CHECK(refusal_of<std::uint32_t>(file, "col_idx", 3, 2) == "8 entries, the part table says 7");
}

TEST_CASE("the worked example of docs/LAYOUTS.md in a permuted basis of pjds") {
  const Container c = stored(worked_example(5), "pjds", {{"pjds.basis", "permuted"}});
  CHECK(c.parts()[0].params[layouts::pjds::param_basis] == 1);
  CHECK(elements<std::uint32_t>(c, "row_map") == U32{1, 0, 3, 2, 4});
  CHECK(elements<std::uint32_t>(c, "col_map") == U32{1, 0, 3, 2, 4});
  CHECK(elements<std::uint64_t>(c, "col_start") == U64{0, 5, 10, 15});
  CHECK(elements<std::uint32_t>(c, "col_idx") ==
        U32{1, 1, 2, none, none, 0, 0, 4, none, none, 4, none, none, none, none});
  CHECK(elements<double>(c, "values") == F64{-1, 2, 2, 0, 0, 2, -1, -1, 0, 0, .5, 0, 0, 0, 0});
  CHECK(c.device_bytes() == 12 * 15 + 8 * 4 + 2 * 4 * 5);
  CHECK(elements<std::uint32_t>(stored(worked_example(5), "pjds", {{"pjds.basis", "user"}}), "col_map").empty());
}

TEST_CASE("pjds pads blocks of 32 rows, each to its longest") {
  std::vector<std::uint32_t> lengths(70, 1);
  lengths[40] = 5, lengths[7] = 4, lengths[69] = 0;
  for (std::uint32_t r = 10; r < 40; ++r) lengths[r] = 2;
  const Container c = stored(rows_of(lengths, 5), "pjds");
  const U32 map = elements<std::uint32_t>(c, "row_map");
  CHECK(U32(map.begin(), map.begin() + 3) == U32{40, 7, 10});
  CHECK(map.back() == 69);
  // 70 rows have a first slot; 32 rows, which all have two entries or more, four others.
  CHECK(elements<std::uint64_t>(c, "col_start") == U64{0, 70, 102, 134, 166, 198});
}

TEST_CASE("pjds.br: the worked example with blocks of two, and without padding, which is JDS") {
  const Container two = stored(worked_example(), "pjds", {{"pjds.br", "2"}});
  CHECK(two.parts()[0].params[layouts::pjds::param_block_rows] == 2);
  CHECK(elements<std::uint64_t>(two, "col_start") == U64{0, 4, 8, 10});
  CHECK(elements<std::uint32_t>(two, "col_idx") == U32{0, 0, 3, none, 1, 1, 4, none, 4, none});
  CHECK(elements<double>(two, "values") == F64{-1, 2, 2, 0, 2, -1, -1, 0, .5, 0});
  const Container jds = stored(worked_example(), "pjds", {{"pjds.br", "1"}});
  CHECK(elements<std::uint64_t>(jds, "col_start") == U64{0, 3, 6, 7});
  CHECK(elements<std::uint32_t>(jds, "col_idx") == U32{0, 0, 3, 1, 1, 4, 4});
  CHECK(jds.device_bytes() == 12 * 7 + 8 * 4 + 4 * 4);
  CHECK(encode(worked_example(), "pjds", {{"pjds.br", "32"}}).bytes.size() ==
        encode(worked_example(), "pjds").bytes.size());
  CHECK(stored(worked_example(), "pjds", {{"pjds.br", "32"}}).parts()[0].params[layouts::pjds::param_block_rows] == 0);
  const std::vector<std::byte> file = encode(worked_example(), "pjds", {{"pjds.br", "2"}}).bytes;
  CHECK(refusal_of<std::uint64_t>(file, "col_start", 2, 7) == "a jagged column ends inside a block of rows");
  CHECK(plan_refusal(worked_example(), "pjds", {{"pjds.br", "0"}}, errc::usage) ==
        "pjds.br is '0'; use a number from 1 to 65536");
}

TEST_CASE("pjds with blocks of b_r rows has the slots that a count of each block's longest row gives") {
  std::vector<std::uint32_t> lengths(1000);
  for (std::uint32_t r = 0; r < lengths.size(); ++r) lengths[r] = r * r % 37 * (r % 5 == 0 ? 3 : 1);
  const CsrMatrix a = rows_of(lengths, 120);
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  for (const std::size_t block : {1U, 3U, 4U, 32U, 100U, 999U, 1000U, 5000U}) {
    std::uint64_t slots = 0;
    for (std::size_t first = 0; first < lengths.size(); first += block)
      slots += lengths[first] * std::min(block, lengths.size() - first);
    const Settings settings{{"pjds.br", std::to_string(block)}};
    CHECK(layouts::pjds::slots_of(plan_of(a, "pjds", {.settings = settings}).info) == slots);
    stored(a, "pjds", settings);
  }
}

TEST_CASE("one full row and single entries elsewhere: pjds takes (b_r + 1) N - b_r slots, as the paper says") {
  for (const std::uint32_t n : {32U, 33U, 63U, 64U, 65U, 100U, 1000U}) {
    std::vector<std::uint32_t> lengths(n, 1);
    lengths[n / 2] = n;
    const CsrMatrix a = rows_of(lengths, n);
    CHECK(pjds_slots(a) == 33 * n - 32);
    stored(a, "pjds");
    stored(a, "pjds", {{"pjds.basis", "permuted"}});
  }
}

TEST_CASE("the data reduction of pjds is 1 - its slots / those of ell") {
  std::vector<std::uint32_t> lengths(64, 1);
  lengths[3] = 9;
  const SourceMatrix source{rows_of(lengths, 9), Field::real, Symmetry::general, {}};
  const analyzer::Report report = analyzer::make_report(source);
  REQUIRE(report.data_reduction_pjds);
  CHECK(*report.data_reduction_pjds == Approx(1 - (64 + 8 * 32) / (64.0 * 9)));
}

TEST_CASE("these layouts keep zeros and NaNs that are entries, and matrices without entries") {
  const auto nan = std::bit_cast<double>(std::uint64_t{0x7FF8000000000123});
  for (const char* const layout : {"ellpack_r", "sell", "pjds"}) {
    INFO(layout);
    stored(make_csr(3, 4, {{{0, 3}, 0.0}, {{2, 0}, -0.0}, {{2, 1}, nan}}), layout);
    for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 4}, {4, 0}, {4, 4}})
      stored(make_csr(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), {}), layout);
  }
}

}  // namespace spmvpack::test
