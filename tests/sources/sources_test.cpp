// Where the text of a matrix may come from: bzip2, xz, tar and zip archives, pipes; and what names say.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "market_files.hpp"
#include "matrices.hpp"
#include "memory_stream.hpp"
#include "source/inflate.hpp"
#include "source/source_name.hpp"
#include "source/text_source.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/sources/read_matrix.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

using namespace spmvpack;
using namespace spmvpack::encoder;
using namespace spmvpack::sources;
using namespace spmvpack::test;

namespace {

struct Member {
  std::string path, text;
  unsigned type = AE_IFREG;
};

struct FreeWriter {
  void operator()(archive* a) const { archive_write_free(a); }
};

/// What libarchive makes of the members: in a raw "archive" the one member as it is.
std::string pack(const std::vector<Member>& members, int format, int filter, const char* options = nullptr) {
  std::string bytes;
  const auto append = [](archive*, void* to, const void* data, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
  };
  const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  archive* const a = writer.get();
  REQUIRE(archive_write_set_format(a, format) == ARCHIVE_OK);
  REQUIRE(archive_write_add_filter(a, filter) == ARCHIVE_OK);
  REQUIRE(archive_write_set_options(a, options) == ARCHIVE_OK);
  REQUIRE(archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK);
  REQUIRE(archive_write_open(a, &bytes, nullptr, append, nullptr) == ARCHIVE_OK);
  for (const Member& member : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.path.c_str());
    archive_entry_set_filetype(entry, member.type);
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.text.size()));
    REQUIRE(archive_write_header(a, entry) == ARCHIVE_OK);
    archive_entry_free(entry);
    REQUIRE(archive_write_data(a, member.text.data(), member.text.size()) ==
            static_cast<la_ssize_t>(member.text.size()));
  }
  REQUIRE(archive_write_close(a) == ARCHIVE_OK);
  return bytes;
}

std::string compress(const std::string& text, int filter) { return pack({{"data", text}}, ARCHIVE_FORMAT_RAW, filter); }
std::string tar(const std::vector<Member>& members, int filter = ARCHIVE_FILTER_NONE) {
  return pack(members, ARCHIVE_FORMAT_TAR_USTAR, filter);
}

std::string zip(const std::vector<Member>& members, bool deflated = true) {
  return pack(members, ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE,
              deflated ? "zip:compression=deflate" : "zip:compression=store");
}

/// A zip archive that says of its names that they are UTF-8, as most programs write them.
std::string with_utf8_names(std::string zip) {
  constexpr char utf8 = 8;  // in the second byte of a header's flags
  for (const auto& [header, flags] : {std::pair{"PK\3\4", 7}, {"PK\1\2", 9}})
    for (std::size_t at = 0; (at = zip.find(header, at)) != std::string::npos; at += 4)
      zip[at + static_cast<std::size_t>(flags)] = static_cast<char>(zip[at + static_cast<std::size_t>(flags)] | utf8);
  return zip;
}

std::string text_of(ByteStream& stream, std::size_t step = 4096) {
  std::string text, buffer(step, '\0');
  while (const std::size_t n = stream.read(buffer)) text.append(buffer, 0, n);
  return text;
}

/// The text of a file called `name` that holds `bytes`; from a pipe, what the file is called is not known.
std::string text_in(const std::string& name, const std::string& bytes, bool is_pipe = false) {
  return text_of(*open_text(std::make_shared<MemoryStream>(name, bytes, !is_pipe)));
}
/// What is wrong with it.
Error error_in(const std::string& name, const std::string& bytes, bool is_pipe = false) {
  try {
    text_in(name, bytes, is_pipe);
  } catch (const Error& e) {
    return e;
  }
  FAIL("accepted");
  return {errc::internal, ""};
}

std::string lines(std::size_t count) {
  std::mt19937_64 random(5);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{} {} {}\n", i, random() % 1000, random());
  return text;
}

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 7\n";
const std::string other = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 8\n";
const std::string dense = "%%MatrixMarket matrix array real general\n2 1\n1\n2\n";
const std::string boeing = fmt::format(
    "{:80}\n{:14}{:14}{:14}{:14}{:14}\n{:14}{:14}{:14}{:14}{:14}\n{:16}{:16}{:20}\n   1   2   2\n   2\n  7.\n", "title",
    3, 1, 1, 1, 0, "RUA", 2, 2, 1, 0, "(3I4)", "(1I4)", "(1F4.0)");

}  // namespace

