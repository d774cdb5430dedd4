// Layout sjds: the worked example of docs/LAYOUTS.md, its bytes; which rows are long; what is refused; the work that is
// counted of its slices' kinds is that of the kinds which a host finds in its bytes.

#include "spmvpack/container/layouts/sjds.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "catch.hpp"
#include "containers.hpp"
#include "layouts/sjds/shares.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "sjds_cases.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/launch_rules/sjds_kinds.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using namespace layouts::sjds;
using Settings = std::map<std::string, std::string>;

/// What the sections of the only part say.
struct Bytes {
  explicit Bytes(const CsrMatrix& a, const Settings& settings = {})
      : file(open(encode(a, "sjds", settings).bytes)),
        windows(elements<std::uint32_t>(file, "windows")),
        stream(elements<std::uint32_t>(file, "stream")) {
    const auto words = elements<std::uint32_t>(file, "slices");
    slices.resize(words.size() / slice_words);
    std::memcpy(slices.data(), words.data(), words.size() * sizeof(std::uint32_t));
  }
  [[nodiscard]] std::uint64_t parameter(Param p) const { return file.parts()[0].params.at(p); }

  Container file;
  std::vector<std::uint32_t> windows;
  std::vector<std::uint32_t> stream;
  std::vector<Slice> slices;
};

/// Rows of these columns, with ones.
CsrMatrix from_lists(const std::vector<std::vector<std::uint32_t>>& rows, std::uint64_t cols) {
  std::mt19937_64 rng(1);
  return from_rows<double>(rows.size(), cols, rng, 0, [&](std::uint64_t r) { return rows[r]; });
}

/// Rows of these lengths, with columns 0, 1, ... times `distance`.
CsrMatrix of_lengths(const std::vector<std::uint64_t>& lengths, std::uint64_t cols, std::uint32_t distance = 1) {
  std::vector<std::vector<std::uint32_t>> rows;
  for (const std::uint64_t n : lengths) {
    auto& row = rows.emplace_back(n);
    for (std::uint32_t i = 0; i < n; ++i) row[i] = i * distance;
  }
  return from_lists(rows, cols);
}

TEST_CASE("the worked example of docs/LAYOUTS.md in sjds") {
  const Bytes bytes(worked_example());
  CHECK(bytes.windows == std::vector<std::uint32_t>{0x80000000, 1});
  REQUIRE(bytes.slices.size() == 1);
  const Slice& s = bytes.slices[0];
  CHECK((s.begin == 0 && s.values == 0 && s.row == 0 && s.column == 0));
  CHECK((s.windows() == 0 && s.steps() == 0 && s.tail() == 3 && s.tail_entries() == 7));
  CHECK((s.rows() == 3 && !s.is_wide() && s.is_listed() && !s.continues()));
  const std::vector<std::uint32_t> stream{1,       3,       0,       0,  // rows, 16 bits each
                                          0x10303,                       // lanes of the tail, 8 bits each
                                          0,       0x10003, 0x40001, 4,  // columns, 16 bits each
                                          0,       0,       0};
  CHECK(bytes.stream == stream);
  CHECK(elements<double>(bytes.file, "values") == std::vector<double>{-1, 2, 2, 2, -1, -1, .5});
  CHECK(elements<std::uint32_t>(bytes.file, "codes").empty());
  CHECK(equal_bits(unpack(bytes.file), worked_example()));

  const Bytes coded(worked_example(), {{"sjds.values", "code"}});
  CHECK(coded.stream == stream);
  CHECK(elements<double>(coded.file, "values") == std::vector<double>{2, -1, .5});
  CHECK(elements<std::uint32_t>(coded.file, "codes") == std::vector<std::uint32_t>{0x001, 0x110, 0x002});
  CHECK(equal_bits(unpack(coded.file), worked_example()));
  // Codes are for many entries, or for few bytes.
  const encoder::PartPlan small = plan_of(worked_example(), "sjds", {.aim = {.optimize = encoder::Objective::bytes}});
  CHECK(small.info.params[param_source] == static_cast<std::uint64_t>(Source::code));
}

