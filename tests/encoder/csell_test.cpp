// csell: the worked examples of docs/LAYOUTS.md, every source of values and kind of columns, what is chosen and
// refused.

#include "spmvpack/container/layouts/csell.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <numeric>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "spmvpack/generators/elasticity.hpp"
#include "spmvpack/generators/matrix_build.hpp"
#include "spmvpack/generators/stencils.hpp"
#include "worked_example.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;
using layouts::csell::Source;
using U8 = std::vector<std::uint8_t>;

constexpr std::uint32_t minus_one = 0xFFFFFFFF;

Container container_of(const CsrMatrix& a, const Settings& settings) {
  return open(encode(a, "csell", settings).bytes);
}

Source source_of(const encoder::PartPlan& plan) { return layouts::csell::source_of(plan.info); }

/// Whether csell takes the matrix with these settings; then the file is as the plan says, the same whatever the
/// threads, and gives back the same bits.
bool round_trip(const CsrMatrix& a, const Settings& settings) {
  encoder::PartPlan plan;
  try {
    plan = plan_of(a, "csell", {.settings = settings});
  } catch (const Error& e) {
    REQUIRE(e.code() == errc::unsupported);
    return false;
  }
  const Encoded file = encode(a, "csell", settings, format::Codec::none, 1);
  REQUIRE(file.bytes.size() == file.predicted_bytes);
  REQUIRE(file.device_bytes == plan.device_bytes());
  for (const int threads : {2, 5})
    REQUIRE(encode(a, "csell", settings, format::Codec::none, threads).bytes == file.bytes);
  const Container c = open(file.bytes);
  REQUIRE(c.device_bytes() == file.device_bytes);
  for (const int threads : {1, 3}) {
    LoadOptions options;
    options.threads = threads;
    const CsrMatrix back = unpack(c, options);
    REQUIRE_NOTHROW(back.view().check());
    REQUIRE(equal_bits(a, back));
  }
  return true;
}

/// The sources that take each of the random matrices: a letter for each.
template <class T>
void random_round_trips(std::uint64_t seed, int values) {
  std::size_t turn = 0;
  std::map<std::string, int> taken;
  for (const NamedMatrix& m : random_matrices<T>(seed, values))
    for (const char* const source : {"auto", "raw", "table", "step", "single"})
      for (const char* const block : {"auto", "1"}) {
        const char* const sums = std::array{"auto", "1", "2", "4"}.at(turn++ % 4);
        INFO(m.name << ", " << source << ", block " << block << ", sums " << sums);
        if (round_trip(m.matrix, {{"csell.values", source}, {"csell.block", block}, {"csell.sums", sums}}))
          ++taken[source];
        else
          REQUIRE((source != std::string("auto") && source != std::string("raw")));
      }
  CHECK(taken["auto"] == taken["raw"]);
  for (const char* const source : {"table", "step"}) CHECK(taken[source] != 0);
  constexpr int empty = 2 * 4, tiny = 2 * 1;  // matrices without an entry, and with one
  CHECK(taken["single"] == (values == 0 ? taken["raw"] - empty : tiny));
}

CsrMatrix grid(std::uint64_t nx, std::uint64_t ny) {
  return generators::build_generated(generators::Laplace2d(nx, ny, false), {}).matrix;
}

/// Two columns of four in each of two rows, `spread` apart, and eight diagonals: too many for a pattern.
CsrMatrix apart(std::uint32_t spread) {
  Entries entries;
  for (const std::uint32_t j : {0U, 200000U, 500000U, 900000U}) {
    entries[{0, j}] = j + 1.0;
    entries[{1, j + spread}] = j + 2.0;
  }
  return make_csr(2, 1000000, entries);
}

/// 512 rows, 16 slices, with `distinct` values, each at least twice.
CsrMatrix distinct_in_a_tile(std::uint32_t distinct) {
  std::uint32_t next = 0;
  return with_values<double>(scattered<double>(512, 3000, 40, 0), [&](std::uint64_t, std::uint32_t) {
    next = (next + 1) % distinct;
    return next + 1.0;
  });
}

/// Columns so far apart that they are offsets.
CsrMatrix with_offsets() {
  return make_csr(2, 70001,
                  {{{0, 0}, 1.0}, {{0, 10}, 2.0}, {{0, 300}, 3.0}, {{1, 5}, 4.0}, {{1, 700}, 5.0}, {{1, 70000}, 6.0}});
}

/// The message that loading the only part ends with if a parameter is `value`.
std::string refusal_with(const CsrMatrix& a, const Settings& settings, layouts::csell::Param param,
                         std::uint64_t value) {
  const std::vector<std::byte> lying = edited(encode(a, "csell", settings).bytes, [&](ContainerSource& source) {
    source.parts[0].info.params.at(param) = value;
  });
  try {
    const LoadedPart part = open(lying).load_part(0);
  } catch (const Error& e) {
    return e.code() == errc::corrupt ? e.message() : "not corrupt: " + e.message();
  }
  return {};
}

}  // namespace

