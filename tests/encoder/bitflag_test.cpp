// bitflag: the worked examples of docs/LAYOUTS.md, where chunks and tiles end, what is chosen and refused, and
// containers that lie.

#include "spmvpack/container/layouts/bitflag.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "bitflag_cases.hpp"
#include "bitflag_lies.hpp"
#include "catch.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"
#include "worked_example.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;
using layouts::bitflag::Info;
using layouts::bitflag::Source;
using layouts::bitflag::source_of;
using U8 = std::vector<std::uint8_t>;
using Lengths = std::vector<std::uint32_t>;

Container container_of(const CsrMatrix& a, const Settings& settings) {
  return open(encode(a, "bitflag", settings).bytes);
}

/// The numbers of the part's chunks, without the end.
std::vector<Info> infos(const Container& file) {
  const U32 words = elements<std::uint32_t>(file, "chunks");
  std::vector<Info> all;
  for (std::size_t i = 3; i + 4 < words.size(); i += 4) all.push_back({words[i]});
  return all;
}

std::vector<std::uint32_t> entries_of(const Container& file) {
  std::vector<std::uint32_t> all;
  for (const Info info : infos(file)) all.push_back(info.entries());
  return all;
}

/// The file is as the plan says, the same whatever the threads, and gives back the same bits.
Container round_trip(const CsrMatrix& a, const Settings& settings) {
  const Encoded file = encode(a, "bitflag", settings, format::Codec::none, 1);
  REQUIRE(file.bytes.size() == file.predicted_bytes);
  REQUIRE(encode(a, "bitflag", settings, format::Codec::none, 4).bytes == file.bytes);
  const encoder::PartPlan plan = plan_of(a, "bitflag", {.settings = settings});
  REQUIRE(file.device_bytes == plan.device_bytes());
  Container c = open(file.bytes);
  REQUIRE(c.device_bytes() == file.device_bytes);
  for (const int threads : {1, 4}) {
    LoadOptions options;
    options.threads = threads;
    REQUIRE(equal_bits(a, unpack(c, options)));
  }
  std::uint64_t slots = 0;
  for (const Info info : infos(c)) slots += info.lanes() * layouts::bitflag::lane_entries;
  REQUIRE(plan.padding == slots - a.nnz());
  return c;
}

std::uint64_t continued(const Container& c) { return c.parts()[0].params[layouts::bitflag::param_continued]; }

}  // namespace

TEST_CASE("the worked example of docs/LAYOUTS.md in bitflag") {
  const Encoded file = encode(worked_example(), "bitflag", {{"bitflag.tile", "1"}});
  const Container c = open(file.bytes);
  CHECK(parameters_of(c) == U64{1, 1, 0});
  // Seven entries, three starts, offsets of rows that take a byte: row 2 is empty.
  CHECK(elements<std::uint32_t>(c, "chunks") == U32{0, 0, 0, 7 | 3 << 9 | 1 << 20, 4, 0, 4, 0});
  U8 stream(128);
  stream[0] = 0b0100101;
  std::ranges::copy(U8{0, 1, 0, 1, 4, 3, 4}, stream.begin() + 32);
  std::ranges::copy(U8{0, 1, 1, 0, 2, 0, 1}, stream.begin() + 64);
  std::ranges::copy(U8{0, 1, 3}, stream.begin() + 96);
  CHECK(elements<std::uint8_t>(c, "stream") == stream);
  CHECK(elements<double>(c, "values") == F64{2, -1, .5});  // most frequent first
  CHECK(elements<std::uint32_t>(c, "hot").empty());
  CHECK(file.device_bytes == 32 + 128 + 24);
  CHECK(file.bytes.size() == file.predicted_bytes);
  CHECK(equal_bits(unpack(c), worked_example()));
  CHECK(plan_of(worked_example(), "bitflag").padding == 32 - 7);
  CHECK_FALSE(plan_of(worked_example(), "bitflag").fill_reads_x);
}

TEST_CASE("the worked example with raw values and two hot columns") {
  const Container c =
      container_of(worked_example(), {{"bitflag.tile", "1"}, {"bitflag.values", "raw"}, {"bitflag.hot", "2"}});
  CHECK(parameters_of(c) == U64{0, 1, 0});
  CHECK(elements<std::uint32_t>(c, "chunks") == U32{0, 0, 0, 7 | 3 << 9 | 3 << 18 | 1 << 20, 4, 0, 13, 0});
  CHECK(elements<std::uint32_t>(c, "hot") == U32{0, 1});  // of three columns with two entries each, the first two
  const U8 bytes = elements<std::uint8_t>(c, "stream");
  // Two bytes of each column, then the third of each: the lanes side by side.
  U16 low(32);
  std::ranges::copy(U16{0, 1, 0, 1, 4, 3, 4}, low.begin());
  CHECK(std::memcmp(bytes.data() + 32, low.data(), 64) == 0);
  U8 highest(32);
  std::fill_n(highest.begin(), 4, std::uint8_t{0x80});
  CHECK(std::memcmp(bytes.data() + 96, highest.data(), 32) == 0);
  F64 values(32);  // two of each lane, side by side
  std::ranges::copy(F64{2, -1}, values.begin());
  std::ranges::copy(F64{-1, 2}, values.begin() + 8);
  std::ranges::copy(F64{.5, 2}, values.begin() + 16);
  std::ranges::copy(F64{-1}, values.begin() + 24);
  CHECK(std::memcmp(bytes.data() + 128, values.data(), 256) == 0);
  CHECK(c.device_bytes() == 456);
  CHECK(equal_bits(unpack(c), worked_example()));
}

