#include "spmvpack/analyzer/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "catch.hpp"
#include "spmvpack/container/reader.hpp"
#include "spmvpack/encoder/encode.hpp"

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
  std::visit(
      [&]<class T>(Array<T>& values) {
        for (T& v : values) v = static_cast<T>(random() % distinct) / T{3};
      },
      m.values);
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
  options.workspace = [](const PartInfo& part) { return part.nnz + 1; };
  const Report report = make_report(source, options);
  const CsrMatrix& m = source.matrix;
  const std::uint64_t nnz = m.nnz(), value_size = size_of(m.value_type());
  CAPTURE(m.rows, m.cols, nnz, value_size);
  REQUIRE(report.layouts.size() + 1 == encoder::strategies().size());  // auto has no line
  CHECK(report.facts.digest == content_digest(m));
  const std::uint64_t csr_bytes = (m.rows + 1) * 4 + nnz * (4 + value_size);
  for (std::size_t i = 0; i < report.layouts.size(); ++i) {
    const LayoutCost& cost = report.layouts[i];
    CAPTURE(cost.name);
    CHECK(cost.name == encoder::strategies()[i + 1].name);
    CHECK(cost.file_bytes == written_bytes(source, cost.name, settings));
    if (cost.name == "csr") CHECK(cost.device_bytes == csr_bytes);
    if (cost.name == "coo") CHECK(cost.device_bytes == nnz * (8 + value_size));
    CHECK(cost.workspace_bytes == nnz + 1);
    REQUIRE(cost.parts.size() == 1);
    CHECK(cost.parts[0].device_bytes == cost.device_bytes);
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
  for (const LayoutCost& cost : report.layouts) CHECK(best.device_bytes <= cost.device_bytes);
  const encoder::Plan chosen = encoder::find_strategy("auto").plan(m, {.settings = settings});
  CHECK(chosen.strategy == best.name);
  CHECK(chosen.reason == report.reason);

  const std::string text = to_text(report, Detail::full);
  CHECK(text.starts_with(to_text(report)));
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

TEST_CASE("Predicted bytes are those of the written file") {
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
  for (LayoutCost& cost : report.layouts) {
    cost.device_bytes = cost.file_bytes = cost.padding = large;
    cost.workspace_bytes = large;
    cost.overhead_percent = -99.9;
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