TEST_CASE("the worked example of docs/LAYOUTS.md in csell") {
  const Settings in_steps{{"csell.values", "step"}};
  const Encoded file = encode(worked_example(), "csell", in_steps);
  const Container c = open(file.bytes);
  CHECK(parameters_of(c) == U64{2, 1, 1, 0, 0, 1});
  CHECK(elements<std::uint32_t>(c, "slices") == U32{0, 0, 0, 1});
  CHECK(elements<std::uint32_t>(c, "patterns") == U32{minus_one, 0, 1, 3, 0b0010, 0b1011, 0b1001, 0b0010});
  CHECK(elements<std::uint8_t>(c, "stream").empty());
  CHECK(elements<double>(c, "values") == F64{-1, 2, -1, .5});
  CHECK(elements<std::uint32_t>(c, "tiles").empty());
  CHECK(file.device_bytes == 80);
  CHECK(file.bytes.size() == file.predicted_bytes);
  CHECK(equal_bits(unpack(c), worked_example()));
  const encoder::PartPlan plan = plan_of(worked_example(), "csell", {.settings = in_steps});
  CHECK(plan.padding == 0);
  CHECK_FALSE(plan.fill_reads_x);
}

TEST_CASE("the worked example with raw values and with a table") {
  const Container raw = container_of(worked_example(), {{"csell.values", "raw"}});
  CHECK(parameters_of(raw) == U64{0, 1, 1, 0, 0, 1});
  CHECK(elements<std::uint32_t>(raw, "slices") == U32{0, 0, 0, 1});
  CHECK(elements<double>(raw, "values") == F64{-1, 2, 2, 2, -1, -1, .5, 0});

  const Container table = container_of(worked_example(), {{"csell.values", "table"}});
  CHECK(parameters_of(table) == U64{1, 1, 1, 1, 3, 1});
  CHECK(elements<double>(table, "values") == F64{.5, 2, -1});  // by their bits
  CHECK(elements<std::uint32_t>(table, "tiles") == U32{0, 3});
  U8 ids{0, 1, 2, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0};  // of lanes 0 to 3, four each
  ids.resize(128);
  CHECK(elements<std::uint8_t>(table, "stream") == ids);

  const CsrMatrix ones = with_values<double>(worked_example(), [](auto, auto) { return 7; });
  const Container single = container_of(ones, {});
  CHECK(parameters_of(single) == U64{3, 1, 1, 0, 0, 1});
  CHECK(elements<double>(single, "values") == F64{7});
  const auto padding = [](const CsrMatrix& a, const char* values) {
    return plan_of(a, "csell", {.settings = {{"csell.values", values}}}).padding;
  };
  CHECK(padding(worked_example(), "raw") == 0);
  CHECK(padding(worked_example(), "table") == 4 * 32 - 7);  // ids
  CHECK(raw.device_bytes() == 112);
  CHECK(table.device_bytes() == 208);
  for (const Container* const c : {&raw, &table}) CHECK(equal_bits(unpack(*c), worked_example()));
  CHECK(equal_bits(unpack(single), ones));
}

TEST_CASE("the second worked example: columns that are offsets") {
  const CsrMatrix a = with_offsets();
  const Container c = container_of(a, {{"csell.values", "raw"}});
  CHECK(parameters_of(c) == U64{0, 1, 1, 0, 0, 0});
  CHECK(elements<std::uint32_t>(c, "slices") == U32{0, 0, 0, 0x00010000});
  CHECK(elements<std::uint32_t>(c, "patterns").empty());
  std::vector<std::uint16_t> stream = elements<std::uint16_t>(c, "stream");
  const U32 words = elements<std::uint32_t>(c, "stream");
  CHECK(U32(words.begin(), words.begin() + 8) == U32{0, 10, 300, 70000, 0b11, 0b11, 0b01, 0b10});
  U16 offsets{0, 0, 0, 0, 5, 690, 0, 0};
  offsets.resize(128);
  CHECK(U16(stream.begin() + 16, stream.end()) == offsets);
  CHECK(elements<double>(c, "values") == F64{1, 4, 2, 5, 3, 6, 0, 0});
  CHECK(plan_of(a, "csell", {.settings = {{"csell.values", "raw"}}}).padding == 4 * 32 - 6);
  CHECK(equal_bits(unpack(c), a));
}

TEST_CASE("a block is stored element by element, the lanes of a step side by side") {
  CsrMatrix a = in_blocks<double>(make_csr(2, 2, {{{0, 0}, 1.0}, {{1, 1}, 1.0}}), 2, 0, 1);
  std::copy_n(F64{1, 2, 3, 4, 5, 6, 7, 8}.begin(), 8, std::get<Array<double>>(a.values).begin());
  const Container c = container_of(a, {{"csell.values", "raw"}});
  CHECK(parameters_of(c) == U64{0, 2, 1, 0, 0, 1});
  CHECK(elements<std::uint32_t>(c, "patterns") == U32{0, 0, 0, 0, 0b11, 0, 0, 0});
  CHECK(elements<double>(c, "values") == F64{1, 5, 2, 6, 3, 7, 4, 8});
  CHECK(equal_bits(unpack(c), a));
}

TEST_CASE("csell gives back random matrices bit for bit, from every source that their values allow") {
  for (const int values : {0, 1, 2, 3, 4}) {
    // Both types where values are nasty: elsewhere one of them says as much, in half the time.
    if (values % 2 == 0) DYNAMIC_SECTION("values " << values << ", f64") {
        random_round_trips<double>(131, values);
      }
    if (values % 2 == 1 || (values == 4 && !sanitized)) DYNAMIC_SECTION("values " << values << ", f32") {
        random_round_trips<float>(137, values);
      }
  }
}

