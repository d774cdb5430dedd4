#include "spmvpack/analyzer/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include "catch.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/weigh.hpp"

using namespace spmvpack;
using namespace spmvpack::analyzer;

namespace {

/// A matrix with rows of random lengths up to `longest`, from `distinct` values.
SourceMatrix random_matrix(std::uint64_t rows, std::uint64_t cols, std::uint64_t longest, std::uint64_t distinct,
                           ValueType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::uint32_t>> pattern(rows);
  std::uint64_t nnz = 0;
  for (auto& row : pattern) {
    if (cols != 0)
      for (std::uint64_t k = random() % (longest + 1); k > 0; --k)
        row.push_back(static_cast<std::uint32_t>(random() % cols));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    nnz += row.size();
  }
  SourceMatrix source;
  source.matrix = allocate_csr(rows, cols, nnz, type);
  CsrMatrix& m = source.matrix;
  m.row_ptr[0] = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    std::copy(pattern[i].begin(), pattern[i].end(), m.col_idx.begin() + m.row_ptr[i]);
    m.row_ptr[i + 1] = m.row_ptr[i] + pattern[i].size();
  }
  dispatch(type, [&]<class T>(T) {
    for (T& v : std::get<Array<T>>(m.values)) v = static_cast<T>(random() % distinct) / T{3};
  });
  source.provenance.source = "random.mtx";
  source.provenance.entries = nnz;
  source.provenance.comments = {"a comment", "another"};
  return source;
}

/// The size on disk of the file that encode() makes.
std::uint64_t written_bytes(const SourceMatrix& source, const std::string& strategy,
                            std::map<std::string, std::string> settings) {
  // A strategy is asked with its own settings only.
  const std::vector<encoder::Setting> own = encoder::find_strategy(strategy).settings;
  std::erase_if(settings, [&](const auto& setting) {
    return std::none_of(own.begin(), own.end(), [&](const encoder::Setting& s) { return s.name == setting.first; });
  });
  const std::string path = std::filesystem::temp_directory_path() / ("spmvpack_report_" + std::to_string(getpid()));
  const encoder::EncodeResult result =
      encoder::encode(source, {.strategy = strategy, .settings = std::move(settings), .force_size = true}, path);
  const std::uint64_t bytes = std::filesystem::file_size(path);
  CHECK(bytes == result.file_bytes);
  CHECK(Container::open(path).device_bytes() == result.device_bytes);
  std::filesystem::remove(path);
  return bytes;
}

