#include "commands/report_table.hpp"

#include <fmt/format.h>

#include <vector>

#include "csv.hpp"
#include "short_text.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {
namespace {

constexpr std::size_t name_width = 19;

std::string line(const std::string& name, const std::string& rows, const std::string& columns,
                 const std::string& nonzeros, const std::string& layout, const std::string& bytes,
                 const std::string& time) {
  return fmt::format("{:{}}{:>8}{:>8}{:>10}  {:14}{:>10}{:>9}\n", name, name_width, rows, columns, nonzeros, layout,
                     bytes, time);
}

}  // namespace

std::string report_table_header() { return line("", "rows", "columns", "nonzeros", "use", "bytes/csr", "time/csr"); }

std::string report_table_line(const analyzer::Report& report) {
  const MatrixFacts& f = report.facts;
  const analyzer::LayoutCost& best = report.layouts[report.recommended];
  return line(shortened(report.name, name_width), short_count(f.rows), short_count(f.cols), short_count(f.nnz),
              best.name, percent_text(best.bytes_of_csr), best.time_of_csr ? percent_text(*best.time_of_csr) : "-");
}

std::string report_csv_header() {
  return csv_line({"name", "rows", "columns", "nonzeros", "value_type", "layout", "recommended", "device_bytes",
                   "bytes_per_nonzero", "overhead_percent", "file_bytes", "workspace_bytes", "padding_slots",
                   "predicted_us", "bytes_percent_of_csr", "time_percent_of_csr"});
}

std::string report_csv_lines(const analyzer::Report& report) {
  const MatrixFacts& f = report.facts;
  std::string lines;
  for (const analyzer::LayoutCost& cost : report.layouts)
    lines += csv_line(
        {escape(report.name, 4096), fmt::to_string(f.rows), fmt::to_string(f.cols), fmt::to_string(f.nnz),
         std::string(to_string(f.value_type)), cost.name, csv_flag(&cost == &report.layouts[report.recommended]),
         fmt::to_string(cost.device_bytes), csv_optional(cost.bytes_per_nonzero), fmt::to_string(cost.overhead_percent),
         fmt::to_string(cost.file_bytes), csv_optional(cost.workspace_bytes), fmt::to_string(cost.padding),
         fmt::to_string(1e6 * cost.predicted_seconds), fmt::to_string(100 * cost.bytes_of_csr),
         cost.time_of_csr ? fmt::to_string(100 * *cost.time_of_csr) : ""});
  return lines;
}

}  // namespace spmvpack::tools
