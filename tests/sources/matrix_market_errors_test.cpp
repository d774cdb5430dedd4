// Matrix Market files that are refused: with what, and where.
#include <fmt/format.h>

#include <string>

#include "catch.hpp"
#include "market_files.hpp"

using namespace spmvpack;
using namespace spmvpack::sources;
using namespace spmvpack::test;

namespace {

void refused(const std::string& text, const std::string& place, const std::string& what, errc code = errc::bad_input,
             const MatrixMarketOptions& options = {}) {
  require_refusal(text, "a.mtx", read_matrix_market, place, what, code, options);
}

const std::string real = "%%MatrixMarket matrix coordinate real general\n";
const std::string integer = "%%MatrixMarket matrix coordinate integer general\n";
const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const std::string array = "%%MatrixMarket matrix array real general\n";

}  // namespace

TEST_CASE("banners") {
  refused("", "1:1", "the file is empty");
  refused("\n", "1:1", "found the end of the line, expected the banner");
  refused("1 1 1\n1 1 1\n", "1:1", "found '1', expected the banner '%%MatrixMarket'");
  refused(" %%MatrixMarket matrix coordinate real general\n1 1 0\n", "1:1", "expected the banner");
  refused("%%MatrixMarketmatrix coordinate real general\n1 1 0\n", "1:1", "expected the banner");
  refused("%MatrixMarket matrix coordinate real general\n1 1 0\n", "1:1", "expected the banner");
  refused("%%MatrixMarket", "1:15", "found the end of the line, expected the object: matrix, vector");
  refused("%%MatrixMarket tensor coordinate real general\n", "1:16", "found 'tensor', expected the object");
  refused("%%MatrixMarket vector coordinate real general\n", "1:16", "'vector' is not supported yet",
          errc::unsupported);
  refused("%%MatrixMarket matrix sparse real general\n", "1:23",
          "found 'sparse', expected the format: coordinate, array");
  refused("%%MatrixMarket matrix coordinate reals general\n", "1:34", "found 'reals', expected the field");
  refused("%%MatrixMarket matrix coordinate real hermitian\n", "1:39", "a real matrix cannot be hermitian");
  refused("%%MatrixMarket matrix coordinate pattern hermitian\n", "1:42", "a pattern matrix cannot be hermitian");
  refused("%%MatrixMarket matrix coordinate real\n1 1 0\n", "1:38", "found the end of the line, expected the symmetry");
  refused("%%MatrixMarket matrix coordinate real skew\n", "1:39", "found 'skew', expected the symmetry");
  refused("%%MatrixMarket matrix coordinate real general x\n", "1:47", "found 'x', expected the end of the line");
  refused("%%MatrixMarket matrix array pattern general\n", "1:29", "an array file cannot be a pattern");
  refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "1:42", "cannot be skew-symmetric");
  refused("% first\n%%MatrixMarket matrix coordinate real general\n1 1 0\n", "1:1", "expected the banner");
  refused("%%MatrixMarket matrix coordinate real general % c\n1 1 0\n", "1:47",
          "found '%', expected the end of the line");
  refused(std::string("%%MatrixMarket mat\0rix", 22), "1:16", "found 'mat\\x00rix'");
}

TEST_CASE("complex values") {
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  refused(head + "general\n2 2 1\n1 1 2.5\n", "3:8", "found the end of the line, expected a real number");
  refused(head + "general\n2 2 1\n1 1 2.5 1 3\n", "3:11", "found '3', expected the end of the line");
  refused(head + "general\n2 2 1\n1 1 2 i\n", "3:7", "found 'i', expected a real number");
  refused(head + "hermitian\n2 2 2\n2 1 1 1\n2 2 1 -0.5\n", "4:7", "an imaginary part on the diagonal");
  refused(head + "hermitian\n2 2 1\n2 2 1 nan\n", "3:7", "an imaginary part on the diagonal");
  refused(head + "hermitian\n2 2 1\n1 2 1 1\n", "3:3", "an entry above the diagonal of a hermitian matrix");
  refused(head + "skew-symmetric\n2 2 1\n1 1 0 1\n", "3:3", "an entry on the diagonal of a skew-symmetric matrix");
}