TEST_CASE("columns within 16 are window steps of sjds, others have 16 or 32 bits") {
  const auto slice_of = [](std::uint64_t cols, std::uint32_t distance) {
    return Bytes(of_lengths(std::vector<std::uint64_t>(8, 3), cols, distance)).slices.at(0);
  };
  const Slice near = slice_of(16, 1);  // all rows have columns 0, 1, 2
  CHECK((near.windows() == 3 && near.steps() == 0 && !near.is_listed()));
  const Slice few_columns = slice_of(15, 1);
  CHECK((few_columns.windows() == 0 && few_columns.steps() == 3 && !few_columns.is_wide()));

  // Lane i has columns i d, i d + 2^17: within 16 with d = 2, but not with d = 3.
  const auto spread = [](std::uint32_t d, std::uint32_t second) {
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::uint32_t i = 0; i < 8; ++i) rows.push_back({i * d, i * d + second});
    return Bytes(from_lists(rows, 1U << 18U)).slices.at(0);
  };
  CHECK(spread(2, 1U << 17U).windows() == 2);
  CHECK((spread(3, 100).steps() == 2 && !spread(3, 100).is_wide() && spread(3, 100).column == 0));
  CHECK(!spread(3, 65535 - 21).is_wide());
  CHECK(spread(3, 65536 - 21).is_wide());
}

TEST_CASE("a row that is much longer than the next seven is pieces of sjds") {
  const auto pieces = [](std::vector<std::uint64_t> lengths) {
    return Bytes(of_lengths(lengths, 20000)).parameter(param_pieces);
  };
  // 40 is 1.25 times the average of eight rows with 256 entries.
  CHECK(pieces({40, 31, 31, 31, 31, 31, 31, 29}) == 1);
  CHECK(pieces({40, 31, 31, 31, 31, 31, 31, 30}) == 0);
  CHECK(pieces({31, 1, 1, 1, 1, 1, 1, 1}) == 0);  // fewer than 32
  CHECK(pieces({32, 1, 1, 1, 1, 1, 1, 1}) == 1);
  CHECK(pieces(std::vector<std::uint64_t>(8, 4096)) == 0);
  CHECK(pieces(std::vector<std::uint64_t>(8, 4097)) == 16);
  CHECK(pieces({12289}) == 4);
}

TEST_CASE("sjds sorts the rows of a window, and lists those that do not follow each other") {
  std::vector<std::uint64_t> lengths(24);
  std::iota(lengths.begin(), lengths.end(), std::uint64_t{1});
  const Bytes in_windows(of_lengths(lengths, 30), {{"sjds.sigma", "8"}});
  CHECK(in_windows.parameter(param_window_rows) == 8);
  CHECK(in_windows.windows == std::vector<std::uint32_t>{0, 1, 2, 3});
  for (const Slice& s : in_windows.slices) CHECK((s.is_listed() && s.rows() == 8 && s.tail() == 7));
  CHECK(in_windows.slices[1].row == 8);
  CHECK(Bytes(of_lengths(lengths, 30), {{"sjds.sigma", "9"}}).parameter(param_window_rows) == 16);  // rounded up
  const Bytes as_they_are(of_lengths(std::vector<std::uint64_t>(24, 5), 30));
  REQUIRE(as_they_are.slices.size() == 3);
  for (const Slice& s : as_they_are.slices) CHECK(!s.is_listed());
  CHECK(as_they_are.slices[2].row == 16);
}

/// Steps of eight lanes by kinds of slices, as the units of work count them.
struct StepsOfKinds {
  std::uint64_t slices = 0, windows = 0, steps = 0;  ///< no plain slices; steps of slices without kind
  std::uint64_t plain = 0, runs = 0, columns = 0, groups = 0;
  bool operator==(const StepsOfKinds&) const = default;
};
std::ostream& operator<<(std::ostream& out, const StepsOfKinds& s) {
  return out << s.slices << " slices, " << s.windows << " + " << s.steps << ", plain " << s.plain << ", runs " << s.runs
             << ", columns " << s.columns << ", groups " << s.groups;
}

