// Harwell-Boeing and Rutherford-Boeing files: what is read, and what is refused.
#include "spmvpack/sources/rutherford_boeing.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "market_files.hpp"
#include "matrices.hpp"
#include "spmvpack/sources/read_matrix.hpp"

using namespace spmvpack;
using namespace spmvpack::sources;
using namespace spmvpack::test;

namespace {

/// Numbers in fixed columns, as the format of `per_line` of them would be written.
std::string lines_of(const std::vector<std::string>& numbers, std::size_t per_line, std::size_t width) {
  std::string text;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    text += fmt::format("{:>{}}", numbers[k], width);
    if ((k + 1) % per_line == 0 || k + 1 == numbers.size()) text += "\n";
  }
  return text;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A file of pointers (4I6), indices (5I4) and values as given.
struct File {
  std::string type = "RUA";
  std::size_t rows = 3, cols = 3;
  std::vector<std::string> pointers{"1", "3", "4", "5"}, indices{"1", "3", "2", "1"};
  std::string value_format = "(2E12.4)";
  std::string values = "  1.5000E+00 -2.5000E+00\n  3.0000D-01  4.0000E+00\n";
  std::string rhs;

  [[nodiscard]] std::string text() const {
    const std::string p = lines_of(pointers, 4, 6), i = lines_of(indices, 5, 4);
    const std::size_t np = count_lines(p), ni = count_lines(i), nv = count_lines(values), nr = count_lines(rhs);
    return fmt::format("{:<72}{:<8}\n{:14}{:14}{:14}{:14}{:14}\n{:<14}{:14}{:14}{:14}{:14}\n{:<16}{:<16}{:<20}{}\n{}",
                       "A title", "KEY", np + ni + nv + nr, np, ni, nv, nr, type, rows, cols, indices.size(), 0,
                       "(4I6)", "(5I4)", value_format, rhs.empty() ? "" : "(2E12.4)            ",
                       rhs.empty() ? "" : "F                          1             0\n") +
           p + i + values + rhs;
  }
};

SourceMatrix read(const std::string& text, const TextOptions& options = {}) {
  SourceMatrix first = read_file_of(text, "a.rua", read_rutherford_boeing, options);
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.rua");
  write_file(path, text);
  SourceOptions by_content;
  by_content.value_type = options.value_type;
  REQUIRE(equal_bits(first.matrix, read_matrix(path, by_content).matrix));
  return first;
}

void refused(const std::string& text, const std::string& place, const std::string& what, errc code = errc::bad_input,
             const TextOptions& options = {}) {
  require_refusal(text, "a.rua", read_rutherford_boeing, place, what, code, options);
}

/// The text with `replacement` in line `line` from column `column` on, both from 1; the line grows where it must.
std::string with(std::string text, std::size_t line, std::size_t column, const std::string& replacement) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < line; ++i) at = text.find('\n', at) + 1;
  at += column - 1;
  return text.replace(at, std::min(replacement.size(), text.find('\n', at) - at), replacement);
}
std::string with_crlf(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return result;
}

const CsrMatrix& small() {
  static const CsrMatrix a = make_csr(3, 3, {{{0, 0}, 1.5}, {{2, 0}, -2.5}, {{1, 1}, 0.3}, {{0, 2}, 4}});
  return a;
}

}  // namespace

TEST_CASE("a small file in all its guises") {
  const SourceMatrix s = read(File{}.text());
  CHECK(equal_bits(s.matrix, small()));
  CHECK(s.field == Field::real);
  CHECK(s.symmetry == Symmetry::general);
  CHECK(s.provenance.entries == 4);
  CHECK(s.provenance.source == "a.rua");
  CHECK(s.provenance.comments.size() == 1);
  CHECK_THAT(s.provenance.comments[0], Catch::StartsWith(" A title") && Catch::EndsWith("KEY"));

  const std::string text = File{}.text();
  CHECK(equal_bits(read(with_crlf(text)).matrix, small()));
  std::string twice;  // with_crlf(), and once more
  for (const char c : with_crlf(text)) twice += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(equal_bits(read(twice).matrix, small()));
  CHECK(equal_bits(read(text.substr(0, text.size() - 1)).matrix, small()));  // no newline at the end
  CHECK(equal_bits(read(text + " \n\n   \r\n").matrix, small()));
  CHECK(equal_bits(read(with(text, 3, 1, "rua")).matrix, small()));
  CHECK(equal_bits(read(with(text, 3, 1, "RRA")).matrix, small()));
  CHECK(equal_bits(read(with(text, 2, 57, "              ")).matrix, small()));  // no count of right-hand sides
  CHECK(equal_bits(read(with(text, 3, 57, "              ")).matrix, small()));  // no count of elements
  File padded;
  padded.values = "  1.5000E+00 -2.5000E+00     \n 30.0000E-02  4.0000    \n";  // blanks to column 80, no exponent
  CHECK(equal_bits(read(padded.text()).matrix, small()));
  File with_rhs;
  with_rhs.rhs = "  1.0000E+00  anything\n";
  CHECK(equal_bits(read(with_rhs.text()).matrix, small()));
}

