#include <fmt/format.h>

#include <cmath>

#include "bench/summary.hpp"
#include "commands/bench_output.hpp"
#include "csv.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {

using namespace bench;  // what was measured

namespace {

std::string microseconds(double seconds) { return fmt::to_string(seconds * 1e6); }

}  // namespace

std::string csv_header() {
  return csv_line({"name",
                   "group",
                   "rows",
                   "columns",
                   "nonzeros",
                   "value_type",
                   "vector_type",
                   "by",
                   "layout",
                   "kernel",
                   "skipped",
                   "device_bytes",
                   "workspace_bytes",
                   "moved_bytes",
                   "cold_median",
                   "cold_min",
                   "cold_max",
                   "warm_median",
                   "gflops",
                   "gbytes_per_second",
                   "share_of_copy",
                   "share_of_floor",
                   "correct",
                   "repeats_bitwise",
                   "over_csr_alg2",
                   "over_faster_csr",
                   "over_csr_bsr",
                   "over_sell",
                   "over_best",
                   "x_sectors",
                   "x_lines",
                   "l2_floor",
                   "gather_floor",
                   "host_vectors_median",
                   "columns_of_x"});
}

std::string csv_lines(const MatrixResult& m, const BenchRun& run) {
  std::string lines;
  for (const Result& r : m.results) {
    std::vector<std::string> fields{escape(m.name, 4096),
                                    m.group,
                                    fmt::to_string(m.rows),
                                    fmt::to_string(m.cols),
                                    fmt::to_string(m.nnz),
                                    std::string(to_string(m.value_type)),
                                    std::string(to_string(m.vector_type)),
                                    r.by,
                                    r.layout,
                                    r.kernel,
                                    r.skipped};
    const std::size_t columns = fields.size() + 18;
    if (r.ran()) {
      const double cold = r.cold.median, speed = static_cast<double>(r.moved_bytes) / cold;
      for (const std::uint64_t bytes : {r.device_bytes, r.workspace_bytes, r.moved_bytes})
        fields.push_back(fmt::to_string(bytes));
      for (const double seconds : {cold, r.cold.min, r.cold.max, r.warm.median})
        fields.push_back(microseconds(seconds));
      for (const double figure :
           {1e-9 * m.flops() / cold, 1e-9 * speed, speed / run.speeds.copy_speed(), r.floor / cold})
        fields.push_back(fmt::to_string(figure));
      fields.push_back(csv_flag(r.correct()));
      fields.push_back(csv_flag(r.repeats));
      const Ratios ratio = r.by == "spmvpack" ? ratios(m, r) : Ratios{};
      for (const auto& over :
           {ratio.over_csr_alg2, ratio.over_faster_csr, ratio.over_csr_bsr, ratio.over_sell, ratio.over_best})
        fields.push_back(csv_optional(over));
    }
    fields.resize(columns);
    // Of the matrix, whether or not the line has figures.
    fields.push_back(fmt::to_string(m.x_sectors));
    fields.push_back(fmt::to_string(m.x_lines));
    const bool floors = m.right_hand_sides == 1;
    fields.push_back(run.speeds.l2_bytes == 0 || !floors ? "" : microseconds(m.x_floors.l2));
    fields.push_back(run.speeds.gathers == 0 || !floors ? "" : microseconds(m.x_floors.gathers));
    fields.push_back(r.host_vectors.median == 0 ? "" : microseconds(r.host_vectors.median));
    fields.push_back(fmt::to_string(m.right_hand_sides));
    lines += csv_line(fields);
  }
  return lines;
}

}  // namespace spmvpack::tools
