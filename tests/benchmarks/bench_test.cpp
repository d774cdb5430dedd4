// The parts of the benchmark that need no device: statistics, reference, floors, other libraries' formats, summaries.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bench/measure.hpp"
#include "bench/peer_formats.hpp"
#include "bench/reference.hpp"
#include "bench/sectors.hpp"
#include "bench/suite.hpp"
#include "bench/summary.hpp"
#include "bench_results.hpp"
#include "catch.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::bench {
namespace {

using Dense = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;

Dense dense(const CsrView& a) {
  Dense all;
  for (std::uint64_t i = 0; i < a.rows(); ++i)
    for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) all[{i, a.col_idx()[k]}] = a.values<double>()[k];
  return all;
}

/// Rows of 0 to 7 entries, none of them 0; a long one.
CsrMatrix example(std::uint64_t rows, std::uint64_t cols) {
  std::mt19937_64 rng(rows * 1000 + cols);
  Dense entries;
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t n = i == rows / 2 ? 60 : rng() % 8; n > 0; --n)
      entries[{i, rng() % cols}] = 1.0 + static_cast<double>(rng() % 1000);
  CsrMatrix a = allocate_csr(rows, cols, entries.size(), ValueType::f64);
  for (std::uint64_t i = 0; i <= rows; ++i) a.row_ptr[i] = 0;
  std::uint64_t k = 0;
  for (const auto& [place, value] : entries) {
    a.col_idx[k] = static_cast<std::uint32_t>(place.second);
    std::get<Array<double>>(a.values)[k] = value;
    a.row_ptr[place.first + 1] = ++k;
  }
  for (std::uint64_t i = 0; i < rows; ++i) a.row_ptr[i + 1] = std::max(a.row_ptr[i + 1], a.row_ptr[i]);
  return a;
}

TEST_CASE("a sample's median is that of the sorted times") {
  const Sample odd = summarise({5, 1, 9}), even = summarise({4, 1, 2, 100});
  CHECK(odd.median == 5);
  CHECK(odd.min == 1);
  CHECK(odd.max == 9);
  CHECK(even.median == 3);
}

TEST_CASE("x has distinct entries in [-1, 1) that depend on the seed") {
  const std::vector<double> x = make_x<double>(200000, 1), other = make_x<double>(200000, 2);
  CHECK(std::set(x.begin(), x.end()).size() == x.size());
  CHECK(*std::min_element(x.begin(), x.end()) >= -1);
  CHECK(*std::max_element(x.begin(), x.end()) < 1);
  CHECK(x != other);
  CHECK(x == make_x<double>(200000, 1));
  double sum = 0;
  for (const double e : x) sum += e;
  CHECK(std::abs(sum / 200000) < 0.01);
}

TEST_CASE("the reference accepts sums in any order and refuses a wrong column, a lost entry and NaN") {
  const CsrMatrix a = example(500, 300);
  const std::vector<double> x = make_x<double>(300, 7);
  const Reference reference(a, std::span<const double>(x), 2);
  std::vector<double> forward(500), backward(500);
  const CsrView v = a.view();
  for (std::uint64_t i = 0; i < 500; ++i) {
    for (std::uint64_t k = v.row_ptr(i); k < v.row_ptr(i + 1); ++k)
      forward[i] += v.values<double>()[k] * x[v.col_idx()[k]];
    for (std::uint64_t k = v.row_ptr(i + 1); k > v.row_ptr(i); --k)
      backward[i] += v.values<double>()[k - 1] * x[v.col_idx()[k - 1]];
  }
  const auto worst = [&](const std::vector<double>& y) { return reference.worst(std::span<const double>(y)); };
  CHECK(worst(forward) <= 1);
  CHECK(worst(backward) <= 1);
  CHECK(worst(forward) > 0);

  const std::uint64_t row = 250, k = v.row_ptr(row);
  std::vector<double> y = forward;
  y[row] -= v.values<double>()[k] * x[v.col_idx()[k]];
  CHECK(worst(y) > 1);
  y[row] += v.values<double>()[k] * x[(v.col_idx()[k] + 1) % 300];
  CHECK(worst(y) > 1);
  y = forward;
  y[row] = std::nan("");
  CHECK(worst(y) == std::numeric_limits<double>::infinity());
  // A row without entries is exactly 0.
  std::uint64_t empty = 0;
  while (v.row_length(empty) != 0) ++empty;
  y = forward;
  y[empty] = 1e-300;
  CHECK(worst(y) == std::numeric_limits<double>::infinity());
}