TEST_CASE("the forms of real numbers in fixed columns", "[sequential]") {
  const auto value = [](const std::string& format, const std::string& field) {
    File f;
    f.rows = f.cols = 1;
    f.pointers = {"1", "2"};
    f.indices = {"1"};
    f.value_format = format;
    f.values = field + "\n";
    return std::get<Array<double>>(read(f.text()).matrix.values)[0];
  };
  for (const char* format : {"(1E10.3)", "(E10.3)", "(e10.3)", "(1P,E10.3)", "(1PE10.3)", "(-2P,D10.3)", "(0P3G10.3E2)",
                             "( 5 ES10.3 )", "(EN10.3)", "(1P,4D10.3)"}) {
    INFO(format);
    CHECK(value(format, "  1.500E+2") == 150);
    CHECK(value(format, "1.5d2     ") == 150);
    CHECK(value(format, "  1.5D+02 ") == 150);
    CHECK(value(format, " +1.5e2   ") == 150);
    CHECK(value(format, "   -1.5+2 ") == -150);
    CHECK(value(format, "   1.5-003") == 0.0015);
    CHECK(value(format, "  .15+103") == .15e103);
    CHECK(value(format, "      0   ") == 0);
    CHECK(std::signbit(value(format, "    -0.   ")));
    CHECK(value(format, "       Inf") == INFINITY);
    CHECK(std::isnan(value(format, "   NaN    ")));
  }
  CHECK(value("(F5.0)", "   12") == 12);
  CHECK(value("(3F8.3)", "  -1.25") == -1.25);
  CHECK(value("(F8.3)", "1.") == 1);
  CHECK(value("(E25.17)", "1.00000000000000000001E-5") == 1e-5);
  CHECK(value("(E25.17)", "   1.7976931348623157+308 ") == 1.7976931348623157e308);
}

TEST_CASE("formats of several items, groups and lines put numbers where Fortran does") {
  struct Case {
    const char* format;
    const char* lines;
    std::vector<double> values;
  };
  // What gfortran 12 reads.
  const std::vector<Case> cases{
      {"(1X,3F4.1)", " 1.5  -2. 3.\n 4.\n", {1.5, -2, 3, 4}},
      {"( 1 X , 3 f 4 . 1 )", " 1.5  -2. 3.\n 4.\n", {1.5, -2, 3, 4}},
      {"(X3F4.1)", " 1.5  -2. 3.\n 4.\n", {1.5, -2, 3, 4}},
      {"(T2,3F4.1)", " 1.5  -2. 3.\n 4.\n", {1.5, -2, 3, 4}},
      {"(TR1,3(F4.1),5X)", " 1.5  -2. 3.\n4.\n", {1.5, -2, 3, 4}},  // the group alone is repeated
      {"(1X,(3F4.1))", " 1.5  -2. 3.\n4.\n", {1.5, -2, 3, 4}},
      {"((1X,3(F4.1)))", " 1.5  -2. 3.\n 4.\n", {1.5, -2, 3, 4}},
      {"(F4.1,TL1,1X,F3.1)", " 1.5-2.\n 3.  4.\n", {1.5, -2, 3, 4}},
      {"(2(F4.1,1X),F4.1)", " 1.5   2.   3.\n  4.   5.   6.\n", {1.5, 2, 3, 4, 5, 6}},
      {"(F4.1,2(1X,F4.1))", " 1.5   2.   3.\n   4.   5.\n", {1.5, 2, 3, 4, 5}},
      {"(F4.1,(1X,F4.1)F5.1)", " 1.5   2.   3.\n   4.   5.\n   6.\n", {1.5, 2, 3, 4, 5, 6}},
      {"(F4.1/2F4.1)", " 1.5\n  2.  3.\n  4.\n  5.\n", {1.5, 2, 3, 4, 5}},
      {"(F4.1,/,1X,F4.1,/)", " 1.5\n   2.\n\n  3.\n   4.\n\n", {1.5, 2, 3, 4}},
      {"(2/F4.1)", "\n\n 1.5\n\n\n  2.\n", {1.5, 2}},
      {"(F4.1,:,/)", " 1.5\n\n  2.\n", {1.5, 2}},
      {"(F4.1:/F4.1)", " 1.5\n  2.\n  3.\n", {1.5, 2, 3}},
      {"(SP,BN,S,2F4.1)", " 1.5 -2.\n", {1.5, -2}},
      {"(DP,2D4.1)", " 1.5 -2.\n", {1.5, -2}},
      {"(3(1P,E8.1))", " 1.5E+00 2.5D+00-3.5+000\n 4.0E-01\n", {1.5, 2.5, -3.5, .4}},
      {"(1P3E8.1)", " 1.5E+00 2.5E+00-3.5E+00\n 4.0E-01\n", {1.5, 2.5, -3.5, .4}},
      {"(1P,3(E8.1))", " 1.5E+00 2.5E+00-3.5E+00\n 4.0E-01\n", {1.5, 2.5, -3.5, .4}},
      {"(2PF6.1,0P,F5.1)", " 150.0  1.5\n-250.0  3.5\n", {1.5, 1.5, -2.5, 3.5}},
      {"(F5.1,-1PF5.1)", "  1.5  .15\n  .25  .35\n", {1.5, 1.5, 2.5, 3.5}},  // a scale lasts
      {"(1P,F9.1)", " 123456.7\n  -0.001\n    .5E1\n", {12345.67, -0.0001, 5}},
      {"(2G10.3)", "  1.50    0.250E+01\n  -3.5    \n", {1.5, 2.5, -3.5}},
      {"(2G8.3)", "0.25E+011.50    \n", {2.5, 1.5}},
      {"(2E12.13)", "         1.5      2.5E+0\n", {1.5, 2.5}},
      {"(E9.1)", "  1.5E 01\n  1.5E-01\n", {15, .15}},  // a blank for the plus sign
  };
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.rua");
  for (const Case& c : cases) {
    INFO(c.format);
    File f;
    f.rows = c.values.size();
    f.cols = 1;
    f.pointers = {"1", std::to_string(f.rows + 1)};
    f.indices.clear();
    for (std::size_t i = 1; i <= f.rows; ++i) f.indices.push_back(std::to_string(i));
    f.value_format = c.format;
    f.values = c.lines;
    write_file(path, f.text());
    for (const std::uint64_t chunk_bytes : {1U, 1U << 18}) {
      TextOptions options;
      options.threads = 1;
      options.chunk_bytes = chunk_bytes;
      const SourceMatrix s = read_rutherford_boeing(path, options);
      const auto& values = std::get<Array<double>>(s.matrix.values);
      CHECK(std::vector<double>(values.begin(), values.end()) == c.values);
      CHECK(s.warnings.empty());
    }
  }

  CHECK(
      equal_bits(read(with(with(File{}.text(), 4, 1, "(T1,4(1X,I5))   "), 4, 17, "(X,G3.0,4(X,I3))")).matrix, small()));
}

