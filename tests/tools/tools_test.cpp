/// Parts of the command line that its cases cannot reach from outside.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "catch.hpp"
#include "csv.hpp"
#include "dealt.hpp"
#include "exit_code.hpp"
#include "failures.hpp"
#include "matrices.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "short_text.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/sources/matrix_market.hpp"
#include "spmvpack/sources/read_matrix.hpp"
#include "suggestion.hpp"

using namespace spmvpack;
using namespace spmvpack::tools;

TEST_CASE("every errc has its documented exit code") {
  CHECK(exit_code(errc::io) == 1);
  CHECK(exit_code(errc::exists) == 1);
  CHECK(exit_code(errc::usage) == 2);
  CHECK(exit_code(errc::bad_input) == 3);
  CHECK(exit_code(errc::corrupt) == 4);
  CHECK(exit_code(errc::mismatch) == 4);
  CHECK(exit_code(errc::unsupported) == 5);
  CHECK(exit_code(errc::no_device) == 6);
  CHECK(exit_code(errc::out_of_memory) == 7);
  CHECK(exit_code(errc::interrupted) == 130);
  CHECK(exit_code(errc::interrupted, SIGTERM) == 143);
  CHECK(exit_code(errc::internal) == 70);
}

TEST_CASE("names and numbers of a narrow column") {
  CHECK(shortened("A.mtx", 5) == "A.mtx");
  CHECK(shortened("directory/A.mtx", 14) == "A.mtx");
  CHECK(shortened("directory/ABCDEFGHIJ.mtx", 12) == "ABCDE..J.mtx");
  CHECK(shortened("ABCDEFGHIJ", 9) == "ABCD..HIJ");
  CHECK(shortened("ABCDE", 4) == "A..E");
  CHECK(shortened("a\nb", 6) == "a\\x0Ab");
  // Columns are those of characters, which are never cut.
  const std::string umlaut = "\xC3\xA4";
  CHECK(shortened(umlaut + umlaut + umlaut + umlaut, 4) == umlaut + umlaut + umlaut + umlaut);
  CHECK(shortened(umlaut + umlaut + umlaut + umlaut + "bc", 5) == umlaut + umlaut + ".." + "c");

  CHECK(short_count(0) == "0");
  CHECK(short_count(999'999) == "999,999");
  CHECK(short_count(1'000'000) == "1.00 M");
  CHECK(short_count(9'994'999) == "9.99 M");
  CHECK(short_count(9'995'000) == "10.0 M");
  CHECK(short_count(99'949'999) == "99.9 M");
  CHECK(short_count(99'950'000) == "100 M");
  CHECK(short_count(999'499'999) == "999 M");
  CHECK(short_count(999'500'000) == "1.00 G");
  CHECK(short_count(std::numeric_limits<std::uint64_t>::max()) == "18.4 E");
}

TEST_CASE("fields of comma-separated values are quoted where they must be") {
  CHECK(csv_line({"a", "", "b c"}) == "a,,b c\n");
  CHECK(csv_line({"a,b", "say \"x\"", "two\nlines"}) == "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
  CHECK(csv_optional(std::optional<double>{}).empty());
  CHECK(csv_optional(std::optional<double>{0.1}) == "0.1");
}

TEST_CASE("of several files, the highest exit code counts, and what ends all is thrown at once") {
  const auto code_of = [](auto&& f) {
    try {
      f();
    } catch (const Error& e) {
      return e.code();
    }
    return errc{};
  };
  const auto fail = [](errc code, const std::string& where = {}) { throw Error(code, "expected in this test", where); };
  Failures none("test", 2), one("test", 1), several("test", 5);
  none.attempt("A", [] {});
  CHECK_NOTHROW(none.finish());
  CHECK(code_of([&] { one.attempt("A", [&] { fail(errc::bad_input); }); }) == errc::bad_input);
  several.attempt("A", [&] { fail(errc::io); });
  several.attempt("B", [&] { fail(errc::out_of_memory); });
  several.attempt("C", [&] { fail(errc::corrupt, "C: section"); });
  CHECK(code_of([&] { several.finish(); }) == errc::out_of_memory);
  several.attempt("D", [] { throw std::bad_alloc(); });
  CHECK(code_of([&] { several.attempt("E", [&] { fail(errc::interrupted); }); }) == errc::interrupted);
  CHECK(code_of([&] { several.attempt("E", [&] { fail(errc::io, "standard output"); }); }) == errc::io);
  several.attempt("F", [&] { fail(errc::internal); });
  CHECK(code_of([&] { several.finish(); }) == errc::internal);
}

TEST_CASE("sizes in bytes") {
  CHECK(parse_bytes("--x", "1") == 1);
  CHECK(parse_bytes("--x", "4096") == 4096);
  CHECK(parse_bytes("--x", "512M") == 512U << 20);
  CHECK(parse_bytes("--x", "3KiB") == 3U << 10);
  CHECK(parse_bytes("--x", "8GB") == std::uint64_t{8} << 30);
  CHECK(parse_bytes("--x", "16777215T") == std::uint64_t{16777215} << 40);
  CHECK(parse_bytes("--x", "18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  for (const char* bad :
       {"", "0", "G", "-1", "1.5G", "1 G", "4096B", "8Gi", "8GBB", "8g", "16777216T", "18446744073709551616"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_bytes("--x", bad), Error);
  }
}

TEST_CASE("numbers within bounds") {
  CHECK(parse_number("--x", "1", 1, 19) == 1);
  CHECK(parse_number("--x", "19", 1, 19) == 19);
  for (const char* bad : {"", "0", "20", "+1", "1.0", "1 ", "99999999999999999999"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_number("--x", bad, 1, 19), Error);
  }
}

TEST_CASE("settings are split at the first equals sign") {
  CHECK(parse_settings({"a.b=1", "c=d=e"}) == std::map<std::string, std::string>{{"a.b", "1"}, {"c", "d=e"}});
  CHECK_THROWS_AS(parse_settings({"a"}), Error);
  CHECK_THROWS_AS(parse_settings({"a=1", "a=2"}), Error);
}

TEST_CASE("numbers in groups of three digits") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
  CHECK(counted(1, "row") == "1 row");
  CHECK(counted(0, "row") == "0 rows");
  CHECK(counted(2000, "entry", "entries") == "2,000 entries");
}

TEST_CASE("progress tells speed and time left once they can be known") {
  CHECK(progress_text("plan", 0, 0, 0, 5.0) == "plan");
  CHECK(progress_text("read", 500, 1000, 0, 0.1) == "read  50 %");
  CHECK(progress_text("read", 500'000'000, 1'000'000'000, 500'000'000, 3.0) == "read  50 %");
  CHECK(progress_text("read", 100'000'000, 1'000'000'000, 0, 0.5) == "read  10 %  200 MB/s");
  CHECK(progress_text("read", 300'000'000, 1'000'000'000, 100'000'000, 2.0) == "read  30 %  100 MB/s  7 s left");
  CHECK(progress_text("read", 1'000'000'000, 1'000'000'000, 0, 2.0) == "read 100 %  500 MB/s");
  CHECK(progress_text("generate", 2'500'000, 1'002'500'000, 0, 1.0) == "generate   0 %  2.5 M/s  6:40 left");
  CHECK(progress_text("read", 90'000'000, 0, 0, 3.0) == "read  30 MB/s");  // from a pipe, of unknown length
}

TEST_CASE("suggestions are the closest words, and none where all are far") {
  const std::vector<std::string> layouts{"csr", "coo", "ccoo"};
  CHECK(did_you_mean("cco", layouts) == "did you mean 'ccoo'? ");  // its start
  CHECK(did_you_mean("cooo", layouts) == "did you mean 'coo' or 'ccoo'? ");
  CHECK(did_you_mean("CSR", layouts) == "did you mean 'csr'? ");
  CHECK(did_you_mean("ell", layouts).empty());
  CHECK(did_you_mean("", layouts).empty());
  CHECK(did_you_mean("x", layouts).empty());
  CHECK(did_you_mean(std::string(1'000'000, 'c'), layouts).empty());
  CHECK(did_you_mean("acb", {"abc"}) == "did you mean 'abc'? ");
  CHECK(did_you_mean("ab", {}).empty());
}

namespace spmvpack::test {
namespace {

/// What `spmvpack ARGUMENTS` prints. It must succeed.
std::string command(const std::string& arguments) {
  std::FILE* const pipe = ::popen((std::string(SPMVPACK_TEST_COMMAND) + " " + arguments).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  INFO(arguments << ": " << text);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("the commands take a container of many parts") {
  const TemporaryDirectory directory;
  for (NamedMatrix& m : random_matrices<double>(83, 2)) {
    if (m.name != "power law" && m.name != "0 rows" && m.name != "one dense row") continue;
    INFO(m.name);
    const SourceMatrix source{std::move(m.matrix), Field::real, Symmetry::general, {}};
    const std::string a = directory.file("A.mtx"), container = directory.file("A.spmvc"), b = directory.file("B.mtx");
    sources::write_matrix_market(a, source, true);
    const std::size_t parts =
        encoder::encode(source, dealt(7), {.overwrite = true, .force_size = true}, container).plan.parts.size();
    CHECK(command("inspect " + container).find("part " + std::to_string(parts - 1) + ": ") != std::string::npos);
    CHECK(command("verify " + container + " --against " + a).find(": ok\n") != std::string::npos);
    command("decode " + container + " -f -o " + b);
    CHECK(equal_bits(sources::read_matrix(b).matrix, source.matrix));
    const std::string csr = directory.file("B.spmvc");
    command("encode " + container + " -f --layout csr -o " + csr + " -q");
    CHECK(equal_bits(unpack(Container::open(csr)), source.matrix));
    CHECK(command("report " + container).find("Use ") != std::string::npos);
  }
}

}  // namespace spmvpack::test