TEST_CASE("every column is checked, by the reference for one") {
  const CsrMatrix a = example(50, 30);
  const std::vector<double> x = make_x<double>(30, 7), all = make_columns(std::span<const double>(x), 10);
  REQUIRE(all.size() == 300);
  const Reference reference(a, std::span<const double>(x), 1, 10);
  std::vector<double> y(500);
  for (std::uint64_t i = 0; i < 50; ++i)
    for (std::uint64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      for (std::uint64_t j = 0; j < 10; ++j)
        y[i * 10 + j] += std::get<Array<double>>(a.values)[k] * all[a.col_idx[k] * 10 + j];
  const auto worst = [&] { return reference.worst(std::span<const double>(y)); };
  CHECK(worst() <= 1);
  for (std::uint64_t j = 0; j < 10; ++j) {
    CHECK(all[70 + j] == x[7] * std::pow(2, j % 8));
    const double right = std::exchange(y[250 + j], y[250 + (j + 1) % 8]);  // of a neighbour, whose factor is another
    CHECK(worst() > 1);
    y[250 + j] = right;
  }
  // Too large for a column with a factor, but not for the first.
  const CsrMatrix large = test::make_csr(1, 1, {{{0, 0}, 1e308}});
  const std::vector<double> one{1};
  const std::vector<double> overflown{1e308, std::numeric_limits<double>::infinity()};
  CHECK(Reference(large, std::span<const double>(one), 1, 2).worst(std::span<const double>(overflown)) <= 1);
}

TEST_CASE("the bound is that of the type of x and y, and f32 values with f64 vectors lose nothing") {
  const CsrMatrix wide = example(500, 300);
  CsrMatrix a = allocate_csr(500, 300, wide.nnz(), ValueType::f32);
  std::copy(wide.row_ptr.begin(), wide.row_ptr.end(), a.row_ptr.begin());
  std::copy(wide.col_idx.begin(), wide.col_idx.end(), a.col_idx.begin());
  auto& values = std::get<Array<float>>(a.values);
  for (std::uint64_t k = 0; k < a.nnz(); ++k)
    values[k] = static_cast<float>(1 / std::get<Array<double>>(wide.values)[k]);
  const auto multiply = [&]<class T, class Sum>(const std::vector<T>& x, Sum) {
    std::vector<T> y(500);
    for (std::uint64_t i = 0; i < 500; ++i) {
      Sum sum = 0;
      for (std::uint64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        sum += static_cast<Sum>(values[k]) * static_cast<Sum>(x[a.col_idx[k]]);
      y[i] = static_cast<T>(sum);
    }
    return y;
  };
  const std::vector<double> x = make_x<double>(300, 7);
  const std::vector<float> narrow_x = make_x<float>(300, 7);
  const Reference mixed(a.view(), std::span<const double>(x)), narrow(a.view(), std::span<const float>(narrow_x));
  const auto worst = [](const Reference& reference, const auto& y) { return reference.worst(std::span(y)); };
  CHECK(worst(mixed, multiply(x, 0.0)) <= 1);
  CHECK(worst(mixed, multiply(x, 0.0F)) > 1000);  // sums in f32
  const std::vector<float> sums = multiply(narrow_x, 0.0F);
  CHECK(worst(narrow, sums) <= 1);
  CHECK(worst(narrow, sums) > 0);
}

TEST_CASE("the reference knows rows that are not finite, that may overflow, or are denormal") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double most = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  // Rows: NaN; Inf; Inf - Inf; an overflow on the way to the largest number; an overflow; 0.75 of the smallest number,
  // rounded.
  const CsrMatrix a = test::make_csr(6, 3,
                                     {{{0, 0}, nan},
                                      {{1, 0}, inf},
                                      {{1, 1}, 1.0},
                                      {{2, 0}, inf},
                                      {{2, 1}, -inf},
                                      {{3, 0}, most},
                                      {{3, 1}, most},
                                      {{3, 2}, -most},
                                      {{4, 0}, most},
                                      {{4, 1}, most},
                                      {{5, 2}, tiny}});
  const std::vector<double> x{1, 0.75, 0.75};
  const Reference reference(a.view(), std::span<const double>(x));
  const auto worst = [&](const std::vector<double>& y) { return reference.worst(std::span<const double>(y)); };
  const std::vector<double> right{nan, inf, nan, most, inf, tiny};
  CHECK(worst(right) <= 1);
  const auto with = [&](std::size_t row, double value) {
    std::vector<double> y = right;
    y[row] = value;
    return worst(y);
  };
  CHECK(with(3, inf) <= 1);
  CHECK(with(3, nan) <= 1);
  CHECK(with(5, 0) <= 1);
  for (const auto& [row, value] : std::vector<std::pair<std::size_t, double>>{{0, 0},
                                                                              {0, inf},
                                                                              {1, -inf},
                                                                              {1, 0},
                                                                              {2, inf},
                                                                              {3, most / 2},
                                                                              {4, most},
                                                                              {5, 8 * tiny},
                                                                              {5, nan},
                                                                              {5, inf}}) {
    INFO(row << " " << value);
    CHECK(with(row, value) > 1);
  }
}

TEST_CASE("sectors and lines of x are counted once for each block of rows") {
  for (const std::uint64_t block : {1U, 7U, 64U, 5000U}) {
    const CsrMatrix a = example(1000, 900);
    for (const std::uint64_t bytes : {32U, 128U}) {
      std::set<std::pair<std::uint64_t, std::uint64_t>> pieces;
      for (const auto& [place, value] : dense(a)) pieces.insert({place.first / block, place.second * 8 / bytes});
      CHECK(distinct_x_pieces(a, ValueType::f64, bytes, block, 3) == pieces.size());
    }
  }
  CHECK(distinct_x_pieces(example(0, 5), ValueType::f64, sector_bytes) == 0);
  // The type of x counts, not that of the matrix: 8 or 4 elements a sector.
  const CsrMatrix row = test::make_csr(1, 17, {{{0, 0}, 1}, {{0, 4}, 1}, {{0, 7}, 1}, {{0, 8}, 1}, {{0, 16}, 1}});
  CHECK(distinct_x_pieces(row, ValueType::f64, sector_bytes) == 4);
  CHECK(distinct_x_pieces(row, ValueType::f32, sector_bytes) == 3);
  CHECK(distinct_x_pieces(row, ValueType::f64, line_bytes) == 2);
  CHECK(distinct_x_pieces(row, ValueType::f32, line_bytes) == 1);
}

TEST_CASE("what is measured on the host is planned for it") {
  // Every 500th row has 3,000 entries, the others up to 121, those near them on a grid: cut in two for the host, in one
  // part for a GPU, whose second launch takes longer.
  SourceMatrix source;
  std::mt19937_64 rng(3);
  constexpr std::uint32_t side = 150, reach = 5;
  source.matrix = test::from_rows<double>(side * side, side * side, rng, 0, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(r % 500 == 0 ? 3000 : 0);
    for (std::uint32_t& column : row) column = static_cast<std::uint32_t>(rng() % (side * side));
    const auto x = static_cast<std::uint32_t>(r % side), y = static_cast<std::uint32_t>(r / side);
    for (std::uint32_t v = y - std::min(y, reach); row.size() < 3000 && v <= std::min(side - 1, y + reach); ++v)
      for (std::uint32_t u = x - std::min(x, reach); u <= std::min(side - 1, x + reach); ++u)
        row.push_back(v * side + u);
    return row;
  });
  const auto bytes = [&](encoder::Target target) {
    return encoder::find_strategy("split").plan(source.matrix.view(), {.aim = {.target = target}}).device_bytes();
  };
  REQUIRE(bytes(encoder::Target::host) != bytes(encoder::Target::gpu));
  MatrixResult m;
  MeasureOptions options;
  options.runs = 1;
  options.layouts = {"split"};
  options.load.threads = 1;
  measure(m, *make_host_machine(options.load), known_speeds(), source, nullptr, options);
  REQUIRE(m.results.size() == 1);
  CHECK(m.results[0].correct());
  CHECK(m.results[0].device_bytes == bytes(encoder::Target::host));
}