TEST_CASE("what stands where a format has no number is refused") {
  File f;
  f.value_format = "(1X,E11.4,1X,E11.4)";
  f.values = "  1.500E+00  -2.5E+00   \n    3.0D-01  4.000E+00\n";
  CHECK(equal_bits(read(f.text()).matrix, small()));
  refused(with(f.text(), 7, 13, "x"), "7:13", "found 'x-2.5E+00', expected blanks, as the format skips this column");
  refused(with(f.text(), 8, 1, "1"), "8:1", "found '1', expected blanks");
  f.value_format = "(2E12.4,/)";
  f.values = "  1.5000E+00 -2.5000E+00\n 0\n  3.0000D-01  4.0000E+00\n\n";
  refused(f.text(), "8:2", "found '0', expected the end of the line");
  f.values = "  1.5000E+00 -2.5000E+00\n\n  3.0000D-01  4.0000E+00\n";
  refused(f.text(), "2:43", "3 lines of values, expected 4");
}

TEST_CASE("numbers in other columns than their format says are read if blanks separate them on every line") {
  File f;
  f.value_format = "(3E25.16)";
  // As hb_write() of SciPy writes them, 24 columns wide.
  f.values =
      "  1.5000000000000000E+00  2.5000000000000000E-01 -2.5000000000000000E+00\n"
      "  4.0000000000000000E+00\n";
  const CsrMatrix matrix = make_csr(3, 3, {{{0, 0}, 1.5}, {{2, 0}, .25}, {{1, 1}, -2.5}, {{0, 2}, 4}});
  SourceMatrix s = read(f.text());
  CHECK(equal_bits(s.matrix, matrix));
  REQUIRE(s.warnings.size() == 1);
  CHECK_THAT(
      s.warnings[0],
      Catch::EndsWith("a.rua:7:27: the values are in other columns than the header's format (3E25.16) says; each "
                      "line has as many numbers between blanks as it should, and these are read"));
  CHECK(equal_bits(read(with_crlf(f.text())).matrix, matrix));
}

TEST_CASE("between blanks, each line has as many numbers as the format says") {
  File f;
  const CsrMatrix matrix = make_csr(3, 3, {{{0, 0}, 1.5}, {{2, 0}, .25}, {{1, 1}, -2.5}, {{0, 2}, 4}});
  f.value_format = "(2E12.4)";
  f.values = "  1.5000E+00   .2500E+00\n-2.5 4.\n";
  SourceMatrix s = read(f.text());
  CHECK(equal_bits(s.matrix, matrix));
  CHECK_THAT(s.warnings.at(0), Catch::Contains("a.rua:8:1: "));
  f.values = "1.5\t.25\n-25.E-1    4.\n";
  CHECK(equal_bits(read(f.text()).matrix, matrix));
  f.values = "1.5\t.25\n-25.E-1    4.  5.\n";
  refused(f.text(), "8:1", "between blanks stand 3, expected 2 values");
  f.values = "1.5 .25 \n-25.E-1    4.x\n";
  refused(f.text(), "8:12", "found '4.x', expected a real number");
  f.values = "1.5 .25\n-2.5000E-000-1.500E+0000\n";
  refused(f.text(), "8:1", "between blanks stand 1, expected 2 values");
  f.values = "1.5 .25\n" + std::string(129, '0') + " 1.\n";
  refused(f.text(), "8:1", "found 129 characters, expected a real number");
}

