// Containers: what of a file's bytes is noticed, and what is said of it.

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "container/files.hpp"
#include "containers.hpp"
#include "edited.hpp"
#include "file/checksum.hpp"
#include "file/section_rules.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack::test {

TEST_CASE("every changed byte of a file is noticed", "[sequential]") {
  for (const std::string& layout : layout_names())
    for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
      const std::uint32_t cols = layout == "pkt" ? 12 : 17;  // it takes square ones
      std::vector<std::byte> bytes = encode(small_matrix(cols), layout, {}, codec).bytes;
      REQUIRE(verdict(bytes) == errc{});
      for (std::size_t i = 0; i < bytes.size(); i += sanitized && i > 512 ? 7 : 1) {
        const errc expected = i < 8 ? errc::bad_input : i < 12 ? errc::unsupported : errc::corrupt;
        for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
          if (sanitized && (i > 512 || layout != "csr") && flip != std::array{0x01U, 0x80U, 0xFFU}[i % 3]) continue;
          bytes[i] ^= std::byte(flip);
          const errc found = verdict(bytes);
          if (found != expected) {
            INFO(layout << ", byte " << i << " xor " << flip << ": " << to_string(found));
            REQUIRE(found == expected);
          }
          bytes[i] ^= std::byte(flip);
        }
      }
    }
}