TEMPLATE_TEST_CASE("every kind of columns and source of values, with any number of sums", "", double, float) {
  if (sanitized && std::is_same_v<TestType, float>) return;
  std::size_t turn = 0;
  for (const CsellCase& c : csell_cases<TestType>()) {
    const std::string sums = std::array{"1", "2", "4"}.at(turn++ % 3);
    INFO(c.values << ", " << c.name << ", sums " << sums);
    const Settings settings{{"csell.values", c.values}, {"csell.sums", sums}};
    const encoder::PartPlan plan = plan_of(c.matrix, "csell", {.settings = settings});
    REQUIRE(layouts::csell::source_names.at(static_cast<std::size_t>(source_of(plan))) == c.values);
    for (const std::string& name : c.counters) {
      INFO(name);
      REQUIRE(counter(plan, name) != 0);
    }
    REQUIRE(std::to_string(counter(plan, "sums")) == sums);
    REQUIRE(round_trip(c.matrix, settings));
    const bool many = c.name.find("many") != std::string::npos;
    const U32 slices = elements<std::uint32_t>(container_of(c.matrix, settings), "slices");
    REQUIRE((slices[3] == layouts::csell::SliceGroups::many) == many);
  }
}

TEST_CASE("every size of blocks that fits may be asked for") {
  const CsrMatrix pattern = scattered<double>(101, 300, 5, 0);
  for (const std::uint32_t b : {1U, 2U, 3U, 4U}) {
    const CsrMatrix a = in_blocks<double>(pattern, b, 3, 1);
    CHECK(counter(plan_of(a, "csell"), "block") == b);
    for (const std::uint32_t wanted : {1U, 2U, 3U, 4U}) {
      INFO(b << ", " << wanted);
      const Settings settings{{"csell.block", std::to_string(wanted)}};
      REQUIRE(round_trip(a, settings) == (b % wanted == 0));
      if (b % wanted == 0) CHECK(counter(plan_of(a, "csell", {.settings = settings}), "block") == wanted);
    }
  }
}

TEST_CASE("blocks are full: a missing entry, another column, a row or column too many are noticed") {
  const auto block_of = [](const CsrMatrix& a) { return counter(plan_of(a, "csell"), "block"); };
  Entries full;
  for (std::uint32_t r = 0; r < 6; ++r)
    for (std::uint32_t c = 0; c < 3; ++c) full[{r, r / 3 * 6 + c}] = r + c;
  CHECK(block_of(make_csr(6, 12, full)) == 3);
  CHECK(block_of(make_csr(7, 12, full)) == 1);
  CHECK(block_of(make_csr(6, 13, full)) == 1);
  Entries less = full;
  less.erase({4, 7});
  CHECK(block_of(make_csr(6, 12, less)) == 1);
  Entries moved = less;
  moved[{4, 9}] = 1;  // as many entries
  CHECK(block_of(make_csr(6, 12, moved)) == 1);
  Entries shifted;  // blocks that do not begin at a multiple of 3
  for (const auto& [at, value] : full) shifted[{at.first, at.second + 1}] = value;
  CHECK(block_of(make_csr(6, 12, shifted)) == 1);
}

TEST_CASE("entries that share their bytes: more of them than the file has bits") {
  const CsrMatrix a =
      with_values<double>(band<double>(4000, 100, 0), [](auto r, auto c) { return static_cast<double>(c - r) + 0.5; });
  const Encoded file = encode(a, "csell");
  CHECK(file.device_bytes * 8 < a.nnz());
  CHECK(equal_bits(unpack(open(file.bytes)), a));
}

TEST_CASE("five-point grids are a few shared patterns with their values") {
  const encoder::PartPlan plan = plan_of(grid(300, 200), "csell");
  CHECK(source_of(plan) == Source::step);
  CHECK(counter(plan, "block") == 1);
  CHECK(counter(plan, "slices") == 1875);
  CHECK(counter(plan, "slices.pattern") == 1875);
  // 300 = 4 mod 32: a line ends at one of 8 places of a slice, or beside it; the first and last lines have their own.
  CHECK(counter(plan, "patterns") <= 40);
  CHECK(counter(plan, "groups.offsets_8") + counter(plan, "groups.offsets_16") + counter(plan, "groups.offsets_32") ==
        0);
  CHECK(plan.device_bytes() < 60000 * 8 / 10);  // less than a byte a row
  const CsrMatrix all_different =
      with_values<double>(grid(300, 200), [](auto r, auto c) { return static_cast<double>(r * 60000 + c); });
  const encoder::PartPlan raw = plan_of(all_different, "csell");
  CHECK(source_of(raw) == Source::raw);
  CHECK(counter(raw, "slices.pattern") == 1875);
  CHECK(counter(raw, "patterns") == counter(plan, "patterns"));
}

TEST_CASE("blocks of 3 are found where nodes have three displacements") {
  const CsrMatrix a = generators::build_generated(generators::Elasticity({7, 6, 5}, {}, 0.1), {}).matrix;
  REQUIRE(a.rows == 630);
  const encoder::PartPlan plan = plan_of(a, "csell");
  CHECK(counter(plan, "block") == 3);
  CHECK(source_of(plan) == Source::mirror);  // it is symmetric
  CHECK(counter(plan, "slices") == 7);       // of 210 nodes
  CHECK(round_trip(a, {}));
}

