// AMB: the worked example of docs/LAYOUTS.md, the sizes that its paper publishes, the choice of the block, the limits.

#include "spmvpack/container/layouts/amb.hpp"

#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "catch.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using layouts::amb::LaneRow;
using Settings = std::map<std::string, std::string>;

constexpr std::uint32_t partial = LaneRow::shared_bit;  ///< and the number of a partial sum

const Settings small{{"amb.segment", "3"}, {"amb.c", "2"}};
const Settings small_ones{{"amb.segment", "3"}, {"amb.c", "2"}, {"amb.block", "1"}};

/// 4 for each point of a grid and -1 for each of its four neighbours, without the point in the middle.
CsrMatrix laplacian_less_one(std::uint64_t side) {
  const std::uint64_t points = side * side, removed = points / 2 + side / 2;
  CsrMatrix a = allocate_csr(points - 1, points - 1, 5 * points - 4 * side - 9, ValueType::f32);
  const auto number = [&](std::uint64_t point) {
    return static_cast<std::uint32_t>(point - (point > removed ? 1 : 0));
  };
  std::uint64_t k = 0;
  for (std::uint64_t p = 0; p < points; ++p) {
    if (p == removed) continue;
    a.row_ptr[number(p)] = k;
    const auto put = [&](bool exists, std::uint64_t q, float value) {
      if (!exists || q == removed) return;
      std::get<Array<float>>(a.values)[k] = value;
      a.col_idx[k++] = number(q);
    };
    put(p >= side, p - side, -1);
    put(p % side != 0, p - 1, -1);
    put(true, p, 4);
    put(p % side != side - 1, p + 1, -1);
    put(p + side < points, p + side, -1);
  }
  a.row_ptr[points - 1] = k;
  return a;
}

std::uint64_t bytes_of(const encoder::PartPlan& plan, std::string_view section) {
  for (const SectionShape& s : plan.sections)
    if (s.name == section) return s.raw_bytes();
  return 0;
}

/// Rows of 7 of 8 neighbouring columns, each row at columns of its own: blocks of 8 pay, and have a fill.
CsrMatrix nearly_full_blocks() {
  std::mt19937_64 rng(5);
  return from_rows<double>(4000, 65536, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    const auto first = static_cast<std::uint32_t>(rng() % 65528);
    for (std::uint32_t c = 0; c < 8; ++c)
      if (c != r % 6 + 1) row.push_back(first + c);
    return row;
  });
}

}  // namespace

TEST_CASE("the worked example of docs/LAYOUTS.md in amb") {
  const Encoded file = encode(worked_example(), "amb", small);
  const Container c = open(file.bytes);
  CHECK(parameters_of(c) == U64{3, 2, 2});
  CHECK(elements<std::uint32_t>(c, "cl") == U32{0, 0x10000});
  CHECK(elements<std::uint32_t>(c, "cs") == U32{0, 1});
  CHECK(elements<std::uint32_t>(c, "row_idx") == U32{0, partial, 3, partial + 1});
  CHECK(elements<std::uint16_t>(c, "col_idx") == U16{0, 0, 0, 0});
  CHECK(elements<double>(c, "values") == F64{2, -1, -1, 2, 2, 0, -1, .5});
  CHECK(elements<std::uint32_t>(c, "shared_rows") == U32{1, 1});
  CHECK(elements<std::uint32_t>(c, "empty_rows") == U32{2});
  CHECK(elements<std::uint64_t>(c, "stored_zeros").empty());
  CHECK(file.device_bytes == 116);
  CHECK(equal_bits(unpack(c), worked_example()));
  const encoder::PartPlan plan = plan_of(worked_example(), "amb", {.settings = small});
  CHECK(plan.padding == 1);
  CHECK(plan.fill_reads_x);
  CHECK(counter(plan, "lanes.shared") == 2);
  CHECK(counter(plan, "rows.empty") == 1);
}