StepsOfKinds planned(const CsrMatrix& a) {
  const encoder::PartPlan plan = plan_of(a, "sjds", {.aim = {.target = encoder::Target::host}});
  const auto count = [&](std::string_view unit) {
    const auto found =
        std::find_if(plan.work.begin(), plan.work.end(), [&](const encoder::Counter& c) { return c.name == unit; });
    REQUIRE(found != plan.work.end());
    return found->value;
  };
  return {count("sjds.slices"),    count("sjds.windows"),      count("sjds.steps"),      count("sjds.plain_steps"),
          count("sjds.run_steps"), count("sjds.column_steps"), count("sjds.group_steps")};
}

/// As a host's loader finds them in the bytes.
StepsOfKinds loaded(const CsrMatrix& a) {
  namespace rules = launch_rules::sjds;
  const LoadedPart part = open(encode(a, "sjds", {}).bytes).load_part(0);
  const auto v = view<double>(part.view());
  std::vector<rules::Kind> kinds;
  for (std::uint64_t s = 0; s < v.row_slices(); ++s) kinds.push_back(rules::kind_of(SliceView::of(v, s)));
  const auto without = static_cast<std::uint64_t>(std::count(kinds.begin(), kinds.end(), rules::any));
  if (!rules::worth_kinds(kinds.size() - without, kinds.size())) std::fill(kinds.begin(), kinds.end(), rules::any);
  kinds.resize(v.slice_count, rules::any);  // pieces
  StepsOfKinds counts;
  for (std::uint64_t s = 0; s < v.slice_count; ++s) {
    const Slice& slice = v.slices[s];
    counts.slices += kinds[s] == rules::plain ? 0 : 1;
    if (kinds[s] == rules::any) {
      counts.windows += slice.windows();
      counts.steps += slice.steps();
    } else {
      (kinds[s] == rules::plain        ? counts.plain
       : rules::has_runs(kinds[s])     ? counts.runs
       : kinds[s] == rules::one_column ? counts.columns
                                       : counts.groups) += slice.full();
    }
  }
  return counts;
}