TEST_CASE("bzip2 and xz are told by content and inflated") {
  const auto filter = GENERATE(as<int>{}, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ);
  const std::string text = lines(sanitized ? 50000 : 200000);
  const std::string bytes = compress(text, filter);
  for (const std::size_t step : {std::size_t{1000}, std::size_t{65536}, text.size() * 2}) {
    CHECK(text_of(*inflate(std::make_shared<MemoryStream>("file", bytes)), step) == text);
    CHECK(text_of(*inflate(std::make_shared<MemoryStream>("file", bytes, false)), step) == text);
  }
  for (const std::string& small : {std::string(), std::string("x"), lines(10)})
    CHECK(text_in("file", compress(small, filter)) == small);
  CHECK(text_in("file", bytes + compress("more", filter)) == text + "more");  // as pbzip2 and pixz write them
  for (const char* plain : {"BZ", "BZh", "BZh0123",
                            "\xFD"
                            "7zXZ"})
    CHECK(text_in("file", plain) == plain);
}

TEST_CASE("truncated and damaged bzip2 files are refused, after the text before the damage") {
  const std::string text = lines(40000), bytes = compress(text, ARCHIVE_FILTER_BZIP2);
  const auto damaged = [&](const std::string& data, bool truncated) {
    std::string before[2];
    for (const std::size_t step : {std::size_t{100}, std::size_t{1000000}}) {
      std::string& all = before[step == 100 ? 0 : 1];
      try {
        const auto stream = inflate(std::make_shared<MemoryStream>("file", data));
        std::string buffer(step, '\0');
        while (const std::size_t n = stream->read(buffer)) all.append(buffer, 0, n);
        return false;
      } catch (const Error& e) {
        REQUIRE(e.code() == errc::bad_input);
        REQUIRE(e.where() == "file");
        REQUIRE_THAT(e.what(), Catch::Contains("is damaged or truncated"));
      }
    }
    REQUIRE(before[0] == before[1]);
    if (truncated) REQUIRE(text.starts_with(before[0]));
    return true;
  };
  for (std::size_t length = 20; length < bytes.size(); length += 1 + length / 7)
    CHECK(damaged(bytes.substr(0, length), true));
  CHECK(damaged(bytes.substr(0, bytes.size() - 1), true));
  std::mt19937_64 random(6);
  for (int i = 0; i < 30; ++i) {
    std::string wrong = bytes;
    const std::size_t at = 20 + random() % (bytes.size() - 40);
    wrong[at] = static_cast<char>(wrong[at] ^ (1 << random() % 8));
    CHECK(damaged(wrong, false));
  }
}

TEST_CASE("of an archive the member that is called like it is read") {
  const auto filter = GENERATE(as<int>{}, ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD,
                               ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ);
  const std::vector<Member> members{{"A/", "", AE_IFDIR}, {"A/README", "not a matrix"}, {"A/A_b.mtx", dense},
                                    {"A/A_c.mtx", other}, {"A/._A.mtx", "metadata"},    {"B/B.mtx", other},
                                    {"A/A.mtx", matrix},  {"A/A_x.mtx", dense}};
  for (const char* name : {"A.tar", "dir/A.tar.gz", "/dir.tar/A.tgz", "A.tar.zst", "A.tar.bz2", "A.txz"})
    CHECK(text_in(name, tar(members, filter)) == matrix);
  const Error e = error_in("other.tar.gz", tar(members, filter));
  CHECK(e.code() == errc::bad_input);
  CHECK(e.where() == "other.tar.gz");
  CHECK(e.message() == "the archive holds more than one matrix: B/B.mtx, A/A.mtx");
  CHECK_THAT(e.remedy(), Catch::Contains("extract the one you mean"));
}