TEST_CASE("the worked example with ids in a window, and with decimals") {
  const Container w = container_of(worked_example(), {{"bitflag.tile", "1"}, {"bitflag.values", "window"}});
  CHECK(parameters_of(w) == U64{3, 1, 0});
  CHECK(elements<std::uint32_t>(w, "chunks") == U32{0, 0, 0, 7 | 3 << 9 | 1 << 20, 4, 0, 5, 0});
  CHECK(elements<double>(w, "values") == F64{2, -1, .5});  // by first use
  const U8 ids = elements<std::uint8_t>(w, "stream");
  CHECK(U8(ids.begin() + 64, ids.begin() + 80) == U8{0, 0, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0});
  // All have the exponent of 0.5.
  const Container d = container_of(worked_example(), {{"bitflag.tile", "1"}, {"bitflag.values", "decimal"}});
  CHECK(parameters_of(d) == U64{4, 1, 0});
  CHECK(elements<std::uint32_t>(d, "chunks") == U32{0, 0, 0, 7 | 3 << 9 | 1 << 20 | 1 << 23, 4, 0, 7, 0});
  const U8 bytes = elements<std::uint8_t>(d, "stream");
  std::vector<std::int32_t> integers(32);
  std::ranges::copy(std::vector{20, -10, -10, 20}, integers.begin());
  std::ranges::copy(std::vector{5, 20, -10}, integers.begin() + 16);
  CHECK(std::memcmp(bytes.data() + 64, integers.data(), 128) == 0);
  CHECK(equal_bits(unpack(w), worked_example()));
  CHECK(equal_bits(unpack(d), worked_example()));
}

TEST_CASE("an example of two chunks and empty rows at both ends") {
  const Container c = container_of(two_chunks(), {{"bitflag.tile", "3"}});
  CHECK(parameters_of(c) == U64{2, 3, 0});
  const std::uint32_t first = 256 | 1 << 9 | 1 << 20, second = 4 | 1 << 9 | 1 << 20 | 1 << 22;
  // The second chunk's rows are 2 and 3; its offsets count from row 1. The last chunk has rows 4 and 5, without
  // entries.
  CHECK(elements<std::uint32_t>(c, "chunks") == U32{0, 0, 0, first, 1, 256, 10, second, 4, 0, 13, 0, 6, 0, 13, 0});
  const U8 bytes = elements<std::uint8_t>(c, "stream");
  CHECK(bytes[0] == 1);           // row 1 starts first
  CHECK(bytes[32 + 255] == 255);  // the last column
  CHECK(bytes[288] == 1);         // row 1
  CHECK(bytes[320] == 0b1000);
  CHECK(U8(bytes.begin() + 352, bytes.begin() + 357) == U8{0, 1, 2, 144, 0});
  CHECK(bytes[384] == 2);  // row 3
  CHECK(elements<double>(c, "values") == F64{7});
}

TEST_CASE("the worked example in two segments") {
  const Container c = container_of(worked_example(), {{"bitflag.tile", "1"}, {"bitflag.segments", "2"}});
  CHECK(parameters_of(c) == U64{1, 1, 0});
  // Columns 0 to 2: rows 0 and 1 have two entries each, a chunk without entries has rows 2 and 3. Columns 3 and 4: row
  // 1 has one and row 3 two; they are rows 5 and 7.
  CHECK(elements<std::uint32_t>(c, "chunks") ==
        U32{0, 0, 0, 4 | 2 << 9, 2, 0, 3, 0, 4, 3, 3, 3 | 2 << 9 | 1 << 20, 8, 0, 7, 0});
  CHECK(elements<std::uint32_t>(c, "segments") == U32{0, 2, 3});
  const U8 stream = elements<std::uint8_t>(c, "stream");
  CHECK(stream[96] == 0b011);
  CHECK(U8(stream.begin() + 128, stream.begin() + 132) == U8{1, 0, 1, 0});
  CHECK(U8(stream.begin() + 160, stream.begin() + 164) == U8{2, 0, 1, 0});
  CHECK(U8(stream.begin() + 192, stream.begin() + 195) == U8{1, 3, 0});
  CHECK(c.device_bytes() == 64 + 224 + 24 + 12);
  CHECK(equal_bits(unpack(c), worked_example()));
}

TEST_CASE("bitflag gives back every case bit for bit, and the case is what its name says") {
  const auto all = []<class T>(T) {
    for (const BitflagCase& c : bitflag_cases<T>()) {
      const Variant variant{c.name, c.settings};
      INFO(variant.name());
      const encoder::PartPlan plan = plan_of(c.matrix, "bitflag", {.settings = c.settings});
      for (const std::string& counted : c.counters) {
        INFO(counted);
        REQUIRE(counter(plan, counted) != 0);
      }
      round_trip(c.matrix, c.settings);
    }
  };
  SECTION("f64") { all(double{}); }
  if (!sanitized) SECTION("f32") {
      all(float{});
    }
}