TEST_CASE("the planner counts the steps of sjds by the kinds of slices that a host finds in its bytes") {
  for (const std::uint64_t seed : {7U, 8U, 9U})
    for (const NamedMatrix& m : random_matrices<double>(seed, 3)) {
      INFO(m.name);
      CHECK(planned(m.matrix) == loaded(m.matrix));
    }
  StepsOfKinds all;
  const auto check = [&](const CsrMatrix& a) {
    const StepsOfKinds counts = planned(a);
    CHECK(counts == loaded(a));
    all.plain += counts.plain;
    all.runs += counts.runs;
    all.columns += counts.columns;
    all.groups += counts.groups;
  };
  for (const std::uint32_t rows_each : {2U, 3U, 4U, 6U, 8U})
    for (const std::uint32_t nodes_around : {2U, 40U, 600U}) {
      INFO("nodes of " << rows_each << " rows, " << nodes_around << " around");
      check(rows_of_nodes<double>(601, rows_each, nodes_around, 3));
    }
  for (const std::uint32_t width : {9U, 40U, 1000U}) {
    INFO("a grid " << width << " wide");
    check(rows_of_grid<double>(width, 4000 / width, 3));
  }
  for (const std::uint32_t gap : {5U, 100U, 70'000U}) {
    INFO("two runs, " << gap << " apart");
    check(rows_of_two_runs<double>(1500, gap, 3));
  }
  CHECK((all.plain != 0 && all.runs != 0 && all.columns != 0 && all.groups != 0));
}

TEST_CASE("a slice of sjds at the last columns is not plain, as its window step begins before them") {
  // Eight rows with as many consecutive columns, behind `before` others, of 16 and more.
  const auto steps = [](std::uint32_t before, std::uint64_t cols) {
    std::vector<std::vector<std::uint32_t>> rows(8);
    for (std::uint32_t r = 0; r < 8; ++r)
      for (std::uint32_t k = 0; k < 5; ++k) rows[r].push_back(before + r + 8 * k);
    const CsrMatrix a = from_lists(rows, cols);
    CHECK(planned(a) == loaded(a));
    return planned(a);
  };
  CHECK(steps(0, 48).plain == 5);
  CHECK(steps(1, 48).plain == 0);
  CHECK(steps(1, 48).runs == 5);
}

TEST_CASE("settings of sjds that it cannot have are refused") {
  const CsrMatrix a = worked_example();
  CHECK(plan_refusal(a, "sjds", {{"sjds.sigma", "7"}}, errc::usage) ==
        "sjds.sigma is '7'; use auto or a number from 8 to 65536");
  CHECK(plan_refusal(a, "sjds", {{"sjds.values", "table"}}, errc::usage) ==
        "sjds.values is 'table'; use auto, raw or code");
  std::vector<std::vector<std::uint32_t>> row(1, std::vector<std::uint32_t>(17));
  std::iota(row[0].begin(), row[0].end(), std::uint32_t{0});
  CsrMatrix different = from_lists(row, 17);
  std::iota(std::get<Array<double>>(different.values).begin(), std::get<Array<double>>(different.values).end(), 1.0);
  CHECK(plan_refusal(different, "sjds", {{"sjds.values", "code"}}, errc::unsupported) ==
        "sjds: more than 16 distinct values have no codes; use sjds.values=raw");
}

TEST_CASE("an infinite or NaN x reaches only the rows that have its column, in sjds, too") {
  // Full steps, tails and window steps around columns that no row has.
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t r = 0; r < 50; ++r) {
    auto& row = rows.emplace_back();
    for (std::uint32_t c = 0; c < 40 + r % 7; ++c)
      if (c % 5 != 3) row.push_back(c + (r % 3 == 0 && c > 20 ? 100U : 0U));
  }
  const CsrMatrix a = from_lists(rows, 200);
  std::vector<double> x(200, 1.0), y(a.rows);
  for (std::size_t c = 3; c < 200; c += 5) x[c] = std::numeric_limits<double>::quiet_NaN();
  host_loader::HostMatrix::load(open(encode(a, "sjds").bytes)).multiply<double>(1, x, 0, y);
  require_correct<double>(a, x, y);
}

TEST_CASE("hosts deal sjds to threads by steps, pieces of long rows included, in the middle of windows, too") {
  using namespace host_loader::layouts::sjds_sums;
  using host_loader::layouts::sjds_sums::Share;  // not that of a rank
  // As genes in cells: most rows have none or few entries, some have hundreds, long ones lie together.
  std::mt19937_64 rng(9);
  const CsrMatrix a = from_rows<double>(12000, 4000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(rng() % 3 != 0 ? 0 : r % 1000 < 300 && r % 10 == 0 ? rng() % 400 : rng() % 12);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 4000);
    return row;
  });
  const auto x = random_vector<double>(a.cols, 5), y0 = random_vector<double>(a.rows, 6);
  for (const bool one_window : {true, false}) {
    INFO((one_window ? "one window" : "many pieces"));
    const Container file = open(encode(a, "sjds", {{"sjds.sigma", one_window ? "65536" : "64"}}).bytes);
    const LoadedPart part = file.load_part(0);
    const auto v = view<double>(part.view());
    REQUIRE((one_window ? v.window_count == 1 : v.piece_count > 50));
    Array<PieceVisit> visits(v.piece_count);
    for (std::uint32_t i = 0; i < v.piece_count; ++i) visits[i] = {i, {0, 0}};
    std::uint64_t total = 0, largest = 0;
    for (std::uint64_t s = 0; s < v.slice_count; ++s) {
      total += work_of(v.slices[s]);
      largest = std::max(largest, work_of(v.slices[s]));
    }
    for (const std::uint64_t count : {1U, 2U, 4U}) {
      INFO(count << " shares");
      const Array<Cut> cuts = cuts_of(v, visits, count);
      const OtherRows others(v, cuts);
      if (one_window) CHECK((others.as_whole[0] == 1) == (count == 1));
      Share last{0, 0, 0, 0, 0, 0};
      for (const Share& s : shares_of(v, cuts, others)) {
        CHECK((s.begin == last.end && s.first_window == last.last_window && s.first_piece == last.last_piece));
        CHECK(work_of(v, visits, s) <= total / count + 2 * largest);
        CHECK(work_of(v, visits, s) + 2 * largest >= total / count);
        last = s;
      }
      CHECK((last.end == v.row_slices() && last.last_window == v.window_count && last.last_piece == v.piece_count));
      CHECK(4 * largest < total / count);  // or the bounds above say little
    }
    // Loaded for so many threads, multiplied by as many and by others.
    const auto y_of = [&](int loaded, int threads, double beta) {
      std::vector<double> y = y0;
      host_loader::HostMatrix::load(file, {.threads = loaded}).multiply<double>(1.5, x, beta, y, threads);
      return y;
    };
    for (const double beta : {0.0, 0.3}) {
      const std::vector<double> expected = y_of(1, 1, beta);
      for (const int loaded : {1, 2, 5})
        for (const int threads : {1, 2, 3}) CHECK(same_bits(y_of(loaded, threads, beta), expected));
    }
  }
}

