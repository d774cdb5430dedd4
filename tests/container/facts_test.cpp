// What a container says of its matrix: facts, provenance, parts, field and symmetry; and what a matrix in arrays must
// be.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "container/files.hpp"
#include "containers.hpp"
#include "file/checksum.hpp"
#include "matrices.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::test {

TEST_CASE("facts and provenance come back") {
  const TemporaryDirectory directory;
  SourceMatrix source = source_of(small_matrix());
  source.provenance = {
      "", "",   "a\nb.mtx",
      30, 2,    1,
      7,  1e-8, {" one", "", "tabs\tand \xC3\xA9", "bad \xFF byte", "a\rb", "\xC3\xA9\x80\xC2\x85\xE2\x82"},
      0,  ""};
  encoder::encode(source, {.strategy = "ccoo", .settings = {{"ccoo.k", "4"}}}, directory.file("a.spmvc"));
  const Container c = Container::open(directory.file("a.spmvc"));
  CHECK(c.facts().rows == 12);
  CHECK(c.facts().cols == 17);
  CHECK(c.facts().field == Field::integer);
  CHECK(c.facts().symmetry == Symmetry::general);
  const Provenance p = c.provenance();
  CHECK(p.source == "ab.mtx");
  CHECK(p.options == "--layout ccoo --set ccoo.k=4 --value-type f64 --codec none");
  CHECK(p.target.empty());  // ccoo is the same for all machines
  CHECK(p.entries == 30);
  CHECK(p.duplicates == 2);
  CHECK(p.explicit_zeros == 1);
  CHECK(p.rounded == 7);
  CHECK(p.max_relative_error == 1e-8);
  CHECK(p.comments == std::vector<std::string>{" one", "", "tabs\tand \xC3\xA9", "bad \xEF\xBF\xBD byte", "ab",
                                               "\xC3\xA9\xEF\xBF\xBD\xC2\x85\xEF\xBF\xBD\xEF\xBF\xBD"});
  CHECK_THROWS_AS(parse_provenance("no newline"), Error);
  CHECK(parse_provenance("later=fine\nentries=3\n").entries == 3);
  // Whatever the options say: files from before there was a target do not have one.
  CHECK(parse_provenance("options=--layout auto --target host\n").target.empty());
  CHECK(parse_provenance("options=--layout auto\ntarget=mine\n").target == "mine");
  Provenance aimed;
  aimed.target = "a\nb";
  CHECK(to_text(aimed).find("\ntarget=ab\n") != std::string::npos);
  CHECK(to_text(Provenance{}).find("target") == std::string::npos);
  CHECK(parse_provenance("source=a\r\xC2\x85\n").source == "a\r\xC2\x85");
  for (const char* const text :
       {"entries=many\n", "entries=\n", "entries=-1\n", "entries=18446744073709551616\n", "max_relative_error=-1\n",
        "max_relative_error=inf\n", "max_relative_error=1e999\n", "rounded=1\nrounded=1\n", "x=1\nx=2\n",
        "source=\xFF\n", "source=\xED\xA0\x80\n", "source=\xE2\x82\n"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_provenance(text), Error);
  }
}

TEST_CASE("a provenance holds whole lines of comments up to 1 MiB, and how many are left out") {
  SourceMatrix source{small_matrix(), Field::real, Symmetry::general, {}};
  const auto provenance_of = [](const SourceMatrix& from) {
    return open(encode(from, encoder::find_strategy("csr"), {}).bytes).provenance();
  };
  // As long as possible: a line of no bytes of its own is 9.
  const std::uint64_t rest = to_text(provenance_of(source)).size();
  source.provenance.comments = {"first", std::string(format::max_provenance_bytes - rest - 9 - 5 - 9, 'a')};
  Provenance found = provenance_of(source);
  CHECK(found.comments == source.provenance.comments);
  CHECK(found.comments_left_out == 0);
  CHECK(to_text(found).size() == format::max_provenance_bytes);
  source.provenance.comments.back() += 'a';
  found = provenance_of(source);
  CHECK(found.comments == std::vector<std::string>{"first"});
  CHECK(found.comments_left_out == 1);

  source.provenance.comments.assign(3000, std::string(991, 'b'));  // lines of 1,000 bytes
  found = provenance_of(source);
  CHECK(found.comments.size() + found.comments_left_out == 3000);
  CHECK(to_text(found).size() <= format::max_provenance_bytes);
  CHECK(to_text(found).size() > format::max_provenance_bytes - 1100);
  // Encoded once more: the count goes on.
  source.provenance = found;
  source.provenance.comments.insert(source.provenance.comments.begin(), std::string(4991, 'c'));
  const Provenance again = provenance_of(source);
  CHECK(again.comments.size() + again.comments_left_out == 3001);
  CHECK(again.comments.size() < found.comments.size());
  MemorySink sink;
  CHECK(encoder::encode(source, {.strategy = "csr"}, sink).comments_left_out == again.comments_left_out);

  // Bytes that are no UTF-8 become three each.
  source.provenance.comments = {std::string(400000, '\xFF')};
  CHECK(provenance_of(source).comments_left_out == 1 + found.comments_left_out);
  source.provenance.source = std::string(format::max_provenance_bytes, 's');
  CHECK(refusal([&] { provenance_of(source); }) == errc::too_large);
}