TEST_CASE("what is not a container is said to be none, with the way to make one") {
  const auto error_of = [](std::string_view text, const std::string& name) {
    try {
      Container::open(memory_source(std::as_bytes(std::span(text))), name);
    } catch (const Error& e) {
      return e;
    }
    return Error(errc::internal, "opened");
  };
  for (const std::string_view text :
       {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", "1", "\x89SPW"}) {
    const Error e = error_of(text, "A.mtx");
    CHECK(e.code() == errc::bad_input);
    CHECK(e.where() == "A.mtx");
    CHECK_THAT(e.message(), Catch::StartsWith("not a container"));
    CHECK(e.remedy() == "make one with `spmvpack encode A.mtx`");
    CHECK(error_of(text, "standard input").remedy() == "make one with `spmvpack encode`");
  }
  for (const std::string_view text : {"", "\x89", "\x89SPV\r\n"}) CHECK(error_of(text, "A").code() == errc::corrupt);
}

TEST_CASE("a file of another version is refused, with what its owner can do") {
  const auto error_of = [](const std::vector<std::byte>& file) {
    try {
      open(file);
    } catch (const Error& e) {
      return e;
    }
    return Error(errc::internal, "opened");
  };
  const std::vector<std::byte> good = encode(small_matrix(), "coo").bytes;
  const auto of_version = [&](std::uint16_t major, std::uint16_t minor) {
    std::vector<std::byte> file = good;
    std::memcpy(file.data() + offsetof(format::Header, version_major), &major, sizeof major);
    std::memcpy(file.data() + offsetof(format::Header, version_minor), &minor, sizeof minor);
    return error_of(file);
  };
  const Error old = error_of(read_file(SPMVPACK_TEST_GOLDEN "/reject/version_0_2.spmvc")), older = of_version(0, 1);
  CHECK(old.code() == errc::unsupported);
  CHECK(old.message() == "container version 0.2, this program reads 0.3");
  CHECK(older.message() == "container version 0.1, this program reads 0.3");
  for (const Error& e : {old, older})
    CHECK(e.remedy() ==
          "decode it with the release that wrote it, or go back to its source, and encode the matrix with this one");
  for (const Error& e : {of_version(0, 4), of_version(1, 0)}) {
    CHECK(e.code() == errc::unsupported);
    CHECK(e.remedy() == "use the version that wrote the file");
  }
}

TEST_CASE("parameters are stored by name, those that are 0 are not, and those without a name are refused") {
  const CsrMatrix a = small_matrix();
  const std::vector<std::byte> csell = encode(a, "csell").bytes, coo = encode(a, "coo").bytes;
  const auto stored = [](const std::vector<std::byte>& file) {
    format::Header h{};
    std::memcpy(&h, file.data(), sizeof h);
    std::vector<std::pair<std::string, std::uint64_t>> all;
    for (std::uint32_t i = 0; i < h.parameter_count; ++i) {
      format::Parameter p{};
      std::memcpy(&p, file.data() + h.tables_offset + h.part_count * sizeof(format::Part) + i * sizeof p, sizeof p);
      all.emplace_back(format::name_view(p.name), p.value);
    }
    return all;
  };
  CHECK(stored(coo).empty());
  const PartInfo part = open(csell).parts()[0];
  std::vector<std::pair<std::string, std::uint64_t>> expected;
  for (std::size_t i = 0; i < find_layout("csell").parameters.size(); ++i)
    if (part.params.at(i) != 0) expected.emplace_back(find_layout("csell").parameters[i], part.params.at(i));
  CHECK(stored(csell) == expected);
  CHECK(expected.size() < find_layout("csell").parameters.size());
  CHECK_THROWS_WITH(edited(coo, [](ContainerSource& source) { source.parts[0].info.params[3] = 7; }),
                    Catch::Contains("parameter 3 is 7, expected 0: layout coo has 0 parameters"));

  // What a part says of its sections is what they have.
  const LoadedPart loaded = open(csell).load_part(0);
  for (std::size_t i = 0; i < find_layout("csell").sections.size(); ++i) {
    const PartView::Section* const section = loaded.view().find(find_layout("csell").sections[i].name);
    CHECK(part.counts.at(i) == (section == nullptr ? 0 : section->bytes.size() / size_of(section->type)));
  }
  PartInfo lying = part;
  ++lying.counts[1];
  std::vector<PartView::Section> sections;
  for (const SectionDescription& s : find_layout("csell").sections)
    if (const PartView::Section* const section = loaded.view().find(s.name)) sections.push_back(*section);
  CHECK_NOTHROW(check_shape(PartView(part, sections, "part")));
  CHECK_THROWS_WITH(check_shape(PartView(lying, sections, "part")), Catch::Contains("the part says"));
}

TEST_CASE("every truncation and every trailing byte is noticed") {
  const std::vector<std::byte> bytes = encode(small_matrix(), "ccoo").bytes;
  for (std::size_t n = 0; n < bytes.size(); ++n)
    if (verdict({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}) != errc::corrupt) FAIL("length " << n);
  for (const std::size_t more : {std::size_t{1}, std::size_t{256}, std::size_t{4096}}) {
    std::vector<std::byte> longer(bytes.size() + more);
    std::copy(bytes.begin(), bytes.end(), longer.begin());
    CHECK(verdict(longer) == errc::corrupt);
  }
}

TEST_CASE("the same bytes at any number of threads, the same digest in any layout and codec") {
  std::mt19937_64 rng(8);
  const CsrMatrix a = from_rows<double>(60000, 60000, rng, 2, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t i = 0; i < 3 + r % 11; ++i)
      row.push_back(static_cast<std::uint32_t>((r * 7 + i * i * 31) % 60000));
    return row;
  });
  const Digest digest = content_digest(a);
  for (const std::string& layout : layout_names())
    for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
      if (!suits(a, layout)) continue;
      const Encoded one = encode(a, layout, {}, codec, 1), many = encode(a, layout, {}, codec, 5);
      CHECK(one.bytes == many.bytes);
      CHECK(open(one.bytes).facts().digest == digest);
    }
}

TEST_CASE("hashes are the library's, whatever the processor: at every length class and alignment") {
  std::mt19937_64 rng(8);
  std::vector<std::byte> bytes(format::block_bytes + 64);
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng());
  const auto check = [&](std::size_t begin, std::size_t length) {
    const std::span<const std::byte> piece(bytes.data() + begin, length);
    const XXH128_hash_t expected = XXH3_128bits(piece.data(), length);
    REQUIRE(xxh3_64(piece) == XXH3_64bits(piece.data(), length));
    REQUIRE(xxh3_128(piece) == Digest{expected.low64, expected.high64});
  };
  for (std::size_t length = 0; length <= 2200; ++length) check(length % 64, length);
  for (const std::size_t length : {std::size_t{4096}, std::size_t{65537}, format::block_bytes - 1, format::block_bytes})
    for (std::size_t begin = 0; begin < 64; begin += 7) check(begin, length);
}