TEST_CASE("size lines") {
  refused(real, "2:1", "the file ends before its size line");
  refused(real + "% only comments\n\n", "4:1", "the file ends before its size line");
  refused(real + "%\n 2 x 1\n", "3:4", "found 'x', expected the number of columns");
  refused(real + "2 2\n1 1 1\n", "2:4", "found the end of the line, expected the number of entries");
  refused(real + "2 2 0 0\n", "2:7", "found '0', expected the end of the line");
  refused(real + "2 2 0 % c\n", "2:7", "found '%', expected the end of the line");
  refused(real + "2 % c\n2 0\n", "2:3", "found '%', expected the number of columns");
  refused(array + "2 2 4\n", "2:5", "found '4', expected the end of the line");
  refused(real + "-2 2 0\n", "2:1", "found '-2', expected the number of rows");
  refused(real + "+2 2 0\n", "2:1", "found '+2', expected the number of rows");
  refused(real + "2.0 2 0\n", "2:1", "found '2.0', expected the number of rows");
  refused(real + "2 0x2 0\n", "2:3", "found '0x2', expected the number of columns");
  refused(real + "4294967295 2 0\n", "2:1", "4294967295 rows, of which there must be fewer", errc::unsupported);
  refused(real + "2 4294967296 0\n", "2:3", "4294967296 columns", errc::unsupported);
  refused(real + "18446744073709551615 2 0\n", "2:1", "18446744073709551615 rows", errc::unsupported);
  refused(real + "18446744073709551616 2 0\n", "2:1", "beyond 64 bits");
  refused(real + "2 2 99999999999999999999\n", "2:5", "beyond 64 bits");
  refused(symmetric + "2 3 0\n", "2:3", "a symmetric matrix of 2 rows and 3 columns");
  refused(skew + "3 2 0\n", "2:3", "a skew-symmetric matrix of 3 rows and 2 columns");
}

TEST_CASE("counts of entries") {
  refused(real + "2 2 3\n1 1 1\n2 2 2\n", "5:1", "the file ends after 2 of the 3 entries");
  refused(real + "2 2 3\n1 1 1\n\n% c\n2 2 2", "7:1", "the file ends after 2 of the 3 entries");
  refused(real + "2 2 1000000000000\n1 1 1\n", "4:1", "the file ends after 1 of the 1000000000000 entries");
  refused(real + "2 2 1\n1 1 1\n\n  2 2 2\n1 2 3\n", "5:3", "more entries than the 1 that the size line announces");
  refused(real + "2 2 1\n1 1 1\n%\n\n\tjunk\n", "6:2", "more entries than the 1");
  refused(real + "2 2 0\n0 0 0\n", "3:1", "more entries than the 0");
  refused(array + "2 2\n1\n2\n3\n", "6:1", "the file ends after 3 of the 4 entries that an array");
  refused(array + "1 2\n1\n2\n3\n", "5:1", "more entries than the 2 that an array of this size has");
  // Cut off within a line.
  refused(real + "2 2 3\n1 1 1\n2 2 2\n1", "5:2", "found the end of the line, expected a column index");
  refused(real + "2 2 3\n1 1 1\n2 2 2\n1 2", "5:4", "found the end of the line, expected a real number");
  refused(real + "2 2 3\n1 1 1\n2 2 2\n1 2 -", "5:5", "found '-', expected a real number");
  refused(real + "2 2 3\n1 1 1\n2 2 2\n1 2 1.5e", "5:5", "found '1.5e', expected a real number");
  refused(pattern + "2 2 3\n1 1\n2 2\n1", "5:2", "found the end of the line, expected a column index");
  refused(real + "2 2", "2:4", "found the end of the line, expected the number of entries");
  // What a size line promises is not allocated on its word.
  for (const std::string& head : {real, integer, pattern, symmetric}) {
    MatrixMarketOptions options;
    options.memory_limit = std::uint64_t{64} << 20;
    refused(head + "3 3 1000000000000\n", "3:1", "the file ends after 0 of the 1000000000000 entries", errc::bad_input,
            options);
  }
  refused(array + "4294967294 4294967294\n1\n", "4:1", "the file ends after 1 of the 18446744056529682436 entries");
}

TEST_CASE("indices") {
  for (const char* row : {"0", "4", "-1", "+1", "1.5", "1e0", "x", "0x1", "4294967297", "18446744073709551617", "1,"}) {
    refused(real + "3 2 2\n1 1 1\n" + row + " 1 1\n", "4:1",
            fmt::format("found '{}', expected a row index from 1 to 3", row));
    refused(pattern + fmt::format("2 3 2\n1 1\n 1  {} \n", row), "4:5",
            fmt::format("found '{}', expected a column index from 1 to 3", row));
  }
  refused(real + "3 3 1\n1\n", "3:2", "found the end of the line, expected a column index");
  refused(real + "3 3 1\n1 \r\n", "3:3", "found the end of the line, expected a column index");
  refused(real + "0 0 1\n1 1 1\n", "3:1", "found '1', expected a row index from 1 to 0");
  refused(symmetric + "3 3 2\n1 1 1\n1 2 1\n", "4:3", "an entry above the diagonal of a symmetric matrix");
  refused(skew + "3 3 2\n2 1 1\n1 2 1\n", "4:3", "an entry above the diagonal of a skew-symmetric matrix");
  refused(skew + "3 3 1\n2 2 0\n", "3:3", "an entry on the diagonal of a skew-symmetric matrix");
}

