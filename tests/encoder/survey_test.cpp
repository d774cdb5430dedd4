// What one pass sees of a matrix, and what plans take at least: auto leaves out plans that cannot be the best by it, so
// a bound that is too high would change its choice.

#include "spmvpack/encoder/survey.hpp"

#include <map>
#include <set>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::test {
namespace {

using encoder::Strategy;
using encoder::Survey;
using encoder::Target;

Survey survey(const CsrView& a, int threads = 2) {
  return encoder::survey_of(a, encoder::ValueTable::count(a), threads);
}

/// By definition.
void check_survey(const CsrView& a) {
  std::uint64_t longest = 0, filled = 0, far_apart = 0, pieces = 0, shared = 0;
  std::map<std::uint64_t, std::uint64_t> widths;
  std::set<std::uint64_t> columns, segments, diagonals;
  for (std::uint64_t r = 0; r < a.rows(); ++r) {
    std::set<std::uint64_t> of_row;
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) {
      const std::uint64_t c = a.col_idx()[k];
      far_apart += k == a.row_ptr(r) || c >= a.col_idx()[k - 1] + std::uint64_t{8} ? 1 : 0;
      of_row.insert(c / 65536);
      columns.insert(c);
      diagonals.insert(a.rows() + c - r);
    }
    longest = std::max(longest, a.row_length(r));
    widths[r / 32] = std::max(widths[r / 32], a.row_length(r));
    filled += of_row.empty() ? 0 : 1;
    pieces += of_row.size();
    shared += of_row.size() > 1 ? of_row.size() : 0;
    segments.insert(of_row.begin(), of_row.end());
  }
  std::uint64_t slots = 0;
  for (const auto& [slice, width] : widths) slots += 32 * width;
  for (const int threads : {1, 3}) {
    const Survey s = survey(a, threads);
    CHECK(s.slice_slots == slots);
    CHECK(s.longest_row == longest);
    CHECK(s.filled_rows == filled);
    CHECK(s.far_apart == far_apart);
    CHECK(s.pieces == pieces);
    CHECK(s.shared_pieces == shared);
    CHECK(s.columns <= columns.size());
    CHECK(s.segments <= segments.size());
    CHECK(s.diagonals <= diagonals.size());
    if (a.rows() != 0 && a.row_length(0) != 0) CHECK(s.columns >= a.row_length(0));  // a row that is looked at
  }
}

/// No plan takes less than what its strategy says.
void check_least(const CsrView& a) {
  Survey s = survey(a);
  const encoder::XSectors x = encoder::x_sectors(a, 0, encoder::default_profile(Target::gpu).x_caches);
  for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes})
    for (const Strategy& strategy : encoder::strategies()) {
      if (!strategy.traits.least) continue;
      INFO(strategy.name << (optimize == encoder::Objective::bytes ? ", bytes" : ""));
      s.fewest_bytes = optimize == encoder::Objective::bytes;
      const encoder::Least least = strategy.traits.least(s);
      const encoder::Plan plan = strategy.plan(a, {.values = s.values, .aim = {.optimize = optimize}});
      if (strategy.name == "split" && plan.parts.size() == 1) {  // nothing is said of it, but that it is another's
        const Strategy& other = encoder::find_strategy(plan.parts[0].info.layout);
        CHECK(plan.device_bytes() == other.plan(a, {.values = s.values, .aim = {.optimize = optimize}}).device_bytes());
        continue;
      }
      CHECK(least.device_bytes <= plan.device_bytes());
      for (const Target target : {Target::gpu, Target::host})
        for (const std::uint64_t columns : {1, 8, 40}) {
          const encoder::Aim aim{.optimize = optimize, .target = target, .columns = columns};
          CHECK(encoder::predicted_seconds(encoder::work_of(s, least, x, aim), target) <=
                encoder::predicted_seconds(encoder::work_of(plan, a.rows(), x, aim), target));
        }
    }
}

/// The first columns are the most used.
CsrMatrix skewed(std::uint64_t rows, std::uint64_t cols, std::uint32_t per_row) {
  std::mt19937_64 rng(rows);
  return from_rows<double>(rows, cols, rng, 3, [&](std::uint64_t) {
    std::vector<std::uint32_t> row(per_row);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % (1 + rng() % cols));
    return row;
  });
}

}  // namespace

