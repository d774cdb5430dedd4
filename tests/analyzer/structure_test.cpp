#include "spmvpack/analyzer/structure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "spmvpack/analyzer/report.hpp"

using namespace spmvpack;
using namespace spmvpack::analyzer;

namespace {

template <class T>
using Entries = std::map<std::pair<std::uint64_t, std::uint64_t>, T>;

template <class T>
CsrMatrix make_csr(std::uint64_t rows, std::uint64_t cols, const Entries<T>& entries) {
  CsrMatrix m = allocate_csr(rows, cols, entries.size(), value_type_of<T>);
  for (std::uint64_t i = 0; i <= rows; ++i) m.row_ptr[i] = 0;
  std::uint64_t p = 0;
  for (const auto& [place, value] : entries) {
    ++m.row_ptr[place.first + 1];
    m.col_idx[p] = static_cast<std::uint32_t>(place.second);
    std::get<Array<T>>(m.values)[p++] = value;
  }
  for (std::uint64_t i = 0; i < rows; ++i) m.row_ptr[i + 1] += m.row_ptr[i];
  return m;
}

/// Compares with the definitions, entry by entry.
template <class T>
void check(std::uint64_t rows, std::uint64_t cols, const Entries<T>& entries) {
  std::vector<std::uint64_t> lengths(rows);
  std::set<std::uint64_t> used_cols;
  std::uint64_t lower = 0, upper = 0, diagonal = 0, mirrored = 0, equal = 0, negated = 0, zeros = 0, not_finite = 0;
  bool zero_diagonal = true;
  for (const auto& [place, value] : entries) {
    const auto [i, j] = place;
    ++lengths[i];
    used_cols.insert(j);
    lower = std::max(lower, i > j ? i - j : 0);
    upper = std::max(upper, j > i ? j - i : 0);
    zeros += value == 0;
    not_finite += std::isnan(value) || std::isinf(value);
    if (i == j) {
      ++diagonal;
      zero_diagonal = zero_diagonal && value == 0;
    } else if (const auto mirror = entries.find({j, i}); mirror != entries.end()) {
      const bool both_nan = std::isnan(value) && std::isnan(mirror->second);  // here all NaNs have the same payload
      ++mirrored;
      equal += value == mirror->second || (both_nan && std::signbit(value) == std::signbit(mirror->second));
      negated += value == -mirror->second || (both_nan && std::signbit(value) != std::signbit(mirror->second));
    }
  }
  std::vector<std::uint64_t> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());

  const CsrMatrix m = make_csr(rows, cols, entries);
  for (const int threads : {1, 4}) {
    CAPTURE(rows, cols, entries.size(), threads);
    const Structure s = analyze(m, threads);
    CHECK(s.rows == rows);
    CHECK(s.cols == cols);
    CHECK(s.nnz == entries.size());
    CHECK(s.density.has_value() == (rows != 0 && cols != 0));
    if (s.density) CHECK(*s.density * static_cast<double>(rows * cols) == Approx(static_cast<double>(entries.size())));
    CHECK(s.empty_rows == static_cast<std::uint64_t>(std::count(lengths.begin(), lengths.end(), 0U)));
    CHECK(s.empty_cols == cols - used_cols.size());
    CHECK(s.lower_bandwidth == lower);
    CHECK(s.upper_bandwidth == upper);
    CHECK(s.diagonal_entries == diagonal);
    CHECK(s.explicit_zeros == zeros);
    CHECK(s.not_finite == not_finite);

    CHECK(s.row_lengths.min == (rows == 0 ? 0 : sorted.front()));
    CHECK(s.row_lengths.max == (rows == 0 ? 0 : sorted.back()));
    for (std::size_t k = 0; k < RowLengths::ranks.size() && rows != 0; ++k) {
      // By definition: the smallest length that enough rows do not exceed.
      std::uint64_t at_most = 0, length = 0;
      for (;; ++length) {
        at_most += static_cast<std::uint64_t>(std::count(lengths.begin(), lengths.end(), length));
        if (at_most * 100 >= rows * static_cast<std::uint64_t>(RowLengths::ranks.at(k))) break;
      }
      CHECK(s.row_lengths.percentiles.at(k) == length);
    }
    std::vector<std::uint64_t> histogram;
    for (const std::uint64_t length : lengths) {
      std::size_t bin = 0;
      for (std::uint64_t l = length; l != 0; l /= 2) ++bin;
      histogram.resize(std::max(histogram.size(), bin + 1));
      ++histogram[bin];
    }
    CHECK(s.row_lengths.histogram == histogram);
    std::array<std::uint64_t, 16> relative{};
    for (const std::uint64_t length : lengths)
      for (std::uint64_t b = 0; b < relative.size(); ++b)
        if ((length * 16 > b * sorted.back() || b == 0) && length * 16 <= (b + 1) * sorted.back()) ++relative.at(b);
    CHECK(s.row_lengths.relative == relative);

    REQUIRE(s.symmetry.has_value() == (rows == cols));
    if (s.symmetry) {
      CHECK(s.symmetry->off_diagonal == entries.size() - diagonal);
      CHECK(s.symmetry->mirrored == mirrored);
      CHECK(s.symmetry->equal == equal);
      CHECK(s.symmetry->negated == negated);
      CHECK(s.symmetry->zero_diagonal == zero_diagonal);
    }
    REQUIRE(s.values != nullptr);
    std::set<std::uint64_t> distinct;
    for (const auto& [place, value] : entries) distinct.insert(encoder::value_bits(value));
    CHECK(s.values->distinct() == distinct.size());

    for (const std::uint32_t most : {1U, 3U, 7U, 256U}) {
      const Density d = density_of(m, most, most + 1, threads);
      CHECK(d.height == (cols == 0 ? 0 : std::min<std::uint64_t>(most, rows)));
      CHECK(d.width == (rows == 0 ? 0 : std::min<std::uint64_t>(most + 1, cols)));
      std::vector<std::uint64_t> counts(std::uint64_t{d.height} * d.width);
      for (const auto& [place, value] : entries)
        ++counts[place.first * d.height / rows * d.width + place.second * d.width / cols];
      CHECK(d.counts == counts);
    }
  }
}

