// The container: whole or refused. Golden files: golden_test.cpp; the second reader: format_test.py.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <thread>
#include <tuple>

#include "catch.hpp"
#include "containers.hpp"
#include "edited.hpp"
#include "file/checksum.hpp"
#include "file/section_rules.hpp"
#include "matrices.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace {
int failure_of_directories = 0;  ///< errno of flushing one; 0: it goes well
}
/// In place of the C library's, which tests cannot make fail.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int fsync(int fd) {
  struct stat info {};
  if (failure_of_directories != 0 && ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = failure_of_directories;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace spmvpack::test {
namespace {

CsrMatrix small_matrix(std::uint32_t cols = 17) {
  std::mt19937_64 rng(4);
  Entries entries;
  for (std::uint32_t r = 0; r < 12; ++r)
    for (std::uint32_t i = 0; i < r % 5; ++i)
      entries[{r, (r * 3 + i * 2) % cols}] = i == 0 ? 1.0 : random_value<double>(rng, 3);
  return make_csr(12, cols, entries);
}

/// The kind of error that work() ends with; 0 if none.
template <class Work>
errc refusal(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.code();
  }
  return errc{};
}

/// What opening and unpacking a file comes to.
errc verdict(const std::vector<std::byte>& bytes) {
  return refusal([&] {
    unpack(open(bytes));
    (void)open(bytes).provenance();
  });
}

/// A file of `a` whose header names this field and this symmetry.
std::vector<std::byte> claiming(const CsrMatrix& a, Field field, Symmetry symmetry) {
  return encode({clone(a), field, symmetry, {}}, encoder::find_strategy("csr"), {}).bytes;
}

SourceMatrix source_of(const CsrMatrix& a) { return {clone(a), Field::integer, Symmetry::general, {}}; }

}  // namespace

TEST_CASE("every changed byte of a file is noticed", "[sequential]") {
  for (const std::string& layout : layout_names())
    for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
      const std::uint32_t cols = layout == "pkt" ? 12 : 17;  // it takes square ones
      std::vector<std::byte> bytes = encode(small_matrix(cols), layout, {}, codec).bytes;
      REQUIRE(verdict(bytes) == errc{});
      for (std::size_t i = 0; i < bytes.size(); i += sanitized && i > 512 ? 7 : 1) {
        const errc expected = i < 8 ? errc::bad_input : i < 12 ? errc::unsupported : errc::corrupt;
        for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
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
  for (const std::string& layout : layout_names())
    for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
      if (!suits(a, layout)) continue;
      const Encoded one = encode(a, layout, {}, codec, 1), many = encode(a, layout, {}, codec, 5);
      CHECK(one.bytes == many.bytes);
      CHECK(open(one.bytes).facts().digest == content_digest(a));
    }
}

TEST_CASE("workers of a parallel loop: numbers below the threads', of which no two calls share one at a time") {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
    std::atomic<std::uint64_t> calls{0}, wrong{0};
    parallel_for(1000, threads, [&](std::uint64_t, std::uint64_t worker) {
      ++calls;
      if (worker >= busy.size() || busy[worker]++ != 0) ++wrong;
      std::this_thread::yield();
      if (worker < busy.size()) --busy[worker];
    });
    CHECK(calls == 1000);
    CHECK(wrong == 0);
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

TEST_CASE("an output appears whole or not at all") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out");
  const auto text = [](const char* s) { return std::as_bytes(std::span(s, std::strlen(s))); };
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      all.push_back(entry.path().filename());
    return all;
  };
  {
    OutputFile file(path, false);
    file.write(text("abandoned"));
  }
  CHECK(names().empty());
  {
    OutputFile first(path, false), second(path, false);  // both start while there is no file
    first.write(text("first"));
    second.write(text("second"));
    first.commit();
    try {
      second.commit();
      FAIL("the second commit replaced the first");
    } catch (const Error& e) {
      CHECK(e.code() == errc::exists);
    }
  }
  CHECK(names() == std::vector<std::string>{"out"});
  CHECK(read_file(path).size() == 5);
  CHECK_THROWS_AS(OutputFile(path, false), Error);
  {
    OutputFile file(path, true);
    file.write(text("forced!"));
    CHECK(read_file(path).size() == 5);
    file.commit();
  }
  CHECK(read_file(path).size() == 7);
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((info.st_mode & 0777U) == (0666U & ~mask));
  // What -f replaces keeps its permissions; a link keeps leading there.
  REQUIRE(::chmod(path.c_str(), 0604) == 0);
  const std::string link = directory.file("link"), nowhere = directory.file("nowhere"), fifo = directory.file("fifo");
  std::filesystem::create_symlink("out", link);
  {
    OutputFile file(link, true);
    CHECK(unfinished_outputs() == 1);
    file.write(text("by the link"));
    file.commit();
  }
  CHECK(unfinished_outputs() == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_file(path).size() == 11);
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0604);
  std::filesystem::create_symlink("missing", nowhere);
  CHECK_THROWS_WITH(OutputFile(nowhere, true), Catch::Contains("cannot follow the link"));
  // Only regular files are replaced, also where something else has come since.
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(OutputFile(fifo, true), Catch::Contains("not a regular file"));
  {
    OutputFile file(path, true);
    std::filesystem::rename(fifo, path);
    CHECK_THROWS_WITH(file.commit(), Catch::Contains("not a regular file"));
  }
  CHECK(std::filesystem::is_fifo(path));
  CHECK(names().size() == 3);
  CHECK(unfinished_outputs() == 0);
  CHECK_THROWS_AS(OutputFile(directory.file("no/such/directory"), false), Error);
  CHECK_THROWS_AS(OutputFile(directory.path().string(), true), Error);
}