TEST_CASE("of an archive of another name the only matrix is read") {
  const std::vector<Member> members{
      {"A/A_b.mtx", other}, {"b.mtx", dense}, {"link.mtx", "", AE_IFIFO}, {"x/y.mtx", matrix}, {"notes.txt", "hello"}};
  for (const bool is_pipe : {false, true}) CHECK(text_in("some.tar", tar(members), is_pipe) == matrix);
  CHECK(text_in("no ending", tar({{"A/A.mtx", matrix}})) == matrix);
  CHECK(text_in("A.tar", tar({{"A.mtx", dense}, {"B.mtx", matrix}})) ==
        dense);  // called like the archive, dense or not
  CHECK(text_in("A.tar", tar({{"A/A.rb", boeing}})) == boeing);
  CHECK(text_in("x.tar", tar({{"A/A.RUA", boeing}, {"A/A.txt", matrix}})) == boeing);
  CHECK(text_in("x.tar", tar({{"large.mtx", matrix + std::string(3000000, '\n')}})).size() == matrix.size() + 3000000);

  for (const bool is_pipe : {false, true}) {
    const Error none = error_in("some.tar", tar({{"A.txt", "hello"}, {"b.mtx", dense}, {"e.mtx", ""}}), is_pipe);
    CHECK(none.code() == errc::bad_input);
    CHECK_THAT(none.message(), Catch::Contains("no member of the archive is a matrix") &&
                                   Catch::EndsWith("it holds A.txt, b.mtx, e.mtx"));
    CHECK_THAT(error_in("some.tar", tar({{"A/", "", AE_IFDIR}}), is_pipe).message(),
               Catch::EndsWith("it holds nothing"));
    CHECK_THAT(error_in("some.tar", tar({{"a.mtx", matrix}, {"b.mtx", other}}), is_pipe).message(),
               Catch::Contains("more than one matrix: a.mtx, b.mtx"));
  }
  std::vector<Member> many;
  for (int i = 0; i < 20; ++i) many.push_back({fmt::format("{}\n.mtx", i), matrix});
  CHECK_THAT(error_in("some.tar", tar(many)).message(), Catch::EndsWith(": 0\\x0A.mtx, 1\\x0A.mtx, 2\\x0A.mtx, "
                                                                        "3\\x0A.mtx, 4\\x0A.mtx, 5\\x0A.mtx, "
                                                                        "6\\x0A.mtx, 7\\x0A.mtx and 12 more"));
  // Two of the archive's own name.
  CHECK_THAT(error_in("A.tar", tar({{"A/A.mtx", matrix}, {"B/A.mtx", other}})).message(),
             Catch::Contains("more than one matrix: A/A.mtx, B/A.mtx"));
}

TEST_CASE("a zip archive is read as a tar archive is") {
  const bool deflated = GENERATE(false, true);
  const std::vector<Member> members{{"A/", "", AE_IFDIR}, {"A/README", "not a matrix"}, {"A/A_b.mtx", dense},
                                    {"A/A_c.mtx", other}, {"A/._A.mtx", "metadata"},    {"B/B.mtx", other},
                                    {"A/A.mtx", matrix},  {"A/A_x.mtx", dense}};
  CHECK(text_in("dir.zip/A.zip", zip(members, deflated)) == matrix);
  CHECK(text_in("A.zip.xz", compress(zip(members, deflated), ARCHIVE_FILTER_XZ)) == matrix);
  CHECK(error_in("other.zip", zip(members, deflated)).message() ==
        "the archive holds more than one matrix: B/B.mtx, A/A.mtx");
  for (const bool is_pipe : {false, true}) {
    CHECK(text_in("some.zip", zip({{"page.html", "hello"}, {"gr\xC3\xA4ph.mtx", matrix}, {"b.mtx", dense}}, deflated),
                  is_pipe) == matrix);
    CHECK_THAT(error_in("some.zip", zip({{"a.mtx", matrix}, {"b.mtx", other}}, deflated), is_pipe).message(),
               Catch::Contains("more than one matrix: a.mtx, b.mtx"));
    CHECK_THAT(error_in("some.zip", zip({{"A.txt", "hello"}, {"b.mtx", dense}}, deflated), is_pipe).message(),
               Catch::Contains("no member of the archive is a matrix") && Catch::EndsWith("it holds A.txt, b.mtx"));
    CHECK_THAT(error_in("some.zip", zip({}, deflated), is_pipe).message(), Catch::EndsWith("it holds nothing"));
  }
  // Whatever the locale is.
  const std::vector<Member> named{{"other.mtx", other}, {"f\xC3\xBCr.mtx", matrix}};
  CHECK(text_in("f\xC3\xBCr.zip", with_utf8_names(zip(named, deflated))) == matrix);
  CHECK(text_in("x.zip", with_utf8_names(zip({{"\xE6\x97\xA5/f\xC3\xBCr.mtx", matrix}}, deflated))) == matrix);
  CHECK_THAT(error_in("x.zip", with_utf8_names(zip(named, deflated))).message(),
             Catch::Contains("more than one matrix: other.mtx, f\xC3\xBCr.mtx"));
  CHECK(text_in("x.zip", zip({{"large.mtx", matrix + std::string(3000000, '\n')}}, deflated)).size() ==
        matrix.size() + 3000000);
}