TEST_CASE("the digest is the one that FORMAT.md defines") {
  // 1 x 2, one entry 1.0 in column 1: four short streams, a piece each.
  const CsrMatrix a = make_csr(1, 2, {{{0, 1}, 1.0}});
  const std::array<std::uint64_t, 4> sizes{1, 2, 1, 1};
  const std::array<std::uint64_t, 2> pointers{0, 1};
  const std::array<std::uint32_t, 1> columns{1};
  const std::array<double, 1> values{1.0};
  const std::array<Digest, 4> pieces{
      xxh3_128(std::as_bytes(std::span(sizes))), xxh3_128(std::as_bytes(std::span(pointers))),
      xxh3_128(std::as_bytes(std::span(columns))), xxh3_128(std::as_bytes(std::span(values)))};
  CHECK(content_digest(a) == xxh3_128(std::as_bytes(std::span(pieces))));
  // An empty stream has no piece.
  const CsrMatrix empty = make_csr(1, 2, {});
  const std::array<std::uint64_t, 4> empty_sizes{1, 2, 0, 1};
  const std::array<std::uint64_t, 2> empty_pointers{0, 0};
  const std::array<Digest, 2> two{xxh3_128(std::as_bytes(std::span(empty_sizes))),
                                  xxh3_128(std::as_bytes(std::span(empty_pointers)))};
  CHECK(content_digest(empty) == xxh3_128(std::as_bytes(std::span(two))));
  CHECK(Digest{1, 2}.to_string() == "00000000000000020000000000000001");
}

TEST_CASE("a list of rows is checked in the time and memory of the list") {
  const SourceMatrix source = source_of(make_csr(2, 2, {{{0, 0}, 1}, {{1, 0}, 2}}));
  const encoder::Plan plan = encoder::find_strategy("coo").plan(source.matrix, {});
  const auto with_rows = [&](std::vector<std::uint32_t> rows, std::uint64_t of) {
    ContainerSource contents = encoder::container_source(encoder::facts_of(source), {}, {source.matrix, plan}, {});
    contents.facts.rows = of;
    contents.parts[0].info.rows = {format::MapKind::list, 0, rows.size()};
    const auto list = std::make_shared<const std::vector<std::uint32_t>>(std::move(rows));
    SectionSource section;
    section.name = "row_map";
    section.element_type = format::ElementType::u32;
    section.count = list->size();
    section.fill = [list](std::uint64_t begin, std::span<std::byte> out) {
      std::memcpy(out.data(), reinterpret_cast<const std::byte*>(list->data()) + begin, out.size());
    };
    contents.parts[0].sections.push_back(std::move(section));
    MemorySink sink;
    write_container(sink, contents);
    return Container::open(memory_source(sink.take()), "lists");
  };
  for (const std::uint64_t rows : {std::uint64_t{10}, max_dimension - 1}) {
    CAPTURE(rows);
    const auto last = static_cast<std::uint32_t>(rows - 1);
    LoadOptions options;
    options.memory_limit = 4096;
    CHECK_NOTHROW(with_rows({last, 0}, rows).load_part(0, options));
    CHECK_THROWS_WITH(with_rows({last, last}, rows).load_part(0, options),
                      Catch::Contains(fmt::format("element 1 is {}, which came before", last)));
    if (rows == 10)
      CHECK_THROWS_WITH(with_rows({0, 10}, rows).load_part(0, options), Catch::Contains("element 1 is 10, not below"));
  }
}

TEST_CASE(
    "a damaged section that this version does not know is noticed when the whole file is checked, and only then") {
  const TemporaryDirectory directory;
  SourceMatrix source{small_matrix(), Field::real, Symmetry::general, {}};
  const encoder::Plan plan = encoder::find_strategy("csr").plan(source.matrix, {});
  ContainerSource contents = encoder::container_source(encoder::facts_of(source), {}, {source.matrix, plan}, {});
  SectionSource later = provenance_section({});
  later.name = "from_later";
  contents.file_sections.push_back(later);
  contents.parts[0].sections.push_back(later);
  write_container(directory.file("a.spmvc"), contents);
  std::vector<std::byte> bytes = read_file(directory.file("a.spmvc"));
  const Container whole = open(bytes);
  CHECK_NOTHROW(whole.check_blocks());
  for (const SectionInfo& s : whole.sections()) {
    CHECK(s.known == (s.name != "from_later"));
    if (s.known) continue;
    bytes[s.offset] ^= std::byte{1};
    const Container damaged = open(bytes);
    CHECK(equal_bits(unpack(damaged), source.matrix));
    CHECK_THROWS_AS(damaged.check_blocks(), Error);
    bytes[s.offset] ^= std::byte{1};
  }
}