TEMPLATE_TEST_CASE("random matrices come back bit for bit, nasty values among them", "", double, float) {
  if (sanitized && std::is_same_v<TestType, float>) return;
  std::size_t turn = 0;
  for (const int values : {0, 1, 2, 3, 4, 5, 6})
    for (const NamedMatrix& m : random_matrices<TestType>(151, values)) {
      const std::string tile = std::array{"auto", "1", "2", "8", "31", "32"}.at(turn % 6),
                        hot = std::array{"auto", "7", "32768", "0", "100"}.at(turn % 5);
      const Variant segments{"bitflag", {{"bitflag.tile", tile}, {"bitflag.segments", turn % 2 == 0 ? "3" : "40"}}};
      ++turn;
      INFO(m.name << ", values " << values << ", tile " << tile << ", hot " << hot);
      round_trip(m.matrix, {{"bitflag.tile", tile}, {"bitflag.hot", hot}});
      round_trip(m.matrix, {{"bitflag.tile", tile}, {"bitflag.hot", hot}, {"bitflag.values", "raw"}});
      for (const char* const source : {"window", "decimal"}) {
        const Variant other{"bitflag", {{"bitflag.tile", tile}, {"bitflag.hot", hot}, {"bitflag.values", source}}};
        if (suits(m.matrix, other)) round_trip(m.matrix, other.settings);
      }
      if (suits(m.matrix, segments)) round_trip(m.matrix, segments.settings);
    }
}

TEST_CASE("a chunk has 256 entries, and the tile goes on after it") {
  const auto chunks = [](const Lengths& lengths, const char* tile) {
    return entries_of(round_trip(rows_of<double>(lengths, 4000, 3), {{"bitflag.tile", tile}}));
  };
  CHECK(chunks({256}, "1") == U32{256});
  CHECK(chunks({257}, "1") == U32{256, 1});
  CHECK(chunks({255, 1}, "2") == U32{256, 0});
  CHECK(chunks({255, 2}, "2") == U32{256, 1});
  CHECK(chunks({200, 200, 200}, "2") == U32{256, 144, 200, 0});  // the third row has no room in the first tile
  CHECK(chunks({200, 400, 200}, "2") == U32{200, 0, 256, 144, 200, 0});
  CHECK(chunks({200, 513, 200}, "2") == U32{256, 256, 256, 145});  // no tile has room for the second row
}

TEST_CASE("tiles share no row that fits one") {
  CHECK(continued(round_trip(rows_of<double>({5, 2048, 7}, 4000, 3), {{"bitflag.tile", "8"}})) == 0);
  CHECK(continued(round_trip(rows_of<double>({5, 2049, 7}, 4000, 3), {{"bitflag.tile", "8"}})) == 1);
  // Below 2^21 nonzeros tiles grow with the longest row, up to eight chunks if there are few.
  const auto plan = [](const Lengths& lengths) { return plan_of(rows_of<double>(lengths, 16000, 3), "bitflag"); };
  CHECK(counter(plan({2048}), "tile_chunks") == 8);
  CHECK(counter(plan({2049}), "tile_chunks") == 4);
  const Lengths many(140, 4097);
  CHECK(counter(plan(many), "tile_chunks") == 32);
  CHECK(counter(plan(many), "tiles.continued") == 0);
  CHECK(counter(plan({8193}), "tile_chunks") == 8);  // no tile has room for it
  CHECK(counter(plan({8193}), "tiles.continued") == 4);
  // Whatever lies between rows: gaps take chunks of the tile, too.
  std::mt19937_64 rng(3);
  for (int i = 0; i < 30; ++i) {
    Lengths lengths;
    for (int r = 0; r < 60; ++r) {
      lengths.push_back(static_cast<std::uint32_t>(rng() % (i % 2 == 0 ? 8193 : 600)));
      if (rng() % 2 == 0) lengths.resize(lengths.size() + rng() % 15000);
    }
    const Container c = container_of(rows_of<double>(lengths, 8192, 0), {{"bitflag.tile", "32"}});
    CHECK(continued(c) == 0);
  }
}

TEST_CASE("empty rows: a chunk has up to 2,048 rows of its own, and others none of the bytes") {
  const auto chunks = [](const Lengths& lengths) {
    return infos(round_trip(rows_of<double>(lengths, 300, 3), {{"bitflag.tile", "1"}}));
  };
  for (const std::uint32_t gap : {1U, 254U, 255U, 256U, 257U, 2046U, 2047U, 2048U, 2049U, 4095U, 4096U, 10000U}) {
    INFO(gap << " empty rows");
    // First: they are the first chunk's own, as far as they have room there.
    Lengths first(gap);
    first.push_back(3);
    const std::vector<Info> start = chunks(first);
    CHECK(start.size() == 1 + gap / 2048);
    for (std::size_t i = 0; i + 1 < start.size(); ++i) CHECK(start[i].bits == 0);
    CHECK(start.back().row_bytes() == (gap % 2048 == 0 ? 0 : gap % 2048 <= 255 ? 1 : 2));
    // In between: row 0 is of the first chunk, and the row after the gap if the gap has at most 2,046.
    Lengths middle{2};
    middle.resize(1 + gap);
    middle.push_back(3);
    const std::vector<Info> both = chunks(middle);
    CHECK(both.size() == (gap <= 2046 ? 1 : 2 + gap / 2048));
    CHECK(both.front().starts() == (gap <= 2046 ? 2 : 1));
    // Last.
    Lengths last{2};
    last.resize(1 + gap);
    CHECK(chunks(last).size() == 1 + (gap + 2047) / 2048);
    CHECK(chunks(Lengths(gap)).size() == (gap + 2047) / 2048);
  }
}

