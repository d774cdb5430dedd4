#pragma once
/// What a matrix is and what every layout of it would cost, before anything is written.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spmvpack/analyzer/structure.hpp"
#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/progress.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::analyzer {

/// What a layout costs; all byte counts are exact.
struct LayoutCost {
  std::string name;
  std::uint64_t device_bytes = 0;           ///< what a multiply reads
  std::uint64_t file_bytes = 0;             ///< the file that encode writes with its settings and codec none
  std::uint64_t workspace_bytes = 0;        ///< PartInfo::workspace_bytes
  std::uint64_t padding = 0;                ///< stored slots that hold no entry
  std::optional<double> bytes_per_nonzero;  ///< device bytes; none where there are no nonzeros
  double overhead_percent = 0;              ///< (device bytes / those of csr - 1) 100: figure 3 of Aliaga et al. 2020
  std::vector<encoder::Counter> byte_shares, counters;  ///< the plan's
};

struct Report {
  MatrixFacts facts;
  Provenance provenance;
  Structure structure;
  std::vector<LayoutCost> layouts;  ///< in the order of encoder::layout_encoders()
};

struct ReportOptions {
  int threads = 0;
  std::map<std::string, std::string> settings;  ///< of the layouts, such as {"ccoo.k", "4"}
  ProgressCallback progress;
};

/// Analyzes the matrix and plans every layout. O(nnz) per layout. Error(errc::usage): a setting that no layout has.
SPMVPACK_EXPORT Report make_report(const SourceMatrix& source, const ReportOptions& options = {});

/// The report for a reader, in lines of at most 80 columns (while sizes stay below 10^12 and rows below 10^9).
SPMVPACK_EXPORT std::string to_text(const Report& report);
/// The report for a program, as docs/report.schema.json describes it; ends with a newline.
SPMVPACK_EXPORT std::string to_json(const Report& report);

}  // namespace spmvpack::analyzer