TEST_CASE("damaged zip archives are refused, and those that cannot be read") {
  const std::vector<Member> members{{"A/A.mtx", matrix + lines(2000)}, {"A/A_b.mtx", dense + lines(2000)}};
  for (const bool deflated : {false, true}) {
    const std::string whole = zip(members, deflated);
    const std::size_t second = whole.find("PK\x03\x04", 1);
    for (std::size_t length = 60; length < second; length += 3000) {
      const Error e = error_in("A.zip", whole.substr(0, length), length % 2);
      CHECK(e.code() == errc::bad_input);
      CHECK_THAT(e.what(), Catch::Contains("the zip archive is damaged or truncated"));
    }
    std::mt19937_64 random(8);
    for (int i = 0; i < 20; ++i) {  // checksums miss none
      std::string wrong = whole;
      const std::size_t at = 80 + random() % (second - 120);
      wrong[at] = static_cast<char>(wrong[at] ^ (1 << random() % 8));
      CHECK_THAT(error_in("A.zip", wrong).what(), Catch::Contains("the zip archive is damaged"));
    }
    const auto with = [&](std::size_t at, char byte) {  // of the first member's header
      std::string changed = whole;
      changed[at] = byte;
      return changed;
    };
    const Error method = error_in("A.zip", with(8, 12));
    CHECK(method.code() == errc::unsupported);
    CHECK(method.where() == "A.zip(A/A.mtx)");
    CHECK_THAT(method.message(), Catch::Contains("neither stored nor deflated, but ZIP") && Catch::Contains("(bzip"));
    CHECK(method.remedy() == "extract it, and give that");
    const Error locked = error_in("A.zip", with(6, static_cast<char>(whole[6] | 1)));
    CHECK(locked.code() == errc::unsupported);
    CHECK(locked.message() == "the member is encrypted");
  }
  const TemporaryDirectory directory;
  const std::string path = directory.file("A.tar");
  write_file(path, tar({{"A.mtx", zip({{"A.mtx", matrix}})}}));
  CHECK_THROWS_WITH(read_matrix(path), Catch::Contains("A.tar(A.mtx): a zip archive in an archive"));
}

TEST_CASE("an archive is decompressed once at a time") {
  const std::string bytes =
      pack({{"A/A.mtx", matrix}}, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ, "xz:compression-level=9");
  const MemoryScope memory(std::uint64_t{100} << 20U, "reading");  // for one dictionary of 64 MiB
  CHECK(text_in("A.tar.xz", bytes) == matrix);
  CHECK(current_budget()->left() == std::uint64_t{100} << 20U);
}

TEST_CASE("damaged archives are refused, also where the matrix in them is whole") {
  const std::vector<Member> members{{"A/A.mtx", matrix + lines(2000)}, {"A/A_b.mtx", dense + lines(2000)}};
  const std::string whole = tar(members);
  for (std::size_t length = 512; length < whole.size() - 1024; length += 5000) {
    if (length < 600) continue;  // the header alone
    const Error e = error_in("A.tar", whole.substr(0, length));
    CHECK(e.code() == errc::bad_input);
    CHECK_THAT(e.what(), Catch::Contains("the tar archive is damaged or truncated"));
  }
  std::string damaged = whole;
  const std::size_t second = 512 + (members[0].text.size() + 511) / 512 * 512;
  REQUIRE(damaged.compare(second, 9, "A/A_b.mtx") == 0);
  damaged[second] = 'X';  // the header's checksum is wrong
  CHECK_THAT(error_in("A.tar", damaged).what(), Catch::Contains("the tar archive is damaged"));

  const std::string zipped = tar(members, ARCHIVE_FILTER_GZIP);
  for (std::size_t length = 20; length < zipped.size(); length += 1000)
    CHECK_THAT(error_in("A.tar.gz", zipped.substr(0, length), length % 2).what(), Catch::Contains("truncated"));
  std::string checksum = zipped;
  checksum[checksum.size() - 6] = static_cast<char>(checksum[checksum.size() - 6] ^ 1);
  for (const bool is_pipe : {false, true})
    CHECK_THAT(error_in("A.tar.gz", checksum, is_pipe).what(), Catch::Contains("checksum of the gzip data is wrong"));
}