TEST_CASE("the offsets of a continuing chunk count from the row that it continues") {
  // Row 0 ends in the second chunk; 255 and 256 rows further the next one starts.
  for (const std::uint32_t gap : {254U, 255U}) {
    Lengths lengths{260};
    lengths.resize(1 + gap);
    lengths.push_back(3);
    const std::vector<Info> all = infos(round_trip(rows_of<double>(lengths, 300, 3), {{"bitflag.tile", "1"}}));
    REQUIRE(all.size() == 2);
    CHECK(all[1].continues());
    CHECK(all[1].row_bytes() == (gap == 254 ? 1 : 2));
  }
  // Its own rows are at most 2,048, so that the last is 2,048 rows further.
  Lengths lengths{260};
  lengths.resize(2048);
  lengths.push_back(3);
  const std::vector<Info> all = infos(round_trip(rows_of<double>(lengths, 300, 3), {{"bitflag.tile", "1"}}));
  REQUIRE(all.size() == 2);
  CHECK(all[1].starts() == 1);
}

TEST_CASE("columns take as many bytes as their chunk's span needs") {
  const auto bytes = [](std::uint32_t first, std::uint32_t last) {
    const CsrMatrix a = make_csr(1, 20000000, {{{0, first}, 1.0}, {{0, last}, 2.0}});
    const Container c = round_trip(a, {{"bitflag.tile", "1"}});
    CHECK(elements<std::uint32_t>(c, "chunks")[1] == first);
    return infos(c).at(0).column_bytes();
  };
  CHECK(bytes(70000, 70255) == 1);
  CHECK(bytes(70000, 70256) == 2);
  CHECK(bytes(1, 65536) == 2);
  CHECK(bytes(1, 65537) == 3);
  CHECK(bytes(1, 1 << 24) == 3);
  CHECK(bytes(1, (1 << 24) + 1) == 4);
}

TEST_CASE("columns just below 2^32 - 1, and hot ones up to 2^31 columns") {
  constexpr std::uint64_t cols = 0xFFFFFFFE;
  const CsrMatrix a = make_csr(2, cols, {{{0, 0}, 1.0}, {{0, cols - 1}, 2.0}, {{1, cols - 1}, 3.0}});
  CHECK(infos(round_trip(a, {{"bitflag.tile", "1"}})).at(0).column_bytes() == 4);
  // A word's highest bit says that it is hot: none are with so many columns, even if they are asked for.
  CHECK(counter(plan_of(a, "bitflag", {.settings = {{"bitflag.hot", "3"}}}), "hot.columns") == 0);
  // Of 3 bytes, which hold 2^23 columns beside it.
  for (const std::uint32_t last : {(1U << 23U) - 1, 1U << 23U}) {
    const CsrMatrix some = make_csr(2, last + 1, {{{0, 0}, 1.0}, {{0, last}, 2.0}, {{1, last}, 3.0}});
    const Container c = round_trip(some, {{"bitflag.tile", "1"}, {"bitflag.hot", "1"}});
    CHECK(elements<std::uint32_t>(c, "hot") == U32{last});
    CHECK(infos(c).at(0).column_bytes() == (last < 1U << 23U ? 3 : 4));
  }
}

TEST_CASE("empty parts, and of one column or row") {
  for (const auto& [rows, cols] : {std::pair{0U, 0U}, {0U, 3U}, {3U, 0U}, {3U, 3U}}) {
    const Container c = round_trip(make_csr(rows, cols, {}), {{"bitflag.tile", "8"}});
    CHECK(infos(c).size() == (rows == 0 ? 0 : 8));
    CHECK(elements<std::uint8_t>(c, "stream").empty());
  }
  CHECK(entries_of(round_trip(rows_of<double>(Lengths(600, 1), 1, 3), {{"bitflag.tile", "1"}})) == U32{256, 256, 88});
  const Container dense = round_trip(rows_of<double>({3000}, 3000, 3), {{"bitflag.tile", "2"}});
  CHECK(entries_of(dense).size() == 12);
  CHECK(continued(dense) == 5);
  CHECK(std::ranges::all_of(infos(dense), [](Info i) { return i.row_bytes() == 0 && i.column_bytes() == 1; }));
}