TEST_CASE("offsets are as narrow as their spread") {
  const auto groups = [](const CsrMatrix& a) {
    REQUIRE(round_trip(a, {}));
    const encoder::PartPlan plan = plan_of(a, "csell", {.settings = {{"csell.values", "raw"}}});
    return std::array{counter(plan, "groups.offsets_8"), counter(plan, "groups.offsets_16"),
                      counter(plan, "groups.offsets_32")};
  };
  using Groups = std::array<std::uint64_t, 3>;
  CHECK(groups(apart(255)) == Groups{1, 0, 0});
  CHECK(groups(apart(256)) == Groups{0, 1, 0});
  CHECK(groups(apart(65535)) == Groups{0, 1, 0});
  CHECK(groups(apart(65536)) == Groups{2, 0, 0});  // entries far apart in steps of their own
  // What is left of narrow steps joins wider ones: here one of 8 bits three of 16.
  CHECK(groups(make_csr(2, 1000,
                        {{{0, 0}, 1.0},
                         {{0, 10}, 1.5},
                         {{0, 20}, 2.0},
                         {{0, 600}, 2.5},
                         {{1, 2}, 3.0},
                         {{1, 300}, 3.5},
                         {{1, 400}, 4.0},
                         {{1, 999}, 4.5}})) == Groups{0, 1, 0});
}

/// Slices by turns: two irregular shapes that come again, one of them with entries near and far; a band; nothing;
/// columns of their own, near ones and far ones.
CsrMatrix slices_of_all_kinds(std::uint64_t slices) {
  constexpr std::uint64_t height = layouts::csell::lanes, reach = 300000;
  std::mt19937_64 values(1);
  return from_rows<double>(height * slices, height * slices + reach, values, 2, [&](std::uint64_t row) {
    const std::uint64_t slice = row / height, turn = slice % 6, lane = row % height;
    std::mt19937_64 rng(turn < 2 ? lane : row);  // of a shape that comes again, or not
    std::vector<std::uint32_t> columns;
    const auto add = [&](std::uint64_t n, std::uint64_t from, std::uint64_t below) {
      for (; n != 0; --n) columns.push_back(static_cast<std::uint32_t>(slice * height + from + rng() % (below - from)));
    };
    if (turn == 0) add(3 + lane % 4, 0, 40000);
    if (turn == 1) add(1 + lane % 9, 0, 200), add(20, reach - 200, reach);
    if (turn == 2) add(3, lane, lane + 3);
    if (turn == 4) add(9, 0, 250);
    if (turn == 5) add(3, 0, reach);
    return columns;
  });
}

TEST_CASE("slices with offsets beside ones with patterns, of shapes that come again, in several tasks") {
  for (const std::uint32_t block : {1U, 2U}) {
    INFO("blocks of " << block);
    const CsrMatrix m = in_blocks<double>(slices_of_all_kinds(270), block, 2, 1);
    for (const char* const values : {"raw", "table"}) REQUIRE(round_trip(m, {{"csell.values", values}}));
    const auto plan = plan_of(m, "csell");
    CHECK(counter(plan, "block") == block);
    CHECK(counter(plan, "slices.pattern") == 90);  // the bands and the empty ones
    for (const char* const kind : {"groups.offsets_8", "groups.offsets_16", "groups.offsets_32"})
      CHECK(counter(plan, kind) != 0);
  }
}

TEST_CASE("columns just below 2^32 - 1") {
  std::mt19937_64 rng(7);
  constexpr std::uint64_t cols = 0xFFFFFFFE;
  const CsrMatrix a = from_rows<double>(70, cols, rng, 3, [&](std::uint64_t) {
    std::vector<std::uint32_t> row{0, static_cast<std::uint32_t>(cols - 1)};
    for (int i = 0; i < 9; ++i) row.push_back(static_cast<std::uint32_t>(rng() % cols));
    return row;
  });
  CHECK(counter(plan_of(a, "csell"), "groups.offsets_32") != 0);
  CHECK(round_trip(a, {}));
  // Patterns count modulo 2^32.
  const CsrMatrix corner = make_csr(40, cols, {{{0, cols - 1}, 1.0}, {{39, 0}, 2.0}, {{39, cols - 1}, 3.0}});
  CHECK(counter(plan_of(corner, "csell"), "slices.pattern") == 2);
  CHECK(round_trip(corner, {}));
}

TEST_CASE("a table of 256 values has ids of a byte, and one of 257 of two") {
  for (const std::uint32_t n : {255U, 256U, 257U}) {
    const CsrMatrix a = distinct_in_a_tile(n);
    const encoder::PartPlan plan = plan_of(a, "csell", {.settings = {{"csell.values", "table"}}});
    CHECK(counter(plan, "tables.values") == n);
    CHECK(plan.info.params[layouts::csell::param_largest_tile] == n);
    const std::uint64_t narrow = counter(plan, "groups.offsets_8"), wide = counter(plan, "groups.offsets_16");
    REQUIRE(counter(plan, "groups.pattern") + counter(plan, "groups.offsets_32") == 0);
    const std::uint64_t ids = (narrow + wide) * (n <= 256 ? 4 : 8);
    CHECK(layouts::csell::units_of(plan.info) == narrow * (1 + 4) + wide * (1 + 8) + ids);
  }
}

TEST_CASE("tiles grow while that takes fewer bytes") {
  const auto plan = [](const CsrMatrix& a) { return plan_of(a, "csell", {.settings = {{"csell.values", "table"}}}); };
  CHECK(counter(plan(by_tiles<double>(7, 100)), "tile_slices") == 32);   // 200 values: still a byte
  CHECK(counter(plan(by_tiles<double>(7, 7000)), "tile_slices") == 16);  // 14,000 are too many
  CHECK(counter(plan(by_tiles<double>(7, 36)), "tile_slices") == 112);   // 252 values: one for all slices
  CHECK(counter(plan(distinct_in_a_tile(3)), "tile_slices") == 16);
}

