// Matrix Market files: what is read, and written back. What is refused is in matrix_market_errors_test.cpp.
#include "spmvpack/sources/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "market_files.hpp"
#include "matrices.hpp"

using namespace spmvpack;
using namespace spmvpack::sources;
using namespace spmvpack::test;

namespace {

struct Entry {
  std::uint32_t row, col;
  double value;
  bool operator==(const Entry&) const = default;
};

std::vector<Entry> entries_of(const CsrMatrix& a) {
  std::vector<Entry> entries;
  for (std::uint32_t row = 0; row < a.rows; ++row)
    for (std::uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      entries.push_back({row, a.col_idx[k], std::get<Array<double>>(a.values)[k]});
  return entries;
}

/// The reader at its simplest: an ordered map, strtod, additions in file order. `lines` are those of the entries.
template <class T>
CsrMatrix naive(std::uint64_t rows, std::uint64_t cols, const std::vector<std::string>& lines, Symmetry symmetry) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, T> sums;
  const auto add = [&](std::uint32_t i, std::uint32_t j, T value) {
    const auto [at, is_new] = sums.try_emplace({i, j}, value);
    if (!is_new) at->second += value;
  };
  for (const std::string& line : lines) {
    char* p = nullptr;
    const auto row = static_cast<std::uint32_t>(std::strtoul(line.c_str(), &p, 10) - 1);
    const auto col = static_cast<std::uint32_t>(std::strtoul(p, &p, 10) - 1);
    T value = 1;
    if (*p != '\0')
      value = std::is_same_v<T, double> ? static_cast<T>(std::strtod(p, nullptr)) : std::strtof(p, nullptr);
    add(row, col, value);
    if (symmetry != Symmetry::general && row != col) add(col, row, symmetry == Symmetry::symmetric ? value : -value);
  }
  CsrMatrix a = allocate_csr(rows, cols, sums.size(), value_type_of<T>);
  std::fill(a.row_ptr.begin(), a.row_ptr.end(), 0);
  std::uint64_t k = 0;
  for (const auto& [at, value] : sums) {
    ++a.row_ptr[at.first + std::uint64_t{1}];
    a.col_idx[k] = at.second;
    std::get<Array<T>>(a.values)[k++] = value;
  }
  for (std::uint64_t r = 0; r < rows; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
  return a;
}

std::string head(const char* kind, std::uint64_t rows, std::uint64_t cols, std::uint64_t entries) {
  return fmt::format("%%MatrixMarket matrix coordinate {}\n{} {} {}\n", kind, rows, cols, entries);
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

/// A matrix with the nasty values, whose expansion has the symmetry.
template <class T>
CsrMatrix random_symmetric(std::uint64_t n, Symmetry symmetry, int kind) {
  std::mt19937_64 random(11);
  Entries entries;
  for (std::uint64_t i = 0; i < 3 * n; ++i) {
    const auto row = static_cast<std::uint32_t>(random() % n), col = static_cast<std::uint32_t>(random() % n);
    auto value = static_cast<double>(random_value<T>(random, kind));
    if (std::isnan(value)) value = std::copysign(not_a_number, i % 2 ? 1.0 : -1.0);  // text has no payloads
    if (symmetry == Symmetry::skew_symmetric && row == col) continue;
    entries[{row, col}] = value;
    if (symmetry != Symmetry::general) entries[{col, row}] = symmetry == Symmetry::symmetric ? value : -value;
  }
  return make_csr<T>(n, n, entries);
}

}  // namespace

TEST_CASE("a file with everything that is allowed") {
  const SourceMatrix s = read_text(
      "%%matrixmarket MATRIX  Coordinate\tREAL General \r\n"
      "% a comment \r\n"
      "\n"
      "  %two\n"
      "%\n"
      " \t 3 4\t6 \t\r\n"
      "1 1 +1.5\n"
      "\r\n"
      "   \t\n"
      "% between the data\n"
      "\t3\t4\t1.5D3 \r\n"
      "3 1 -0\n"
      "0002 00000000000000000000000003 .5\n"
      "  %\n"
      "3 2 inf\n"
      "2 4 -NaN");
  CHECK(s.matrix.rows == 3);
  CHECK(s.matrix.cols == 4);
  CHECK(s.field == Field::real);
  CHECK(s.symmetry == Symmetry::general);
  CHECK(s.provenance.entries == 6);
  CHECK(s.provenance.duplicates == 0);
  CHECK(s.provenance.explicit_zeros == 1);
  CHECK(s.provenance.source == "a.mtx");
  CHECK(s.provenance.comments == std::vector<std::string>{" a comment ", "two", ""});
  CHECK(equal_bits(s.matrix, make_csr(3, 4,
                                      {{{0, 0}, 1.5},
                                       {{2, 3}, 1500},
                                       {{2, 0}, -0.0},
                                       {{1, 2}, 0.5},
                                       {{2, 1}, infinite},
                                       {{1, 3}, std::copysign(not_a_number, -1.0)}})));
}

TEST_CASE("line ends, indents and aligned columns do not matter") {
  const std::string lines = "1 2 1.5\n10 1 -0.25\n3 3 1e-3\n";
  const SourceMatrix plain = read_text(head("real general", 10, 3, 3) + lines);
  const auto same = [&](const std::string& text) {
    INFO(text);
    CHECK(equal_bits(read_text(text).matrix, plain.matrix));
  };
  std::string crlf = head("real general", 10, 3, 3) + lines;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.insert(at, 1, '\r');
  same(crlf);
  same(crlf.substr(0, crlf.size() - 2));
  same(crlf.substr(0, crlf.size() - 1));  // ends with CR
  std::string twice = crlf;               // converted once more
  for (std::size_t at = 0; (at = twice.find('\n', at)) != std::string::npos; at += 2) twice.insert(at, 1, '\r');
  same(twice + "\r\r\n");
  same(twice.substr(0, twice.size() - 1));
  const SourceMatrix commented =
      read_text("%%MatrixMarket matrix coordinate real general\r\r\n% c\r\r\r\n\r\r\n1 1 1 \r\r\n1 1 2\r\r\r\n");
  CHECK(commented.provenance.comments == std::vector<std::string>{" c"});
  same(head("real general", 10, 3, 3) + lines.substr(0, lines.size() - 1));
  same(head("real general", 10, 3, 3) + "    1    2       1.5\n   10    1     -0.25\n    3    3      1e-3\n");
  same(head("real general", 10, 3, 3) + "1\t2\t1.5\n\t10\t1\t-0.25\t\n \t 3 \t 3 \t 1e-3 \t \n");
  same(head("real general", 10, 3, 3) + "\n1 2 1.5 \n\n% c\n  % c\n10 1 -0.25\n \n3 3 1e-3\n\n\n%\n");
  same(head("real general", 10, 3, 3) + "1 2 +1.5\n000000010 01 -.25D0\n3 3 0.0010000000000000000000000\n");
}

TEST_CASE("values at the ends of the range") {
  const SourceMatrix s = read_text(head("real general", 1, 6, 6) +
                                   "1 1 1e-400\n1 2 -1e-400\n1 3 4.9e-324\n1 4 2e-324\n1 5 1.7976931348623157e308\n"
                                   "1 6 " +
                                   std::string(300, '0') + "." + std::string(500, '3') + "\n");
  // What is nearer to zero than to the smallest subnormal is zero, with its sign.
  CHECK(equal_bits(s.matrix, make_csr(1, 6,
                                      {{{0, 0}, 0.0},
                                       {{0, 1}, -0.0},
                                       {{0, 2}, std::numeric_limits<double>::denorm_min()},
                                       {{0, 3}, 0.0},
                                       {{0, 4}, std::numeric_limits<double>::max()},
                                       {{0, 5}, 1.0 / 3}})));
  CHECK(s.provenance.explicit_zeros == 3);
  CHECK(entries_of(
            read_text(head("integer general", 1, 2, 2) + "1 1 1152921504606846976\n1 2 -9007199254740992\n").matrix) ==
        std::vector<Entry>{{0, 0, 0x1p60}, {0, 1, -0x1p53}});
}

TEST_CASE("symmetric, skew-symmetric and pattern files are expanded") {
  SourceMatrix s = read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n3 1 0\n3 2 -7\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 2}, {0, 2, 0}, {1, 2, -7}, {2, 0, 0}, {2, 1, -7}});
  CHECK(s.symmetry == Symmetry::symmetric);
  CHECK(s.provenance.entries == 3);
  CHECK(s.provenance.explicit_zeros == 2);

  s = read_text("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -9007199254740992\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 1, -5}, {1, 0, 5}, {1, 2, 0x1p53}, {2, 1, -0x1p53}});
  CHECK(s.symmetry == Symmetry::skew_symmetric);
  CHECK(s.field == Field::integer);

  s = read_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 2\n3 1 \n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 2, 1}, {1, 1, 1}, {2, 0, 1}});
  CHECK(s.field == Field::pattern);
}