TEMPLATE_TEST_CASE("hosts copy the values of sjds so that slices' are aligned, if memory allows; no bit depends on it",
                   "", double, float) {
  std::mt19937_64 rng(3);
  const CsrMatrix a = from_rows<TestType>(3000, 9000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    const std::uint64_t length = r == 1000 ? 5000 : r % 23;  // one of pieces
    for (std::uint64_t k = 0; k < length; ++k) row.push_back(static_cast<std::uint32_t>(rng() % 9000));
    return row;
  });
  const std::vector<std::byte> bytes = encode(a, "sjds", {{"sjds.values", "raw"}}).bytes;
  const auto x = random_vector<double>(a.cols, 1), y0 = random_vector<double>(a.rows, 2);
  const std::uint64_t much = std::uint64_t{1} << 30U;
  const MemoryScope memory(much, "test");
  struct Multiplied {
    std::vector<double> sums, scaled;  ///< with alpha 1 and beta 0, and with others
    std::uint64_t held;                ///< bytes beside the file
  };
  const auto multiplied = [&](std::uint64_t limit) {
    const Container file = open(bytes);
    const std::uint64_t before = current_budget()->left();
    const auto matrix = host_loader::HostMatrix::load(file, {.memory_limit = limit});
    const std::uint64_t held = before - current_budget()->left();
    Multiplied result{std::vector<double>(a.rows), y0, held};
    matrix.template multiply<double>(1, x, 0, result.sums);
    matrix.template multiply<double>(-2.5, x, 0.75, result.scaled);
    return result;
  };
  const Multiplied with = multiplied(0);
  require_correct<TestType>(a, x, with.sums);
  const auto require_without = [&](std::uint64_t limit) {
    const Multiplied without = multiplied(limit);
    CHECK(same_bits(without.sums, with.sums));
    CHECK(same_bits(without.scaled, with.scaled));
    CHECK(with.held >= without.held + a.row_ptr[a.rows] * sizeof(TestType));
  };
  std::uint64_t refused = 0, loaded = much;
  while (loaded - refused > 1024) {
    const std::uint64_t limit = (refused + loaded) / 2;
    try {
      multiplied(limit);
      loaded = limit;
    } catch (const Error& e) {
      REQUIRE(e.code() == errc::out_of_memory);
      refused = limit;
    }
  }
  require_without(loaded);
  // An outer limit that has room for no more, while the inner one has.
  const MemoryScope outer(2 * loaded, "outer");
  const MemoryReservation taken(loaded - (loaded >> 4U), "other things");
  require_without(2 * loaded - 1);
}

}  // namespace
}  // namespace spmvpack::test
