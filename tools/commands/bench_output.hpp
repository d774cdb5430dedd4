#pragma once
/// What `bench` prints: text, CSV and JSON.

#include <span>
#include <string>

#include "bench/measure.hpp"

namespace spmvpack::tools {

/// A run of the benchmark, as it is printed.
struct BenchRun {
  std::string version;
  bench::MachineFacts machine;
  bench::Speeds speeds;
  int runs = 0;
  std::uint64_t seed = 0;
  std::uint64_t columns = 1;  ///< of X and Y
  bool updatable = false;     ///< MeasureOptions::updatable
  std::string target;         ///< for which layouts with an aim are planned: encoder::target_name()
  bool suite = false;
  double seconds = 0;
  std::vector<bench::MatrixResult> matrices;
};

/// The lines above the first matrix: machine and measured speeds.
std::string header_text(const BenchRun& run);
/// A table of the matrix's results on the run's machine.
std::string matrix_text(const bench::MatrixResult& matrix, const BenchRun& run);
/// A line for each matrix: our fastest kernel and the fastest peer. Empty if there are fewer than two matrices.
std::string matrices_text(std::span<const bench::MatrixResult> matrices);
/// The names of the columns, and a line for each of a matrix's results.
std::string csv_header();
std::string csv_lines(const bench::MatrixResult& matrix, const BenchRun& run);
/// The geometric means of a suite; empty if there are no peers to compare with.
std::string summary_text(std::span<const bench::MatrixResult> matrices);
/// All of it, as docs/bench.schema.json describes it.
std::string to_json(const BenchRun& run);

}  // namespace spmvpack::tools