TEST_CASE("a table has at most 8,192 values, if asked for or for the fewest bytes 65,536") {
  const Settings table{{"csell.values", "table"}};
  for (const std::uint32_t n : {8192U, 8193U}) CHECK(round_trip(distinct_in_a_tile(n), table));
  // Of 512 rows of 128 entries, all of one tile, with one more in the last.
  const auto all_different = [](std::uint64_t more) {
    std::mt19937_64 rng(1);
    return with_values<double>(from_rows<double>(512, 3000, rng, 0,
                                                 [&](std::uint64_t r) {
                                                   std::vector<std::uint32_t> row(128 + (r == 511 ? more : 0));
                                                   std::iota(row.begin(), row.end(), static_cast<std::uint32_t>(r));
                                                   return row;
                                                 }),
                               [](std::uint64_t r, std::uint32_t c) { return static_cast<double>(r * 4000 + c + 1); });
  };
  CHECK(round_trip(all_different(0), table));
  CHECK(plan_refusal(all_different(1), "csell", table, errc::unsupported) ==
        "csell: csell.values is table, but the values do not repeat like that; use csell.values=raw, or auto");
  const encoder::Aim bytes_alone{.optimize = encoder::Objective::bytes};
  // 512 rows of 20 values of their own, and again.
  const CsrMatrix twice = with_values<double>(
      scattered<double>(1024, 3000, 20, 0),
      [](std::uint64_t r, std::uint32_t c) { return static_cast<double>(r % 512 * 20 + c % 20 + 1); });
  const encoder::PartPlan by_time = plan_of(twice, "csell"), by_bytes = plan_of(twice, "csell", {.aim = bytes_alone});
  CHECK(source_of(by_time) == Source::raw);
  CHECK(source_of(by_bytes) == Source::table);
  CHECK(by_bytes.info.params[layouts::csell::param_largest_tile] > 8192);
  CHECK(counter(by_bytes, "tile_slices") == 32);
  CHECK(by_bytes.device_bytes() < by_time.device_bytes());
}

TEST_CASE("for fewest bytes the source of the fewest is taken, and by time no large tables for a small matrix") {
  for (const int values : {0, 1, 2, 3, 4})
    for (const NamedMatrix& m : random_matrices<double>(139, values)) {
      INFO(m.name << ", values " << values);
      const encoder::PartPlan by_time = plan_of(m.matrix, "csell"),
                              by_bytes = plan_of(m.matrix, "csell", {.aim = {.optimize = encoder::Objective::bytes}});
      for (const char* const source : {"raw", "table", "step", "single"}) {
        const Settings settings{{"csell.values", source}};
        if (values == 0 && source == std::string("step")) continue;  // patterns alone, whatever time they take
        if (!plan_refusal(m.matrix, "csell", settings, errc::unsupported).empty()) continue;
        const encoder::PartPlan plan = plan_of(m.matrix, "csell", {.settings = settings});
        CHECK(counter(plan, std::string(source) + ".device_bytes") == plan.device_bytes());
        if (counter(plan, "tables.values") > 256) CHECK(source_of(by_time) != Source::table);
        CHECK(by_bytes.device_bytes() <= plan.device_bytes());
      }
    }
}

TEST_CASE("several sums where warps would be few, and one with many") {
  CHECK(counter(plan_of(band<double>(4000, 3, 3), "csell"), "sums") == 1);   // a group a slice
  CHECK(counter(plan_of(band<double>(4000, 16, 3), "csell"), "sums") == 2);  // four
  CHECK(counter(plan_of(band<double>(4000, 32, 3), "csell"), "sums") == 4);  // eight
  CHECK(counter(plan_of(band<double>(32 * 132 * 32 - 31, 16, 0), "csell"), "sums") == 1);
}

TEST_CASE("settings of csell out of range, and those that the matrix does not fit, are refused") {
  const CsrMatrix a = worked_example();
  const auto usage = [&](const char* name, const char* value) {
    return plan_refusal(a, "csell", {{name, value}}, errc::usage);
  };
  CHECK(usage("csell.block", "5") == "csell.block is '5'; use auto or a number from 1 to 4");
  CHECK(usage("csell.block", "0") == "csell.block is '0'; use auto or a number from 1 to 4");
  CHECK(usage("csell.values", "lut") == "csell.values is 'lut'; use auto, raw, table, step, single, mirror or skew");
  for (const char* const sums : {"0", "3", "5", "two"})
    CHECK(usage("csell.sums", sums) == fmt::format("csell.sums is '{}'; use auto, 1, 2 or 4", sums));
  for (const char* const name : {"csell.block", "csell.values", "csell.sums"}) CHECK(usage(name, "auto").empty());

  const auto unsupported = [&](const Settings& settings) {
    return plan_refusal(a, "csell", settings, errc::unsupported);
  };
  CHECK(unsupported({{"csell.block", "2"}}) ==
        "csell: the matrix is not made of full blocks of 2 by 2; "
        "use another csell.block, or amb, whose blocks may have fill");
  CHECK(unsupported({{"csell.values", "single"}}) ==
        "csell: csell.values is single, but the values do not repeat like that; use csell.values=raw, or auto");
  CHECK(unsupported({{"csell.values", "step"}}).empty());
  CHECK(plan_refusal(scattered<double>(500, 3000, 20, 3), "csell", {{"csell.values", "step"}}, errc::unsupported) ==
        "csell: csell.values is step, but the values do not repeat like that; use csell.values=raw, or auto");
  const CsrMatrix blocks = in_blocks<double>(band<double>(50, 3, 0), 2, 1, 1);
  CHECK(counter(plan_of(blocks, "csell", {.settings = {{"csell.values", "table"}}}), "block") == 2);
}