enum class Kind : std::uint8_t { general, symmetric, skew, pattern_symmetric };

template <class T>
Entries<T> random_entries(std::uint64_t rows, std::uint64_t cols, std::uint64_t n, Kind kind, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto value = [&]() -> T {
    switch (random() % 16) {
      case 0:
        return T{0};
      case 1:
        return -T{0};
      case 2:
        return std::numeric_limits<T>::infinity();
      case 3:
        return std::numeric_limits<T>::quiet_NaN();
      default:
        return static_cast<T>(random() % 9) - 4;
    }
  };
  Entries<T> entries;
  for (std::uint64_t k = 0; k < n; ++k) {
    const std::uint64_t i = random() % rows, j = random() % cols;
    const T v = kind == Kind::skew && i == j ? T{0} : value();
    entries[{i, j}] = v;
    if (kind == Kind::symmetric) entries[{j, i}] = v;
    if (kind == Kind::skew) entries[{j, i}] = -v;
    if (kind == Kind::pattern_symmetric) entries[{j, i}] = value();
  }
  return entries;
}

}  // namespace

TEST_CASE("Structure of nothing") {
  check<double>(0, 0, {});
  check<double>(0, 7, {});
  check<double>(7, 0, {});
  check<double>(7, 7, {});
  check<double>(3000, 5, {});
  const Structure s = analyze(make_csr<double>(7, 7, {}));
  CHECK(s.row_lengths.mean == 0);
  CHECK(s.symmetry->symmetric());
}

TEST_CASE("Structure against the definitions") {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const Kind kind : {Kind::general, Kind::symmetric, Kind::skew, Kind::pattern_symmetric}) {
      const std::uint64_t n = 1 + seed * seed * seed;
      check(n, n, random_entries<double>(n, n, seed * 100, kind, seed));
      check(n, n, random_entries<float>(n, n, seed * 50, kind, seed));
    }
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    check(5000, 3, random_entries<double>(5000, 3, seed * 1000, Kind::general, seed));
    check(3, 5000, random_entries<double>(3, 5000, seed * 1000, Kind::general, seed));
    check(1, 1 + seed, random_entries<float>(1, 1 + seed, 5, Kind::general, seed));
  }
}