TEST_CASE("several columns are multiplied at once, of matrices without rows, too") {
  for (const std::uint64_t rows : {0U, 40U}) {
    SourceMatrix source;
    source.matrix = example(rows, 25);
    MatrixResult m;
    MeasureOptions options;
    options.runs = 1;
    options.columns = 9;
    options.layouts = {"csr", "csell", "coo"};
    options.load.threads = 1;
    measure(m, *make_host_machine(options.load), known_speeds(), source, nullptr, options);
    REQUIRE(m.results.size() == 3);
    CHECK(m.x_floors.l2 == 0);
    for (const Result& r : m.results) {
      CHECK(r.kept());
      CHECK(r.moved_bytes == r.device_bytes + (rows + 25) * 9 * 8);
      CHECK(r.floor == Approx(static_cast<double>(r.moved_bytes) / 1000));
    }
  }
}

TEST_CASE("the floor is the largest of bytes by copies, sectors by reads and lines by gathers") {
  const XFloors floors = x_floors(known_speeds(), 1000, 300);
  CHECK(floors.l2 == Approx(8));
  CHECK(floors.gathers == Approx(6));

  // Of a matrix: 64 neighbouring columns, 16 sectors in 4 lines; as many columns far apart, 64 of each.
  const auto measured = [](std::uint64_t stride, const Speeds& speeds) {
    test::Entries entries;
    for (std::uint64_t k = 0; k < 64; ++k) entries[{0, k * stride}] = 1;
    SourceMatrix source;
    source.matrix = test::make_csr(1, 64 * stride, entries);
    MatrixResult m;
    MeasureOptions options;
    options.runs = 1;
    options.layouts = {"csr"};
    options.load.threads = 1;
    measure(m, *make_host_machine(options.load), speeds, source, nullptr, options);
    REQUIRE(m.results.size() == 1);
    REQUIRE(m.results[0].correct());
    return m;
  };
  Speeds speeds = known_speeds();
  const MatrixResult near = measured(1, speeds), far = measured(16, speeds);
  CHECK(near.x_sectors == 16);
  CHECK(near.x_lines == 4);
  const std::uint64_t csr_bytes = 2 * 4 + 64 * 12;
  CHECK(near.results[0].moved_bytes == csr_bytes + 65 * 8);
  CHECK(near.results[0].floor == Approx(static_cast<double>(csr_bytes + 65 * 8) / 1000));
  CHECK(far.x_sectors == 64);
  CHECK(far.x_lines == 64);
  CHECK(far.x_floors.l2 == Approx(64 * 32 / 4000.0));
  CHECK(far.x_floors.gathers == Approx(64 / 50.0));
  CHECK(far.results[0].floor == Approx(static_cast<double>(csr_bytes + (1 + 64 * 16) * 8) / 1000));
  speeds.copy.median = 0.001;
  CHECK(measured(16, speeds).results[0].floor == Approx(64 / 50.0));
  speeds.gathers *= 10;
  CHECK(measured(16, speeds).results[0].floor == Approx(64 * 32 / 4000.0));
  // A machine whose cache is not measured has the floor of bytes alone.
  speeds.l2_bytes = speeds.gathers = 0;
  CHECK(measured(16, speeds).x_floors.gathers == 0);
  CHECK(measured(16, speeds).results[0].floor < 0.01);
}