TEST_CASE("a layout may have sections for the host alone, and sections that may be missing") {
  constexpr std::array<SectionDescription, 3> layout{{
      {"columns", Element::u32, entries_of},
      {"zeros", Element::u64, nullptr, 8, 0},  // optional, for unpacking
      {"order", Element::u8, rows_of, 16, format::section_required},
  }};
  PartInfo info;
  info.layout = "made_up";
  info.nnz = 2;
  info.rows = {format::MapKind::list, 0, 3};
  const auto section = [](std::string name, std::uint8_t flags, std::uint32_t alignment) {
    SectionInfo s;
    s.name = std::move(name);
    s.flags = flags;
    s.alignment = alignment;
    return s;
  };
  const SectionInfo map = section("row_map", 3, 4), columns = section("columns", 3, 16), zeros = section("zeros", 0, 8),
                    order = section("order", 1, 16);
  const auto verdict = [&](const std::vector<SectionInfo>& sections) {
    SectionRules rules(&info, layout);
    for (const SectionInfo& s : sections) {
      const SectionRules::Verdict v = rules.next(s);
      if (!v.unsupported.empty()) return s.name + ": " + std::string(v.unsupported);
      if (!v.wrong.empty()) return s.name + ": " + std::string(v.wrong);
    }
    return rules.missing().empty() ? std::string() : "no " + std::string(rules.missing());
  };
  CHECK(verdict({columns, zeros, order, map}).empty());
  CHECK(verdict({map, columns, order}).empty());
  CHECK(verdict({columns, section("later", 0, 1), order, map}).empty());
  CHECK(verdict({columns, section("later", 1, 1), order, map}) == "later: a required section that is not known");
  CHECK(verdict({columns, order}) == "no row_map");
  CHECK(verdict({columns, zeros, map}) == "no order");
  CHECK(verdict({columns, order, zeros, map}) == "zeros: not in the order of the layout");
  CHECK(verdict({columns, section("zeros", 1, 8), order, map}) == "zeros: flags of a layout's section");
  CHECK(verdict({columns, section("order", 3, 16), map}) == "order: flags of a layout's section");
  CHECK(verdict({section("columns", 3, 8), order, map}) == "columns: alignment");

  const std::array<std::uint32_t, 2> two{};
  const std::array<std::uint64_t, 5> places{};
  const std::array<std::uint8_t, 3> three{};
  const PartView::Section held_columns{"columns", format::ElementType::u32, std::as_bytes(std::span(two))},
      held_zeros{"zeros", format::ElementType::u64, std::as_bytes(std::span(places))},
      held_order{"order", format::ElementType::u8, std::as_bytes(std::span(three))};
  CHECK_NOTHROW(check_sections(PartView(info, {held_columns, held_zeros, held_order}, "part"), layout));
  CHECK_NOTHROW(check_sections(PartView(info, {held_columns, held_order}, "part"), layout));
  CHECK_THROWS_WITH(check_sections(PartView(info, {held_columns, held_zeros}, "part"), layout),
                    Catch::Contains("without the section 'order'"));
  CHECK_THROWS_WITH(
      check_sections(
          PartView(info, {held_columns, {"zeros", format::ElementType::u8, held_zeros.bytes}, held_order}, "part"),
          layout),
      Catch::Contains("elements of type u8, expected u64"));
  info.nnz = 3;
  CHECK_THROWS_WITH(check_sections(PartView(info, {held_columns, held_order}, "part"), layout),
                    Catch::Contains("2 elements, expected 3"));
}

TEST_CASE("memory limits are kept, with the number") {
  const Encoded file = encode(small_matrix(), "ccoo");
  LoadOptions options;
  options.memory_limit = 100;
  try {
    unpack(open(file.bytes), options);
    FAIL("unpacked in 100 bytes");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
    CHECK(std::string(e.what()).find("100 are allowed") != std::string::npos);
  }
}

}  // namespace spmvpack::test