TEST_CASE("the worked example of mirrors") {
  const CsrMatrix a = make_csr(
      3, 3,
      {{{0, 0}, 4.0}, {{0, 1}, -1.0}, {{0, 2}, 3.0}, {{1, 0}, -1.0}, {{1, 1}, 5.0}, {{2, 0}, 3.0}, {{2, 2}, 6.0}});
  const Container c = container_of(a, {{"csell.values", "mirror"}});
  CHECK(parameters_of(c) == U64{4, 1, 1, 0, 0, 1});
  CHECK(elements<std::uint32_t>(c, "slices") == U32{0, 0, 0, 2});
  CHECK(elements<std::uint32_t>(c, "patterns") ==
        U32{minus_one - 1, minus_one, 0, 1, 0b100, 0b010, 0b111, 0b001, 2, 0, 0, 0, 0b001, 0, 0, 0});
  CHECK(elements<std::uint16_t>(c, "references") == U16{5, 3, 0, 2, 4, 0, 0, 0});
  F64 values(96);
  const F64 lane_0{4, -1, 3};
  for (std::size_t slot = 0; slot < 3; ++slot) values[32 * slot] = lane_0[slot];
  values[1] = 5;
  values[2] = 6;
  CHECK(elements<double>(c, "values") == values);
  CHECK(elements<std::uint8_t>(c, "stream").empty());
  const encoder::PartPlan plan = plan_of(a, "csell", {.settings = {{"csell.values", "mirror"}}});
  CHECK(counter(plan, "mirrors") == 2);
  CHECK(counter(plan, "mirrors.by_steps") == 2);
  CHECK(plan.padding == 96 - 5);
  CHECK(equal_bits(unpack(c), a));
}

TEST_CASE("mirrors are of bits: pairs that differ in any, as NaN and zeros may, are stored twice") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto mirrors = [](double upper, double lower, const char* values) {
    // A pair beside it, so that there is always one mirror.
    const double sign = values == std::string("skew") ? -1 : 1;
    const CsrMatrix a = make_csr(2, 2, {{{0, 0}, 1.0}, {{0, 1}, upper}, {{1, 0}, lower}, {{1, 1}, 1.0}});
    const CsrMatrix b =
        make_csr(4, 4, {{{0, 1}, upper}, {{1, 0}, lower}, {{2, 2}, 1.0}, {{2, 3}, 7.0}, {{3, 2}, sign * 7.0}});
    const Settings settings{{"csell.values", values}, {"csell.block", "1"}};
    CHECK(round_trip(b, settings));
    const std::uint64_t n = counter(plan_of(b, "csell", {.settings = settings}), "mirrors") - 1;
    CHECK(round_trip(a, settings) == (n != 0));
    return n == 1;
  };
  const double other_nan = std::bit_cast<double>(std::bit_cast<std::uint64_t>(nan) ^ 1U);
  CHECK(mirrors(0.5, 0.5, "mirror"));
  CHECK_FALSE(mirrors(0.5, -0.5, "mirror"));
  CHECK_FALSE(mirrors(0.0, -0.0, "mirror"));
  CHECK(mirrors(-0.0, -0.0, "mirror"));
  CHECK(mirrors(nan, nan, "mirror"));
  CHECK_FALSE(mirrors(nan, other_nan, "mirror"));
  CHECK(mirrors(0.5, -0.5, "skew"));
  CHECK_FALSE(mirrors(0.5, 0.5, "skew"));
  CHECK(mirrors(0.0, -0.0, "skew"));
  CHECK_FALSE(mirrors(0.0, 0.0, "skew"));
  CHECK_FALSE(mirrors(nan, nan, "skew"));
  CHECK(mirrors(nan, -nan, "skew"));
}

TEST_CASE("mirrors are refused where there are none") {
  const auto refusal = [](const CsrMatrix& a, const char* values) {
    return plan_refusal(a, "csell", {{"csell.values", values}}, errc::unsupported);
  };
  CHECK(refusal(band<double>(50, 4, 3), "mirror") ==
        "csell: csell.values is mirror, but no entry has the bits of its transposed one, or a row has too many; "
        "use csell.values=raw, or auto");
  CHECK(refusal(both_halves<double>(band<double>(50, 4, 0), 3), "skew") ==
        "csell: csell.values is skew, but no block has the bits of its transposed one with the sign flipped, or a row "
        "has too many; use csell.values=raw, or auto");
  CHECK_FALSE(refusal(make_csr(0, 0, {}), "mirror").empty());
  CHECK_FALSE(refusal(make_csr(40, 40, {{{3, 3}, 1.0}}), "mirror").empty());
  // More columns than rows, or more rows: what is square has mirrors.
  CHECK(round_trip(make_csr(2, 70, {{{0, 1}, 1.5}, {{1, 0}, 1.5}, {{1, 69}, 2.0}}), {{"csell.values", "mirror"}}));
  CHECK(round_trip(make_csr(70, 2, {{{0, 1}, 1.5}, {{1, 0}, 1.5}, {{69, 1}, 2.0}}), {{"csell.values", "mirror"}}));
  // Row 0 has more slots than a slice may.
  Entries arrow;
  for (std::uint32_t i = 0; i < 32770; ++i) arrow[{0, i}] = 1.0;
  CHECK(refusal(both_halves<double>(make_csr(32770, 32770, arrow)), "mirror") ==
        "csell: csell.values is mirror, but no entry has the bits of its transposed one, or a row has too many; "
        "use csell.values=raw, or auto");
}

