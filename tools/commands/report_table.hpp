#pragma once
/// The reports of several matrices: a table with a line for each, and CSV.

#include <string>

#include "spmvpack/analyzer/report.hpp"

namespace spmvpack::tools {

/// The line above the table, of 80 columns.
std::string report_table_header();
/// A matrix with its recommended layout.
std::string report_table_line(const analyzer::Report& report);

/// The names of the columns.
std::string report_csv_header();
/// A line for each layout.
std::string report_csv_lines(const analyzer::Report& report);

}  // namespace spmvpack::tools