TEST_CASE("errors name the archive and the member") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("A.tar.gz");
  write_file(path,
             tar({{"A/A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 x 7\n"}}, ARCHIVE_FILTER_GZIP));
  for (const auto& read :
       {std::function([&] { read_matrix(path); }), std::function([&] { read_matrix_market(path); })}) {
    try {
      read();
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.where() == path + "(A/A.mtx):3:3");
    }
  }
}

TEST_CASE("a matrix is read whatever it is wrapped in") {
  const TemporaryDirectory directory;
  const CsrMatrix expected = make_csr(2, 2, {{{1, 0}, 7}});
  const auto check = [&](const std::string& name, const std::string& bytes) {
    INFO(name);
    const std::string path = directory.file(name), fifo = directory.file("fifo");
    write_file(path, bytes);
    SourceMatrix s = read_matrix(path);
    CHECK(equal_bits(s.matrix, expected));
    CHECK(s.provenance.source == name);
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::thread writer([&] { write_file(fifo, bytes); });
    s = read_matrix(fifo);
    writer.join();
    CHECK(equal_bits(s.matrix, expected));
    ::unlink(fifo.c_str());
  };
  for (const std::string& text : {matrix, boeing}) {
    check("A.mtx", text);
    check("A.bz2", compress(text, ARCHIVE_FILTER_BZIP2));
    check("A.xz", compress(text, ARCHIVE_FILTER_XZ));
    check("A.gz", compress(text, ARCHIVE_FILTER_GZIP));
    check("A.zst", compress(text, ARCHIVE_FILTER_ZSTD));
    check("A.tar", tar({{"A.mtx", text}, {"A_b.txt", dense}}));
    check("A.tgz", tar({{"A/A.rb", text}, {"A/A_b.mtx", dense}}, ARCHIVE_FILTER_GZIP));
    check("A.tar.xz", tar({{"A/A.rb", text}, {"A/A_b.mtx", dense}}, ARCHIVE_FILTER_XZ));
    check("A.zip", zip({{"A/A.rb", text}, {"A/A_b.mtx", dense}}));
  }
}

TEST_CASE("containers are read from pipes") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("A.spmvc"), fifo = directory.file("fifo");
  SourceMatrix source;
  Entries entries;
  for (std::uint32_t i = 0; i < 20000; ++i) entries[{i, i * 7 % 20000}] = i;
  source.matrix = make_csr(20000, 20000, entries);
  encode(source, {.strategy = "csr"}, path);
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string bytes = text_of_file(path);
  std::signal(SIGPIPE, SIG_IGN);  // the writer's, when the reader gives up
  const auto read_from_pipe = [&](const SourceOptions& options) {
    std::thread writer([&] { write_file(fifo, bytes); });
    try {
      SourceMatrix s = read_matrix(fifo, options);
      writer.join();
      return s;
    } catch (...) {
      writer.join();
      throw;
    }
  };
  CHECK(equal_bits(read_from_pipe({}).matrix, source.matrix));
  {
    std::thread writer([&] { write_file(fifo, bytes); });
    const Container container = open_container(fifo);
    writer.join();
    CHECK(equal_bits(unpack(container), source.matrix));
    CHECK(container.name() == fifo);
  }
  SourceOptions options;
  options.memory_limit = 100000;
  CHECK_THROWS_WITH(read_from_pipe(options), Catch::Contains("a container that is not a regular file needs"));
}

TEST_CASE("a source is read with the container that it is, or opened as one") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("A.spmvc"), text = directory.file("A.mtx");
  write_file(text, matrix);
  const SourceMatrix source = read_matrix(text);
  encode(source, {.strategy = "coo"}, path);
  CHECK_FALSE(read_source(text).container);
  const ReadResult read = read_source(path);
  REQUIRE(read.container);
  CHECK(read.container->parts()[0].layout == "coo");
  CHECK(equal_bits(read.matrix.matrix, source.matrix));
  CHECK(open_container(path).facts().nnz == source.matrix.nnz());
  try {
    open_container(text);
    FAIL("opened");
  } catch (const Error& e) {
    CHECK(e.code() == errc::bad_input);
    CHECK(e.where() == text);
  }
}