TEST_CASE("Symmetry by name") {
  const auto symmetry = [](const Entries<double>& entries) { return *analyze(make_csr(300, 300, entries)).symmetry; };
  CHECK(symmetry(random_entries<double>(300, 300, 2000, Kind::symmetric, 1)).symmetric());
  CHECK(symmetry(random_entries<double>(300, 300, 2000, Kind::skew, 1)).skew_symmetric());
  const SymmetryCounts pattern = symmetry(random_entries<double>(300, 300, 2000, Kind::pattern_symmetric, 1));
  CHECK((pattern.pattern_symmetric() && !pattern.symmetric() && !pattern.skew_symmetric()));
  CHECK_FALSE(symmetry(random_entries<double>(300, 300, 2000, Kind::general, 1)).pattern_symmetric());
  // One entry without a mirror image, on either side of the diagonal.
  CHECK_FALSE(symmetry({{{0, 1}, 1.0}}).pattern_symmetric());
  CHECK_FALSE(symmetry({{{1, 0}, 1.0}}).pattern_symmetric());
  // A diagonal that is not zero is not skew.
  CHECK_FALSE(symmetry({{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 0}, -2.0}}).skew_symmetric());
  CHECK(symmetry({{{0, 0}, -0.0}, {{0, 1}, 2.0}, {{1, 0}, -2.0}}).skew_symmetric());
}

TEST_CASE("Rows longer than those that are counted by length") {
  Entries<double> entries;
  for (std::uint64_t j = 0; j < 70'000; ++j) entries[{1, j}] = 1;
  for (std::uint64_t j = 0; j < 65'536; ++j) entries[{3, j}] = 1;
  for (std::uint64_t j = 0; j < 65'535; ++j) entries[{4, j}] = 1;
  check(6, 80'000, entries);
  const Structure s = analyze(make_csr(6, 80'000, entries));
  CHECK(s.row_lengths.percentiles == std::array<std::uint64_t, 6>{0, 0, 0, 65'536, 70'000, 70'000});
}

TEST_CASE("What columns take is counted before it is taken") {
  const CsrMatrix m = make_csr<double>(1, 4'000'000'000, {{{0, 3'999'999'999}, 1.0}});
  try {
    analyze(m, 1, nullptr, 1'000'000);
    FAIL("analyzed in a million bytes");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
    CHECK_THAT(e.message(),
               Catch::Contains("4000000000 columns needs 500000028 bytes") && Catch::Contains("1000000 are"));
  }
}

TEST_CASE("A value table that is given is used") {
  const CsrMatrix m = make_csr<double>(2, 2, {{{0, 0}, 1.0}});
  const auto table = encoder::ValueTable::count(m);
  CHECK(analyze(m, 1, table).values == table);
}

TEST_CASE("Shades go from the fullest cell down, each by the same factor") {
  // A row of full cells of 16, 8, 4, ... columns' worth of entries, and an empty one.
  Density d{1, 160, 1, 10, {16, 15, 8, 7, 4, 2, 1, 0, 16, 9}};
  const Shades s = shades_of(d);
  CHECK(s.levels == std::vector<std::uint8_t>{8, 8, 7, 7, 6, 5, 4, 0, 8, 8});
  CHECK(s.most == 1);
  CHECK(s.least == 1.0 / 16);
  CHECK(s.factor == 2);
  // Emptier than 2^-8 of the fullest: the factor grows.
  d = {1, 2'000'000, 1, 2, {1'000'000, 1}};
  CHECK(shades_of(d).levels == std::vector<std::uint8_t>{8, 1});
  CHECK(shades_of(d).factor == Approx(std::pow(1e6, 1.0 / 8)));
  CHECK(shades_of({3, 4, 3, 4, std::vector<std::uint64_t>(12)}).most == 0);
  CHECK(shades_of({}).levels.empty());
}

TEST_CASE("A page with the worst of pictures has less than 1 MB") {
  ReportOptions options;
  options.name = "<&>";
  options.density = true;
  Report report = make_report(make_csr<double>(1, 1, {{{0, 0}, 1.0}}), options);
  REQUIRE(report.density.has_value());
  CHECK(report.density->counts == std::vector<std::uint64_t>{1});
  Density worst{1U << 20U, 1U << 20U, Density::picture, Density::picture, {}};
  for (std::uint64_t i = 0; i < std::uint64_t{worst.height} * worst.width; ++i)
    worst.counts.push_back(std::uint64_t{1} << i % Density::shades);
  report.density = worst;
  const std::string page = to_html(report);
  CHECK(page.size() < 1'000'000);
  CHECK(page.find("<h1>&lt;&amp;&gt;</h1>") != std::string::npos);
  CHECK(page.find(to_html_fragment(report)) != std::string::npos);
}