void check(const SourceMatrix& source, const std::map<std::string, std::string>& settings = {}) {
  ReportOptions options;
  options.settings = settings;
  options.threads = 1;
  options.by_name_only = true;
  options.workspace = [](const PartInfo& part) { return part.nnz + 1; };
  const Report report = make_report(source, options);
  const CsrMatrix& m = source.matrix;
  const std::uint64_t nnz = m.nnz(), value_size = size_of(m.value_type());
  CAPTURE(m.rows, m.cols, nnz, value_size);
  std::vector<std::string> named;  // auto has none, nor what is made for hosts alone in a report for a GPU
  for (const encoder::Strategy& s : encoder::strategies())
    if (!s.chooses && s.traits.suits_target(options.aim.target) && (s.name != "pkt" || m.rows == m.cols))
      named.push_back(s.name);
  REQUIRE(report.layouts.size() == named.size());
  CHECK(std::count_if(report.refused.begin(), report.refused.end(),
                      [](const Refusal& r) { return r.name == "sjds"; }) == 1);
  CHECK(report.facts.digest == content_digest(m));
  const std::uint64_t csr_bytes = (m.rows + 1) * 4 + nnz * (4 + value_size);
  for (std::size_t i = 0; i < report.layouts.size(); ++i) {
    const LayoutCost& cost = report.layouts[i];
    CAPTURE(cost.name);
    CHECK(cost.name == named[i]);
    // What is too large to write for a test is still what the plan says.
    if (!cost.too_large) CHECK(cost.file_bytes == written_bytes(source, cost.name, settings));
    if (cost.name == "csr") CHECK(cost.device_bytes == csr_bytes);
    CHECK(cost.parts_reason.empty() == (cost.name != "split"));
    if (cost.name == "split")
      CHECK(to_text(report, Detail::full).find("\nsplit: " + cost.parts_reason + '\n') != std::string::npos);
    if (cost.name == "coo") CHECK(cost.device_bytes == nnz * (8 + value_size));
    std::uint64_t part_bytes = 0, part_entries = 0, workspace = 0;
    for (const PartCost& part : cost.parts) {
      part_bytes += part.device_bytes;
      part_entries += part.info.nnz;
      workspace = std::max(workspace, part.info.nnz + 1);
    }
    CHECK(part_bytes == cost.device_bytes);
    CHECK(part_entries == nnz);
    CHECK(cost.workspace_bytes.value_or(0) == workspace);
    CHECK(cost.padding_percent.has_value() == (nnz + cost.padding != 0));
    if (cost.padding_percent)
      CHECK(*cost.padding_percent / 100 * static_cast<double>(nnz + cost.padding) ==
            Approx(static_cast<double>(cost.padding)));
    CHECK(cost.too_large == (cost.device_bytes > 1'048'576 && cost.device_bytes / 10 > csr_bytes));
    std::uint64_t shares = 0;
    for (const encoder::Counter& share : cost.byte_shares) shares += share.value;
    CHECK(shares == cost.device_bytes);
    CHECK(cost.bytes_per_nonzero.has_value() == (nnz != 0));
    if (nnz != 0)
      CHECK(*cost.bytes_per_nonzero * static_cast<double>(nnz) == Approx(static_cast<double>(cost.device_bytes)));
    CHECK((1 + cost.overhead_percent / 100) * static_cast<double>(csr_bytes) ==
          Approx(static_cast<double>(cost.device_bytes)));
  }

  // What is recommended is what auto writes.
  const LayoutCost& best = report.layouts[report.recommended];
  CHECK_FALSE(best.fill_reads_x);
  for (const LayoutCost& cost : report.layouts)  // A layout may take up to 2 % longer for csr's bytes.
    CHECK((cost.fill_reads_x || cost.too_large ||
           best.predicted_seconds <= cost.predicted_seconds * (1 + 0.02 * (1 + cost.overhead_percent / 100))));
  const encoder::Plan chosen = encoder::find_strategy("auto").plan(m, {.settings = settings});
  CHECK(chosen.strategy == best.name);
  CHECK(chosen.reason == report.reason);

  const std::string text = to_text(report, Detail::full);
  const std::string summary = to_text(report);
  CHECK(text.find(summary.substr(summary.find("\nStructure\n"))) != std::string::npos);
  std::string left_out;  // those of papers
  for (const LayoutCost& cost : report.layouts) {
    CAPTURE(cost.name);
    const bool shown = !cost.reproduction || &cost == &best;
    if (!shown) left_out += (left_out.empty() ? "  --details also has " : ", ") + cost.name;
    CHECK((summary.find("\n  " + cost.name + ' ') != std::string::npos) == shown);
    CHECK(text.find("\n  " + cost.name + ' ') != std::string::npos);
  }
  CHECK(summary.find('\n' + left_out + '\n') != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
  options.threads = 4;
  CHECK(to_text(make_report(source, options), Detail::full) == text);
}

}  // namespace

TEST_CASE("what auto never takes is planned if asked for, by a setting of its own or with details") {
  SourceMatrix source;
  source.matrix = allocate_csr(3, 3, 0, ValueType::f64);
  std::fill(source.matrix.row_ptr.begin(), source.matrix.row_ptr.end(), std::uint64_t{0});
  const auto has = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& of) { return of.name == "pkt"; });
  };
  const Report plain = make_report(source);
  CHECK_FALSE(has(plain.layouts));
  CHECK(has(plain.refused));
  CHECK(to_text(plain).find("nus_sell, pkt\n") != std::string::npos);
  CHECK(to_text(plain, Detail::full).find("\nNo pkt: auto never takes it; spmvpack report --details has it\n") !=
        std::string::npos);
  ReportOptions details, setting;
  details.by_name_only = true;
  setting.settings = {{"pkt.threads", "3"}};
  for (const ReportOptions& options : {details, setting}) {
    const Report report = make_report(source, options);
    CHECK(has(report.layouts));
    CHECK_FALSE(has(report.refused));
    CHECK(to_text(report, Detail::full).find("\n  ^ taken only if asked for (--layout)\n") != std::string::npos);
  }
}