TEST_CASE("values") {
  refused(real + "2 2 1\n1 1\n", "3:4", "found the end of the line, expected a real number");
  refused(real + "2 2 1\n1 1 \r\n", "3:5", "found the end of the line, expected a real number");
  refused(real + "2 2 1\n1 1 x\n", "3:5", "found 'x', expected a real number");
  refused(real + "2 2 1\n1 1 0x10\n", "3:5", "found '0x10', expected a real number");
  refused(real + "2 2 1\n1 1 1.0x\n", "3:5", "found '1.0x', expected a real number");
  refused(real + "2 2 1\n1 1 1.0,\n", "3:5", "found '1.0,', expected a real number");
  refused(real + "2 2 1\n1 1 1.0 x\n", "3:9", "found 'x', expected the end of the line");
  refused(real + "2 2 1\n1 1 1.0e5d3\n", "3:5", "found '1.0e5d3', expected a real number");
  refused(real + "2 2 1\n1 1 1 000\n", "3:7", "found '000', expected the end of the line");
  refused(integer + "2 2 1\n1 1 0x10\n", "3:5", "found '0x10', expected an integer");
  refused(integer + "2 2 1\n1 1 7 7\n", "3:7", "found '7', expected the end of the line");
  refused(integer + "2 2 1\n1 1 -\n", "3:5", "found '-', expected an integer");
  refused(integer + "2 2 1\n1 1\n", "3:4", "found the end of the line, expected an integer");
  refused(real + "2 2 1\n1 1 1.0 2.0\n", "3:9", "found '2.0', expected the end of the line");
  refused(real + "2 2 1\n1 1 1.0 % c\n", "3:9", "found '%', expected the end of the line");
  refused(real + "2 2 1\n1 1 1.0\r2\n", "3:8", "found '\\x0D', expected the end of the line");
  refused(real + "2 2 1\n1 1 1.0\r\r2\n", "3:8", "found '\\x0D', expected the end of the line");
  refused(real + "2 2 1\n1 1 1.0\r \r\n", "3:8", "found '\\x0D', expected the end of the line");
  refused(real + "2 2 1\n1 1\r\r\n", "3:4", "found the end of the line, expected a real number");
  refused("%%MatrixMarket matrix coordinate real general\r2 2 1\r1 1 1.0\r", "1:46",
          "found '\\x0D', expected the end of the line");
  refused(real + "2 2 1\n1 1\r1.0\n", "3:4", "found '\\x0D', expected a real number");
  refused(real + "2 2 1\n1\v1\v1.0\n", "3:1", "found '1\\x0B1\\x0B1.0', expected a row index");
  refused(real + "2 2 1\n1 1 1e400\n", "3:5", "the value '1e400' does not fit f64");
  refused(real + "2 2 1\n1 1 -" + std::string(400, '9') + "\n", "3:5", "...' does not fit f64");
  refused(real + std::string("2 2 1\n1 1 1\0\n", 13), "3:5", "found '1\\x00', expected a real number");
  refused(real + std::string("2 2 1\n\0 1 1 1\n", 14), "3:1", "found '\\x00', expected a row index");
  refused(real + std::string("2 2 1\n1 1\0 1\n", 13), "3:3", "found '1\\x00', expected a column index");
  refused(real + std::string("2 2 2\n1 1 1\n\0\n2 2 2\n", 20), "4:1", "found '\\x00', expected a row index");
  refused(pattern + "2 2 1\n1 1 1\n", "3:5", "found '1', expected the end of the line");
  refused(integer + "2 2 1\n1 1 1.0\n", "3:5", "found '1.0', expected an integer");
  refused(integer + "2 2 1\n1 1 9007199254740993\n", "3:5", "the integer '9007199254740993' does not fit f64");
  refused(array + "2 1\n1.0 2.0\n", "3:5", "found '2.0', expected the end of the line");
  refused(array + "2 1\n1.0\nx\n", "4:1", "found 'x', expected a real number");

  MatrixMarketOptions f32;
  f32.value_type = ValueType::f32;
  refused(real + "2 2 1\n1 1 1e39\n", "3:5", "the value '1e39' does not fit f32", errc::bad_input, f32);
  refused(integer + "2 2 1\n1 1 16777217\n", "3:5", "the integer '16777217' does not fit f32", errc::bad_input, f32);
}