TEST_CASE("other libraries' formats hold the matrix") {
  const auto [rows, cols] = GENERATE(std::pair{100U, 70U}, std::pair{1U, 80U}, std::pair{97U, 3U}, std::pair{64U, 64U});
  const CsrMatrix a = example(rows, cols);
  const Dense expected = dense(a);
  constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  const Array<std::int32_t> coo = coo_rows(a);
  Dense found;
  for (std::uint64_t k = 0; k < a.nnz(); ++k)
    found[{static_cast<std::uint64_t>(coo[k]), a.col_idx[k]}] = std::get<Array<double>>(a.values)[k];
  CHECK(found == expected);

  const auto sell = sliced_ell<double>(a, unlimited);
  REQUIRE(sell);
  found.clear();
  const std::uint64_t slices = (rows + 31U) / 32U;
  REQUIRE(sell->offsets.size() == slices + 1);
  for (std::uint64_t s = 0; s < slices; ++s) {
    const auto begin = static_cast<std::uint64_t>(sell->offsets[s]),
               end = static_cast<std::uint64_t>(sell->offsets[s + 1]);
    for (std::uint64_t k = begin; k < end; ++k)
      if (sell->columns[k] >= 0)
        found[{s * 32 + (k - begin) % 32, static_cast<std::uint64_t>(sell->columns[k])}] = sell->values[k];
      else
        CHECK(sell->values[k] == 0);
  }
  CHECK(found == expected);
  CHECK_FALSE(sliced_ell<double>(a, sell->columns.size() - 1));

  for (const std::uint64_t size : {2U, 3U, 4U}) {
    const auto bsr = block_csr<double>(a, size, unlimited);
    REQUIRE(bsr);
    found.clear();
    for (std::uint64_t r = 0; r + 1 < bsr->row_ptr.size(); ++r)
      for (auto b = static_cast<std::uint64_t>(bsr->row_ptr[r]); b < static_cast<std::uint64_t>(bsr->row_ptr[r + 1]);
           ++b)
        for (std::uint64_t e = 0; e < size * size; ++e)
          if (const double value = bsr->values[b * size * size + e]; value != 0)
            found[{r * size + e / size, static_cast<std::uint64_t>(bsr->columns[b]) * size + e % size}] = value;
    CHECK(found == expected);
    CHECK_FALSE(block_csr<double>(a, size, bsr->values.size() - 1));
  }
}