TEST_CASE("the report of a hypersparse matrix takes what auto takes, and leaves out what it does not weigh") {
  SourceMatrix source;
  source.matrix = allocate_csr(1'000'000, 50, 2, ValueType::f64);
  std::fill(source.matrix.row_ptr.begin(), source.matrix.row_ptr.end(), std::uint64_t{0});
  source.matrix.row_ptr[1'000'000] = 2;
  source.matrix.col_idx[0] = 3;
  source.matrix.col_idx[1] = 7;
  std::get<Array<double>>(source.matrix.values)[0] = 1;
  std::get<Array<double>>(source.matrix.values)[1] = 2;
  for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes}) {
    const bool by_bytes = optimize == encoder::Objective::bytes;
    ReportOptions options;
    options.aim.optimize = optimize;
    options.memory_limit = source.matrix.view().bytes() + (2U << 20U);
    const Report report = make_report(source, options);
    std::vector<std::string> names;
    for (const LayoutCost& cost : report.layouts) names.push_back(cost.name);
    CHECK(names ==
          (by_bytes ? std::vector<std::string>{"csr", "coo", "ccoo"} : std::vector<std::string>{"csr", "coo"}));
    CHECK(names.at(report.recommended) == "coo");
    const encoder::Plan plan = encoder::find_strategy("auto").plan(source.matrix, {.aim = options.aim});
    CHECK(plan.strategy == "coo");
    CHECK(plan.reason == report.reason);
    CHECK(report.layouts[0].by_name_only);
    CHECK(
        to_text(report, Detail::full)
            .find(
                "\nNo csell: auto never takes it, as nearly all rows are empty; spmvpack report --details has it\n") !=
        std::string::npos);
    const std::string summary = to_text(report);
    std::istringstream lines(summary.substr(summary.find("  --details also has ")));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line) && line.starts_with("  ");) {
      CAPTURE(line);
      CHECK(line.size() <= 80);
      CHECK(line.starts_with("    ") == (count++ != 0));
    }
    CHECK(count > 1);
  }
  ReportOptions asked;
  asked.settings = {{"sell.c", "4"}};
  const Report report = make_report(source, asked);
  CHECK(std::any_of(report.layouts.begin(), report.layouts.end(), [](const auto& of) { return of.name == "sell"; }));
  CHECK(report.layouts[report.recommended].name == "coo");
}

TEST_CASE("of a layout whose fill reads x, what is weighed is the plan without fill") {
  // Nine of ten pairs of columns are whole: blocks of two take fewer bytes than single columns, but have fill.
  constexpr std::uint64_t rows = 2000, per_row = 19;
  SourceMatrix source;
  source.matrix = allocate_csr(rows, rows, rows * per_row, ValueType::f64);
  std::uint64_t entry = 0;
  for (std::uint64_t r = 0; r < rows; ++r) {
    source.matrix.row_ptr[r] = entry;
    for (std::uint64_t k = 0; k < 10; ++k)
      for (std::uint64_t c = 0; c < (k == 3 ? 1 : 2); ++c, ++entry) {
        source.matrix.col_idx[entry] = static_cast<std::uint32_t>(2 * (k * 100 + (r * 7 + k * 31) % 100) + c);
        std::get<Array<double>>(source.matrix.values)[entry] = static_cast<double>(entry) + 0.5;
      }
  }
  source.matrix.row_ptr[rows] = entry;
  const std::vector<encoder::Strategy> strategies{encoder::find_strategy("csr"), encoder::find_strategy("amb")};
  ReportOptions options;
  options.strategies = strategies;
  options.aim.optimize = encoder::Objective::bytes;
  options.settings = {{"amb.block", "2"}};
  const Report asked = make_report(source, options);
  REQUIRE(asked.layouts.at(1).fill_reads_x);
  CHECK(asked.layouts.at(asked.recommended).name == "csr");
  options.settings = {{"amb.block", "1"}};
  const Report single = make_report(source, options);
  CHECK_FALSE(single.layouts.at(1).fill_reads_x);
  CHECK(single.layouts.at(1).device_bytes > asked.layouts.at(1).device_bytes);

  options.settings = {};
  const Report report = make_report(source, options);
  const LayoutCost& taken = report.layouts.at(report.recommended);
  CHECK(taken.name == "amb");
  CHECK_FALSE(taken.fill_reads_x);
  CHECK(taken.device_bytes == single.layouts.at(1).device_bytes);
  CHECK(taken.time_of_csr == single.layouts.at(1).time_of_csr);
  CHECK(report.reason == single.reason + ", with amb.block=1");
  CHECK(report.recommended_file_bytes > taken.device_bytes);
}