TEST_CASE("a line of numbers that touch, or with blanks in them, has its columns: the list cannot have others") {
  File f;
  f.value_format = "(2E12.4)";
  f.values = "-1.5000E+000-2.5000E+000\n1.5 .25\n";
  refused(f.text(), "8:1", "found '1.5 .25', expected one real number");
  f.values = "  1.5000E 00 -2.5000E 00\n1.5 .25\n";
  refused(f.text(), "8:1", "found '1.5 .25', expected one real number");
}

TEST_CASE("numbers that touch are not separated by blanks") {
  File f;
  f.value_format = "(3E25.16)";
  f.values =
      "-1.5000000000000000E+100-2.5000000000000000E+100 -2.5000000000000000E+00\n"
      "  4.0000000000000000E+00\n";
  refused(f.text(), "7:1", "found '-1.5000000000000000E+100-', expected a real number");
}

TEST_CASE("what is a number in its columns is not taken for another") {
  File f;
  f.value_format = "(2I4)";
  f.type = "IUA";
  f.values = "  1 23456\n  3   4\n";  // 1, 2345 and something; not 1, 23456
  refused(f.text(), "7:9", "found '6', expected the end of the line");
  f.values = "     1     2\n     3     4\n";
  refused(f.text(), "7:1", "found blanks, expected an integer");
}

TEST_CASE("column pointers and row indices between blanks") {
  const std::string text = with(File{}.text(), 5, 11, "\t3");
  SourceMatrix s = read(text);
  CHECK(equal_bits(s.matrix, small()));
  CHECK_THAT(s.warnings.at(0), Catch::Contains("a.rua:5:11: the column pointers are in other columns"));
  s = read(with(with(File{}.text(), 6, 1, "1 3 2 1"), 6, 8, "         "));
  CHECK(equal_bits(s.matrix, small()));
  CHECK_THAT(s.warnings.at(0), Catch::Contains("a.rua:6:1: the row indices are in other columns"));
  refused(with(with(File{}.text(), 5, 1, "1 5 4 5"), 5, 8, "                 "), "5", "column pointer 4 after 5");
}

TEST_CASE("values without point or exponent are as unclear between blanks as in their columns") {
  File f;
  f.value_format = "(2E12.4)";
  f.values = "1 .25\n-25.E-1    4.\n";
  refused(f.text(), "7:1", "found '1 .25', expected one real number");
  f.value_format = "(2PF12.4,F12.4)";
  f.values = "1.5E0 .25E0\n-25.E-1    4.\n";
  refused(f.text(), "8:12", "found '4.', without an exponent, which a format of scale 2P");
}

TEST_CASE("numbers that touch fill their columns") {
  File f;
  f.value_format = "(2E9.2)";
  f.values = "-1.50E+00-2.50E+00\n 3.00E-01 4.00E+00\n";
  CHECK(equal_bits(read(f.text()).matrix, make_csr(3, 3, {{{0, 0}, -1.5}, {{2, 0}, -2.5}, {{1, 1}, .3}, {{0, 2}, 4}})));
  // Eight columns wide: each field has a number, 1.50E+002 and .50E+00, and neither is right.
  f.values = "1.50E+002.50E+00\n3.00E-014.00E+00\n";
  refused(f.text(), "7:10",
          "this number touches the one before it, and others of the line end before their columns do");
}

TEST_CASE("a symmetric file with both triangles is refused at its first entry above the diagonal") {
  File f;
  f.type = "RSA";
  f.pointers = {"1", "3", "6", "8"};
  f.indices = {"1", "2", "1", "2", "3", "2", "3"};
  f.values = "  6.0000E+00 -1.0000E+00\n -1.0000E+00  6.0000E+00\n -1.0000E+00 -1.0000E+00\n  6.0000E+00\n";
  refused(f.text(), "6:9", "row 1 in column 2: an entry above the diagonal of a symmetric matrix");
  const TemporaryDirectory directory;
  write_file(directory.file("a.rsa"), f.text());
  try {
    read_rutherford_boeing(directory.file("a.rsa"));
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.remedy() == "store the lower triangle only, or declare the matrix unsymmetric");
  }
}