namespace {

/// One row of these values.
CsrMatrix row_of_values(const F64& values) {
  CsrMatrix a = rows_of<double>({static_cast<std::uint32_t>(values.size())}, values.size(), 0);
  std::ranges::copy(values, std::get<Array<double>>(a.values).begin());
  return a;
}
/// first, first + 1, ... below end.
F64 numbers(std::uint32_t first, std::uint32_t end) {
  F64 values(end - first);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

TEST_CASE("windows move on with the values that chunks use first, and repeat those that they have left behind") {
  const Settings settings{{"bitflag.values", "window"}, {"bitflag.tile", "1"}};
  const auto windows = [&](const F64& values) {
    const Container c = round_trip(row_of_values(values), settings);
    std::vector<std::uint32_t> all;
    for (const Info info : infos(c)) all.push_back(info.window());
    return std::pair{elements<double>(c, "values"), all};
  };
  for (const std::uint32_t n : {1U, 255U, 256U, 65535U, 65536U, 65537U, 69632U, 69633U}) {
    INFO(n << " values");
    const auto [values, begins] = windows(numbers(0, n));
    CHECK(values == numbers(0, n));
    CHECK(begins.back() == (n <= 65536 ? 0 : n <= 69632 ? 1 : 2));
    CHECK(begins.front() == 0);
  }
  // 65,536 values and all of them again: one window. Of 256 more, the first that come again are appended again.
  F64 twice = numbers(0, 65536);
  twice.insert(twice.end(), twice.begin(), twice.end());
  CHECK(windows(twice).first == numbers(0, 65536));
  F64 left = numbers(0, 65536 + 256);
  const F64 again{4096, 4095, 4095, 0, 65535, 4095};
  left.insert(left.end(), again.begin(), again.end());
  const auto [values, begins] = windows(left);
  CHECK(values.size() == 65536 + 256 + 2);
  CHECK(values[65536 + 256] == 4095);
  CHECK(values[65536 + 257] == 0);
  CHECK(begins.back() == 1);
  // A chunk of values that the window has, but would leave behind for a new one.
  F64 late = numbers(0, 65536);
  for (std::uint32_t i = 0; i < 255; ++i) late.push_back(i);
  late.push_back(1e6);
  CHECK(windows(late).first.size() == 65536 + 256);
  CHECK(windows(late).second.back() == 1);
}

TEST_CASE("windows begin at most 511 * 4096 values after the first") {
  constexpr std::uint32_t most = 511 * 4096 + 65536;
  const Settings settings{{"bitflag.values", "window"}};
  const Container c = container_of(row_of_values(numbers(0, most)), settings);
  CHECK(layouts::bitflag::values_of(c.parts()[0]) == most);
  CHECK(equal_bits(unpack(c), row_of_values(numbers(0, most))));
  CHECK(plan_refusal(row_of_values(numbers(0, most + 1)), "bitflag", settings, errc::unsupported) ==
        "bitflag: bitflag.values is window, but the values do not repeat like that; use bitflag.values=raw, or auto");
}

TEST_CASE("decimals: any 32-bit integer but the least over 10^0 to 10^22, and no other bits") {
  const Settings settings{{"bitflag.values", "decimal"}, {"bitflag.tile", "1"}};
  const auto info = [&](const F64& values) { return infos(round_trip(row_of_values(values), settings)).at(0); };
  const auto possible = [&](const F64& values) {
    return plan_refusal(row_of_values(values), "bitflag", settings, errc::unsupported).empty();
  };
  for (const double v :
       {0.0, 1.0, -2147483647.0, 2147483647.0, 0.1, -1e-22, 2.147483647e-13, 214748364.7, 123456.789}) {
    INFO(v);
    CHECK(info({v}).exponent_bits() == 0);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double v : {-0.0, nan, -nan, infinity, -infinity, 2147483648.0, -2147483648.0, 1e-23, 0.1 + 0.2, 1.0 / 3,
                         std::nextafter(0.1, 1), 5e-324, 2.147483648e-13, 1e300}) {
    INFO(v);
    CHECK_FALSE(possible({v}));
    CHECK_FALSE(possible({1.0, v, 0.5}));
  }
  // As the text is read.
  std::mt19937_64 rng(9);
  for (int i = 0; i < 2000; ++i) {
    const auto integer = static_cast<std::int64_t>(rng() % 4294967295) - 2147483647;
    INFO(integer);
    CHECK(possible({std::stod(std::to_string(integer) + "e-" + std::to_string(rng() % 23))}));
  }
  // One exponent if all integers have room for it; as few bits as the exponents differ, if need be with zeros.
  CHECK(info({1, 0.5, 0.25}).exponent() == 2);
  CHECK(info({1, 0.5, 0.25}).exponent_bits() == 0);
  CHECK(info({2e9, 0.5}).exponent() == 0);
  CHECK(info({2e9, 0.5}).exponent_bits() == 4);
  CHECK(info({2e9, 1e-15}).exponent_bits() == 4);
  CHECK(info({2e9, 1e-16}).exponent_bits() == 8);
  CHECK(info({2e8, 1e-16}).exponent_bits() == 4);
  CHECK(info({2e8, 1e-16}).exponent() == 1);
  CHECK(info({2e8, 1e-17}).exponent_bits() == 8);
  CHECK(info({2147483647, 1e-22}).exponent_bits() == 8);
  // Of f32, none; of nothing, any.
  CHECK(plan_refusal(make_csr<float>(1, 1, {{{0, 0}, 1.0}}), "bitflag", settings, errc::unsupported) ==
        "bitflag: bitflag.values is decimal, but a value is no f64 that is an integer of 32 bits over a power of ten; "
        "use bitflag.values=raw, or auto");
  round_trip(make_csr(2, 2, {}), settings);
}

TEST_CASE("auto takes windows and decimals only if bytes alone count, and those of fewest bytes") {
  const encoder::Aim bytes_alone{.optimize = encoder::Objective::bytes};
  const auto source = [](const CsrMatrix& a, const encoder::Aim& aim, const Settings& settings = {}) {
    const encoder::PartPlan plan = plan_of(a, "bitflag", {.settings = settings, .aim = aim});
    std::map<std::string, std::uint64_t> bytes;
    for (const char* const values : {"raw", "table", "window", "decimal"}) {
      Settings with = settings;
      with["bitflag.values"] = values;
      if (suits(a, {"bitflag", with})) bytes[values] = plan_of(a, "bitflag", {.settings = with}).device_bytes();
    }
    // The bytes are those of the source if it is asked for, and no other takes fewer.
    const auto chosen = source_of(plan.info);
    const std::string name(layouts::bitflag::source_names.at(static_cast<std::size_t>(chosen)));
    CHECK(bytes.at(name) == plan.device_bytes());
    if (aim.optimize == encoder::Objective::bytes)
      for (const auto& [other, count] : bytes) CHECK(plan.device_bytes() <= count);
    return chosen;
  };
  const Lengths lengths(400, 100);
  // 300 values: ids of two bytes. All different, of nine digits: decimals. Of 17 digits: raw.
  for (const Settings& settings : {Settings{}, {{"bitflag.segments", "3"}}, {{"bitflag.hot", "50"}}}) {
    CHECK(source(rows_of<double>(lengths, 500, 2), bytes_alone, settings) == Source::window);
    CHECK(source(rows_of<float>(lengths, 500, 2), bytes_alone, settings) == Source::window);
    CHECK(source(rows_of<double>(lengths, 500, 5), bytes_alone, settings) == Source::decimal);
    CHECK(source(rows_of<double>(lengths, 500, 6), bytes_alone, settings) == Source::decimal);
    CHECK(source(rows_of<float>(lengths, 500, 5), bytes_alone, settings) == Source::raw);
    CHECK(source(rows_of<double>(lengths, 500, 3), bytes_alone, settings) == Source::raw);
    CHECK(source(rows_of<double>(lengths, 500, 1), bytes_alone, settings) == Source::table);
    for (const int values : {2, 3, 5, 6})
      CHECK(source(rows_of<double>(lengths, 500, values), {}, settings) == Source::raw);
  }
  // Few values, whose table takes more than decimals do; what is asked for is taken.
  const CsrMatrix few = row_of_values({1.5, 2.5, 3.5, 4.5});
  CHECK(source(row_of_values(numbers(0, 200)), {}) == Source::raw);
  CHECK(source(row_of_values(numbers(0, 200)), bytes_alone) == Source::decimal);
  CHECK(source_of(plan_of(few, "bitflag", {.settings = {{"bitflag.values", "raw"}}, .aim = bytes_alone}).info) ==
        Source::raw);
  CHECK(source_of(plan_of(rows_of<double>(lengths, 500, 0), "bitflag", {.aim = bytes_alone}).info) == Source::single);
}

TEST_CASE("auto takes the source of the fewest bytes") {
  const auto source = [](const CsrMatrix& a) {
    const Container c = round_trip(a, {});
    return source_of(c.parts()[0]);
  };
  const auto distinct = [](std::uint32_t n) {
    CsrMatrix a = rows_of<double>(Lengths(100, 40), 1000, 0);
    std::iota(std::get<Array<double>>(a.values).begin(), std::get<Array<double>>(a.values).end(), 0);
    for (double& v : std::get<Array<double>>(a.values)) v = std::fmod(v, n) + 0.5;
    return a;
  };
  CHECK(source(distinct(1)) == Source::single);
  CHECK(source(distinct(2)) == Source::table);
  CHECK(source(distinct(256)) == Source::table);
  CHECK(source(distinct(257)) == Source::raw);
  CHECK(source(make_csr(1, 2, {{{0, 0}, 1.0}, {{0, 1}, 2.0}})) == Source::raw);  // 16 bytes, or 16 and two ids
  CHECK(source(make_csr(2, 2, {})) == Source::raw);
}

TEST_CASE("hot columns are those with most entries, of equals the first") {
  // Column j has as many entries as its row says: 0 1 2 2 2 3.
  const CsrMatrix a = make_csr(3, 6,
                               {{{0, 1}, 1.0},
                                {{0, 2}, 1.0},
                                {{0, 3}, 1.0},
                                {{0, 4}, 1.0},
                                {{0, 5}, 1.0},
                                {{1, 2}, 1.0},
                                {{1, 3}, 1.0},
                                {{1, 4}, 1.0},
                                {{1, 5}, 1.0},
                                {{2, 5}, 1.0}});
  const auto hot = [&](const char* count) {
    return elements<std::uint32_t>(round_trip(a, {{"bitflag.hot", count}}), "hot");
  };
  CHECK(hot("0").empty());
  CHECK(hot("1") == U32{5});
  CHECK(hot("3") == U32{2, 3, 5});
  CHECK(hot("4") == U32{2, 3, 4, 5});
  CHECK(hot("6") == U32{1, 2, 3, 4, 5});  // none without entries
  CHECK(hot("32768") == U32{1, 2, 3, 4, 5});
  CHECK(hot("auto").empty());
  CHECK(counter(plan_of(a, "bitflag", {.settings = {{"bitflag.hot", "3"}}}), "hot.entries") == 7);
}

TEST_CASE("auto has hot columns where their entries are many, and worth wider columns elsewhere") {
  // Rows of columns so many apart, from a place that is a power of a random number; by place, or in any order.
  const auto hot = []<class T>(T, std::uint32_t rows, std::uint32_t cols, std::uint32_t length, std::uint32_t stride,
                               double power, bool sorted, const encoder::Aim& aim = {}) {
    std::mt19937_64 rng(3);
    std::vector<double> places(rows);
    for (double& place : places) place = std::pow(static_cast<double>(rng() >> 11U) * 0x1p-53, power);
    if (sorted) std::sort(places.begin(), places.end());
    CsrMatrix a = allocate_csr(rows, cols, std::uint64_t{rows} * length, value_type_of<T>);
    a.row_ptr[0] = 0;
    for (std::uint32_t r = 0; r < rows; ++r) {
      const auto first = static_cast<std::uint32_t>(places[r] * (cols - (length - 1) * stride));
      for (std::uint32_t k = 0; k < length; ++k) a.col_idx[std::uint64_t{r} * length + k] = first + k * stride;
      a.row_ptr[r + 1] = std::uint64_t{r + 1} * length;
    }
    auto& values = std::get<Array<T>>(a.values);
    std::fill(values.data(), values.data() + values.size(), T{1});
    return counter(plan_of(a, "bitflag", {.aim = aim}), "hot.columns");
  };
  // Half of the entries in 6 % of the columns; of f32, in 12 %, more.
  CHECK(hot(double{}, 120000, 200000, 20, 10000, 4, false) == 12288);
  CHECK(hot(float{}, 120000, 200000, 20, 10000, 4, false) == 24576);
  CHECK(hot(double{}, 120000, 200000, 20, 10000, 4, false, {encoder::Objective::time, encoder::Target::host}) == 0);
  CHECK(hot(double{}, 120000, 200000, 20, 10000, 4, false, {encoder::Objective::bytes, encoder::Target::gpu}) == 0);
  CHECK(hot(double{}, 100000, 200000, 20, 10000, 4, false) == 0);  // less than 2^21 entries
  CHECK(hot(double{}, 120000, 200000, 20, 10000, 1, false) == 0);  // columns alike
  // 20 %: more than an eighth, where columns take two bytes without; less than a fourth, where they take one.
  CHECK(hot(double{}, 130000, 60000, 32, 400, 1, false) == 12288);
  CHECK(hot(double{}, 130000, 60000, 32, 1, 1, true) == 0);
}

TEST_CASE("auto cuts wide matrices of long rows into segments, unless hot columns are asked for") {
  const CsrMatrix a = rows_of<double>(Lengths(270, 8000), 80000, 0);
  const auto segments = [&](const Settings& settings) {
    return counter(plan_of(a, "bitflag", {.settings = settings}), "segments");
  };
  CHECK(segments({}) > 4);
  CHECK(segments({{"bitflag.segments", "1"}}) == 1);
  CHECK(segments({{"bitflag.hot", "5"}}) == 1);
  CHECK(segments({{"bitflag.hot", "0"}}) > 4);
  CHECK(counter(plan_of(rows_of<double>(Lengths(270, 7000), 80000, 0), "bitflag"), "segments") == 32);
  CHECK(counter(plan_of(rows_of<double>(Lengths(74, 7000), 80000, 0), "bitflag"), "segments") == 1);   // few entries
  CHECK(counter(plan_of(rows_of<double>(Lengths(300000, 8), 80000, 0), "bitflag"), "segments") == 1);  // short rows
}

TEST_CASE("values that are no numbers, signed zeros and denormals keep their bits, in every source") {
  std::mt19937_64 rng(5);
  for (int i = 0; i < 40; ++i) {
    CsrMatrix one = rows_of<double>({3, 0, 9}, 20, 0);
    auto& values = std::get<Array<double>>(one.values);
    std::fill(values.begin(), values.end(), random_value<double>(rng, 4));
    CHECK(source_of(round_trip(one, {}).parts()[0]) == Source::single);
    round_trip(one, {{"bitflag.values", "table"}});
    round_trip(one, {{"bitflag.values", "raw"}});
    round_trip(one, {{"bitflag.values", "window"}});
  }
  // -0 and 0 are two values, as are NaNs with different payloads.
  CsrMatrix zeros = rows_of<double>({2}, 20, 0);
  std::get<Array<double>>(zeros.values)[0] = -0.0;
  std::get<Array<double>>(zeros.values)[1] = 0.0;
  CHECK(elements<double>(round_trip(zeros, {{"bitflag.values", "table"}}), "values").size() == 2);
  CHECK(elements<double>(round_trip(zeros, {{"bitflag.values", "window"}}), "values").size() == 2);
}

TEST_CASE("settings of bitflag out of range, and values that do not repeat, are refused") {
  const CsrMatrix a = worked_example();
  const auto usage = [&](const char* name, const char* value) {
    return plan_refusal(a, "bitflag", {{name, value}}, errc::usage);
  };
  CHECK(usage("bitflag.tile", "0") == "bitflag.tile is '0'; use auto or a number from 1 to 32");
  CHECK(usage("bitflag.tile", "33") == "bitflag.tile is '33'; use auto or a number from 1 to 32");
  CHECK(usage("bitflag.hot", "32769") == "bitflag.hot is '32769'; use auto or a number from 0 to 32768");
  CHECK(usage("bitflag.hot", "all") == "bitflag.hot is 'all'; use auto or a number from 0 to 32768");
  CHECK(usage("bitflag.segments", "0") == "bitflag.segments is '0'; use auto or a number from 1 to 4294967295");
  CHECK(plan_refusal(a, "bitflag", {{"bitflag.segments", "2"}, {"bitflag.hot", "1"}}, errc::usage) ==
        "bitflag.hot is 1 and bitflag.segments 2: segments have no hot columns; leave out one of them");
  CHECK(usage("bitflag.values", "lut") == "bitflag.values is 'lut'; use auto, raw, table, single, window or decimal");
  for (const char* const name : {"bitflag.tile", "bitflag.hot", "bitflag.segments", "bitflag.values"})
    CHECK(usage(name, "auto").empty());
  const auto unsupported = [](const CsrMatrix& m, const char* values) {
    return plan_refusal(m, "bitflag", {{"bitflag.values", values}}, errc::unsupported);
  };
  CHECK(unsupported(a, "single") ==
        "bitflag: bitflag.values is single, but the values do not repeat like that; use bitflag.values=raw, or auto");
  CHECK(unsupported(a, "table").empty());
  CHECK(unsupported(rows_of<double>({300}, 400, 3), "table") ==
        "bitflag: bitflag.values is table, but the values do not repeat like that; use bitflag.values=raw, or auto");
  CHECK_FALSE(unsupported(make_csr(2, 2, {}), "table").empty());  // there is no value
  CHECK_FALSE(unsupported(make_csr(2, 2, {}), "window").empty());
  const auto segments = [](const CsrMatrix& m, const char* count) {
    return plan_refusal(m, "bitflag", {{"bitflag.segments", count}}, errc::unsupported);
  };
  CHECK(segments(a, "4") ==
        "bitflag: bitflag.segments is 4, the part has 4 rows and 5 columns; use another number, of segments of 1 to "
        "65536 columns, whose rows are at most 2^24 in all or the nonzeros; or auto");
  for (const char* const count : {"2", "3", "5"}) CHECK(segments(a, count).empty());
  CHECK_FALSE(segments(a, "6").empty());
  CHECK(segments(make_csr(1, 65536 * 3, {}), "3").empty());
  CHECK_FALSE(segments(make_csr(1, 65536 * 3 + 1, {}), "3").empty());
  CHECK(segments(make_csr(1U << 16U, 256, {}), "256").empty());
  CHECK_FALSE(segments(make_csr(1U << 16U, 257, {}), "257").empty());
}

TEST_CASE("bitflag whose bytes lie is refused, and the place named") {
  for (const BitflagLie& lie : bitflag_lies()) {
    INFO(lie.name);
    std::string message;
    try {
      const LoadedPart part = open(lie.file).load_part(0);
    } catch (const Error& e) {
      message = e.code() == errc::corrupt ? e.message() : "not corrupt: " + e.message();
    }
    CHECK(message == lie.host);
  }
}

TEST_CASE("whatever byte of bitflag is flipped, it is refused or read within bounds", "[sequential]") {
  std::mt19937_64 rng(11);
  std::size_t refused = 0;
  for (const Settings& settings : {Settings{{"bitflag.values", "raw"}, {"bitflag.tile", "2"}},
                                   Settings{{"bitflag.values", "table"}, {"bitflag.hot", "20"}, {"bitflag.tile", "3"}},
                                   Settings{{"bitflag.segments", "3"}, {"bitflag.tile", "2"}},
                                   Settings{{"bitflag.values", "window"}, {"bitflag.tile", "3"}},
                                   Settings{{"bitflag.values", "decimal"}, {"bitflag.tile", "2"}},
                                   Settings{{"bitflag.values", "table"}, {"bitflag.tile", "1"}}}) {
    const bool decimal = settings.contains("bitflag.values") && settings.at("bitflag.values") == "decimal";
    const CsrMatrix a = rows_of<double>({3, 0, 0, 700, 9, 0, 1, 1, 30, 1500, 2, 0}, 2000, decimal ? 6 : 1);
    const std::vector<std::byte> good = encode(a, "bitflag", settings).bytes;
    for (int i = 0; i < 400; ++i) {
      const auto bad = edited(good, [&](ContainerSource& source) {
        SectionSource& s = source.parts[0].sections.at(rng() % 5);
        if (i % 8 == 0)
          source.parts[0].info.params.at(rng() % layouts::bitflag::parameters.size()) ^= std::uint64_t{1} << rng() % 64;
        std::vector<std::byte> bytes(s.raw_bytes());
        if (bytes.empty()) return;
        s.fill(0, bytes);
        for (std::uint64_t flips = 1 + rng() % 3; flips != 0; --flips)
          bytes[rng() % bytes.size()] ^= static_cast<std::byte>(1U << rng() % 8);
        s = section_of_bytes(s.name, s.element_type, s.flags, s.alignment, std::move(bytes));
      });
      try {
        const Container c = open(bad);
        const auto host = host_loader::HostMatrix::load(c);
        std::vector<double> x(2000, 1), y(12);
        host.multiply<double>(1, x, 0, y, 1);
        unpack(c);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 1200);
}

}  // namespace spmvpack::test