TEST_CASE("the most parts, with the most rows: one more is too large, for the writer, too") {
  // What opening looks at: tables of parts that say that they have an entry each, and of sections without bytes.
  const auto tables_of = [](std::uint32_t count) {
    format::Part part{};
    part.layout = format::make_name("ell");
    part.value_type = part.role = 1;
    part.row_map = static_cast<std::uint8_t>(format::MapKind::range);
    part.row_count = part.col_count = part.nnz = 1;
    part.section_count = 2;
    format::Section section{};
    section.flags = format::section_required | format::section_device;
    section.alignment = 16;
    section.offset = format::header_bytes;
    std::vector<format::Part> parts(count, part);
    std::vector<format::Section> sections(2 * std::size_t{count}, section);
    for (std::uint32_t i = 0; i < count; ++i) {
      parts[i].first_section = 2 * i;
      for (const std::uint32_t s : {0U, 1U}) {
        sections[2 * i + s].part = i;
        sections[2 * i + s].name = format::make_name(s == 0 ? "col_idx" : "values");
        const auto type = s == 0 ? format::ElementType::u32 : format::ElementType::f64;
        sections[2 * i + s].element_type = static_cast<std::uint8_t>(type);
      }
    }
    const auto part_bytes = std::as_bytes(std::span(parts)), section_bytes = std::as_bytes(std::span(sections));
    std::vector<std::byte> file(format::header_bytes);
    file.insert(file.end(), part_bytes.begin(), part_bytes.end());
    file.insert(file.end(), section_bytes.begin(), section_bytes.end());
    format::Header h{};
    h.magic = format::magic;
    h.version_minor = format::version_minor;
    h.header_bytes = std::uint32_t{format::header_bytes};
    h.tables_offset = format::header_bytes;
    h.rows = h.cols = 1;
    h.nnz = h.part_count = count;
    h.value_type = h.field = h.symmetry = h.digest_algorithm = 1;
    h.file_bytes = file.size();
    h.tables_bytes = file.size() - format::header_bytes;
    h.tables_checksum = xxh3_64(std::span(file).subspan(format::header_bytes));
    h.section_count = 2 * count;
    const auto header = std::as_bytes(std::span(&h, 1));
    h.header_checksum = xxh3_64(header.first(offsetof(format::Header, header_checksum)));
    std::copy(header.begin(), header.end(), file.begin());
    return file;
  };
  CHECK(open(tables_of(format::max_parts)).parts().size() == format::max_parts);
  CHECK(refusal([&] { open(tables_of(format::max_parts + 1)); }) == errc::too_large);
  CHECK_THROWS_WITH(open(tables_of(format::max_parts + 1)),
                    Catch::Contains("65537 parts, more than the 65536 that a container may have"));

  // 3 rows and an entry for each of n parts: n parts of 3 rows have at most 64 (3 + n) rows.
  const auto written_by = [](std::size_t count, std::uint64_t rows, std::uint64_t entries) {
    ContainerSource source;
    source.facts.rows = 3;
    source.facts.cols = 1;
    source.facts.nnz = entries * count;
    PartInfo part;
    part.layout = "coo";
    part.rows = {format::MapKind::range, 0, rows};
    part.cols.count = 1;
    part.nnz = entries;
    source.parts.resize(count, {part, {}});
    return refusal([&] { written(source); });
  };
  CHECK(written_by(format::max_parts, 1, 1) == errc{});
  CHECK(written_by(format::max_parts + std::size_t{1}, 1, 1) == errc::too_large);
  CHECK(written_by(64 * 3 + 64, 64, 1) == errc{});
  CHECK(written_by(64 * 3 + 64, 65, 1) == errc::too_large);  // 65 n > 64 (3 + n) for n > 192
  CHECK(written_by(1, 3, 0) == errc{});
  CHECK(written_by(2, 3, 0) == errc::usage);
}