TEST_CASE("unsigned integers are integers") {
  // What SciPy writes for uint32 and uint64.
  SourceMatrix s =
      read_text("%%MatrixMarket matrix coordinate unsigned-integer general\n%\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 1}, {0, 2, 2}, {1, 1, 3}});
  CHECK(s.field == Field::integer);
  s = read_text("%%MatrixMarket matrix coordinate Unsigned-Integer symmetric\n3 3 3\n1 1 4294967295\n2 1 +7\n3 1 0\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 4294967295}, {0, 1, 7}, {0, 2, 0}, {1, 0, 7}, {2, 0, 0}});
  CHECK(s.symmetry == Symmetry::symmetric);
  s = read_text(
      "%%MatrixMarket matrix array unsigned-integer general\n2 2\n18446744073709549568\n0\n9007199254740992\n3\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 0x1.fffffffffffffp63}, {0, 1, 0x1p53}, {1, 1, 3}});
  s = read_text("%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n1\n2\n3\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 3}});
}

TEST_CASE("empty matrices") {
  for (const char* sizes : {"0 0 0\n", "0 5 0\n", "5 0 0\n", "5 5 0"}) {
    const SourceMatrix s = read_text(fmt::format("%%MatrixMarket matrix coordinate real general\n{}", sizes));
    CHECK(s.matrix.nnz() == 0);
    CHECK(s.matrix.row_ptr.size() == s.matrix.rows + 1);
  }
  CHECK(read_text("%%MatrixMarket matrix array real general\n0 3\n").matrix.cols == 3);
  CHECK(read_text("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").matrix.nnz() == 0);
}

TEST_CASE("columns up to the largest index") {
  const SourceMatrix s = read_text(head("integer general", 1, 4294967294, 2) + "1 4294967294 3\n1 1 4\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 4}, {0, 4294967293, 3}});
}

TEST_CASE("duplicates are added in file order") {
  // (1e16 + 1) + 1 is 1e16, 1 + 1 + 1e16 is 1e16 + 2.
  SourceMatrix s = read_text(head("real general", 2, 2, 7) + "1 1 1e16\n2 2 1\n1 1 1\n2 2 1\n1 1 1\n2 2 1e16\n1 2 0\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 1e16}, {0, 1, 0}, {1, 1, 1e16 + 2}});
  CHECK(s.provenance.entries == 7);
  CHECK(s.provenance.duplicates == 4);
  CHECK(s.provenance.explicit_zeros == 1);

  s = read_text(head("real symmetric", 2, 2, 3) + "2 1 1\n2 1 -1\n2 2 4\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 1, 0}, {1, 0, 0}, {1, 1, 4}});
  CHECK(s.provenance.duplicates == 2);
  CHECK(s.provenance.explicit_zeros == 2);

  s = read_text(head("pattern general", 2, 2, 4) + "2 1\n2 1\n1 1\n2 1\n");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 1}, {1, 0, 3}});
  CHECK(s.field == Field::integer);

  s = read_text(head("real general", 1, 1, 2) + "1 1 inf\n1 1 -inf\n");
  CHECK(std::bit_cast<std::uint64_t>(entries_of(s.matrix)[0].value) == std::bit_cast<std::uint64_t>(not_a_number));
}

TEST_CASE("array files hold columns, their zeros are dropped") {
  SourceMatrix s = read_text("%%MatrixMarket matrix array real general\n%c\n2 3\n1\n0\n\n-0\n%\n4\n5\n0.0");
  CHECK(entries_of(s.matrix) == std::vector<Entry>{{0, 0, 1}, {0, 1, -0.0}, {0, 2, 5}, {1, 1, 4}});
  CHECK(s.provenance.entries == 6);
  CHECK(s.provenance.explicit_zeros == 1);
  s = read_text("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  CHECK(entries_of(s.matrix) ==
        std::vector<Entry>{
            {0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 2}, {1, 1, 4}, {1, 2, 5}, {2, 0, 3}, {2, 1, 5}, {2, 2, 6}});
  s = read_text("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n");
  CHECK(entries_of(s.matrix) ==
        std::vector<Entry>{{0, 1, -1}, {0, 2, -2}, {1, 0, 1}, {1, 2, -3}, {2, 0, 2}, {2, 1, 3}});
}

TEST_CASE("f32 values are rounded once, and what was lost is told") {
  MatrixMarketOptions options;
  options.value_type = ValueType::f32;
  // Just above the tie of 1 and the next f32: through f64 it would become the tie, and round down to 1.
  const std::string above_tie = "1.00000005960464477539062500000000000000001";
  SourceMatrix s =
      read_text(head("real symmetric", 3, 3, 4) + "1 1 0.5\n2 1 " + above_tie + "\n3 3 0.1\n3 2 1e-60\n", options);
  const auto& values = std::get<Array<float>>(s.matrix.values);
  CHECK(std::vector<float>(values.begin(), values.end()) ==
        std::vector<float>{0.5F, std::nextafterf(1, 2), std::nextafterf(1, 2), 0, 0, 0.1F});
  CHECK(s.provenance.rounded == 5);
  CHECK(s.provenance.max_relative_error == 1);
  CHECK(s.provenance.explicit_zeros == 2);

  s = read_text("%%MatrixMarket matrix array real symmetric\n2 2\n0.1\n0.2\n3\n", options);
  CHECK(s.provenance.rounded == 3);
  CHECK(s.provenance.max_relative_error == std::fabs(0.1 - static_cast<double>(0.1F)) / 0.1);
  s = read_text(head("real general", 1, 3, 3) + "1 1 1.5\n1 2 nan\n1 3 -inf\n", options);
  CHECK(s.provenance.rounded == 0);
}

TEST_CASE("random matrices are what a naive reader makes of them") {
  const auto kind = GENERATE(as<const char*>{}, "real general", "real symmetric", "real skew-symmetric",
                             "integer general", "pattern general", "pattern symmetric");
  const auto order = GENERATE(as<std::string>{}, "random", "by row", "by column");
  const std::string_view words = kind;
  const Symmetry symmetry = words.ends_with(" symmetric") ? Symmetry::symmetric
                            : words.ends_with("c")        ? Symmetry::skew_symmetric
                                                          : Symmetry::general;
  INFO(kind << ", " << order);
  std::mt19937_64 random(12);
  for (const std::uint64_t n : {1U, 2U, 40U, 300U}) {
    const std::uint64_t cols = symmetry == Symmetry::general ? n / 2 + 1 : n;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (std::uint64_t i = 0; i < 6 * n; ++i) {
      // A long row and a long column, and duplicates.
      std::uint64_t row = i % 5 == 0 ? n / 2 : random() % n, col = i % 7 == 0 ? 0 : random() % cols;
      if (symmetry != Symmetry::general && row < col) std::swap(row, col);
      if (symmetry != Symmetry::skew_symmetric || row != col) places.emplace_back(row, col);
    }
    if (order == "by row") std::sort(places.begin(), places.end());
    if (order == "by column")
      std::sort(places.begin(), places.end(),
                [](auto& a, auto& b) { return std::tie(a.second, a.first) < std::tie(b.second, b.first); });
    std::vector<std::string> lines;
    std::string text = head(kind, n, cols, places.size());
    for (const auto& [row, col] : places) {
      std::string value;
      if (words.starts_with("real"))
        value = fmt::format(" {:.{}g}", static_cast<double>(random()) / 1e17 - 90, 1 + random() % 20);
      if (words.starts_with("int")) value = fmt::format(" {}", static_cast<int>(random() % 19) - 9);
      lines.push_back(fmt::format("{} {}{}", row + 1, col + 1, value));
      if (random() % 10 == 0) text += random() % 2 ? "\n" : "% not an entry\n";
      text += lines.back() + (random() % 3 ? "\n" : "\r\n");
    }
    const SourceMatrix wide = read_text(text);
    CHECK(equal_bits(wide.matrix, naive<double>(n, cols, lines, symmetry)));
    CHECK(wide.provenance.entries == lines.size());
    MatrixMarketOptions options;
    options.value_type = ValueType::f32;
    CHECK(equal_bits(read_text(text, options).matrix, naive<float>(n, cols, lines, symmetry)));
  }
}

TEMPLATE_TEST_CASE("what is written reads back to the same bits", "", double, float) {
  const TemporaryDirectory directory;
  MatrixMarketOptions options;
  options.value_type = value_type_of<TestType>;
  for (const Symmetry symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric}) {
    for (const Field field : {Field::real, Field::integer, Field::pattern}) {
      if (field == Field::pattern && symmetry == Symmetry::skew_symmetric) continue;
      for (const std::uint64_t n : {1U, 7U, 3000U}) {
        SourceMatrix s;
        s.matrix = random_symmetric<TestType>(n, symmetry, field == Field::real ? 4 : field == Field::integer ? 1 : 0);
        s.field = field;
        s.symmetry = symmetry;
        s.provenance.comments = {"", " one", "% two"};
        std::string texts[2];
        for (const int threads : {1, 4}) {
          const std::string path = directory.file("a.mtx");
          write_matrix_market(path, s, true, threads);
          const SourceMatrix again = read_matrix_market(path, options);
          CHECK(equal_bits(again.matrix, s.matrix));
          CHECK(again.field == field);
          CHECK(again.symmetry == symmetry);
          CHECK(again.provenance.comments == s.provenance.comments);
          texts[threads / 4] = text_of_file(path);
        }
        CHECK(texts[0] == texts[1]);
      }
    }
  }
}

TEST_CASE("a written file, to the letter") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mtx");
  SourceMatrix s;
  s.matrix = make_csr(
      3, 3,
      {{{0, 0}, 0.1}, {{1, 0}, -2}, {{0, 1}, -2}, {{2, 2}, 1e300}, {{2, 1}, not_a_number}, {{1, 2}, not_a_number}});
  s.symmetry = Symmetry::symmetric;
  s.provenance.comments = {" first", "two\nlines"};
  write_matrix_market(path, s, false);
  CHECK(text_of_file(path) ==
        "%%MatrixMarket matrix coordinate real symmetric\n% first\n%two\n%lines\n3 3 4\n"
        "1 1 0.1\n2 1 -2\n3 2 nan\n3 3 1e+300\n");
  CHECK_THROWS_AS(write_matrix_market(path, s, false), Error);  // exists
  s.matrix = make_csr(1, 4, {{{0, 0}, 0x1p60}, {{0, 1}, -0x1p100}, {{0, 2}, -3}, {{0, 3}, 0}});
  s.symmetry = Symmetry::general;
  s.field = Field::integer;
  s.provenance.comments.clear();
  write_matrix_market(path, s, true);
  CHECK(text_of_file(path) ==
        "%%MatrixMarket matrix coordinate integer general\n1 4 4\n1 1 1152921504606846976\n"
        "1 2 -1267650600228229401496703205376\n1 3 -3\n1 4 0\n");
}

TEST_CASE("a matrix that is not what its field or symmetry says is not written") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mtx");
  const auto refused = [&](CsrMatrix matrix, Field field, Symmetry symmetry, const char* what) {
    SourceMatrix s;
    s.matrix = std::move(matrix);
    s.field = field;
    s.symmetry = symmetry;
    try {
      write_matrix_market(path, s, true, 2);
    } catch (const Error& e) {
      CHECK(e.code() == errc::bad_input);
      CHECK_THAT(e.what(), Catch::Contains(what));
      CHECK(!e.remedy().empty());
      CHECK(!std::filesystem::exists(path));
      return;
    }
    FAIL("written: " << what);
  };
  const Symmetry general = Symmetry::general, symmetric = Symmetry::symmetric, skew = Symmetry::skew_symmetric;
  refused(make_csr(2, 2, {{{1, 0}, 2}}), Field::pattern, general, "the value 2 in row 2, column 1");
  refused(make_csr(2, 2, {{{1, 0}, 2.5}}), Field::integer, general, "the value 2.5 in row 2, column 1");
  refused(make_csr(2, 2, {{{1, 1}, infinite}}), Field::integer, general, "the value inf in row 2, column 2");
  refused(make_csr(2, 3, {}), Field::real, symmetric, "2 rows and 3 columns");
  refused(make_csr(2, 2, {{{1, 0}, 2}}), Field::real, symmetric, "row 2, column 1");
  refused(make_csr(2, 2, {{{0, 1}, 2}}), Field::real, symmetric, "row 1, column 2");
  refused(make_csr(2, 2, {{{0, 1}, 2}, {{1, 0}, 3}}), Field::real, symmetric, "row 1, column 2");
  refused(make_csr(2, 2, {{{0, 1}, 0.0}, {{1, 0}, -0.0}}), Field::real, symmetric, "row 1, column 2");
  refused(make_csr(2, 2, {{{0, 1}, 2}, {{1, 0}, 2}}), Field::real, skew, "row 1, column 2");
  refused(make_csr(2, 2, {{{1, 1}, 0}}), Field::real, skew, "row 2, column 2");
  refused(make_csr(2, 2, {}), Field::pattern, skew, "skew-symmetric");
}

TEST_CASE("complex files are expanded by their symmetry, and written back to the letter") {
  using C = std::complex<double>;
  const auto bits = [](C v) { return std::bit_cast<bits_of<C>>(v); };
  const std::string lower = "2 1 1.5 -0\n3 1 -0 2\n3 2 inf nan\n", diagonal = "3 3 4 -0\n";
  const auto across = [](C v, Symmetry s) {
    return s == Symmetry::symmetric ? v : s == Symmetry::hermitian ? C(v.real(), -v.imag()) : C(-v.real(), -v.imag());
  };
  const C listed[]{C(1.5, -0.0), C(-0.0, 2), C(infinite, not_a_number)};
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    INFO(to_string(symmetry));
    const bool skew = symmetry == Symmetry::skew_symmetric;
    const std::string text = head(fmt::format("complex {}", to_string(symmetry)).c_str(), 3, 3, skew ? 3 : 4) + lower +
                             (skew ? "" : diagonal);
    const SourceMatrix source = read_text(text);
    CHECK(source.field == Field::complex);
    CHECK(source.symmetry == symmetry);
    CHECK(symmetry_of(source.matrix) == symmetry);
    const auto& values = std::get<Array<C>>(source.matrix.values);
    std::vector<C> expected{across(listed[0], symmetry),
                            across(listed[1], symmetry),
                            listed[0],
                            across(listed[2], symmetry),
                            listed[1],
                            listed[2]};
    if (!skew) expected.emplace_back(4, -0.0);
    REQUIRE(values.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK((bits(values[k]) == bits(expected[k])));
    const TemporaryDirectory directory;
    write_matrix_market(directory.file("b.mtx"), source, true, 1);
    CHECK(text_of_file(directory.file("b.mtx")) == text);
  }
  const SourceMatrix array = read_text("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n0 0\n");
  CHECK(std::get<Array<C>>(array.matrix.values)[1] == C(2, -3));
  CHECK(array.matrix.nnz() == 3);
  const SourceMatrix narrow =
      read_text(head("complex hermitian", 2, 2, 1) + "2 1 0.5 0.1\n", {.value_type = ValueType::c64});
  CHECK(std::get<Array<std::complex<float>>>(narrow.matrix.values)[0] == std::complex<float>(0.5F, -0.1F));
  CHECK(narrow.provenance.rounded == 2);
  const SourceMatrix real =
      read_text(head("complex hermitian", 2, 2, 1) + "2 1 0.5 -0\n", {.value_type = ValueType::f64});
  CHECK(entries_of(real.matrix) == std::vector<Entry>{{0, 1, 0.5}, {1, 0, 0.5}});
  CHECK((real.field == Field::real && real.symmetry == Symmetry::symmetric));
  CHECK_THROWS_WITH(read_text(head("complex general", 2, 2, 1) + "2 1 0.5 -1\n", {.value_type = ValueType::f32}),
                    Catch::Contains("row 2, column 1: the value 0.5-1i has an imaginary part"));
}

TEST_CASE("vectors") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x.mtx");
  std::vector<double> x{1, -0.0, 0, 0.1, 1e-320, infinite, -infinite, std::copysign(not_a_number, -1.0)};
  for (int i = 0; i < 100000; ++i) x.push_back(1.0 / (i + 3));
  write_vector<double>(path, x, false);
  CHECK(text_of_file(path).starts_with(
      "%%MatrixMarket matrix array real general\n100008 1\n1\n-0\n0\n0.1\n1e-320\ninf\n-inf\n-nan\n"));
  const Array<double> again = read_vector(path);
  REQUIRE(again.size() == x.size());
  CHECK(std::memcmp(again.data(), x.data(), x.size() * sizeof(double)) == 0);

  const std::vector<float> narrow{0.1F, 3};
  write_vector<float>(path, narrow, true);
  CHECK(text_of_file(path) == "%%MatrixMarket matrix array real general\n2 1\n0.1\n3\n");

  write_file(path, "%%MatrixMarket matrix array integer general\n% a row\n1 3\n1\n0\n-2\n");
  const Array<double> row = read_vector(path);
  CHECK(std::vector<double>(row.begin(), row.end()) == std::vector<double>{1, 0, -2});
  write_file(path, "%%MatrixMarket matrix array real general\n0 1\n");
  CHECK(read_vector(path).empty());
  CHECK(read_vector<std::complex<double>>(path).empty());

  using Complex = std::complex<double>;
  const std::vector<Complex> pairs{{0.1, -0.0}, {-infinite, 1e-320}};
  write_vector<Complex>(path, pairs, true);
  CHECK(text_of_file(path) == "%%MatrixMarket matrix array complex general\n2 1\n0.1 -0\n-inf 1e-320\n");
  const Array<Complex> complex = read_vector<Complex>(path);
  REQUIRE(complex.size() == 2);
  CHECK(std::memcmp(complex.data(), pairs.data(), sizeof(Complex) * 2) == 0);
  CHECK_THROWS_WITH(read_vector(path), Catch::Contains("a vector of complex values"));
  write_vector<std::complex<float>>(path, std::vector<std::complex<float>>{{0.1F, 2}}, true);
  CHECK(text_of_file(path).ends_with("\n1 1\n0.1 2\n"));
  write_file(path, "%%MatrixMarket matrix array integer general\n2 1\n1\n-2\n");
  const Array<Complex> from_real = read_vector<Complex>(path);
  CHECK(std::vector<Complex>(from_real.begin(), from_real.end()) == std::vector<Complex>{1, -2});
}

TEST_CASE("progress is reported and can stop the work") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mtx");
  std::string text = head("pattern general", 100, 1000, 100000);
  for (int i = 0; i < 100000; ++i) text += fmt::format("{} {}\n", i % 100 + 1, i / 100 + 1);
  write_file(path, text);
  MatrixMarketOptions options;
  options.chunk_bytes = 1000;
  options.threads = GENERATE(1, 2);
  std::uint64_t last = 0, calls = 0;
  options.progress = [&](std::string_view stage, std::uint64_t done, std::uint64_t total) {
    CHECK(stage == "read");
    CHECK(done >= last);
    CHECK(total == text.size());
    last = done;
    return ++calls < 1000000;
  };
  const SourceMatrix s = read_matrix_market(path, options);
  CHECK(last == text.size());
  CHECK(calls > (options.threads == 1 ? 500 : 0));  // the other thread may be the faster one
  options.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  CHECK_THROWS_AS(read_matrix_market(path, options), Error);
  CHECK_THROWS_AS(write_matrix_market(directory.file("b.mtx"), s, false, 1, options.progress), Error);
  CHECK(!std::filesystem::exists(directory.file("b.mtx")));
}
