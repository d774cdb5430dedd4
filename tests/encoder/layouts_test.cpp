// Every layout: plan, fill, check, unpack, bit for bit.

#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/container/layouts/csr.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

void require_round_trip(const CsrMatrix& a, const std::string& layout, const Settings& settings = {},
                        format::Codec codec = format::Codec::none) {
  if (!suits(a, layout)) return;
  const Encoded file = encode(a, layout, settings, codec);
  const Container container = open(file.bytes);
  if (codec == format::Codec::none) REQUIRE(file.bytes.size() == file.predicted_bytes);
  REQUIRE(container.device_bytes() == file.device_bytes);
  for (const int threads : {1, 3}) {
    LoadOptions options;
    options.threads = threads;
    const CsrMatrix back = unpack(container, options);
    REQUIRE_NOTHROW(back.view().check());
    REQUIRE(equal_bits(a, back));
  }
}

template <class T>
void all_matrices(const std::vector<std::string>& layouts, const Settings& settings, int values) {
  for (const NamedMatrix& m : random_matrices<T>(17, values))
    for (const std::string& layout : layouts) {
      INFO(layout << ", " << m.name << ", values " << values);
      require_round_trip(m.matrix, layout, settings);
    }
}

/// A row of `n` entries with columns 0, step, 2 step, ... and different values.
Entries row_of(std::uint32_t row, std::uint32_t n, std::uint32_t step = 1, std::uint32_t first = 0) {
  Entries entries;
  for (std::uint32_t i = 0; i < n; ++i) entries[{row, first + i * step}] = 1.5 + i;
  return entries;
}

std::vector<std::byte> section(const Container& c, std::string_view name) {
  for (std::size_t i = 0; i < c.sections().size(); ++i)
    if (c.sections()[i].name == name) {
      const auto bytes = c.read_section(i);
      return {bytes.begin(), bytes.end()};
    }
  return {};
}