TEST_CASE("symmetric, skew-symmetric, pattern and integer files") {
  File f;
  f.type = "RSA";
  f.indices = {"1", "3", "2", "3"};
  SourceMatrix s = read(f.text());
  CHECK(equal_bits(s.matrix,
                   make_csr(3, 3, {{{0, 0}, 1.5}, {{2, 0}, -2.5}, {{0, 2}, -2.5}, {{1, 1}, 0.3}, {{2, 2}, 4}})));
  CHECK(s.symmetry == Symmetry::symmetric);

  f.type = "rza";
  f.pointers = {"1", "3", "4", "4"};
  f.indices = {"2", "3", "3"};
  f.values = "  1.5000E+00 -2.5000E+00\n  3.0000D-01\n";
  s = read(f.text());
  CHECK(s.symmetry == Symmetry::skew_symmetric);
  CHECK(equal_bits(
      s.matrix,
      make_csr(3, 3, {{{1, 0}, 1.5}, {{0, 1}, -1.5}, {{2, 0}, -2.5}, {{0, 2}, 2.5}, {{2, 1}, 0.3}, {{1, 2}, -0.3}})));

  f = File{};
  f.type = "PUA";
  f.values = "";
  f.value_format = "";
  s = read(f.text());
  CHECK(s.field == Field::pattern);
  CHECK(equal_bits(s.matrix, make_csr(3, 3, {{{0, 0}, 1}, {{2, 0}, 1}, {{1, 1}, 1}, {{0, 2}, 1}})));
  f.indices = {"1", "1", "2", "1"};
  s = read(f.text());
  CHECK(s.field == Field::integer);
  CHECK(s.provenance.duplicates == 1);
  CHECK(equal_bits(s.matrix, make_csr(3, 3, {{{0, 0}, 2}, {{1, 1}, 1}, {{0, 2}, 1}})));

  f = File{};
  f.type = "IRA";
  f.rows = 5;
  f.value_format = "(3I20)";
  f.values = lines_of({"1152921504606846976", "-7", "+3", "0"}, 3, 20);
  s = read(f.text());
  CHECK(s.field == Field::integer);
  CHECK(s.provenance.explicit_zeros == 1);
  CHECK(equal_bits(s.matrix, make_csr(5, 3, {{{0, 0}, 0x1p60}, {{2, 0}, -7}, {{1, 1}, 3}, {{0, 2}, 0}})));
}

TEST_CASE("matrices without entries, rows or columns") {
  File f;
  f.indices = {};
  f.values = "";
  f.pointers = {"1", "1", "1", "1"};
  CHECK(read(f.text()).matrix.nnz() == 0);
  f.rows = 0;
  CHECK(read(f.text()).matrix.rows == 0);
  f.cols = 0;
  f.pointers = {"1"};
  CHECK(read(f.text()).matrix.cols == 0);
}

TEST_CASE("random matrices in random formats are what was written") {
  std::mt19937_64 random(21);
  const auto f32 = GENERATE(false, true);
  for (int i = 0; i < (sanitized ? 10 : 30); ++i) {
    const std::size_t rows = 1 + random() % 200, cols = 1 + random() % 200;
    File f;
    f.type = i % 3 == 0 ? "rua" : "RRA";
    f.rows = rows;
    f.cols = cols;
    f.pointers = {"1"};
    f.indices.clear();
    std::vector<std::string> values;
    Entries entries;
    const std::size_t decimals = 1 + random() % 18, width = decimals + 9, per_line = 1 + random() % 7;
    for (std::size_t col = 0; col < cols; ++col) {
      for (std::size_t n = random() % 5; n > 0; --n) {
        const std::size_t row = random() % rows;
        const auto at = std::pair(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col));
        if (entries.count(at) != 0) continue;
        const double value = std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 200) - 160);
        values.push_back(fmt::format("{:.{}E}", value, decimals));
        f.indices.push_back(std::to_string(row + 1));
        entries[at] = f32 ? static_cast<double>(std::strtof(values.back().c_str(), nullptr))
                          : std::strtod(values.back().c_str(), nullptr);
      }
      f.pointers.push_back(std::to_string(f.indices.size() + 1));
    }
    f.value_format = fmt::format("({}E{}.{})", per_line, width, decimals);
    f.values = lines_of(values, per_line, width);
    TextOptions options;
    if (f32) options.value_type = ValueType::f32;
    CHECK(equal_bits(read(f.text(), options).matrix,
                     f32 ? make_csr<float>(rows, cols, entries) : make_csr<double>(rows, cols, entries)));
  }
}

TEST_CASE("f32 values are rounded once, and what was lost is told for the expanded matrix") {
  File f;
  f.type = "RSA";
  f.indices = {"1", "3", "2", "3"};
  f.value_format = "(2E46.38)";
  f.values = lines_of({"0.5", "1.00000005960464477539062500000000000000001", "1.0-1", "4."}, 2, 46);
  TextOptions options;
  options.value_type = ValueType::f32;
  const SourceMatrix s = read(f.text(), options);
  const auto& values = std::get<Array<float>>(s.matrix.values);
  const float up = std::nextafterf(1, 2);
  CHECK(std::vector<float>(values.begin(), values.end()) == std::vector<float>{0.5F, up, 0.1F, up, 4});
  CHECK(s.provenance.rounded == 3);
  f.values = lines_of({"0.5", "1.E39", "1.0-1", "4."}, 2, 46);
  refused(f.text(), "7:88", "the value '1.E39' does not fit f32", errc::bad_input, options);
}