TEST_CASE("what mirrors save: 3 x 3 blocks and 27 points of a grid, all values different") {
  if (sanitized) return;  // numbers alone, of large matrices
  const auto bytes = [](const CsrMatrix& a, const char* values) {
    const encoder::PartPlan plan = plan_of(a, "csell", {.settings = {{"csell.values", values}}});
    CHECK(counter(plan, std::string(values) + ".device_bytes") == plan.device_bytes());
    return static_cast<double>(plan.device_bytes()) / static_cast<double>(a.nnz());
  };
  const auto grid_27 = [](std::uint64_t n) {
    std::mt19937_64 rng(1);
    return from_rows<double>(n * n * n, n * n * n, rng, 0, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row;
      for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
          for (int x = -1; x <= 1; ++x) {
            const auto i = static_cast<int>(r % n) + x, j = static_cast<int>(r / n % n) + y,
                       k = static_cast<int>(r / n / n) + z, end = static_cast<int>(n);
            if (i >= 0 && j >= 0 && k >= 0 && i < end && j < end && k < end)
              row.push_back(static_cast<std::uint32_t>((k * end + j) * end + i));
          }
      return row;
    });
  };
  const CsrMatrix scalar = both_halves<double>(grid_27(40)), blocks = both_halves<double>(grid_27(16), 3);
  CHECK(bytes(scalar, "raw") < 8.2);
  CHECK(bytes(scalar, "mirror") < 4.9);
  CHECK(bytes(blocks, "raw") < 8.5);
  CHECK(bytes(blocks, "mirror") < 5);
  // By time a plan takes them for blocks on a GPU, where they were measured to be faster.
  const encoder::Aim bytes_alone{.optimize = encoder::Objective::bytes};
  const auto source = [](const CsrMatrix& a, encoder::Aim aim) { return source_of(plan_of(a, "csell", {.aim = aim})); };
  CHECK(source(scalar, bytes_alone) == Source::mirror);
  CHECK(source(both_halves<double>(grid_27(12), 3, -1), bytes_alone) == Source::skew);
  const auto of_auto = [&](encoder::Aim aim) {
    const encoder::Plan plan = encoder::find_strategy("auto").plan(scalar, {.aim = aim});
    return plan.strategy == "csell" ? source_of(plan.parts.at(0)) : Source::raw;
  };
  CHECK(of_auto(bytes_alone) == Source::mirror);
  const CsrMatrix large = both_halves<double>(grid_27(44));
  const CsrMatrix many_blocks = both_halves<double>(grid_27(22), 3);
  REQUIRE(std::min(large.nnz(), many_blocks.nnz()) > 1U << 21U);
  for (const encoder::Target target : {encoder::Target::gpu, encoder::Target::host}) {
    CHECK(source(large, {.target = target}) == Source::raw);
    for (const CsrMatrix* const a : {&blocks, &many_blocks})
      CHECK(source(*a, {.target = target}) == (target == encoder::Target::gpu ? Source::mirror : Source::raw));
    CHECK(of_auto({.target = target}) == Source::raw);
  }
  // Where they cannot win they are not even looked for: few other halves, or far fewer bytes without.
  const auto looked_for = [&](const CsrMatrix& a) {
    const encoder::PartPlan plan = plan_of(a, "csell", {.aim = bytes_alone});
    return std::any_of(plan.counters.begin(), plan.counters.end(),
                       [](const encoder::Counter& c) { return c.name == "mirror.device_bytes"; });
  };
  CHECK(looked_for(scalar));
  CHECK_FALSE(looked_for(band<double>(5000, 9, 0)));
  CHECK_FALSE(looked_for(
      with_values<double>(clone(scalar), [](auto r, auto c) { return static_cast<double>((r + c) % 7) + 0.5; })));
}

TEST_CASE("mirrors opposite of blocks far behind in their rows") {
  // Row `last` has entries in all columns before it, which are mirrors, and a few behind.
  constexpr std::uint32_t last = 32780;
  Entries arrow;
  for (std::uint32_t i = 0; i < last; ++i) arrow[{i, last}] = 1.0;
  for (std::uint32_t i = last; i < last + 9; ++i) arrow[{last, i}] = 1.0;
  const CsrMatrix a = both_halves<double>(make_csr(last + 9, last + 9, arrow));
  const Settings mirror{{"csell.values", "mirror"}};
  CHECK(counter(plan_of(a, "csell", {.settings = mirror}), "mirrors") == last + 8);
  CHECK(round_trip(a, mirror));
}