TEST_CASE("blocks may take ten times the bytes of CSR, and not a block more") {
  // Every fourth place of the diagonal: each entry is a block of its own. CSR: 401 x 4 + 100 x 12 = 2,804 bytes; blocks
  // of 2 x 2: 201 x 4 and 36 each; of 4 x 4: 101 x 4 and 132 each.
  test::Entries entries;
  for (std::uint64_t i = 0; i < 400; i += 4) entries[{i, i}] = 1;
  const CsrMatrix a = test::make_csr(400, 400, entries);
  CHECK(block_value_limit(a, 2, 10) == (28'040 - 804) / 36 * 4);
  CHECK(block_value_limit(a, 4, 10) == (28'040 - 404) / 132 * 16);
  CHECK(block_csr<double>(a, 4, block_value_limit(a, 4, 10)));
  CHECK(block_csr<double>(a, 4, block_value_limit(a, 4, 5)));
  CHECK_FALSE(block_csr<double>(a, 4, block_value_limit(a, 4, 4)));
  CHECK(block_value_limit(test::make_csr(0, 0, {}), 4, 10) == 0);
}

TEST_CASE("ratios are over CSR ALG2, the faster CSR and the fastest peer that is right") {
  MatrixResult m = member("local", 2, 6, 8, 4);
  Ratios r = ratios(m, m.results[0]);
  CHECK(*r.over_csr_alg2 == 4);
  CHECK(*r.over_faster_csr == 3);
  CHECK(*r.over_best == 2);
  CHECK(best_peer(m)->layout == "sell-32");
  CHECK(*r.over_csr_bsr == 3);
  CHECK(*r.over_sell == 2);
  m.results.push_back(timed("cusparse", "bsr-2", "", 5));
  m.results.push_back(timed("cusparse", "bsr-3", "", 1));
  m.results.back().worst_error = 2;
  CHECK(*ratios(m, m.results[0]).over_csr_bsr == 2.5);
  m.results.resize(4);
  m.results[3].worst_error = 1.5;
  CHECK_FALSE(ratios(m, m.results[0]).over_sell);
  CHECK(best_peer(m)->layout == "csr-alg1");
  m.results[1].skipped = "too large";
  r = ratios(m, m.results[0]);
  CHECK(*r.over_best == 4);
  m.results.resize(1);
  CHECK_FALSE(ratios(m, m.results[0]).over_best);
}

TEST_CASE("a result is refused where it is wrong, or breaks its promise of the same bits") {
  Result r = timed("spmvpack", "ccoo", "ordered", 1);
  r.worst_error = 1;
  r.bitwise = true;
  CHECK_FALSE(r.kept());
  r.repeats = true;
  CHECK(r.kept());
  r.worst_error = 1.01;
  CHECK_FALSE(r.kept());
  r.worst_error = 0.5;
  r.bitwise = false;
  r.repeats = false;
  CHECK(r.kept());
  r.bitwise.reset();
  CHECK(r.kept());
  r.skipped = "does not fit";
  r.worst_error = 2;
  CHECK(r.kept());
  CHECK_FALSE(r.correct());
}

TEST_CASE("the total weighs groups equally; members of the cache and later ones are apart") {
  std::vector<MatrixResult> all{member("arbitrary", 1, 4, 4, 4), member("global", 1, 1, 1, 1),
                                member("global", 1, 1, 1, 1), member("global", 1, 8, 8, 8)};
  all.push_back(member("global", 1, 100, 100, 100));
  all.back().csr_bytes = 59'999'999;
  all.push_back(member("local", 1, 7, 7, 7));
  all.back().added = true;
  all.push_back(member("local", 1, 7, 7, 7));
  all.back().results[0].worst_error = 2;  // wrong: counts nowhere
  const std::vector<KernelSummary> summaries = summarise_suite(all);
  REQUIRE(summaries.size() == 1);
  std::map<std::string, Means> sets;
  for (const Means& means : summaries[0].sets) sets[means.set] = means;
  CHECK(sets.size() == 5);
  CHECK(*sets["arbitrary"].mean.over_best == Approx(4));
  CHECK(*sets["global"].mean.over_best == Approx(2));
  CHECK(*sets["global"].least.over_best == 1);
  CHECK(sets["global"].members == 3);
  CHECK(*sets["total"].mean.over_best == Approx(std::sqrt(8.0)));
  CHECK(*sets["total"].least.over_best == 1);
  CHECK(sets["total"].members == 4);
  CHECK(*sets["l2-resident"].mean.over_best == Approx(100));
  CHECK(*sets["added"].mean.over_best == Approx(7));
}

TEST_CASE("a host names its cache, in whole KiB, or has none") {
  const auto host = make_host_machine({});
  CHECK(host->facts().cache.empty() == (host->facts().cache_bytes == 0));
  CHECK(host->facts().cache_bytes % 1024 == 0);
}

TEST_CASE("the words of the suite and of the shapes are those of the command line, and their kinds take them") {
  std::set<std::string_view> names;
  for (const std::span<const SuiteMember> members : {suite(), shapes()})
    for (const SuiteMember& m : members) {
      CHECK(names.insert(m.name).second);
      const auto [kind, options] = generators::parse_kind(m.generator);
      CHECK(command_line(kind, options) == "spmvpack generate " + std::string(m.generator));
    }
}

TEST_CASE("the suite is frozen") {
  // FNV-1a of all that makes a member what it is. A change here breaks comparison with every figure published before.
  std::uint64_t hash = 0xCBF29CE484222325U;
  std::set<std::string_view> names;
  std::map<std::string_view, int> groups;
  bool after = false;
  for (const SuiteMember& m : suite()) {
    CHECK(names.insert(m.name).second);
    CHECK(std::find(suite_groups.begin(), suite_groups.end(), m.group) != suite_groups.end());
    CHECK((m.added || !after));
    after = m.added;
    if (m.added) continue;
    ++groups[m.group];
    for (const std::string_view text : {m.name, m.group, m.generator})
      for (const char c : std::string(text) + '\n') hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  CHECK(hash == 0xF94B12FEA4A72A1CU);
  CHECK(groups.size() == 4);
  const SourceMatrix small = make_member(find_member(suite(), "circuit-small"));
  CHECK(small.matrix.rows == 500000);
  CHECK(small.provenance.source == "spmvpack generate circuit --rows 500000");
  CHECK_THROWS_AS(find_member(suite(), "circuit-smal"), Error);
  // As f32 every value is the nearest one.
  const SourceMatrix rounded = make_member(find_member(suite(), "circuit-small"), ValueType::f32);
  REQUIRE(rounded.matrix.value_type() == ValueType::f32);
  const auto& wide = std::get<Array<double>>(small.matrix.values);
  const auto& narrow = std::get<Array<float>>(rounded.matrix.values);
  CHECK(std::equal(wide.begin(), wide.end(), narrow.begin(), narrow.end(),
                   [](double a, float b) { return static_cast<float>(a) == b; }));
}

}  // namespace
}  // namespace spmvpack::bench
