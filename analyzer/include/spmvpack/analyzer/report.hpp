#pragma once
/// What a matrix is and what every layout of it would cost, before anything is written.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spmvpack/analyzer/structure.hpp"
#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/progress.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::analyzer {

/// What one part of a layout costs.
struct PartCost {
  PartInfo info;  ///< its layout, its rows and columns, its entries
  std::uint64_t device_bytes = 0;
  std::optional<std::uint64_t> workspace_bytes;
};

/// What encoding by a strategy costs; all byte counts are exact. Every layout alone is a strategy.
struct LayoutCost {
  std::string name;
  std::uint64_t device_bytes = 0;                ///< what a multiply reads
  std::uint64_t file_bytes = 0;                  ///< the file that encode() writes with its settings and codec none
  std::optional<std::uint64_t> workspace_bytes;  ///< of a multiply, as ReportOptions::workspace says
  std::uint64_t padding = 0;                     ///< stored slots that hold no entry
  std::optional<double> bytes_per_nonzero;       ///< device bytes; none where there are no nonzeros
  double overhead_percent = 0;  ///< (device bytes / those of csr - 1) 100: figure 3 of Aliaga et al. 2020
  /// The plan's; with several parts, names start with "part0.", "part1.", ...
  std::vector<encoder::Counter> byte_shares, counters;
  std::vector<PartCost> parts;  ///< in the order of the part table
};

struct Report {
  std::string name;  ///< ReportOptions::name
  MatrixFacts facts;
  Provenance provenance;
  Structure structure;
  std::vector<LayoutCost> layouts;  ///< in the order of encoder::strategies()
  std::size_t recommended = 0;      ///< what `--layout auto` takes: an index of `layouts`
  std::string reason;               ///< why: "28.7 % of CSR"
};

struct ReportOptions {
  std::string name = {};  ///< what the matrix is called, such as the file's path; empty: as the provenance says
  int threads = 0;
  std::uint64_t memory_limit = 0;                    ///< bytes, the matrix included; 0: available_memory()
  std::map<std::string, std::string> settings = {};  ///< of the layouts, such as {"ccoo.k", "4"}
  /// Device memory that one multiply of a part needs for itself: a loader knows (gpu_loader/kernels.hpp). Empty: the
  /// report has no such figures.
  std::function<std::uint64_t(const PartInfo& part)> workspace = {};
  std::span<const encoder::Strategy> strategies = {};  ///< empty: all of encoder::strategies()
  ProgressCallback progress = {};
};

/// Analyzes the matrix and plans every layout. O(nnz) per layout. Errors: errc::usage, a setting that no layout has;
/// errc::bad_input, a matrix that CsrView::check() refuses.
SPMVPACK_EXPORT Report make_report(const SourceMatrix& source, const ReportOptions& options = {});

enum class Detail {
  summary,  ///< the recommendation, the layouts, the structure: a screen
  full      ///< and row lengths, what the bytes hold, every counter
};
/// The report for a reader, in lines of at most 80 columns (while sizes stay below 10^12 and rows below 10^9).
SPMVPACK_EXPORT std::string to_text(const Report& report, Detail detail = Detail::summary);
/// The report for a program, as docs/report.schema.json describes it; ends with a newline.
SPMVPACK_EXPORT std::string to_json(const Report& report);

}  // namespace spmvpack::analyzer