template <class T>
std::vector<T> elements(const Container& c, std::string_view name) {
  const auto bytes = section(c, name);
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// An f32 matrix whose columns and values are address space without memory: a plan of csr or coo reads none of them
/// before it is asked to fill.
class RowsOnly {
 public:
  explicit RowsOnly(std::vector<std::uint64_t> row_ptr)
      : row_ptr_(std::move(row_ptr)),
        nothing_(::mmap(nullptr, bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(nothing_ != MAP_FAILED);
  }
  RowsOnly(const RowsOnly&) = delete;
  RowsOnly& operator=(const RowsOnly&) = delete;
  ~RowsOnly() { ::munmap(nothing_, bytes()); }

  [[nodiscard]] CsrView view() const {
    const std::uint64_t nnz = row_ptr_.back();
    return {row_ptr_.size() - 1, nnz, std::span<const std::uint64_t>(row_ptr_),
            std::span(static_cast<const std::uint32_t*>(nothing_), nnz),
            std::span(static_cast<const float*>(nothing_), nnz)};
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return row_ptr_.back() * 4; }

  std::vector<std::uint64_t> row_ptr_;
  void* nothing_;
};

/// Checks a ccoo part of one chunk with ids into a table of two (B = 8, K = `slots`), whose first row is `row_base`.
/// Returns the message, empty where all is well.
std::string check_chunk(std::uint64_t rows, std::uint32_t row_base, bool one_row, std::uint32_t slots,
                        const std::vector<std::uint8_t>& blob, std::uint64_t nnz) {
  PartInfo info;
  info.layout = "ccoo";
  info.rows.count = rows;
  info.cols.count = 256;
  info.params[layouts::ccoo::param_lanes] = 8;
  info.params[layouts::ccoo::param_slots] = slots;
  info.counts = {1, 1, 1, 1, blob.size(), 2};
  info.nnz = nnz;
  const std::array<std::uint8_t, 1> encoding{layouts::ccoo::make_encoding(one_row, 0, true, 1, false).bits};
  const std::array<std::uint32_t, 1> row{row_base}, col{0};
  const std::array<std::uint64_t, 1> offset{0};
  const std::array<double, 2> lut{5, 7};
  const auto as_section = [](std::string_view name, const auto& array) {
    using T = typename std::decay_t<decltype(array)>::value_type;
    return PartView::Section{name, element_type_of<T>(), std::as_bytes(std::span(array))};
  };
  const PartView part(info,
                      {as_section("encoding", encoding), as_section("row_base", row), as_section("col_base", col),
                       as_section("blob_offset", offset), as_section("blob", blob), as_section("lut", lut)},
                      "part 0");
  try {
    check_shape(part);
    layouts::ccoo::layout.check(part, 1);
  } catch (const Error& e) {
    CHECK(e.code() == errc::corrupt);
    return e.message();
  }
  return {};
}

/// The same for one row with these columns, the last repeated to the chunk's end.
std::string check_one_row(std::uint32_t slots, std::vector<std::uint8_t> blob) {
  blob.resize(8U * slots, blob.back());
  std::uint64_t nnz = 0;
  for (std::size_t i = 0; i < 8U * slots; ++i) {
    const bool entry = i == 0 || blob[i] != blob[i - 1];
    blob.push_back(entry ? 1 : 0);  // its value's id
    nnz += entry ? 1 : 0;
  }
  return check_chunk(1, 0, true, slots, blob, nnz);
}

}  // namespace

TEST_CASE("every layout gives back random matrices bit for bit") {
  for (const int values : {0, 1, 2, 3, 4}) {
    DYNAMIC_SECTION("values " << values << ", f64") { all_matrices<double>(layout_names(), {}, values); }
    DYNAMIC_SECTION("values " << values << ", f32") { all_matrices<float>(layout_names(), {}, values); }
  }
}

TEST_CASE("ccoo gives back random matrices for every K and B") {
  for (const char* const k : {"1", "2", "4", "8"})
    for (const char* const b : {"256", "64", "8"}) DYNAMIC_SECTION("K " << k << ", B " << b) {
        all_matrices<double>({"ccoo"}, {{"ccoo.k", k}, {"ccoo.b", b}}, 2);
        all_matrices<float>({"ccoo"}, {{"ccoo.k", k}, {"ccoo.b", b}}, 4);
        all_matrices<double>({"ccoo"}, {{"ccoo.k", k}, {"ccoo.b", b}}, 0);  // one value, which chunks do not store
      }
}

TEST_CASE("every layout survives zstd with whatever filter it chooses", "[sequential]") {
  for (const int values : {1, 3})
    for (const NamedMatrix& m : random_matrices<double>(5, values))
      for (const std::string& layout : layout_names()) {
        INFO(layout << ", " << m.name);
        require_round_trip(m.matrix, layout, {}, format::Codec::zstd);
      }
}

TEST_CASE("ccoo at the sizes where a chunk ends") {
  constexpr std::uint32_t b = 256;
  for (const std::uint32_t k : {1U, 2U, 4U, 8U}) {
    const Settings settings{{"ccoo.k", std::to_string(k)}};
    for (const std::uint32_t n :
         {0U, 1U, k - 1, k, k + 1, 32 * k - 1, 32 * k, 32 * k + 1, b * k - 1, b * k, b * k + 1, 2 * b * k}) {
      INFO("K " << k << ", " << n << " nonzeros");
      require_round_trip(make_csr(1, 5000, row_of(0, n)), "ccoo", settings);
      Entries spread;  // one entry a row
      for (std::uint32_t i = 0; i < n; ++i) spread[{i, i % 7}] = i;
      require_round_trip(make_csr(5000, 7, spread), "ccoo", settings);
    }
  }
}

TEST_CASE("ccoo at the column spans where the width changes") {
  const auto width_of = [](std::uint32_t span) {
    Entries entries = row_of(0, 2, span);
    const CsrMatrix a = make_csr(1, 70000, entries);
    require_round_trip(a, "ccoo");
    const auto encoding = elements<std::uint8_t>(open(encode(a, "ccoo").bytes), "encoding");
    REQUIRE(encoding.size() == 1);
    return layouts::ccoo::Encoding{encoding[0]}.column_bytes();
  };
  CHECK(width_of(254) == 1);
  CHECK(width_of(255) == 1);
  CHECK(width_of(256) == 2);
  CHECK(width_of(257) == 2);
  CHECK(width_of(65534) == 2);
  CHECK(width_of(65535) == 2);
  CHECK(width_of(65536) == 4);
  CHECK(width_of(65537) == 4);
}

TEST_CASE("ccoo finds every row behind any number of empty ones") {
  for (const std::uint32_t ahead : {0U, 1U, 2U, 63U, 1000U})
    for (const std::uint32_t behind : {1U, 2U, 3U, 200U}) {
      Entries entries;
      std::uint32_t row = ahead;
      for (std::uint32_t gap = 1; gap < 70; row += gap++) entries[{row, gap}] = gap;
      require_round_trip(make_csr(row + behind, 70, entries), "ccoo");
    }
}

TEST_CASE("ccoo cuts a chunk where rows are more than 255 apart") {
  const auto chunks_of = [](std::uint32_t apart) {
    const CsrMatrix a = make_csr(1000, 10, {{{3, 1}, 1.0}, {{3 + apart, 2}, 2.0}});
    require_round_trip(a, "ccoo");
    return layouts::ccoo::chunks_of(open(encode(a, "ccoo").bytes).parts()[0]);
  };
  CHECK(chunks_of(254) == 1);
  CHECK(chunks_of(255) == 1);
  CHECK(chunks_of(256) == 2);
  CHECK(chunks_of(257) == 2);
}

TEST_CASE("a chunk of ccoo, worked by hand in the style of figure 2 (B = 8, K = 1)") {
  // Eight entries of rows 4 to 6, three distinct values: 2.0 three times, -1.0 three times, 0.5 twice.
  const CsrMatrix a = make_csr(10, 300,
                               {{{4, 100}, 2.0},
                                {{4, 101}, -1.0},
                                {{5, 100}, -1.0},
                                {{5, 101}, 2.0},
                                {{5, 102}, 0.5},
                                {{6, 101}, -1.0},
                                {{6, 102}, 2.0},
                                {{6, 110}, 0.5}});
  const Container c = open(encode(a, "ccoo", {{"ccoo.b", "8"}, {"ccoo.k", "1"}}).bytes);
  // A table of three values and eight ids, 24 + 8 bytes, is less than eight values, 64.
  CHECK(elements<std::uint8_t>(c, "encoding") == std::vector<std::uint8_t>{0b0000'1000});
  CHECK(elements<std::uint32_t>(c, "row_base") == std::vector<std::uint32_t>{4});
  CHECK(elements<std::uint32_t>(c, "col_base") == std::vector<std::uint32_t>{100});
  CHECK(elements<std::uint64_t>(c, "blob_offset") == std::vector<std::uint64_t>{0});
  // As frequent as each other, 2.0 (0x4000...) comes before -1.0 (0xBFF0...): smaller bits first.
  CHECK(elements<double>(c, "lut") == std::vector<double>{2.0, -1.0, 0.5});
  CHECK(elements<std::uint8_t>(c, "blob") == std::vector<std::uint8_t>{0, 0, 1, 1, 1, 2, 2, 2,    // row - 4
                                                                       0, 1, 0, 1, 2, 1, 2, 10,   // column - 100
                                                                       0, 1, 1, 0, 2, 1, 0, 2});  // value id
}

TEST_CASE("the worked example of docs/LAYOUTS.md") {
  const CsrMatrix a = make_csr(
      4, 5,
      {{{0, 0}, 2.0}, {{0, 1}, -1.0}, {{1, 0}, -1.0}, {{1, 1}, 2.0}, {{1, 4}, 0.5}, {{3, 3}, 2.0}, {{3, 4}, -1.0}});
  using U8 = std::vector<std::uint8_t>;
  using U32 = std::vector<std::uint32_t>;
  using F64 = std::vector<double>;
  const F64 values{2, -1, -1, 2, .5, 2, -1};
  const Container csr = open(encode(a, "csr").bytes);
  CHECK(elements<std::uint32_t>(csr, "row_ptr") == U32{0, 2, 5, 5, 7});
  CHECK(elements<std::uint32_t>(csr, "col_idx") == U32{0, 1, 0, 1, 4, 3, 4});
  CHECK(elements<double>(csr, "values") == values);
  const Container coo = open(encode(a, "coo").bytes);
  CHECK(elements<std::uint32_t>(coo, "row_idx") == U32{0, 0, 1, 1, 1, 3, 3});
  CHECK(elements<std::uint32_t>(coo, "col_idx") == U32{0, 1, 0, 1, 4, 3, 4});
  CHECK(elements<double>(coo, "values") == values);
  const Container ccoo = open(encode(a, "ccoo", {{"ccoo.b", "8"}, {"ccoo.k", "2"}}).bytes);
  CHECK(elements<std::uint8_t>(ccoo, "encoding") == U8{0x08});
  CHECK(elements<std::uint32_t>(ccoo, "row_base") == U32{0});
  CHECK(elements<std::uint32_t>(ccoo, "col_base") == U32{0});
  CHECK(elements<double>(ccoo, "lut") == F64{2, -1, .5});
  CHECK(elements<std::uint8_t>(ccoo, "blob") == U8{0, 1, 1, 3, 3, 3, 3, 3,                            // rows
                                                   0, 1, 0, 1, 4, 4, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4,    // columns
                                                   0, 1, 1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});  // ids
}

TEST_CASE("ccoo stores no values where all have the same bits") {
  const Settings small{{"ccoo.b", "8"}, {"ccoo.k", "2"}};
  const auto with = [&](double first, double other) {
    return make_csr(4, 5, {{{0, 0}, first}, {{0, 1}, other}, {{1, 4}, other}, {{3, 3}, other}});
  };
  const auto nan = [](std::uint64_t payload) { return std::bit_cast<double>(0x7FF8000000000000 | payload); };
  const auto single_of = [](const Container& c) { return c.parts()[0].params[layouts::ccoo::param_single]; };
  using U8 = std::vector<std::uint8_t>;
  for (const double value : {2.0, -0.0, nan(0x123)}) {
    const CsrMatrix a = with(value, value);
    const Container c = open(encode(a, "ccoo", small).bytes);
    CHECK(single_of(c) == 1);
    CHECK(elements<std::uint8_t>(c, "encoding") == U8{0x08});  // as with ids
    REQUIRE(elements<double>(c, "lut").size() == 1);
    CHECK(std::bit_cast<std::uint64_t>(elements<double>(c, "lut")[0]) == std::bit_cast<std::uint64_t>(value));
    CHECK(elements<std::uint8_t>(c, "blob") == U8{0, 1, 3, 3, 3, 3, 3, 3,                            // rows
                                                  0, 1, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3});  // columns
    CHECK(equal_bits(a, unpack(c)));
    // As in the paper.
    Settings ids = small;
    ids["ccoo.values"] = "lut";
    const Container stored = open(encode(a, "ccoo", ids).bytes);
    CHECK(single_of(stored) == 0);
    CHECK(stored.parts()[0].counts[layouts::ccoo::section_blob] == 8 + 16 + 16);
    CHECK(equal_bits(a, unpack(stored)));
  }
  for (const auto& [first, other] : {std::pair{0.0, -0.0}, std::pair{nan(1), nan(2)}}) {
    const CsrMatrix a = with(first, other);
    const Container c = open(encode(a, "ccoo", small).bytes);
    CHECK(single_of(c) == 0);
    CHECK(equal_bits(a, unpack(c)));
  }
  CHECK(single_of(open(encode(make_csr(0, 0, {}), "ccoo").bytes)) == 0);
  CHECK_THROWS_WITH(encode(with(1, 1), "ccoo", {{"ccoo.values", "raw"}}), Catch::Contains("auto or lut"));
}

TEST_CASE("bytes of ccoo by the paper's rules: published.bytes") {
  // The worked example with B = 8, K = 2: rows of 2, 3, 0 and 2 entries take 1, 2, 1 and 1 lanes, one chunk. Header 13,
  // rows 8, columns of a byte 16, ids 16, and a table of 2, -1, 0.5 and the padding's 0.
  const CsrMatrix a = make_csr(
      4, 5,
      {{{0, 0}, 2.0}, {{0, 1}, -1.0}, {{1, 0}, -1.0}, {{1, 1}, 2.0}, {{1, 4}, 0.5}, {{3, 3}, 2.0}, {{3, 4}, -1.0}});
  const auto published = [](const CsrMatrix& m, const char* b, const char* k) {
    const encoder::PartPlan plan = plan_of(m, "ccoo", {.settings = {{"ccoo.b", b}, {"ccoo.k", k}}, .for_report = true});
    const auto found = std::find_if(plan.counters.begin(), plan.counters.end(),
                                    [](const encoder::Counter& c) { return c.name == "published.bytes"; });
    REQUIRE(found != plan.counters.end());
    return found->value;
  };
  CHECK(published(a, "8", "2") == 13 + 8 + 16 + 16 + 4 * 8);
  // K = 1: eight lanes with an empty row's, one chunk that is full: the same table, as that row's zero is an entry of
  // it.
  CHECK(published(a, "8", "1") == 13 + 8 + 8 + 8 + 4 * 8);
  // One row of 17 entries in columns up to 300, K = 1: three chunks of one row, no row bytes; the last one, of column
  // 300 alone, has columns of a byte, and those before, of 0 to 7 and 8 to 15, too.
  Entries row;
  for (std::uint32_t c = 0; c < 16; ++c) row[{0, c}] = 1.0;
  row[{0, 300}] = 1.0;
  CHECK(published(make_csr(1, 301, row), "8", "1") == 3 * (13 + 8 + 8) + 2 * 8);
  // Two entries 300 columns apart in a chunk: columns of two bytes.
  CHECK(published(make_csr(1, 301, {{{0, 0}, 1.0}, {{0, 300}, 1.0}}), "8", "1") == 13 + 16 + 8 + 2 * 8);
  // 257 values, each once, in a row, and a chunk of 256 lanes: the first chunk is full and covered by the table but for
  // one value, the second has padding. Zero is more frequent than the last value of the table, which it replaces.
  Entries many;
  for (std::uint32_t c = 0; c < 257; ++c) many[{0, c}] = 1.0 + c;
  CHECK(published(make_csr(1, 257, many), "256", "1") == 13 + 256 + 256 * 8 + 13 + 256 + 256 * 8);
}

TEST_CASE("bytes of pjds, ellpack_r and dia by their papers' rules: published.bytes") {
  // The example of docs/LAYOUTS.md: rows of 2, 3, 0 and 2 entries on the diagonals -1, 0, 1 and 3.
  const Entries entries{{{0, 0}, 2.0}, {{0, 1}, -1.0}, {{1, 0}, -1.0}, {{1, 1}, 2.0},
                        {{1, 4}, 0.5}, {{3, 3}, 2.0},  {{3, 4}, -1.0}};
  const auto published = [](const CsrMatrix& m, const char* layout, encoder::PlanOptions options = {}) {
    const encoder::PartPlan plan = plan_of(m, layout, options);
    const auto found = std::find_if(plan.counters.begin(), plan.counters.end(),
                                    [](const encoder::Counter& c) { return c.name == "published.bytes"; });
    REQUIRE(found != plan.counters.end());
    return found->value;
  };
  const CsrMatrix a = make_csr(4, 5, entries);
  CHECK(published(a, "pjds") == 12 * 12 + 4 * 3 + 4 * 4);  // one block of 32, four rows of it
  CHECK(published(a, "pjds", {.settings = {{"pjds.br", "1"}}}) == 7 * 12 + 4 * 3 + 4 * 4);
  CHECK(published(make_csr(5, 5, entries), "pjds", {.settings = {{"pjds.basis", "permuted"}}}) ==
        15 * 12 + 4 * 3 + 4 * 5);
  CHECK(published(a, "ellpack_r") == 32 * (3 * 12 + 4));
  CHECK(published(make_csr(33, 5, entries), "ellpack_r") == 64 * (3 * 12 + 4));
  CHECK(published(a, "dia") == 4 * 4 * 8 + 4 * 4);
  for (const char* layout : {"pjds", "ellpack_r", "dia"}) CHECK(published(make_csr(0, 0, {}), layout) == 0);
  CHECK(published(make_csr(3, 3, {}), "pjds") == 3 * 4);
  CHECK(published(make_csr(3, 3, {}), "dia") == 0);
}

TEST_CASE("padding of ccoo repeats a column of its own row and takes no table entry (B = 8, K = 2)") {
  // Row 1 has three entries: two lanes, one padding slot. Row 2 has a stored zero, which is not padding.
  const CsrMatrix a = make_csr(4, 4, {{{1, 0}, 3.0}, {{1, 2}, 4.0}, {{1, 3}, 5.0}, {{2, 1}, 0.0}});
  const Encoded file = encode(a, "ccoo", {{"ccoo.b", "8"}, {"ccoo.k", "2"}});
  const Container c = open(file.bytes);
  CHECK(elements<std::uint8_t>(c, "encoding") == std::vector<std::uint8_t>{0b0000'1000});
  CHECK(elements<double>(c, "lut") == std::vector<double>{0.0, 3.0, 4.0, 5.0});
  CHECK(elements<std::uint8_t>(c, "blob") ==
        std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1, 1, 1,                            // lanes of row 1, 1, 2, padding
                                  0, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,    // slot 3 repeats column 3
                                  1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // slot 4 is the stored zero
  const CsrMatrix back = unpack(c);
  CHECK(equal_bits(a, back));
}

TEST_CASE("padding of ccoo is only where a multiply looks for it") {
  // Lanes of two: an entry may follow a lane that ends with padding.
  CHECK(check_one_row(2, {0, 1, 2}).empty());
  CHECK(check_one_row(2, {0, 0, 2, 2, 3}).empty());
  CHECK(check_one_row(2, {0, 1, 1, 2}) == "chunk 0: slot 3: an entry after padding");
  CHECK(check_one_row(2, {0, 1, 1, 1, 2}) == "chunk 0: slot 4: an entry after padding");
  CHECK(check_one_row(4, {0, 0, 0, 0, 1, 2, 3, 3, 4}).empty());
  CHECK(check_one_row(4, {0, 0, 1}) == "chunk 0: slot 2: an entry after padding");
  CHECK(check_one_row(4, {0, 1, 1, 2}) == "chunk 0: slot 3: an entry after padding");
  CHECK(check_one_row(1, {0, 1, 2, 2}).empty());
  CHECK(check_one_row(1, {0, 0, 1}) == "chunk 0: slot 2: an entry after padding");
}

TEST_CASE("rows start where row bytes differ") {
  // Every pair of neighbours, at every place; the other bytes are equal to one of the two.
  for (unsigned place = 0; place < 8; ++place)
    for (unsigned left = 0; left < 256; ++left)
      for (unsigned right = 0; right < 256; ++right) {
        std::uint64_t word = 0;
        for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{i < place ? left : right} << (8 * i);
        const std::uint32_t expected = left != right ? 1U << place : 0;
        if (layouts::ccoo::row_starts(word, static_cast<std::uint8_t>(left)) != expected) FAIL(left << " " << right);
      }
  CHECK(layouts::ccoo::row_starts(0x0706050403020100, 0) == 0xFE);
  CHECK(layouts::ccoo::row_starts(0x0706050403020100, 9) == 0xFF);
}

TEST_CASE("a row of ccoo beyond 2^32 is not taken for a small one") {
  const std::vector<std::uint8_t> blob{0, 0, 0, 1, 1, 3, 3, 3, 0, 1, 5, 1, 2, 0, 4, 7, 1, 0, 0, 1, 0, 1, 0, 0};
  constexpr std::uint32_t rows = ~0U - 1;
  CHECK(check_chunk(rows, rows - 4, false, 1, blob, 8).empty());
  CHECK(check_chunk(rows, rows - 3, false, 1, blob, 8) == "chunk 0: rows past the last");
  CHECK(check_chunk(rows, rows - 1, false, 1, blob, 8) == "chunk 0: rows past the last");  // 2^32, or 0
}

TEST_CASE("ccoo uses its table only for chunks that it covers") {
  std::mt19937_64 rng(1);
  Entries entries;
  // Rows 0 to 511 of 8 equal values; rows 512 to 1023 all different: chunks of both kinds.
  for (std::uint32_t r = 0; r < 1024; ++r)
    for (std::uint32_t i = 0; i < 8; ++i) entries[{r, i}] = r < 512 ? 7.0 : random_value<double>(rng, 3);
  const Container c = open(encode(make_csr(1024, 8, entries), "ccoo", {{"ccoo.k", "8"}}).bytes);
  const auto encoding = elements<std::uint8_t>(c, "encoding");
  REQUIRE(encoding.size() == 4);
  CHECK(layouts::ccoo::Encoding{encoding[0]}.lut());
  CHECK(layouts::ccoo::Encoding{encoding[1]}.lut());
  CHECK_FALSE(layouts::ccoo::Encoding{encoding[2]}.lut());
  CHECK_FALSE(layouts::ccoo::Encoding{encoding[3]}.lut());
  CHECK(elements<double>(c, "lut").at(0) == 7.0);
}

TEST_CASE("auto takes the K of fewest device bytes, and the plan tells all four exactly") {
  for (const NamedMatrix& m : random_matrices<double>(3, 2)) {
    INFO(m.name);
    encoder::PlanOptions options;
    const encoder::PartPlan plan = plan_of(m.matrix, "ccoo", options);
    std::map<std::string, std::uint64_t> counters;
    for (const auto& counter : plan.counters) counters[counter.name] = counter.value;
    std::uint64_t shares = 0;
    for (const auto& share : plan.byte_shares) shares += share.value;
    CHECK(shares == plan.device_bytes());
    std::uint64_t least = ~std::uint64_t{0};
    for (const char* const k : {"1", "2", "4", "8"}) {
      const Encoded file = encode(m.matrix, "ccoo", {{"ccoo.k", k}});
      CHECK(open(file.bytes).device_bytes() == counters.at(std::string("k") + k + ".device_bytes"));
      least = std::min(least, file.device_bytes);
    }
    CHECK(plan.device_bytes() == least);
  }
}

TEST_CASE("a CsrView over 32-bit signed row pointers and columns is as good as a CsrMatrix") {
  for (const NamedMatrix& m : random_matrices<double>(11, 2)) {
    const std::vector<std::int32_t> row_ptr(m.matrix.row_ptr.begin(), m.matrix.row_ptr.end());
    const std::vector<std::int32_t> columns(m.matrix.col_idx.begin(), m.matrix.col_idx.end());
    const CsrView narrow(m.matrix.rows, m.matrix.cols, std::span<const std::int32_t>(row_ptr),
                         std::span<const std::int32_t>(columns),
                         std::span<const double>(std::get<Array<double>>(m.matrix.values)));
    CHECK(equal_bits(narrow, m.matrix));
    CHECK(content_digest(narrow) == content_digest(m.matrix));
    for (const std::string& layout : layout_names()) {
      if (!suits(m.matrix, layout)) continue;
      const encoder::PartPlan a = plan_of(narrow, layout), b = plan_of(m.matrix, layout);
      REQUIRE(a.sections.size() == b.sections.size());
      for (std::size_t i = 0; i < a.sections.size(); ++i) {
        REQUIRE(a.sections[i].raw_bytes() == b.sections[i].raw_bytes());
        std::vector<std::byte> x(a.sections[i].raw_bytes()), y(x.size());
        fill_section(a, narrow, i, 0, x);
        fill_section(b, m.matrix, i, 0, y);
        CHECK(x == y);
      }
    }
  }
}

TEST_CASE("a CsrView knows the row of every entry") {
  for (const NamedMatrix& m : random_matrices<double>(13, 1)) {
    INFO(m.name);
    const CsrView a(m.matrix);
    for (std::uint64_t r = 0; r < a.rows(); ++r)
      for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k)
        if (a.row_of(k) != r) FAIL("entry " << k << " of row " << r << " is said to be in row " << a.row_of(k));
  }
}

TEST_CASE("a plan fills any range of bytes alike", "[sequential]") {
  std::mt19937_64 rng(9);
  for (const NamedMatrix& m : random_matrices<double>(21, 2))
    for (const std::string& layout : layout_names()) {
      if (!suits(m.matrix, layout)) continue;
      const encoder::PartPlan plan = plan_of(m.matrix, layout);
      for (std::size_t i = 0; i < plan.sections.size(); ++i) {
        const std::uint64_t size = plan.sections[i].raw_bytes();
        std::vector<std::byte> whole(size), pieces(size);
        fill_section(plan, m.matrix, i, 0, whole);
        const std::uint64_t longest = sanitized ? std::max<std::uint64_t>(20000, size / 16) : 3000;
        for (std::uint64_t at = 0; at < size;) {
          const std::uint64_t n = std::min<std::uint64_t>(size - at, 1 + rng() % longest);
          fill_section(plan, m.matrix, i, at, std::span(pieces).subspan(at, n));
          at += n;
        }
        INFO(m.name << ", " << layout << ", " << plan.sections[i].name);
        REQUIRE(whole == pieces);
      }
    }
}

TEST_CASE("beyond 2^31 nonzeros, row pointers and positions are 64-bit") {
  constexpr std::uint64_t nnz = (std::uint64_t{1} << 31) + 5, rows = 3;
  const RowsOnly a({0, nnz - 3, nnz - 1, nnz});
  const encoder::PartPlan csr = plan_of(a.view(), "csr");
  CHECK(csr.device_bytes() == (rows + 1) * 8 + nnz * 8);
  CHECK(csr.device_bytes() == layouts::csr::device_bytes(rows, nnz, ValueType::f32));
  CHECK(csr.info.params[layouts::csr::param_longest_row] == nnz - 3);
  REQUIRE(csr.sections[0].element_type == format::ElementType::u64);
  std::vector<std::uint64_t> pointers(4);
  fill_section(csr, a.view(), 0, 0, std::as_writable_bytes(std::span(pointers)));
  CHECK(pointers == std::vector<std::uint64_t>{0, nnz - 3, nnz - 1, nnz});
  const encoder::PartPlan coo = plan_of(a.view(), "coo");
  std::vector<std::uint32_t> last_rows(6);
  fill_section(coo, a.view(), 0, (nnz - 6) * 4, std::as_writable_bytes(std::span(last_rows)));
  CHECK(last_rows == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2});
}

TEST_CASE("settings that make no sense are refused") {
  const CsrMatrix a = make_csr(1, 1, {{{0, 0}, 1.0}});
  for (const char* const k : {"3", "0", "16", "x", "4x", ""}) {
    encoder::PlanOptions options;
    options.settings["ccoo.k"] = k;
    CHECK_THROWS_AS(plan_of(a, "ccoo", options), Error);
  }
  CHECK_THROWS_AS(encoder::check_settings({{"ccoo.q", "1"}}), Error);
  CHECK_THROWS_AS(encoder::find_layout_encoder("elk"), Error);
  CHECK_THROWS_AS(encoder::find_strategy("elk"), Error);
}

}  // namespace spmvpack::test
