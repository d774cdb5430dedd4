// Every layout: plan, fill, check, unpack, bit for bit.

#include <sys/mman.h>

#include <cstring>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

void require_round_trip(const CsrMatrix& a, const std::string& layout, const Settings& settings = {},
                        format::Codec codec = format::Codec::none) {
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
void all_matrices(const std::string& layout, const Settings& settings, int values) {
  for (const NamedMatrix& m : random_matrices<T>(17, values)) {
    INFO(m.name << ", values " << values);
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
  info.params = {8, slots, 1};
  info.workspace_bytes = 16;
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
    layouts::ccoo::check(part, 1);
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
    for (const char* const layout : {"csr", "coo", "ccoo"}) {
      DYNAMIC_SECTION(layout << ", values " << values << ", f64") { all_matrices<double>(layout, {}, values); }
      DYNAMIC_SECTION(layout << ", values " << values << ", f32") { all_matrices<float>(layout, {}, values); }
    }
  }
}

TEST_CASE("ccoo gives back random matrices for every K and B") {
  for (const char* const k : {"1", "2", "4", "8"})
    for (const char* const b : {"256", "64", "8"}) DYNAMIC_SECTION("K " << k << ", B " << b) {
        all_matrices<double>("ccoo", {{"ccoo.k", k}, {"ccoo.b", b}}, 2);
        all_matrices<float>("ccoo", {{"ccoo.k", k}, {"ccoo.b", b}}, 4);
      }
}

TEST_CASE("every layout survives zstd with whatever filter it chooses") {
  for (const char* const layout : {"csr", "coo", "ccoo"})
    for (const int values : {1, 3})
      for (const NamedMatrix& m : random_matrices<double>(5, values)) {
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

TEST_CASE("ccoo cuts a chunk where rows are more than 255 apart") {
  const auto chunks_of = [](std::uint32_t apart) {
    const CsrMatrix a = make_csr(1000, 10, {{{3, 1}, 1.0}, {{3 + apart, 2}, 2.0}});
    require_round_trip(a, "ccoo");
    return open(encode(a, "ccoo").bytes).parts()[0].params[layouts::ccoo::param_chunks];
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
    const auto plan = encoder::find_layout_encoder("ccoo").plan(m.matrix, options);
    std::map<std::string, std::uint64_t> counters;
    for (const auto& counter : plan->counters) counters[counter.name] = counter.value;
    std::uint64_t shares = 0;
    for (const auto& share : plan->byte_shares) shares += share.value;
    CHECK(shares == plan->device_bytes());
    std::uint64_t least = ~std::uint64_t{0};
    for (const char* const k : {"1", "2", "4", "8"}) {
      const Encoded file = encode(m.matrix, "ccoo", {{"ccoo.k", k}});
      CHECK(open(file.bytes).device_bytes() == counters.at(std::string("k") + k + ".device_bytes"));
      least = std::min(least, file.device_bytes);
    }
    CHECK(plan->device_bytes() == least);
  }
}

TEST_CASE("a CsrView over 32-bit row pointers is as good as a CsrMatrix") {
  for (const NamedMatrix& m : random_matrices<double>(11, 2)) {
    const std::vector<std::uint32_t> row_ptr(m.matrix.row_ptr.begin(), m.matrix.row_ptr.end());
    const CsrView narrow(m.matrix.rows, m.matrix.cols, std::span<const std::uint32_t>(row_ptr),
                         std::span<const std::uint32_t>(m.matrix.col_idx),
                         std::span<const double>(std::get<Array<double>>(m.matrix.values)));
    CHECK(equal_bits(narrow, m.matrix));
    CHECK(content_digest(narrow) == content_digest(m.matrix));
    for (const auto& layout : encoder::layout_encoders()) {
      const auto a = layout.plan(narrow, {}), b = layout.plan(m.matrix, {});
      REQUIRE(a->sections.size() == b->sections.size());
      for (std::size_t i = 0; i < a->sections.size(); ++i) {
        REQUIRE(a->sections[i].raw_bytes() == b->sections[i].raw_bytes());
        std::vector<std::byte> x(a->sections[i].raw_bytes()), y(x.size());
        a->fill(i, 0, x);
        b->fill(i, 0, y);
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

TEST_CASE("a plan fills any range of bytes alike") {
  std::mt19937_64 rng(9);
  for (const NamedMatrix& m : random_matrices<double>(21, 2))
    for (const auto& layout : encoder::layout_encoders()) {
      const auto plan = layout.plan(m.matrix, {});
      for (std::size_t i = 0; i < plan->sections.size(); ++i) {
        const std::uint64_t size = plan->sections[i].raw_bytes();
        std::vector<std::byte> whole(size), pieces(size);
        plan->fill(i, 0, whole);
        for (std::uint64_t at = 0; at < size;) {
          const std::uint64_t n = std::min<std::uint64_t>(size - at, 1 + rng() % 3000);
          plan->fill(i, at, std::span(pieces).subspan(at, n));
          at += n;
        }
        INFO(m.name << ", " << layout.name << ", " << plan->sections[i].name);
        REQUIRE(whole == pieces);
      }
    }
}

TEST_CASE("beyond 2^31 nonzeros, row pointers and positions are 64-bit") {
  constexpr std::uint64_t nnz = (std::uint64_t{1} << 31) + 5, rows = 3;
  const RowsOnly a({0, nnz - 3, nnz - 1, nnz});
  const auto csr = encoder::find_layout_encoder("csr").plan(a.view(), {});
  CHECK(csr->device_bytes() == (rows + 1) * 8 + nnz * 8);
  REQUIRE(csr->sections[0].element_type == format::ElementType::u64);
  std::vector<std::uint64_t> pointers(4);
  csr->fill(0, 0, std::as_writable_bytes(std::span(pointers)));
  CHECK(pointers == std::vector<std::uint64_t>{0, nnz - 3, nnz - 1, nnz});
  const auto coo = encoder::find_layout_encoder("coo").plan(a.view(), {});
  std::vector<std::uint32_t> last_rows(6);
  coo->fill(0, (nnz - 6) * 4, std::as_writable_bytes(std::span(last_rows)));
  CHECK(last_rows == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2});
  CHECK(csr->part.workspace_bytes == ((std::uint64_t{1} << 23) + 1) * 16);
  CHECK(coo->part.workspace_bytes == ((std::uint64_t{1} << 23) + 1) * 16);
}

TEST_CASE("the formulas of the workspaces") {
  constexpr auto f64 = ValueType::f64, f32 = ValueType::f32;
  constexpr std::uint64_t most = ~std::uint64_t{0};
  for (const auto formula : {layouts::coo::balanced_workspace, layouts::csr::merge_workspace}) {
    // For each 256 entries two sums and two rows: 2 * 8 + 2 * 4, or 2 * 4 + 2 * 4.
    CHECK(formula(0, f64) == 0);
    CHECK(formula(1, f64) == 24);
    CHECK(formula(255, f64) == 24);
    CHECK(formula(256, f64) == 24);
    CHECK(formula(257, f64) == 48);
    CHECK(formula(0, f32) == 0);
    CHECK(formula(1, f32) == 16);
    CHECK(formula(256, f32) == 16);
    CHECK(formula(257, f32) == 32);
    CHECK(formula((std::uint64_t{1} << 40) + 1, f32) == (std::uint64_t{16} << 32) + 16);
    CHECK(formula(most, f64) == std::uint64_t{24} << 56);
  }
  CHECK(layouts::csr::pcsr_workspace(0, f64) == 0);
  CHECK(layouts::csr::pcsr_workspace(257, f64) == 2056);
  CHECK(layouts::csr::pcsr_workspace(257, f32) == 1028);
  CHECK(layouts::csr::pcsr_workspace(most / 8, f64) == most - 7);
  CHECK_THROWS_AS(layouts::csr::pcsr_workspace(most / 8 + 1, f64), Error);
  CHECK(layouts::ccoo::ordered_workspace(0, f64) == 0);
  CHECK(layouts::ccoo::ordered_workspace(1, f64) == 16);
  CHECK(layouts::ccoo::ordered_workspace(3, f32) == 24);
  CHECK(layouts::ccoo::ordered_workspace(most / 16, f64) == most - 15);
  CHECK_THROWS_AS(layouts::ccoo::ordered_workspace(most / 16 + 1, f64), Error);
}

TEST_CASE("plan and part table tell the workspace of the default kernel") {
  const auto workspace = [](const CsrMatrix& a, const std::string& layout, const std::string& k) {
    const Settings settings = layout == "ccoo" ? Settings{{"ccoo.k", k}} : Settings{};
    encoder::PlanOptions options;
    options.settings = settings;
    const std::uint64_t planned = encoder::find_layout_encoder(layout).plan(a, options)->part.workspace_bytes;
    CHECK(open(encode(a, layout, settings).bytes).parts()[0].workspace_bytes == planned);
    return planned;
  };
  for (const auto& [n, coo, ccoo] : {std::array<std::uint32_t, 3>{0, 0, 0},
                                     {1, 24, 16},
                                     {255, 24, 16},
                                     {256, 24, 16},
                                     {257, 48, 32},
                                     {512, 48, 32},
                                     {513, 72, 48}}) {
    INFO(n << " nonzeros");
    const CsrMatrix a = make_csr(1, 600, row_of(0, n));
    CHECK(workspace(a, "csr", {}) == 0);
    CHECK(workspace(a, "coo", {}) == coo);
    CHECK(workspace(a, "ccoo", "1") == ccoo);
  }
  CHECK(workspace(make_csr<float>(2, 3, {{{0, 0}, 1.0}, {{1, 2}, 1.0}}), "coo", {}) == 16);
  CHECK(workspace(make_csr<float>(2, 3, {{{0, 0}, 1.0}, {{1, 2}, 1.0}}), "ccoo", "4") == 8);
  CHECK(workspace(make_csr(1, 20000, row_of(0, 16384)), "csr", {}) == 0);
  CHECK(workspace(make_csr(1, 20000, row_of(0, 16385)), "csr", {}) == 65 * 24);  // 65 chunks
}

TEST_CASE("csr shares out entries rather than rows where one row would hold up all others") {
  const auto by_merge = [](std::uint64_t rows, std::uint64_t length, std::uint64_t last) {
    std::vector<std::uint64_t> row_ptr;
    for (std::uint64_t r = 0; r < rows; ++r) row_ptr.push_back(r * length);
    row_ptr.push_back(row_ptr.back() + last);
    const RowsOnly a(row_ptr);
    const auto plan = encoder::find_layout_encoder("csr").plan(a.view(), {});
    CHECK(plan->part.workspace_bytes == (layouts::csr::merges(plan->part) ? (a.view().nnz() + 255) / 256 * 16 : 0));
    return layouts::csr::merges(plan->part);
  };
  CHECK_FALSE(by_merge(1, 0, 16384));
  CHECK(by_merge(1, 0, 16385));
  CHECK(by_merge(511, 16385, 16385));
  CHECK_FALSE(by_merge(512, 16385, 16385));  // no longer than the mean of 512
  CHECK(by_merge(512, 16385, 16386));
  CHECK_FALSE(by_merge(1000000, 20, 16384));
  CHECK(by_merge(1000000, 8, 16385));
}

TEST_CASE("settings that make no sense are refused") {
  const CsrMatrix a = make_csr(1, 1, {{{0, 0}, 1.0}});
  for (const char* const k : {"3", "0", "16", "x", "4x", ""}) {
    encoder::PlanOptions options;
    options.settings["ccoo.k"] = k;
    CHECK_THROWS_AS(encoder::find_layout_encoder("ccoo").plan(a, options), Error);
  }
  CHECK_THROWS_AS(encoder::check_settings({{"ccoo.q", "1"}}), Error);
  CHECK_THROWS_AS(encoder::find_layout_encoder("elk"), Error);
}

}  // namespace spmvpack::test