TEST_CASE("a survey counts what the definitions say") {
  for (const NamedMatrix& m : random_matrices<double>(211, 0)) {
    INFO(m.name);
    check_survey(m.matrix);
  }
  const std::vector<std::uint32_t> ends{0, 7, 8, 65535, 65536, 131071, 131080, 0xFFFFFFF0};
  std::mt19937_64 rng(1);
  check_survey(from_rows<double>(70, 0xFFFFFFFE, rng, 0, [&](std::uint64_t r) {
    return r % 3 == 1 ? std::vector<std::uint32_t>{}
                      : std::vector<std::uint32_t>(ends.begin(), ends.end() - static_cast<std::ptrdiff_t>(r % 4));
  }));
}

TEST_CASE("no plan takes less than its strategy says that all do") {
  for (const int values : {0, 1, 2, 3}) {
    for (const NamedMatrix& m : random_matrices<double>(223, values)) {
      INFO(m.name << ", values " << values);
      check_least(m.matrix);
    }
  }
  for (const NamedMatrix& m : random_matrices<float>(227, 3)) {
    INFO(m.name << ", f32");
    check_least(m.matrix);
  }
  for (const CsellCase& c : csell_cases<double>()) {
    INFO(c.name << ", " << c.values);
    check_least(c.matrix);
  }
}

TEST_CASE("no plan with hot columns or segments takes less, either") {
  const auto has = [](const CsrMatrix& a, std::string_view counter, std::uint64_t least) {
    const encoder::Plan plan = encoder::find_strategy("bitflag").plan(a, {});
    const auto& counters = plan.parts[0].counters;
    return std::any_of(counters.begin(), counters.end(),
                       [&](const encoder::Counter& c) { return c.name == counter && c.value >= least; });
  };
  const CsrMatrix hot = skewed(170'000, 100'000, 32), segments = skewed(2'500, 50'000, 1'000);
  CHECK(has(hot, "hot.columns", 1));
  CHECK(has(segments, "segments", 2));
  check_least(hot);
  check_least(segments);
}

TEST_CASE("no plan of many values takes less, be they in blocks or rows of any lengths") {
  std::mt19937_64 rng(9);
  for (const std::uint64_t block : {1, 2, 3, 4}) {
    INFO("blocks of " << block);
    check_least(from_rows<double>(1200, 1200, rng, 3, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row;
      const std::uint64_t first = r / block, count = block == 1 ? 1 + first % 64 / 63 * 300 : 4;
      for (std::uint64_t b = 0; b < count; ++b)
        for (std::uint64_t c = 0; c < block; ++c)
          row.push_back(static_cast<std::uint32_t>((first * 7 + b * 5) % (1200 / block) * block + c));
      return row;
    }));
  }
}

TEST_CASE("no plan of split in two parts takes less, wherever it is cut") {
  const Strategy& split = encoder::find_strategy("split");
  std::uint64_t in_two = 0;
  for (const int values : {1, 3})
    for (const NamedMatrix& m : random_matrices<double>(229, values))
      for (const char* const length : {"1", "3", "20"})
        for (const char* const layout : {"csell", "sell"}) {
          INFO(m.name << ", values " << values << ", " << length << ", " << layout);
          const Survey s = survey(m.matrix);
          const encoder::XSectors x = encoder::x_sectors(m.matrix);
          const encoder::Least least = split.traits.least(s);
          const encoder::Plan plan =
              split.plan(m.matrix, {.settings = {{"split.length", length}, {"split.short", layout}}});
          if (plan.parts.size() == 1) continue;
          ++in_two;
          CHECK(least.device_bytes <= plan.device_bytes());
          for (const Target target : {Target::gpu, Target::host})
            for (const std::uint64_t columns : {1, 8}) {
              const encoder::Aim aim{.target = target, .columns = columns};
              CHECK(encoder::predicted_seconds(encoder::work_of(s, least, x, aim), target) <=
                    encoder::predicted_seconds(encoder::work_of(plan, m.matrix.rows, x, aim), target));
            }
        }
  CHECK(in_two > 20);
}

TEST_CASE("a setting that is wrong is not passed over with its plan") {
  const CsrMatrix a = make_csr(1, 1, {{{0, 0}, 1.0}}), none = make_csr(1, 1, {});
  for (const char* const setting : {"ccoo.k", "amb.block", "csell.block", "bitflag.tile", "sell.sigma",
                                    "segmented_sell.cols", "nus_sell.cols", "split.length"})
    for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes})
      for (const CsrMatrix* const m : {&a, &none}) {
        INFO(setting);
        CHECK_THROWS_AS(
            encoder::find_strategy("auto").plan(*m, {.settings = {{setting, "nine"}}, .aim = {.optimize = optimize}}),
            Error);
      }
}

}  // namespace spmvpack::test