TEST_CASE("csell whose mirrors lie is refused") {
  const CsrMatrix a = both_halves<double>(band<double>(90, 3, 0));
  const Settings mirror{{"csell.values", "mirror"}};
  const std::vector<std::byte> file = encode(a, "csell", mirror).bytes;
  const U16 steps = elements<std::uint16_t>(open(file), "references");  // slice 0's are those of the example
  REQUIRE(U16(steps.begin(), steps.begin() + 8) == U16{5, 3, 0, 2, 4, 0, 0, 0});
  const auto references = [&](std::size_t element, std::uint16_t value) {
    return refusal_of<std::uint16_t>(file, "references", element, value);
  };
  CHECK(references(0, 5).empty());
  CHECK(references(0, 3) == "slice 0, lane 2: a mirror of another entry than the transposed one, or of a mirror");
  CHECK(references(0, 7) == "slice 0, lane 2: a mirror of a slot that the slice does not have");
  CHECK(references(0, 4) == "slice 0, lane 2: a slot of two entries");
  CHECK(references(0, 6) == "slice 0, lane 2: a slot that the slice does not have");
  CHECK(references(2, 2) == "slice 0, lane 0: a slot of two entries");
  CHECK(references(3, 5) == "slice 0, lane 0: a value of no entry");
  CHECK(references(5, 1) == "step 5 is nothing, but has a reference");
  const auto slices = [&](std::size_t element, std::uint32_t value) {
    return refusal_of<std::uint32_t>(file, "slices", element, value);
  };
  CHECK(slices(2, 8) == "slice 0: its slots begin elsewhere");
  CHECK(slices(4 + 2, 23) == "slice 1: its slots begin within one");
  CHECK(slices(4 + 2, 80) == "slice 1: its slots begin elsewhere");
  CHECK(slices(4 + 2, 16).find("lane") != std::string::npos);
  CHECK(slices(0, 3U << 30U) == "slice 0: references that it does not have, or entries without");
  CHECK(slices(0, 1U << 30U) == "slice 0: its stream ends elsewhere");
  CHECK(refusal_of<double>(file, "values", 32 * 2 + 31, -0.0).empty());
  const std::vector<std::byte> last = encode(both_halves<double>(band<double>(33, 2, 0)), "csell", mirror).bytes;
  CHECK(refusal_of<double>(last, "values", 64 + 5, -0.0) == "slice 1, lane 5: a value of no entry");

  const std::vector<std::byte> raw = encode(a, "csell", {{"csell.values", "raw"}}).bytes;
  CHECK(refusal_of<std::uint32_t>(raw, "slices", 0, 1U << 30U) == "slice 0: its pattern is out of range");
}

TEST_CASE("csell whose bytes lie is refused") {
  const CsrMatrix a = worked_example();
  const std::vector<std::byte> raw = encode(a, "csell", {{"csell.values", "raw"}}).bytes;
  const auto slices = [&](std::size_t element, std::uint32_t value) {
    return refusal_of<std::uint32_t>(raw, "slices", element, value);
  };
  const auto patterns = [&](std::size_t element, std::uint32_t value) {
    return refusal_of<std::uint32_t>(raw, "patterns", element, value);
  };
  CHECK(slices(3, 1).empty());
  CHECK(slices(0, 1) == "slice 0: its pattern is out of range");
  CHECK(slices(1, 1) == "slice 0: its stream begins elsewhere");
  CHECK(slices(2, 1) == "slice 0: its values begin elsewhere");
  CHECK(slices(3, 2) == "slice 0: its pattern is out of range");
  CHECK(slices(3, 0x101) == "slice 0: its stream ends elsewhere");
  CHECK(slices(3, minus_one) == "slice 0: its stream begins elsewhere");
  CHECK(slices(3, 0) == "0 values, the part table says 8");
  CHECK(patterns(3, 0) == "slice 0, lane 1: columns do not rise");
  CHECK(patterns(0, minus_one - 1) == "slice 0, lane 1: a column out of range");
  CHECK(patterns(4, 0) == "group 0 is empty, or has steps after its end");
  CHECK(patterns(4, 0b10010) == "slice 0, lane 4: an entry of a row that the part does not have");
  CHECK(patterns(5, 0b1010) == "slice 0: padding with a value");
  const std::vector<std::byte> single = encode(band<double>(96, 3, 0), "csell", {{"csell.values", "single"}}).bytes;
  CHECK(refusal_of<std::uint32_t>(single, "patterns", 5, 0xFFFF0000).find("entries, the part table says") !=
        std::string::npos);

  const Settings table{{"csell.values", "table"}};
  const std::vector<std::byte> file = encode(a, "csell", table).bytes;
  CHECK(refusal_of<std::uint8_t>(file, "stream", 1, 3) == "slice 0, lane 0: an id out of range");
  CHECK(refusal_of<std::uint32_t>(file, "tiles", 0, 1) == "tile 0: its table is out of range");
  CHECK(refusal_of<std::uint32_t>(file, "tiles", 1, 2) == "values that no tile has");

  using namespace layouts::csell;
  CHECK(refusal_with(a, table, param_source, 6) == "source is 6");
  CHECK(refusal_with(a, {{"csell.values", "raw"}}, param_block, 5) == "block is 5");
  CHECK(refusal_with(a, {{"csell.values", "raw"}}, param_block, 3) == "block is 3");
  CHECK(refusal_with(a, table, param_sums, 3) == "sums is 3");
  CHECK(refusal_with(a, table, param_largest_tile, 2) == "the largest has 3 values, the part table says 2");
  CHECK(refusal_with(a, table, param_patterns_only, 0) == "all 1 slices are patterns, and patterns_only is 0");
  CHECK(refusal_with(with_offsets(), {{"csell.values", "raw"}}, param_patterns_only, 1) ==
        "slice 0: it is no pattern, and patterns_only is 1");
  CHECK(refusal_with(a, table, param_patterns_only, 2) == "patterns_only is 2");
  // Readers count slices of a tile in 32 bits.
  CHECK(refusal_with(a, table, param_tile_slices, 0xFFFFFFFF).empty());
  CHECK(refusal_with(a, table, param_tile_slices, std::uint64_t{1} << 32U) == "tile_slices is 4294967296");
}

}  // namespace spmvpack::test