TEST_CASE("Predicted file bytes are those of the written file, whatever the aim and however long the provenance") {
  const auto written = [](const SourceMatrix& source, const std::string& strategy, const encoder::Aim& aim) {
    MemorySink sink;
    const std::uint64_t bytes =
        encoder::encode(source, {.strategy = strategy, .aim = aim, .threads = 1, .force_size = true}, sink).file_bytes;
    CHECK(sink.take().size() == bytes);
    return bytes;
  };
  const auto check_all = [&](const SourceMatrix& source) {
    for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes})
      for (const encoder::Target target : {encoder::Target::gpu, encoder::Target::host}) {
        ReportOptions options;
        options.aim = {optimize, target};
        options.threads = 1;
        const Report report = make_report(source, options);
        for (const LayoutCost& cost : report.layouts) {
          CAPTURE(cost.name, source.provenance.source.size(), optimize, target, source.matrix.value_type());
          if (!cost.too_large) CHECK(cost.file_bytes == written(source, cost.name, options.aim));
        }
        CHECK(report.recommended_file_bytes == written(source, "auto", options.aim));
      }
  };
  for (const ValueType type : {ValueType::f64, ValueType::f32}) {
    // Every length of name: sections end at multiples of 64 bytes or more, and a few characters decide about the last.
    SourceMatrix small = random_matrix(5, 7, 3, 4, type, 1);
    for (std::size_t length = 1; length <= 256; length += type == ValueType::f64 ? 3 : 5) {
      small.provenance.source = std::string(length, 'a');
      check_all(small);
    }
    check_all(random_matrix(300, 200, 12, 100'000, type, 2));
    check_all(random_matrix(40, 3000, 900, 3, type, 3));
    check_all(random_matrix(1, 1, 1, 1, type, 4));
    check_all(random_matrix(4, 0, 1, 1, type, 5));
  }
}

TEST_CASE("Predicted bytes are those of the written file", "[sequential]") {
  std::uint64_t seed = 0;
  for (const ValueType type : {ValueType::f64, ValueType::f32})
    for (const std::uint64_t distinct : {1U, 200U, 100'000U}) {
      for (const std::uint64_t rows : {1U, 31U, 32U, 33U, 300U, 4000U})
        for (const std::uint64_t cols : {1U, 255U, 70'000U})
          check(random_matrix(rows, cols, 20, distinct, type, ++seed));
      check(random_matrix(3, 200'000, 60'000, distinct, type, ++seed));
      check(random_matrix(20'000, 10, 1, distinct, type, ++seed));
    }
}

TEST_CASE("Reports of matrices without rows, columns or nonzeros") {
  for (const ValueType type : {ValueType::f64, ValueType::f32}) {
    check(random_matrix(0, 0, 0, 1, type, 1));
    check(random_matrix(0, 9, 0, 1, type, 1));
    check(random_matrix(9, 0, 0, 1, type, 1));
    check(random_matrix(1000, 1000, 0, 1, type, 1));
  }
}

TEST_CASE("Settings reach the plans") {
  const SourceMatrix source = random_matrix(500, 500, 9, 100, ValueType::f64, 1);
  for (const std::uint64_t k : {1U, 2U, 4U, 8U}) {
    ReportOptions options;
    options.settings = {{"ccoo.k", std::to_string(k)}};
    check(source, options.settings);
    for (const LayoutCost& cost : make_report(source, options).layouts)
      for (const encoder::Counter& counter : cost.counters)
        if (counter.name == "k") CHECK(counter.value == k);
  }
  ReportOptions options;
  options.settings = {{"ccoo.nonsense", "4"}};
  CHECK_THROWS_AS(make_report(source, options), Error);
}

namespace {

/// csr under another name, as if its slots were padded.
encoder::Strategy padded(const std::string& name, std::uint64_t padding, bool fill_reads_x = false) {
  return {
      .name = name, .summary = "", .settings = {}, .plan = [=](const CsrView& a, const encoder::PlanOptions& options) {
        encoder::Plan plan = encoder::find_strategy("csr").plan(a, options);
        plan.parts[0].padding = padding;
        plan.parts[0].fill_reads_x = fill_reads_x;
        return plan;
      }};
}

/// The line of the table of layouts that starts with this name; runs of blanks are one.
std::string line_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text.substr(text.find("bytes  per nonzero")));
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (line.starts_with("  " + name + " ")) {
      line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                 line.end());
      return line;
    }
  return "";
}

}  // namespace

TEST_CASE("The data reduction of pjds") {
  std::vector<LayoutCost> both(2);
  both[0].name = "ell";
  both[0].padding = 900;
  both[1].name = "pjds";
  both[1].padding = 150;
  CHECK(pjds_data_reduction(both, 100) == Approx(0.75));
  CHECK_FALSE(pjds_data_reduction(std::span(both).first(1), 100));
  CHECK_FALSE(pjds_data_reduction(std::span(both).last(1), 100));
  both[0].padding = both[1].padding = 0;
  CHECK_FALSE(pjds_data_reduction(both, 0));

  const SourceMatrix source = random_matrix(100, 100, 5, 3, ValueType::f64, 1);
  const std::uint64_t nnz = source.matrix.nnz();
  const std::vector<encoder::Strategy> strategies{padded("ell", 3 * nnz), padded("pjds", nnz)};
  ReportOptions options;
  options.strategies = strategies;
  const Report report = make_report(source, options);
  CHECK(report.data_reduction_pjds == Approx(0.5));
  CHECK(to_text(report, Detail::full).find("\nData reduction of pjds: 50.0 % fewer slots than ell\n") !=
        std::string::npos);
  CHECK(to_text(report).find("Data reduction") == std::string::npos);
  CHECK(to_json(report).find("\"data_reduction_pjds\": 0.5") != std::string::npos);
  options.strategies = std::span(strategies).first(1);
  CHECK(to_json(make_report(source, options)).find("\"data_reduction_pjds\": null") != std::string::npos);
}

TEST_CASE("What it costs that values can be replaced") {
  // Of one value, on three full diagonals; symmetric.
  constexpr std::uint32_t n = 3000;
  SourceMatrix source{allocate_csr(n, n, 3 * n - 2, ValueType::f64), Field::real, Symmetry::general, {}};
  CsrMatrix& a = source.matrix;
  std::uint64_t k = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    a.row_ptr[r] = k;
    for (std::uint32_t c = r == 0 ? 0 : r - 1; c < std::min(n, r + 2); ++c) a.col_idx[k++] = c;
  }
  a.row_ptr[n] = k;
  for (double& v : std::get<Array<double>>(a.values)) v = 1;
  ReportOptions options;
  options.aim.optimize = encoder::Objective::bytes;
  options.transpose = true;
  const Report plain = make_report(source, options);
  REQUIRE_FALSE(plain.not_updatable);
  options.updatable = true;
  const Report report = make_report(source, options);
  const LayoutCost &best = report.layouts[report.recommended], &of_plain = plain.layouts[plain.recommended];
  REQUIRE(report.not_updatable);
  CHECK(report.not_updatable->layout == of_plain.name);
  CHECK(report.not_updatable->device_bytes == of_plain.device_bytes);
  CHECK(report.not_updatable->predicted_seconds == Approx(of_plain.predicted_seconds));
  CHECK(best.device_bytes > 8 * a.nnz());
  CHECK(best.device_bytes > of_plain.device_bytes);
  for (const LayoutCost& cost : report.layouts) {
    CHECK(cost.updatable);
    if (cost.name == "dia" || cost.name == "csell") CHECK(cost.holds_by_bits == (cost.name == "dia"));
  }
  CHECK(line_of(to_text(report), "dia").ends_with(" ="));
  CHECK(line_of(to_text(plain), "dia").find('=') == std::string::npos);
  CHECK_FALSE(best.holds_by_bits);
  // The values that it is for may not be symmetric.
  CHECK(plain.transpose->symmetry == Symmetry::symmetric);
  CHECK(report.transpose->symmetry == Symmetry::general);
  CHECK(report.transpose->device_bytes == best.device_bytes);
  // As encode() makes it.
  encoder::EncodeRequest request{.aim = options.aim};
  request.updatable = true;
  MemorySink sink;
  const encoder::EncodeResult encoded = encoder::encode(source, request, sink);
  CHECK(encoded.file_bytes == report.recommended_file_bytes);
  CHECK(encoded.device_bytes == best.device_bytes);
  const std::string text = to_text(report);
  CHECK(text.find("\nUpdatable: ") != std::string::npos);
  CHECK(text.find(" the time of " + of_plain.name + ", which\nauto takes if values never change: ") !=
        std::string::npos);
  CHECK(to_text(plain).find("Updatable") == std::string::npos);
  CHECK(to_html(report).find(" of " + of_plain.name + ", which auto takes if values never change: ") !=
        std::string::npos);
  CHECK(to_html(plain).find("Updatable") == std::string::npos);
  CHECK(to_json(report).find("\"not_updatable\": {") != std::string::npos);
  CHECK(to_json(plain).find("not_updatable") == std::string::npos);
}

TEST_CASE("The table marks what encode refuses and what may spread a NaN") {
  SourceMatrix source = random_matrix(3, 200'000, 60'000, 5, ValueType::f64, 1);
  const std::vector<encoder::Strategy> strategies{encoder::find_strategy("csr"), padded("careless", 7, true)};
  ReportOptions options;
  options.strategies = strategies;
  const std::string text = to_text(make_report(source, options));
  CHECK(line_of(text, "careless").ends_with(" % ~"));
  CHECK(line_of(text, "csr").ends_with(" 100 %"));
  CHECK(text.find("\n  ~ multiplies its padding") != std::string::npos);
  CHECK(text.find("too large") == std::string::npos);

  // One long row among short ones.
  CsrMatrix& m = source.matrix;
  const std::uint64_t rows = 10'000, longest = 5'000;
  m = allocate_csr(rows, longest, rows - 1 + longest, ValueType::f64);
  for (std::uint64_t i = 0; i <= rows; ++i) m.row_ptr[i] = i < rows ? i : rows - 1 + longest;
  for (std::uint64_t k = 0; k < m.nnz(); ++k)
    m.col_idx[k] = k < rows - 1 ? 0 : static_cast<std::uint32_t>(k - (rows - 1));
  std::fill(std::get<0>(m.values).begin(), std::get<0>(m.values).end(), 1.0);
  const std::vector<encoder::Strategy> other{encoder::find_strategy("csr"), encoder::find_strategy("ell")};
  options.strategies = other;
  Report report = make_report(source, options);
  REQUIRE(report.layouts[1].too_large);
  CHECK(line_of(to_text(report), "ell").ends_with(" % *"));
  CHECK(line_of(to_text(report), "csr").ends_with(" 100 %"));
  CHECK(to_text(report).find("\n  * too large: over 10 times the bytes of csr; encode needs --force-size\n") !=
        std::string::npos);
  CHECK(to_text(report).find("multiplies its padding") == std::string::npos);
  CHECK(to_json(report).find("\"too_large\": true") != std::string::npos);
  const std::string path = std::filesystem::temp_directory_path() / ("spmvpack_report_" + std::to_string(getpid()));
  CHECK_THROWS_AS(encoder::encode(source, {.strategy = "ell"}, path), Error);
  // What explodes stays within the line.
  report.layouts[1].fill_reads_x = true;
  report.layouts[1].device_bytes = report.layouts[1].file_bytes = std::uint64_t{1} << 63U;
  report.layouts[1].bytes_of_csr = 1e15;
  report.layouts[1].predicted_seconds = 1e4;
  report.layouts[1].time_of_csr = 1e9;
  CHECK(line_of(to_text(report), "ell") == " ell 9.22e+18 6.15e+14 > 1,000 x 10000 s > 1,000 x *~");
}

TEST_CASE("Bytes and times are told relative to csr's, and a choice that saves few bytes explains itself") {
  const SourceMatrix source = random_matrix(300, 300, 9, 2, ValueType::f64, 1);
  Report report = make_report(source);
  const auto find = [&](std::string_view name) -> LayoutCost& {
    return *std::find_if(report.layouts.begin(), report.layouts.end(), [&](const auto& c) { return c.name == name; });
  };
  CHECK(find("csr").bytes_of_csr == 1);
  CHECK(find("csr").time_of_csr == 1);
  for (const LayoutCost& cost : report.layouts)
    CHECK(*cost.time_of_csr == Approx(cost.predicted_seconds / find("csr").predicted_seconds));
  std::vector<encoder::Candidate> candidates{{"csr", 1000, 8e-6}, {"ccoo", 250, 6e-6}};
  CHECK(encoder::choose(candidates, 1000).reason == "75.0 % of csr's time (6.00 us predicted), 25.0 % of its bytes");
  candidates[1].seconds = 9e-6;
  CHECK(encoder::choose(candidates, 1000).reason == "no layout that auto takes is predicted below its 8.00 us");

  const auto told = [&] {
    const std::string text = to_text(report);
    const std::size_t start = text.find("\nUse ");
    return text.substr(start, text.find("\n\n", start) - start);
  };
  // Whatever the model says: a layout that is as large as csr, and one that is smaller and slower.
  for (LayoutCost& cost : report.layouts) cost.device_bytes = 1000, cost.bytes_of_csr = 1, cost.time_of_csr = 1;
  report.recommended = 0;
  CHECK(told().find("The smallest that auto takes, ") != std::string::npos);
  LayoutCost& small = find("bitflag");
  small.device_bytes = 200, small.bytes_of_csr = 0.2, small.time_of_csr = 1.3;
  CHECK(
      told().ends_with("bitflag would take 20.0 % of csr's bytes, but 130 % of its time;\n--optimize bytes takes it."));
  CHECK(told().find("A small matrix for a GPU: ") != std::string::npos);
  report.aim.target = encoder::Target::host;
  CHECK(told().find("GPU") == std::string::npos);
  CHECK(told().find("bitflag would") != std::string::npos);
  report.layouts[0].bytes_of_csr = 0.5;
  CHECK(told().find("bitflag") == std::string::npos);
}

TEST_CASE("The text shows a few of many parts") {
  const SourceMatrix source = random_matrix(10, 10, 3, 3, ValueType::f64, 1);
  Report report = make_report(source);
  LayoutCost& cost = report.layouts[0];
  cost.parts.resize(300, cost.parts[0]);
  cost.counters.clear();
  cost.byte_shares.clear();
  for (int i = 0; i < 300; ++i) {
    cost.counters.emplace_back("part" + std::to_string(i) + ".width", 1);
    cost.byte_shares.emplace_back("part" + std::to_string(i) + ".values", 1);
  }
  const std::string text = to_text(report, Detail::full);
  CHECK(text.find("part7.width") != std::string::npos);
  CHECK(text.find("part8.") == std::string::npos);
  CHECK(text.find("part10.") == std::string::npos);
  CHECK(text.find("and 292 more parts: --json\n") != std::string::npos);
}

TEST_CASE("The report speaks of memory and PCIe") {
  const SourceMatrix source = random_matrix(3000, 3000, 20, 300, ValueType::f64, 1);
  ReportOptions options;
  options.speeds = {.memory = 1e12, .pcie = 32e9};
  const Report report = make_report(source, options);
  CHECK(report.balance.speeds.memory == 1e12);
  CHECK(report.balance.copy_seconds == Approx(6000 * 8 / 32e9));
  const std::string text = to_text(report);
  CHECK(text.find(" at 1000 GB/s, ") != std::string::npos);
  CHECK(text.find(" 1.50 us at 32 GB/s ") != std::string::npos);
  options.speeds.pcie = 0;
  CHECK_THROWS_AS(make_report(source, options), Error);
}

TEST_CASE("CSR bytes are those of Nagasaka et al.") {
  // Tables 1 and 2 of Nagasaka, Nukada, Matsuoka: rows and nonzeros; CSR in single precision, MiB.
  struct Line {
    const char* name;
    std::uint64_t rows, nnz;
    const char* mib;
  };
  constexpr std::array<Line, 32> table{{
      {"af_*_k101", 503'625, 17'550'675, "135.82"},    {"af_shell*", 504'855, 17'588'875, "136.12"},
      {"apache2", 715'176, 4'817'870, "39.49"},        {"audikw_1", 943'695, 77'651'847, "596.04"},
      {"BenElechi1", 245'874, 13'150'496, "101.27"},   {"bmw7st_1", 141'347, 7'339'667, "56.54"},
      {"bmwcra_1", 148'770, 10'644'002, "81.77"},      {"bone010", 986'703, 71'666'325, "550.53"},
      {"boneS10", 914'898, 55'468'422, "426.68"},      {"Dubcova3", 146'689, 3'636'649, "28.31"},
      {"ecology2", 999'999, 4'995'991, "41.93"},       {"Emilia_923", 923'136, 41'005'206, "316.37"},
      {"Fault_639", 638'802, 28'614'564, "220.75"},    {"Flan_1565", 1'564'794, 117'406'044, "901.71"},
      {"G2_circuit", 150'102, 726'674, "6.12"},        {"G3_circuit", 1'585'478, 7'660'826, "64.50"},
      {"Geo_1438", 1'437'960, 63'156'690, "487.33"},   {"hood", 220'542, 10'768'436, "83.00"},
      {"Hook_1498", 1'498'023, 60'917'445, "470.48"},  {"inline_1", 503'712, 36'816'342, "282.81"},
      {"ldoor", 952'203, 46'522'475, "358.57"},        {"msdoor", 415'863, 20'240'935, "156.01"},
      {"offshore", 259'789, 4'242'673, "33.36"},       {"parabolic_fem", 525'825, 3'674'625, "30.04"},
      {"pwtk", 217'918, 11'634'424, "89.59"},          {"Serena", 1'391'349, 64'531'701, "497.65"},
      {"shipsec1", 140'874, 7'813'404, "60.15"},       {"shipsec5", 179'860, 10'113'096, "77.84"},
      {"StocF-1465", 1'465'137, 21'005'389, "165.85"}, {"thermal2", 1'228'045, 8'580'313, "70.15"},
      {"thermomech_dM", 204'316, 1'423'116, "11.64"},  {"tmt_sym", 726'713, 5'080'961, "41.54"},
  }};
  for (const Line& line : table) {
    CAPTURE(line.name);
    const std::uint64_t bytes = layouts::csr::device_bytes(line.rows, line.nnz, ValueType::f32);
    CHECK(bytes == 8 * line.nnz + 4 * (line.rows + 1));
    CHECK(fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20)) == line.mib);
  }
}

TEST_CASE("Text of the largest sizes that are promised") {
  Report report = make_report(random_matrix(3000, 3000, 20, 300, ValueType::f64, 1));
  constexpr std::uint64_t large = 999'999'999'999, dimension = max_dimension - 1;
  report.facts.rows = report.facts.cols = report.structure.rows = report.structure.cols = dimension;
  report.facts.nnz = report.structure.nnz = large;
  report.provenance.entries = report.provenance.duplicates = large;
  report.provenance.source = std::string(300, 'x') + "\x1b[31m";
  report.structure.explicit_zeros = report.structure.not_finite = large;
  report.structure.lower_bandwidth = report.structure.upper_bandwidth = dimension;
  report.structure.empty_rows = report.structure.empty_cols = dimension;
  report.structure.diagonal_entries = dimension;
  report.structure.row_lengths.min = report.structure.row_lengths.max = dimension;
  report.structure.row_lengths.percentiles.fill(999'999'999);
  report.structure.row_lengths.mean = dimension;
  report.structure.row_lengths.histogram.assign(33, dimension);
  report.layouts[0].name = "segmented_sell";
  for (LayoutCost& cost : report.layouts) {
    cost.device_bytes = cost.file_bytes = cost.padding = large;
    cost.workspace_bytes = large;
    cost.overhead_percent = 99'999;
    cost.predicted_seconds = 9'999;
    cost.too_large = cost.fill_reads_x = true;
    for (encoder::Counter& share : cost.byte_shares) share.value = large;
    for (encoder::Counter& counter : cost.counters) counter.value = large;
  }
  const std::string text = to_text(report, Detail::full);
  CHECK(text.find('\x1b') == std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
}

TEST_CASE("A report can be interrupted") {
  ReportOptions options;
  options.progress = [](std::string_view, std::uint64_t done, std::uint64_t) { return done < 2; };
  try {
    make_report(random_matrix(10, 10, 3, 3, ValueType::f64, 1), options);
    FAIL("not interrupted");
  } catch (const Error& e) {
    CHECK(e.code() == errc::interrupted);
  }
}

TEST_CASE("a report says whether factors of rows and columns beat scaled values") {
  for (const std::uint32_t per_row : {1U, 100U}) {  // of one value
    INFO(per_row << " entries per row");
    constexpr std::uint32_t n = 2000;
    SourceMatrix source{allocate_csr(n, n, n * per_row, ValueType::f64), Field::real, Symmetry::general, {}};
    CsrMatrix& a = source.matrix;
    for (std::uint32_t r = 0; r < n; ++r) {
      a.row_ptr[r] = r * per_row;
      for (std::uint32_t k = 0; k < per_row; ++k)
        a.col_idx[r * per_row + k] = (r * 7 % (n / per_row)) + k * (n / per_row);
    }
    a.row_ptr[n] = n * per_row;
    auto& values = std::get<Array<double>>(a.values);
    std::fill(values.begin(), values.end(), 3.0);
    ReportOptions options;
    options.aim.target = encoder::Target::host;
    REQUIRE_FALSE(make_report(source, options).scaled);
    options.scaled = true;
    const Report report = make_report(source, options);
    const LayoutCost& best = report.layouts[report.recommended];
    REQUIRE(report.scaled);
    CHECK(report.scaled->factors_seconds > best.predicted_seconds);
    CHECK(report.scaled->vector_bytes == 3 * 2 * n * 8);
    CHECK(report.scaled->factors_pay() == (per_row == 100));
    CHECK(to_text(report).find(per_row == 100
                                   ? "\nScaled rows and columns, D_r A D_c: factors pay\n"
                                   : "\nScaled rows and columns, D_r A D_c: scaled values pay\n") != std::string::npos);
    CHECK(to_json(report).find("\"scaled\": {") != std::string::npos);
    // As a report of the matrix with other values that are all different.
    for (std::uint64_t k = 0; k < values.size(); ++k) values[k] = std::sqrt(static_cast<double>(k) + 2);
    const Report of_values = make_report(source, {.aim = options.aim});
    const LayoutCost& chosen = of_values.layouts[of_values.recommended];
    CHECK(report.scaled->values.layout == chosen.name);
    CHECK(report.scaled->values.device_bytes == chosen.device_bytes);
    CHECK(report.scaled->values.predicted_seconds == Approx(chosen.predicted_seconds));
  }
}