TEST_CASE("a matrix fits its header's field and symmetry") {
  const auto found = [](const Entries& entries, Field field, Symmetry symmetry) {
    const errc f64 = verdict(claiming(make_csr(2, 2, entries), field, symmetry));
    CHECK(verdict(claiming(make_csr<float>(2, 2, entries), field, symmetry)) == f64);
    return f64;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr Symmetry general = Symmetry::general, symmetric = Symmetry::symmetric, skew = Symmetry::skew_symmetric;
  CHECK(found({{{0, 1}, 1.0}}, Field::pattern, general) == errc{});
  CHECK(found({{{0, 0}, 1.0}, {{1, 0}, 2.0}}, Field::pattern, general) == errc::corrupt);
  CHECK(found({{{0, 1}, -0.0}, {{1, 1}, -7.0}}, Field::integer, general) == errc{});
  CHECK(found({{{0, 1}, 0.5}}, Field::integer, general) == errc::corrupt);
  CHECK(found({{{0, 1}, infinity}}, Field::integer, general) == errc::corrupt);
  CHECK(found({{{0, 1}, infinity}, {{1, 0}, infinity}}, Field::real, symmetric) == errc{});
  CHECK(found({{{0, 0}, 1.5}, {{1, 0}, 1.5}}, Field::real, symmetric) == errc::corrupt);
  CHECK(found({{{0, 1}, 0.0}, {{1, 0}, -0.0}}, Field::real, symmetric) == errc::corrupt);
  CHECK(found({{{0, 1}, 0.0}, {{1, 0}, -0.0}}, Field::real, skew) == errc{});
  CHECK(found({{{0, 1}, 1.5}, {{1, 0}, 1.5}}, Field::real, skew) == errc::corrupt);
  CHECK(found({{{0, 0}, 0.0}}, Field::real, skew) == errc::corrupt);
  for (const Symmetry symmetry : {symmetric, skew})
    for (const std::uint64_t cols : {std::uint64_t{1}, std::uint64_t{3}})
      CHECK_THROWS_WITH(claiming(make_csr(2, cols, {}), Field::real, symmetry), Catch::Contains("a square one"));

  // Many rows: the first fault is the one that is told, at any number of threads.
  Entries entries;
  constexpr std::uint32_t n = 20000;
  for (std::uint32_t i = 1; i < n; ++i) entries[{i, i - 1}] = entries[{i - 1, i}] = i;
  CHECK(verdict(claiming(make_csr(n, n, entries), Field::integer, symmetric)) == errc{});
  entries[{n - 1, n - 2}] = 0;
  entries[{9000, 8999}] = 0;
  const std::vector<std::byte> bytes = claiming(make_csr(n, n, entries), Field::integer, symmetric);
  for (const int threads : {1, 4}) {
    LoadOptions options;
    options.threads = threads;
    std::string message;
    try {
      unpack(open(bytes), options);
    } catch (const Error& e) {
      message = e.message();
    }
    CHECK(message.find("row 8999, column 9000") == 0);
  }
}

TEST_CASE("a view over arrays is checked") {
  const std::vector<std::uint32_t> pointers{0, 2, 3}, columns{1, 0, 2};
  const std::vector<double> values{1, 2, 3};
  const auto view = [&](std::uint64_t cols, const std::vector<std::uint32_t>& p, const std::vector<std::uint32_t>& c) {
    return CsrView(2, cols, std::span(p), std::span(c), std::span(values));
  };
  CHECK_THROWS_AS(view(3, pointers, columns).check(), Error);  // not sorted
  CHECK_NOTHROW(view(3, pointers, {0, 1, 2}).check());
  CHECK_THROWS_AS(view(2, pointers, {0, 1, 2}).check(), Error);   // column out of range
  CHECK_THROWS_AS(view(3, pointers, {1, 1, 2}).check(), Error);   // duplicate
  CHECK_THROWS_AS(view(3, {0, 4, 3}, {0, 1, 2}).check(), Error);  // pointers fall
  CHECK_THROWS_AS(view(3, {0, 2, 2}, {0, 1, 2}).check(), Error);  // do not reach nnz
  CHECK_THROWS_AS(view(3, {0, 2}, {0, 1, 2}), Error);             // too few
  CHECK_THROWS_AS(view(std::uint64_t{1} << 32, pointers, columns), Error);
}

TEST_CASE("text from files is escaped before it is shown") {
  CHECK(escape("plain \xC3\xA9") == "plain \xC3\xA9");
  CHECK(escape(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(escape("\x1B[2J\n") == "\\x1B[2J\\x0A");
  CHECK(escape("\xFF\xC0\xAF") == "\\xFF\\xC0\\xAF");
  CHECK(escape(std::string(200, 'x'), 10) == "xxxxxxxxxx...");
}

TEST_CASE("of constants, the one that a parameter is, and no other in its place") {
  const auto of = [](int value) { return dispatch_constant<1, 2, 4>(value, [](auto constant) { return constant(); }); };
  for (const int value : {1, 2, 4}) CHECK(of(value) == value);
  for (const int value : {0, 3, 8}) CHECK_THROWS_AS(of(value), Error);
}

}  // namespace spmvpack::test