TEST_CASE("complex values are two numbers each, on one line or two") {
  using C = std::complex<double>;
  File f;
  f.type = "CUA";
  f.value_format = "(3E12.4)";
  f.values = lines_of({"1.5", "-2.5E+00", "3.0D-01", "4.", "0.", "-0.", "7.0", "8.0"}, 3, 12);
  const SourceMatrix general = read(f.text());
  CHECK(general.field == Field::complex);
  CHECK(general.symmetry == Symmetry::general);
  const auto& values = std::get<Array<C>>(general.matrix.values);  // by rows: (1, 1), (1, 3), (2, 2), (3, 1)
  CHECK(std::vector<C>(values.begin(), values.end()) == std::vector<C>{{1.5, -2.5}, {7, 8}, {0, -0.0}, {0.3, 4}});
  CHECK(std::signbit(values[2].imag()));

  File h;
  h.type = "CHA";
  h.indices = {"1", "3", "2", "3"};
  h.value_format = "(2E12.4)";
  h.values = lines_of({"1.5", "0.0", "3.0D-01", "4.", "2.", "-0.", "7.0", "0.0"}, 2, 12);
  for (const std::size_t chunk : {1U, 30U, 1000U}) {
    TextOptions options;
    options.chunk_bytes = chunk;
    const SourceMatrix hermitian = read(h.text(), options);
    CHECK(hermitian.symmetry == Symmetry::hermitian);
    const auto& of = std::get<Array<C>>(hermitian.matrix.values);
    CHECK(std::vector<C>(of.begin(), of.end()) == std::vector<C>{1.5, {0.3, -4}, 2, {0.3, 4}, 7});
  }
  TextOptions narrow;
  narrow.value_type = ValueType::c64;
  const SourceMatrix rounded = read(h.text(), narrow);
  CHECK(std::get<Array<std::complex<float>>>(rounded.matrix.values)[1] == std::complex<float>(0.3F, -4));
  CHECK(rounded.provenance.rounded == 2);  // 0.3 + 4i and its mirror image
  h.values = lines_of({"1.5", "0.5", "3.0D-01", "4.", "2.", "-0.", "7.0", "0.0"}, 2, 12);
  refused(h.text(), "7:22", "an imaginary part on the diagonal of a hermitian matrix");
  h.type = "CSA";
  CHECK(std::get<Array<C>>(read(h.text()).matrix.values)[3] == C{0.3, 4});
  TextOptions real;
  real.value_type = ValueType::f64;
  CHECK_THROWS_WITH(read(h.text(), real), Catch::Contains("has an imaginary part"));
  h.values = lines_of({"1.5", "0.", "3.0", "0.", "2.", "-0.", "7.0", "0.0"}, 2, 12);
  CHECK(std::get<Array<double>>(read(h.text(), real).matrix.values)[3] == 3);
  real.value_type = ValueType::c128;
  CHECK_THROWS_WITH(read(File{}.text(), real), Catch::Contains("the file holds real values, not c128"));
}

TEST_CASE("headers that are refused") {
  const std::string text = File{}.text();
  for (std::size_t lines = 0, at = 0; lines < 4; ++lines, at = text.find('\n', at) + 1)
    refused(text.substr(0, at), fmt::format("{}:1", lines + 1), "the file ends within its header");
  refused(with(text, 2, 1, "             x"), "2:14", "found 'x', expected the number of lines after the header");
  refused(with(text, 2, 15, "              "), "2:15", "found '', expected the number of lines of column pointers");
  refused(with(text, 2, 14, "55"), "2:15", "found '5            1'");
  refused(with(text, 2, 28, "2"), "2:15", "2 lines of column pointers, expected 1");
  refused(with(text, 2, 42, "2"), "2:29", "2 lines of row indices, expected 1");
  refused(with(text, 2, 56, "1"), "2:43", "1 lines of values, expected 2");
  refused(with(text, 2, 14, "5"), "2:1", "5 lines in all, expected 4");
  refused(with(text, 2, 70, "0  x"), "2:73", "found 'x', expected the end of the line");
  for (const char* complex : {"CUA", "csa", "CHA"})
    refused(with(text, 3, 1, complex), "2:43", "2 lines of values, expected 4");
  refused(with(text, 3, 1, "qua"), "3:1", "values are in another file", errc::unsupported);
  refused(with(text, 3, 1, "RHA"), "3:2", "a real matrix cannot be hermitian");
  refused(with(text, 3, 1, "RSE"), "3:3", "elemental (unassembled) matrices (type 'RSE') are not supported",
          errc::unsupported);
  refused(with(text, 3, 1, "XUA"), "3:1", "the type is 'XUA'");
  refused(with(text, 3, 1, "RXA"), "3:2", "the type is 'RXA'");
  refused(with(text, 3, 1, "RUX"), "3:3", "the type is 'RUX'");
  refused(with(text, 3, 1, "PZA"), "3:2", "cannot be skew-symmetric");
  refused(with(text, 3, 1, "RUAx"), "3:4", "found 'x', expected blanks after the type");
  refused(with(text, 3, 15, "    4294967295"), "3:15", "4294967295 rows, of which", errc::unsupported);
  refused(with(text, 3, 29, "    4294967296"), "3:29", "4294967296 columns, of which", errc::unsupported);
  refused(with(text, 3, 28, "x"), "3:28", "found 'x', expected the number of rows");
  refused(with(text, 3, 27, "-3"), "3:27", "found '-3', expected the number of rows");
  refused(with(with(text, 3, 1, "RSA"), 3, 28, "4"), "3:29", "a symmetric matrix of 4 rows and 3 columns");
  refused(with(text, 3, 70, "5"), "3:57", "elemental entries in an assembled matrix");
  refused(with(text, 4, 1, "(4F6.0)"), "4:1", "found the format '(4F6.0)', expected one of integers");
  refused(with(text, 4, 33, "(2I12)  "), "4:33", "found the format '(2I12)', expected one of real numbers");
  refused(with(with(text, 3, 1, "IUA"), 4, 33, "(2E12.4)"), "4:33", "expected one of integers");
}