TEST_CASE("what is no source is refused with a list of what is one") {
  const auto error_of = [](const std::string& bytes) {
    const TemporaryDirectory directory;
    write_file(directory.file("A"), bytes);
    try {
      read_matrix(directory.file("A"));
    } catch (const Error& e) {
      return e;
    }
    FAIL("accepted");
    return Error(errc::internal, "");
  };
  for (const std::string& text :
       {std::string("hello\n"), std::string("1 1 1\n1 1 1\n"), std::string(1000, '\0'),
        std::string("\x89"
                    "PNG\r\n"),
        boeing.substr(0, 150), std::string("\n\n\n\n\n"), compress("hello\n", ARCHIVE_FILTER_XZ)}) {
    const Error e = error_of(text);
    CHECK(e.code() == errc::bad_input);
    CHECK_THAT(e.where(), Catch::EndsWith("A:1:1"));
    CHECK_THAT(e.message(), Catch::Contains("expected a matrix: neither the banner '%%MatrixMarket' nor"));
    CHECK_THAT(e.remedy(), Catch::Contains("Rutherford-Boeing") && Catch::Contains(".xz") && Catch::Contains(".spmvc"));
  }
  CHECK_THAT(error_of("").message(), Catch::Contains("the file is empty"));
  CHECK_THAT(error_of(std::string("\0\1ab\n", 5)).message(), Catch::Contains("found '\\x00\\x01ab'"));
  const Error marked = error_of("\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\n1 1 0\n");
  CHECK_THAT(marked.message(), Catch::Contains("a byte order mark"));
  CHECK_THAT(marked.where(), Catch::EndsWith("A:1:1"));
  for (const auto& [text, bytes] : {std::pair(std::string("\xFF\xFE%\0%\0M\0", 8), "FF FE"),
                                    std::pair(std::string("\xFE\xFF\0%\0%\0M", 8), "FE FF")}) {
    const Error wide = error_of(text);
    CHECK(wide.code() == errc::bad_input);
    CHECK_THAT(wide.message(), Catch::Contains("text in UTF-16") && Catch::Contains(bytes));
    CHECK(wide.remedy() == "convert it: iconv -f UTF-16 -t UTF-8");
  }
  CHECK_THAT(error_of("%MatrixMarket matrix\n").message(), Catch::Contains("expected the banner"));
  CHECK_THAT(error_of(compress("hello\n", ARCHIVE_FILTER_GZIP).substr(0, 22)).message(), Catch::Contains("truncated"));
  CHECK_THROWS_WITH(read_matrix("/"), Catch::Contains("a directory"));
  CHECK_THROWS_WITH(read_matrix("/nonexistent"), Catch::Contains("cannot open: No such file"));
}

TEST_CASE("names of containers") {
  for (const char* source : {"A.mtx",     "A.mtx.gz",  "A.mtx.zst", "A.mtx.bz2", "A.mtx.xz", "A.rua",    "A.RSA",
                             "A.pua.gz",  "A.rb",      "A.rb.xz",   "A.hb",      "A.tar",    "A.tar.gz", "A.tgz",
                             "A.tar.zst", "A.tar.bz2", "A.tbz2",    "A.tar.xz",  "A.txz",    "A.zip"}) {
    INFO(source);
    CHECK(container_name(source) == "A.spmvc");
    CHECK(is_source_name(source));
    CHECK(container_name(std::string("dir.tar/") + source) == "dir.tar/A.spmvc");
    CHECK(container_name(std::string("a.b.") + source) == "a.b.A.spmvc");
  }
  for (const char* source : {"A", "A.txt", "A.spmvc", "-", "", "mtx", ".mtx", "dir/.mtx", "dir.mtx/A", ".tar", "A.gz",
                             "dir/.tar.gz", "A.rux", "A.sparse", "A.mtx.gz.gz"}) {
    INFO(source);
    CHECK_THROWS_WITH(container_name(source), Catch::Contains("no name for the output"));
    CHECK_FALSE(is_source_name(source));
  }
}