TEST_CASE("a directory that cannot be flushed is an error, though its file is there") {
  const TemporaryDirectory directory;
  const auto message = [](int failure, auto&& work) {
    failure_of_directories = failure;
    std::string what;
    try {
      work();
    } catch (const Error& e) {
      what = fmt::format("{} {}", e.code() == errc::io ? "io" : "other", e.what());
    }
    failure_of_directories = 0;
    return what;
  };
  const std::string container = directory.file("A"), text = directory.file("t");
  const auto require_told = [](const std::string& found) {
    CHECK_THAT(found, Catch::StartsWith("io ") && Catch::Contains("cannot flush its directory: Input/output error") &&
                          Catch::Contains("complete and has its name, but may not survive a power cut"));
  };
  require_told(message(EIO, [&] { encoder::encode(small_matrix().view(), {.strategy = "csr"}, container); }));
  CHECK(verdict(read_file(container)) == errc{});
  require_told(message(EIO, [&] {
    TextOutput out(text, false);
    out.write("whole");
    out.commit();
  }));
  CHECK(read_file(text).size() == 5);
  std::vector<std::unique_ptr<OutputFile>> files;
  for (const char* const name : {"0", "1"}) files.push_back(std::make_unique<OutputFile>(directory.file(name), false));
  const std::string of_all = message(EIO, [&] { commit_all(files); });
  require_told(of_all);
  CHECK_THAT(of_all, Catch::StartsWith("io " + directory.file("0")));
  CHECK(std::filesystem::exists(directory.file("0")));
  CHECK(std::filesystem::exists(directory.file("1")));
  // A file system that cannot, as some of networks.
  for (const int failure : {EINVAL, ENOTSUP})
    CHECK(message(failure, [&] { OutputFile(directory.file("n" + std::to_string(failure)), false).commit(); }).empty());
}

TEST_CASE("text goes straight into devices and pipes, and into files as a whole") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out"), fifo = directory.file("fifo"), link = directory.file("link");
  {
    TextOutput out("/dev/null", false);  // which is there, but nothing is replaced
    CHECK(unfinished_outputs() == 0);
    out.write("nothing");
    out.commit();
  }
  CHECK(std::filesystem::is_character_file("/dev/null"));
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::filesystem::create_symlink("fifo", link);
  const std::string text(200'000, 'x');  // more than a pipe holds
  std::string arrived;
  std::thread reader([&] {
    std::ifstream in(fifo, std::ios::binary);
    arrived.assign(std::istreambuf_iterator<char>(in), {});
  });
  {
    TextOutput out(link, false);
    out.write(text);
    out.commit();
  }
  reader.join();
  CHECK(arrived == text);
  CHECK(std::filesystem::is_fifo(fifo));
  { TextOutput(path, false).write("abandoned"); }
  CHECK_FALSE(std::filesystem::exists(path));
  {
    TextOutput out(path, false);
    out.write("whole");
    CHECK_FALSE(std::filesystem::exists(path));
    out.commit();
  }
  CHECK(read_file(path).size() == 5);
  CHECK_THROWS_WITH(TextOutput(path, false), Catch::Contains("already exists"));
}