TEST_CASE("unsigned integers have no minus sign and are exact") {
  const std::string coordinate = "%%MatrixMarket matrix coordinate unsigned-integer general\n";
  const char* const expected = "', expected an integer without a sign, as the field is unsigned-integer";
  refused(coordinate + "2 2 2\n1 1 1\n2 2 -3\n", "4:5", fmt::format("found '-3{}", expected));
  refused(coordinate + "2 2 2\n1 1 12345678\n 2 2  -0 \n", "4:7", fmt::format("found '-0{}", expected));
  refused(coordinate + "2 2 1\n1 1 1.0\n", "3:5", "found '1.0', expected an integer");
  refused(coordinate + "2 2 1\n1 1 18446744073709551615\n", "3:5",
          "the integer '18446744073709551615' does not fit f64");
  refused("%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n1\n2\n-3\n", "5:1",
          fmt::format("found '-3{}", expected));
  refused("%%MatrixMarket matrix coordinate unsigned-integer skew-symmetric\n2 2 0\n", "1:51",
          "unsigned integers have no signs and cannot be skew-symmetric");
  refused("%%MatrixMarket matrix coordinate unsigned general\n", "1:34",
          "found 'unsigned', expected the field: real, integer, unsigned-integer, pattern, complex");
}

TEST_CASE("integers that are not exact have a remedy of their own") {
  const TemporaryDirectory directory;
  write_file(directory.file("a.mtx"), integer + "1 1 1\n1 1 9007199254740993\n");
  try {
    read_matrix_market(directory.file("a.mtx"));
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.remedy() == "declare the field real to have it rounded");
  }
  write_file(directory.file("a.mtx"), real + "1 1 1\n1 1 9007199254740993\n");
  CHECK_NOTHROW(read_matrix_market(directory.file("a.mtx")));
}

TEST_CASE("sums of duplicates") {
  refused(real + "1 1 2\n1 1 1e308\n1 1 1e308\n", "", "row 1, column 1 add up to a value that f64 cannot hold");
  refused(integer + "9 9 4\n9 9 9007199254740992\n9 9 1\n2 3 1\n2 3 9007199254740992\n", "",
          "row 2, column 3 add up to a value that f64 cannot hold exactly");
  // 2^53 + 1 + 1 would be exact in another order.
  refused(integer + "1 1 3\n1 1 9007199254740992\n1 1 1\n1 1 1\n", "", "cannot hold exactly");
  MatrixMarketOptions f32;
  f32.value_type = ValueType::f32;
  refused(integer + "1 1 2\n1 1 16777216\n1 1 1\n", "", "f32 cannot hold exactly", errc::bad_input, f32);
}

TEST_CASE("of several errors the first is reported, wherever pieces and batches end") {
  std::string text = real + "100 100 3000\n";
  for (int i = 0; i < 3000; ++i)
    text += i < 1234 || i % 2 ? fmt::format("{} {} {}\n", i % 100 + 1, i / 100 + 1, i)
                              : fmt::format("{} 101 x\n", i % 100 + 1);
  refused(text, fmt::format("{}:{}", 1234 + 3, 4), "found '101', expected a column index from 1 to 100");
  // The same with the entries that are too many in front of it, behind it, and in its place.
  const auto with_entries = [&](const std::string& count) {
    return real + "100 100 " + count + text.substr(text.find(" 3000\n") + 5);
  };
  refused(with_entries("1000"), "1003:1", "more entries than the 1000");
  refused(with_entries("1234"), "1237:1", "more entries than the 1234");
  refused(with_entries("1235"), "1237:4", "found '101'");
}

TEST_CASE("memory limits") {
  std::string text = pattern + "1000 1000 50000\n";
  for (int i = 0; i < 50000; ++i) text += "1000 1000\n";
  MatrixMarketOptions options;
  options.memory_limit = 300000;  // less than the list of entries
  const auto out_of_memory = [&](const std::string& content) {
    const TemporaryDirectory directory;
    write_file(directory.file("a.mtx"), content);
    in_every_way(options, [&](const MatrixMarketOptions& way) {
      if (way.chunk_bytes > 100) return;
      try {
        read_matrix_market(directory.file("a.mtx"), way);
        FAIL("no limit");
      } catch (const Error& e) {
        CHECK(e.code() == errc::out_of_memory);
      }
    });
  };
  out_of_memory(text);
  options.memory_limit = 700000;  // less than list and matrix
  out_of_memory(text);
  options.memory_limit = 100000;
  out_of_memory(pattern + "4294967294 1 1\n4294967294 1\n");  // less than the row pointers
}

TEST_CASE("vectors that are none") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x.mtx");
  for (const std::string& text : {real + "3 1 0\n", array + "2 2\n1\n2\n3\n4\n",
                                  std::string("%%MatrixMarket matrix array real symmetric\n1 1\n1\n")}) {
    write_file(path, text);
    CHECK_THROWS_WITH(read_vector(path), Catch::Contains("expected a vector"));
  }
  write_file(path, array + "2 1\n1\n1e400\n");
  CHECK_THROWS_WITH(read_vector(path), Catch::Contains(":4:1: the value '1e400' does not fit f64"));
  CHECK_THROWS_AS(read_matrix_market(directory.file("none.mtx")), Error);
}