TEST_CASE("formats that are refused") {
  const std::string text = with(File{}.text(), 4, 33, "                    ");
  const auto refused_at = [&](const std::string& format, std::size_t column) {
    refused(with(text, 4, 33, format), fmt::format("4:{}", 32 + column), "a format that is not understood here");
  };
  refused_at("", 21);
  refused_at("2E12.4", 1);
  refused_at("(2E12.4", 21);
  refused_at("(2E12)", 6);
  refused_at("(2E.4)", 4);
  refused_at("(0E12.4)", 2);
  refused_at("(2E0.0)", 4);
  refused_at("(2E12.4)x", 9);
  refused_at("(P,2E12.4)", 2);
  refused_at("(-2E12.4)", 4);
  refused_at("(2E12.4,)", 9);
  refused_at("(,2E12.4)", 2);
  refused_at("(2F12.4F12.4)", 8);
  refused_at("(0X,2E12.4)", 2);
  refused_at("(T0,2E12.4)", 3);
  refused_at("(2T4,2E12.4)", 3);
  refused_at("(2(E12.4)", 21);
  refused_at("(1X)", 4);
  refused_at("()", 2);
  // What Fortran has, and no matrix file, is no damage.
  const auto unsupported_at = [&](const std::string& format, std::size_t column, const std::string& what) {
    refused(with(text, 4, 33, format), fmt::format("4:{}", 32 + column),
            fmt::format("'{}' is a format with {}, which is not supported", format, what), errc::unsupported);
  };
  unsupported_at("(2A12)", 2, "A in it");
  unsupported_at("(5B16)", 2, "B in it");
  unsupported_at("(4Hdata,2E12.4)", 2, "H in it");
  unsupported_at("('data',2E12.4)", 2, "' in it");
  unsupported_at("(BZ,2E12.4)", 2, "blanks that are zeros (BZ)");
  unsupported_at("(DC,2E12.4)", 2, "decimal commas (DC)");
  unsupported_at("(RN,2E12.4)", 2, "R in it");
  unsupported_at("(*(E12.4))", 2, "* in it");
  unsupported_at("(2EX12.4)", 2, "hexadecimal numbers (EX)");
  unsupported_at("(T9,E8.2,T1,E8.2)", 13, "numbers to the left of others (T or TL)");
  unsupported_at("(E8.2,TL4,E8.2)", 11, "numbers to the left of others (T or TL)");
  unsupported_at("(2E999.4)", 4, "a number beyond 128");
  unsupported_at("(99999E12.4)", 2, "a number beyond 10000");
  unsupported_at("(100P,2E12.4)", 2, "a scale beyond 99");
  unsupported_at("(9999(9999(E12.4)))", 12, "more numbers than a line of any matrix file has");
  unsupported_at("(9999(9999(9999())))", 16, "more numbers than a line of any matrix file has");
  unsupported_at("(2E12.4,(1X))", 13, "a last group that has no numbers");
  refused(with(text, 4, 33, "(2E12.4,I4)         "), "4:33", "expected one of real numbers");
  refused(with(text, 4, 33, "(3E12.4,E12.4)      "), "2:43", "2 lines of values, expected 1");
}

TEST_CASE("sizes beyond 64 bits, and lists that are promised but not there") {
  const std::string text = File{}.text();
  refused(with(text, 3, 43, "99999999999999"), "2:29", "1 lines of row indices, expected 20000000000000");
  // 14 columns hold no number beyond 64 bits; what they hold is not allocated on its word.
  std::string huge = with(with(text, 3, 43, " 1000000000000"), 2, 29, "  200000000000");
  huge = with(with(huge, 2, 43, "  500000000000"), 2, 1, "  700000000001");
  refused(with(huge, 5, 19, "     5"), "5:19", "the last column pointer is 5, expected 1000000000001");
}