TEST_CASE("blocks of one column: padding repeats a lane's last column") {
  const Container c = open(encode(worked_example(), "amb", small_ones).bytes);
  CHECK(elements<std::uint32_t>(c, "cl") == U32{1, 0x10001});
  CHECK(elements<std::uint32_t>(c, "cs") == U32{0, 2});
  CHECK(elements<std::uint16_t>(c, "col_idx") == U16{0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(elements<double>(c, "values") == F64{2, -1, -1, 2, 2, .5, -1, 0});
  CHECK_FALSE(plan_of(worked_example(), "amb", {.settings = small_ones}).fill_reads_x);
}

TEST_CASE("rows are sorted by their entries in a segment, within windows of sigma") {
  const CsrMatrix a = make_csr(
      5, 4, {{{0, 1}, 1.0}, {{1, 0}, 2.0}, {{1, 2}, 3.0}, {{2, 3}, 4.0}, {{4, 0}, 5.0}, {{4, 1}, 6.0}, {{4, 3}, 7.0}});
  const auto lanes = [&](const char* sigma) {
    const Container c = open(encode(a, "amb", {{"amb.c", "2"}, {"amb.block", "1"}, {"amb.sigma", sigma}}).bytes);
    CHECK(equal_bits(unpack(c), a));
    return elements<std::uint32_t>(c, "row_idx");
  };
  CHECK(lanes("5") == U32{4, 1, 0, 2});
  CHECK(lanes("2") == U32{1, 0, 2, LaneRow::none, 4, LaneRow::none});
  CHECK(lanes("1") == U32{0, LaneRow::none, 1, LaneRow::none, 2, LaneRow::none, 4, LaneRow::none});
}

TEST_CASE("ecology2 takes what table 2 of the paper says") {
  const CsrMatrix a = laplacian_less_one(1000);
  REQUIRE(a.rows == 999999);
  REQUIRE(a.nnz() == 4995991);
  const encoder::PartPlan plan = plan_of(a, "amb");
  CHECK(bytes_of(plan, "values") == std::uint64_t{4} * 4997984);
  CHECK(bytes_of(plan, "col_idx") == std::uint64_t{2} * 4997984);
  CHECK(bytes_of(plan, "cl") == std::uint64_t{4} * 32210);
  CHECK(bytes_of(plan, "cs") == std::uint64_t{4} * 32210);
  CHECK(bytes_of(plan, "row_idx") == std::uint64_t{4} * 32210 * 32);
  CHECK(counter(plan, "published.bytes") == 34368464);
  CHECK(fmt::format("{:.2f}", 34368464 / 1048576.0) == "32.78");
  CHECK(plan.device_bytes() == 34368464 + bytes_of(plan, "shared_rows") + bytes_of(plan, "empty_rows"));
}

TEST_CASE("a column of any value between 0 and 65,535, and as many steps, fit in 16 bits") {
  Entries entries;
  for (std::uint32_t c = 0; c < 65537; ++c) entries[{0, c}] = c + 1.0;
  entries[{1, 65535}] = 1;
  const CsrMatrix a = make_csr(2, 65537, entries);
  const Container c = open(encode(a, "amb", {{"amb.c", "1"}}).bytes);
  CHECK(elements<std::uint32_t>(c, "cl") == U32{0x0000FFFF, 0x00000000, 0x00010000});
  CHECK(elements<std::uint32_t>(c, "cs") == U32{0, 65536, 65537});
  CHECK(elements<std::uint16_t>(c, "col_idx")[65535] == 65535);
  CHECK(equal_bits(unpack(c), a));
}

TEST_CASE("amb has at most 65,536 segments") {
  const auto corner = [](std::uint32_t columns) { return make_csr(1, columns, {{{0, columns - 1}, 1.0}}); };
  const Container c = open(encode(corner(65536), "amb", {{"amb.segment", "1"}}).bytes);
  CHECK(elements<std::uint32_t>(c, "cl") == U32{0xFFFF0000});
  CHECK(equal_bits(unpack(c), corner(65536)));
  CHECK(plan_refusal(corner(65537), "amb", {{"amb.segment", "1"}}, errc::unsupported) ==
        "amb: 65537 segments of 1 columns; use a larger amb.segment");
}

TEST_CASE("the block size is that of the fewest bytes, which the counters have for all", "[sequential]") {
  for (const NamedMatrix& m : random_matrices<double>(101, 4)) {
    INFO(m.name);
    const encoder::PartPlan plan = plan_of(m.matrix, "amb");
    const std::uint64_t chosen = counter(plan, "block");
    std::uint64_t best = 0, least = ~std::uint64_t{0};
    for (std::uint64_t b = 1; b <= layouts::amb::max_block; ++b) {
      const Settings forced{{"amb.block", fmt::to_string(b)}};
      const std::uint64_t bytes = counter(plan, fmt::format("block_{}.bytes", b));
      const std::uint64_t narrowest = m.matrix.cols == 0 ? 1 : (m.matrix.cols - 1) % 65536 + 1;
      if (b > narrowest) {
        CHECK_FALSE(plan_refusal(m.matrix, "amb", forced, errc::unsupported).empty());
        continue;
      }
      if (bytes < least) best = b, least = bytes;
      const encoder::PartPlan other = plan_of(m.matrix, "amb", {.settings = forced});
      CHECK(bytes_of(other, "col_idx") + bytes_of(other, "values") == bytes);
      CHECK(counter(other, "published.bytes") ==
            bytes + bytes_of(other, "cl") + bytes_of(other, "cs") + bytes_of(other, "row_idx"));
      const Encoded file = encode(m.matrix, "amb", forced);
      CHECK(file.device_bytes == other.device_bytes());
      REQUIRE(equal_bits(unpack(open(file.bytes)), m.matrix));
    }
    CHECK(chosen == best);
  }
}

TEST_CASE("blocks stay inside their segments") {
  const CsrMatrix a = make_csr(1, 65539, {{{0, 65537}, 1.0}});
  CHECK(plan_refusal(a, "amb", {{"amb.block", "4"}}, errc::unsupported) ==
        "amb: blocks of 4 columns in a segment of 3; use a smaller amb.block, or another amb.segment");
  CHECK(elements<std::uint16_t>(open(encode(a, "amb", {{"amb.block", "3"}}).bytes), "col_idx")[0] == 0);
  CHECK(elements<std::uint16_t>(open(encode(a, "amb", {{"amb.block", "2"}}).bytes), "col_idx")[0] == 1);
  CHECK(plan_refusal(a, "amb", {{"amb.segment", "2"}, {"amb.block", "3"}}, errc::unsupported)
            .starts_with("amb: blocks of 3 columns in a segment of 1;"));
}

TEST_CASE("settings of amb out of range are refused") {
  const CsrMatrix a = worked_example();
  const auto refusal = [&](const char* name, const char* value) {
    return plan_refusal(a, "amb", {{name, value}}, errc::usage);
  };
  CHECK(refusal("amb.segment", "65537") == "amb.segment is '65537'; use a number from 1 to 65536");
  CHECK(refusal("amb.segment", "0") == "amb.segment is '0'; use a number from 1 to 65536");
  CHECK(refusal("amb.c", "1025") == "amb.c is '1025'; use a number from 1 to 1024");
  CHECK(refusal("amb.sigma", "all") == "amb.sigma is 'all'; use a number from 1 to 4294967295");
  CHECK(refusal("amb.block", "9") == "amb.block is '9'; use auto or a number from 1 to 8");
  CHECK(refusal("amb.block", "auto").empty());
}

TEST_CASE("zeros and NaNs that are entries survive in blocks") {
  const auto nan = std::bit_cast<double>(std::uint64_t{0x7FF8000000000123});
  const CsrMatrix a = make_csr(3, 6, {{{0, 0}, 0.0}, {{0, 1}, -0.0}, {{1, 2}, nan}, {{1, 3}, 0.0}, {{2, 5}, 0.0}});
  const Container c = open(encode(a, "amb", {{"amb.block", "2"}, {"amb.c", "2"}}).bytes);
  CHECK(equal_bits(unpack(c), a));
  // Rows 0 and 1, then row 2, whose block moves left to column 4.
  CHECK(elements<std::uint64_t>(c, "stored_zeros") == U64{0, 3, 6});
  CHECK(equal_bits(unpack(open(encode(a, "amb", {{"amb.block", "1"}}).bytes)), a));
}

TEST_CASE("the fill of blocks multiplies a foreign x; that of single columns does not, and auto leaves it alone") {
  const auto multiply = [](const CsrMatrix& a, const Settings& settings, const std::vector<double>& x) {
    std::vector<double> y(a.rows);
    host_loader::HostMatrix::load(open(encode(a, "amb", settings).bytes)).multiply<double>(1, x, 0, y);
    return y;
  };
  const std::vector<double> x{1, 1, 1, std::numeric_limits<double>::infinity(), 1};
  CHECK(std::isnan(multiply(worked_example(), small, x)[1]));
  CHECK(multiply(worked_example(), small_ones, x)[1] == 1.5);

  const CsrMatrix a = nearly_full_blocks();
  const encoder::PartPlan plan = plan_of(a, "amb");
  CHECK(counter(plan, "block") == 8);
  CHECK(plan.fill_reads_x);
  const encoder::Plan chosen = encoder::find_strategy("auto").plan(a, {});
  CHECK(plan.device_bytes() < chosen.device_bytes());
  CHECK_FALSE(chosen.fill_reads_x());
}

TEST_CASE("amb whose bytes lie is refused") {
  const std::vector<std::byte> file = encode(worked_example(), "amb", small_ones).bytes;
  CHECK(refusal_of<std::uint32_t>(file, "cs", 1, 2).empty());
  CHECK(refusal_of<std::uint32_t>(file, "cs", 1, 1) == "chunk 1 does not start at step 2");
  CHECK(refusal_of<std::uint32_t>(file, "cl", 1, 0x20001) == "chunk 1: a segment out of range");
  CHECK(refusal_of<std::uint32_t>(file, "row_idx", 0, 3) == "row 3 comes twice");
  CHECK(refusal_of<std::uint32_t>(file, "row_idx", 3, partial) == "partial sum 0 is out of range, or comes twice");
  CHECK(refusal_of<std::uint32_t>(file, "empty_rows", 0, 4) == "row 4 of 4");
  CHECK(refusal_of<std::uint16_t>(file, "col_idx", 6, 2) == "chunk 1, step 1, lane 0: a block that leaves its segment");
  CHECK(refusal_of<double>(file, "values", 7, 1) == "chunk 1, step 1, lane 1: padding with a value");
}

}  // namespace spmvpack::test