TEST_CASE("an output has any name that a file may have, and removes what killed processes left of it") {
  const TemporaryDirectory directory;
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto write = [&](const std::string& name) {
    OutputFile file(directory.file(name), false);
    file.commit();
  };
  const int before = finished_outputs();
  const std::string longest(255, 'a');
  std::string wide;
  for (int i = 0; i < 127; ++i) wide += "\xC3\xBC";
  write(longest);
  write(wide);
  CHECK(names() == std::vector<std::string>{longest, wide});
  CHECK(finished_outputs() == before + 2);
  CHECK_THROWS_WITH(write(std::string(256, 'a')), Catch::Contains("cannot create"));
  CHECK(finished_outputs() == before + 2);
  std::filesystem::remove(directory.file(longest));
  std::filesystem::remove(directory.file(wide));

  // Not locked: left behind. Locked, of another name, or not quite of this form: not.
  for (const char* const name : {"out.01234567.tmp", "out.89abcdef.tmp", "out.0123456.tmp", "out.0123456g.tmp",
                                 "other.01234567.tmp", "out.01234567.tmp2"})
    std::ofstream(directory.file(name)).put(0);
  std::filesystem::create_directory(directory.file("out.aaaaaaaa.tmp"));
  const int used = ::open(directory.file("out.89abcdef.tmp").c_str(), O_RDONLY);
  REQUIRE(used >= 0);
  REQUIRE(::flock(used, LOCK_EX) == 0);
  {
    OutputFile first(directory.file("out"), false), second(directory.file("out"), false);
    CHECK(names().size() == 8);  // all but one, and those of the two
    first.commit();
  }
  CHECK(names() == std::vector<std::string>{"other.01234567.tmp", "out", "out.0123456.tmp", "out.01234567.tmp2",
                                            "out.0123456g.tmp", "out.89abcdef.tmp", "out.aaaaaaaa.tmp"});
  ::close(used);
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

TEST_CASE("stopping a write leaves nothing") {
  const TemporaryDirectory directory;
  SourceMatrix source = source_of(small_matrix());
  const encoder::Plan plan = encoder::find_strategy("csr").plan(source.matrix, {});
  const ContainerSource contents = encoder::container_source(encoder::facts_of(source), {}, {source.matrix, plan}, {});
  WriteOptions options;
  options.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  try {
    write_container(directory.file("a.spmvc"), contents, options);
    FAIL("the write went on");
  } catch (const Error& e) {
    CHECK(e.code() == errc::interrupted);
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a write is stopped between two blocks, also while the filter is chosen") {
  const TemporaryDirectory directory;
  const SourceMatrix source = source_of(small_matrix());
  const encoder::Plan plan = encoder::find_strategy("csr").plan(source.matrix, {});
  ContainerSource contents = encoder::container_source(encoder::facts_of(source), {}, {source.matrix, plan}, {});
  constexpr std::uint64_t blocks = 24;  // in one batch
  std::atomic<std::uint64_t> filled{0};
  SectionSource large = provenance_section({});
  large.name = "large";
  large.count = blocks * format::block_bytes;
  large.fill = [&](std::uint64_t begin, std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), static_cast<std::byte>(begin >> 20));
    ++filled;
  };
  contents.file_sections.push_back(large);
  const std::thread::id caller = std::this_thread::get_id();
  for (const format::Codec codec : {format::Codec::none, format::Codec::zstd})
    for (const int threads : {1, 2, 5}) {
      WriteOptions options;
      options.codec = codec;
      options.threads = threads;
      std::uint64_t reports = 0, last = 0, stop_at = 0, total = 0;
      bool elsewhere = false, backwards = false;
      options.progress = [&](std::string_view, std::uint64_t done, std::uint64_t all) {
        elsewhere |= std::this_thread::get_id() != caller;
        backwards |= done < last;
        last = done;
        total = all;
        return ++reports != stop_at;
      };
      filled = 0;
      write_container(directory.file("whole.spmvc"), contents, options);
      std::filesystem::remove(directory.file("whole.spmvc"));
      CHECK((!elsewhere && !backwards && last == total));
      const std::uint64_t all_reports = reports, all_filled = filled;
      if (threads == 1) CHECK(all_reports > blocks);
      for (stop_at = 1; stop_at <= all_reports; stop_at += 3) {
        INFO("threads " << threads << ", report " << stop_at);
        reports = last = filled = 0;
        try {
          write_container(directory.file("a.spmvc"), contents, options);
          // How many blocks fall to the calling thread is not fixed.
          if (threads == 1 || reports >= stop_at) FAIL("the write went on");
          std::filesystem::remove(directory.file("a.spmvc"));
        } catch (const Error& e) {
          CHECK(e.code() == errc::interrupted);
        }
        CHECK(reports <= stop_at);
        if (threads == 1 && stop_at < blocks) CHECK(filled < all_filled);
        CHECK(std::filesystem::is_empty(directory.path()));
      }
      CHECK((!elsewhere && !backwards));
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

TEST_CASE("a description of a multiply is held against the matrix") {
  MatrixFacts facts;
  facts.rows = 3;
  facts.cols = 7;
  const auto verdict = [&](const MultiplyDescription& description) {
    try {
      check_description(description, facts, {});
    } catch (const Error& e) {
      return e.code();
    }
    return errc{};
  };
  CHECK(verdict({}) == errc{});
  CHECK(verdict({.vectors = ValueType::f32}) == errc::usage);
  facts.value_type = ValueType::f32;
  CHECK(verdict({.vectors = ValueType::f32}) == errc{});
  CHECK(verdict({}) == errc{});  // f64 vectors
  for (const Operation operation : {Operation::transpose, Operation::conjugate_transpose})
    CHECK(verdict({.operation = operation}) == errc{});  // of no nonzeros
  facts.nnz = 1;
  CHECK(verdict({}) == errc{});
  CHECK(verdict({.operation = Operation::transpose}) == errc::usage);
  CHECK(verdict({.right_hand_sides = 0}) == errc{});
  CHECK(verdict({.right_hand_sides = 2}) == errc{});
}

TEST_CASE("views overlap if they have a byte in common, whatever their strides") {
  std::mt19937_64 rng(5);
  const auto upto = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(rng); };
  const auto view = [&](std::uintptr_t boundary) {
    const auto first = 4096 + static_cast<std::uintptr_t>(upto(0, 40)) * boundary;
    return DenseView<const double>(reinterpret_cast<const double*>(first),  // NOLINT(performance-no-int-to-ptr)
                                   static_cast<std::uint64_t>(upto(0, 6)), static_cast<std::uint64_t>(upto(0, 4)),
                                   upto(-9, 9), upto(-9, 9));
  };
  const auto bytes_of = [](const DenseView<const double>& v) {
    std::multiset<std::intptr_t> bytes;
    for (std::uint64_t j = 0; j < v.cols; ++j)
      for (std::uint64_t i = 0; i < v.rows; ++i)
        for (std::intptr_t b = 0; b < 8; ++b)
          bytes.insert(reinterpret_cast<std::intptr_t>(v.data) +
                       8 * (static_cast<std::int64_t>(i) * v.row_stride + static_cast<std::int64_t>(j) * v.col_stride) +
                       b);
    return bytes;
  };
  int overlapping = 0, twice = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::uintptr_t boundary = round % 3 == 0 ? 4 : 8;
    const auto a = view(boundary), b = view(boundary);
    const auto of_a = bytes_of(a), of_b = bytes_of(b);
    const bool common = std::any_of(of_a.begin(), of_a.end(), [&](std::intptr_t byte) { return of_b.contains(byte); });
    INFO(a.rows << " x " << a.cols << ", " << a.row_stride << ", " << a.col_stride << " and " << b.rows << " x "
                << b.cols << ", " << b.row_stride << ", " << b.col_stride);
    REQUIRE(overlap(a, b) == common);
    REQUIRE(overlap(b, a) == common);
    overlapping += common ? 1 : 0;
    // Y may not have an element twice.
    const bool repeated = std::adjacent_find(of_a.begin(), of_a.end()) != of_a.end();
    const DenseView<const double> nowhere(nullptr, 0, a.cols, 1, 0);
    bool refused = false;
    try {
      check_operands({.rows = a.rows}, Operation::none, nowhere, a);
    } catch (const Error& e) {
      REQUIRE(e.code() == errc::usage);
      refused = true;
    }
    REQUIRE(refused == repeated);
    twice += repeated ? 1 : 0;
  }
  CHECK(overlapping > 3'000);
  CHECK(overlapping < 17'000);
  CHECK(twice > 1'000);
  // Far apart, and with strides that no memory has.
  constexpr std::int64_t far = std::int64_t{1} << 60;
  const DenseView<const double> wide(reinterpret_cast<const double*>(4096), 3, 3, far, 1);  // NOLINT
  CHECK(overlap(wide, wide));
  CHECK(!overlap(wide, DenseView<const double>(reinterpret_cast<const double*>(4096 + 24), 1'000'000)));  // NOLINT
  std::vector<double> turns(40'000'000 / 8);
  const DenseView<double> even(turns.data(), turns.size() / 2, 1, 2, 0),
      odd(turns.data() + 1, turns.size() / 2, 1, 2, 0);
  CHECK(!overlap(even, odd));
  CHECK(overlap(even, DenseView<double>(turns)));
}

TEST_CASE("the schedule of a multiply: parts of one role in their order, the first of which may scale y") {
  std::vector<PartInfo> parts(4);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].role = i < 3 ? format::Role::a : format::Role::transpose;
    parts[i].rows.count = i == 1 ? 5 : 9;
  }
  using Run = std::tuple<std::size_t, bool, bool>;
  const auto runs = [&](const Operand& operand) {
    std::vector<Run> seen;
    each_part(operand, parts, [&](auto... run) { seen.emplace_back(run...); });
    return seen;
  };
  const Operand a{.rows = 9};
  CHECK(first_part_scales(a, parts));
  CHECK(runs(a) == std::vector<Run>{{0, false, false}, {1, true, false}, {2, true, false}});
  const Operand transposed{.role = format::Role::transpose, .rows = 9};
  CHECK(runs(transposed) == std::vector<Run>{{3, false, false}});
  const Operand negated{.negated = true, .rows = 10};
  CHECK(!first_part_scales(negated, parts));
  CHECK(runs(negated) == std::vector<Run>{{0, true, true}, {1, true, true}, {2, true, true}});
  parts.clear();
  CHECK(!first_part_scales(a, parts));
  CHECK(runs(a).empty());
}

TEST_CASE("columns are dealt in blocks that suit all parts") {
  constexpr ColumnsAtOnce one{}, four{.most = 4, .any_strides = true}, any_one{.most = 1, .any_strides = true};
  CHECK(four.together_with(one).most == 4);
  CHECK(one.together_with(four).most == 4);
  CHECK(!four.together_with(one).any_strides);
  CHECK(four.together_with(any_one).any_strides);
  using Block = std::pair<std::uint64_t, std::uint64_t>;
  const auto blocks = [](std::uint64_t columns, std::uint64_t most) {
    std::vector<Block> all;
    each_column_block(columns, most, [&](std::uint64_t first, std::uint64_t count) { all.emplace_back(first, count); });
    return all;
  };
  CHECK(blocks(0, 4).empty());
  CHECK(blocks(0, 0).empty());
  CHECK(blocks(4, 4) == std::vector<Block>{{0, 4}});
  CHECK(blocks(9, 4) == std::vector<Block>{{0, 4}, {4, 4}, {8, 1}});
  CHECK(blocks(3, 1) == std::vector<Block>{{0, 1}, {1, 1}, {2, 1}});
  std::array<double, 12> x{}, y{};
  const ColumnBlock<double> all{x.data(), y.data(), 1, 4, 3, 1, 3};
  const ColumnBlock<double> last = all.part(1, 2);
  CHECK(last.x == x.data() + 4);
  CHECK(last.y == y.data() + 1);
  CHECK(last.count == 2);
  CHECK(last.y_row_stride == 3);
}

TEST_CASE("text from files is escaped before it is shown") {
  CHECK(escape("plain \xC3\xA9") == "plain \xC3\xA9");
  CHECK(escape(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(escape("\x1B[2J\n") == "\\x1B[2J\\x0A");
  CHECK(escape("\xFF\xC0\xAF") == "\\xFF\\xC0\\xAF");
  CHECK(escape(std::string(200, 'x'), 10) == "xxxxxxxxxx...");
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

}  // namespace spmvpack::test