TEST_CASE("column pointers that are refused") {
  const std::string text = File{}.text();
  refused(with(text, 5, 6, "2"), "5:1", "the first column pointer is 2, expected 1");
  refused(with(text, 5, 12, "5"), "5:13", "column pointer 4 after 5");
  refused(with(text, 5, 24, "4"), "5:19", "the last column pointer is 4, expected 5");
  refused(with(text, 5, 24, "6"), "5:24", "found '6', expected a column pointer from 1 to 5");
  refused(with(text, 5, 6, "0"), "5:6", "found '0', expected a column pointer from 1 to 5");
  refused(with(text, 5, 5, "-1"), "5:5", "found '-1', expected a column pointer");
  refused(with(text, 5, 11, "3."), "5:11", "found '3.', expected a column pointer");
  refused(with(text, 5, 10, "1 3"), "5:10", "found '1 3', expected a column pointer");
  refused(with(text, 5, 7, "      "), "5:7", "found blanks, expected a column pointer");
  refused(with(text, 5, 12, std::string("\0", 1)), "5:12", "found '\\x00'");
}

TEST_CASE("row indices and values that are refused") {
  const std::string text = File{}.text();
  refused(with(text, 6, 4, "0"), "6:4", "found '0', expected a row index from 1 to 3");
  refused(with(text, 6, 16, "4"), "6:16", "found '4', expected a row index from 1 to 3");
  refused(with(text, 3, 1, "RSA"), "6:13", "row 1 in column 3: an entry above the diagonal of a symmetric matrix");
  refused(with(text, 3, 1, "RZA"), "6:1", "an entry on the diagonal of a skew-symmetric matrix");
  refused(with(text, 6, 13, "  1 1"), "6:17", "found '1', expected the end of the line");

  refused(with(text, 7, 3, "x"), "7:3", "found 'x.5000E+00', expected a real number");
  refused(with(text, 7, 3, "0x10      "), "7:3", "found '0x10', expected a real number");
  refused(with(text, 7, 1, "            "), "7:1", "found blanks, expected a real number");
  refused(with(text, 7, 3, "1.5 2.5   "), "7:3", "found '1.5 2.5', expected one real number");
  refused(with(text, 7, 3, "1.5000E400"), "7:3", "the value '1.5000E400' does not fit f64");
  refused(with(text, 7, 3, "1.5000E   "), "7:3", "expected a real number");
  refused(with(text, 7, 3, "1.5-      "), "7:3", "expected a real number");
  refused(with(text, 7, 3, "1.5+-3    "), "7:3", "expected a real number");
  refused(with(text, 7, 3, "1.5-3-3   "), "7:3", "expected a real number");
  refused(with(text, 7, 3, std::string("1.5\0", 4)), "7:3", "found '1.5\\x0000E+00'");
  refused(with(text, 7, 10, "\t"), "7:3", "found '1.5000E\\x0900', expected a real number");
  // What Fortran reads as 15e-4 and others as 15 is neither.
  refused(with(text, 7, 3, "        15"), "7:11", "found '15', without a point");
  refused(with(text, 7, 3, "      15+2"), "7:9", "found '15+2', without a point");
  refused(with(with(text, 4, 33, "(1P,2E12.4)"), 7, 3, "       1.5"), "7:10", "found '1.5', without an exponent");

  File integers;
  integers.type = "IUA";
  integers.value_format = "(4I17)";
  integers.values = lines_of({"1", "9007199254740993", "3", "4"}, 4, 17);
  refused(integers.text(), "7:19", "the integer '9007199254740993' does not fit f64");
  integers.values = lines_of({"1", "2.0", "3", "4"}, 4, 17);
  refused(integers.text(), "7:32", "found '2.0', expected an integer");
}

TEST_CASE("lines that are too many, too few or too short") {
  const std::string text = File{}.text();
  refused(text + "1\n", "9:1", "found '1', expected the end of the file");
  refused(text.substr(0, text.size() - 25), "8:1", "the file ends, expected a real number, number 3 of 4");
  refused(text.substr(0, text.size() - 13), "8:13", "found blanks, expected a real number");
  const auto line_6 = static_cast<std::ptrdiff_t>(text.find("   1   3   2   1"));
  refused(text.substr(0, static_cast<std::size_t>(line_6)), "6:1",
          "the file ends, expected a row index, number 1 of 4");
  refused(std::string(text).insert(static_cast<std::size_t>(line_6), "\n"), "6:1",
          "found blanks, expected a row index");
  std::string cut = text;
  cut.erase(cut.find("   1   3   2   1") + 14, 2);  // the last field of the line is not whole
  refused(cut, "6:13", "found blanks, expected a row index");
}

TEST_CASE("the memory limit holds, whatever the header says") {
  File f;
  f.rows = f.cols = 20000;
  f.pointers.assign(20001, "1");
  f.indices = {};
  f.values = "";
  TextOptions options;
  options.chunk_bytes = 1000;
  options.memory_limit = 100000;  // less than the pointers
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.rua");
  write_file(path, f.text());
  try {
    read_rutherford_boeing(path, options);
    FAIL("no limit");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
  }
  options.memory_limit = 2000000;
  CHECK(read_rutherford_boeing(path, options).matrix.nnz() == 0);
}
