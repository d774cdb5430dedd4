#include <fmt/format.h>

#include "bench/summary.hpp"
#include "commands/bench_output.hpp"
#include "output.hpp"
#include "short_text.hpp"
#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {

using namespace bench;  // what was measured

namespace {

std::string times(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : "-"; }

std::string check_text(const Result& r) {
  if (!r.correct()) return "WRONG";
  if (r.repeats) return "";
  return r.bitwise.value_or(false) ? "bits DIFFER" : "bits vary";
}

/// Said unless all is f64.
std::string types_text(const MatrixResult& m) {
  if (m.vector_type != m.value_type)
    return fmt::format(", {}, vectors {}", to_string(m.value_type), to_string(m.vector_type));
  return m.value_type == ValueType::f64 ? "" : fmt::format(", {}", to_string(m.value_type));
}

/// What reading x takes at least; empty where the machine is not measured for it.
std::string floors_text(const MatrixResult& m, const Speeds& speeds) {
  if (speeds.l2_bytes == 0 || speeds.gathers == 0 || m.right_hand_sides != 1) return "";
  const auto [l2, gathers] = m.x_floors;
  return fmt::format("  x, at least: {:.1f} for {} sectors as fast as reads, {:.1f} for {} lines as fast as gathers\n",
                     l2 * 1e6, grouped(m.x_sectors), gathers * 1e6, grouped(m.x_lines));
}

std::string result_line(const MatrixResult& m, const Result& r, double copy_speed) {
  const std::string name = (r.by == "spmvpack" ? "" : r.by + ' ') + r.name();
  if (!r.ran()) return fmt::format("  {:22} - {}\n", name, escape(r.skipped, 200));
  const double us = 1e6, cold = r.cold.median;
  const double nnz = static_cast<double>(m.nnz), speed = static_cast<double>(r.moved_bytes) / cold;
  std::string line = fmt::format("  {:22}{:9.1f}{:9.1f}{:9.1f}{:9.1f}{:8.1f}{:8.0f}{:7.0f}{:8.0f}{:7.2f}  {}", name,
                                 cold * us, r.cold.min * us, r.cold.max * us, r.warm.median * us,
                                 1e-9 * m.flops() / cold, 1e-9 * speed, 100 * speed / copy_speed, 100 * r.floor / cold,
                                 m.nnz == 0 ? 0.0 : static_cast<double>(r.device_bytes) / nnz, check_text(r));
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

/// Multiplies with x and y on the host; empty if none was measured.
std::string host_vectors_text(const MatrixResult& m, const Speeds& speeds) {
  std::string text;
  for (const Result& r : m.results) {
    if (r.host_vectors.median == 0) continue;
    const double us = 1e6, median = r.host_vectors.median;
    text += fmt::format("  {:22}{:9.1f}{:9.1f}{:9.1f}{:9.1f}{:8.1f}\n",
                        (r.by == "spmvpack" ? "" : r.by + ' ') + r.name(), median * us, r.host_vectors.min * us,
                        r.host_vectors.max * us, with_copies(m, r, speeds) * us, 1e-9 * m.flops() / median);
  }
  if (text.empty()) return text;
  return fmt::format("  with x and y on the host:\n  {:22}{:>9}{:>9}{:>9}{:>9}{:>8}\n", "", "cold", "min", "max",
                     "foreseen", "GFLOP/s") +
         text;
}

}  // namespace

std::string header_text(const BenchRun& run) {
  std::string text = fmt::format("{}: {}", run.machine.kind, run.machine.name);
  for (const auto& [what, value] : run.machine.details) text += fmt::format(", {} {}", what, value);
  text += fmt::format("\ncopy: {:.0f} GB/s, read and written", 1e-9 * run.speeds.copy_speed());
  if (run.speeds.l2_bytes != 0)
    text += fmt::format("; second-level cache: {:.0f} GB/s, read", 1e-9 * run.speeds.l2_speed());
  if (run.speeds.gathers != 0)
    text += fmt::format(", {:.0f} G scattered elements a second", 1e-9 * run.speeds.gather_speed());
  if (run.speeds.link_bytes != 0)
    text += fmt::format("\ncopies of pinned memory: {:.1f} GB/s to the GPU, {:.1f} GB/s back",
                        1e-9 * run.speeds.to_device_speed(), 1e-9 * run.speeds.from_device_speed());
  text += fmt::format("\n{} runs each; microseconds; cold: caches flushed before each run\n", run.runs);
  if (run.columns != 1) text += fmt::format("{} columns of x and y\n", run.columns);
  if (run.updatable) text += "layouts as of encode --updatable\n";
  return text;
}

std::string matrix_text(const MatrixResult& m, const BenchRun& run) {
  std::string text =
      fmt::format("\n{}{}: {} x {}, {}{}{}\n", escape(m.name, 4096), m.group.empty() ? "" : " (" + m.group + ")",
                  grouped(m.rows), grouped(m.cols), counted(m.nnz, "nonzero"), types_text(m),
                  m.csr_bytes < run.machine.cache_bytes ? ", fits " + run.machine.cache : "");
  text += floors_text(m, run.speeds);
  text += fmt::format("  {:22}{:>9}{:>9}{:>9}{:>9}{:>8}{:>8}{:>7}{:>8}{:>7}\n", "", "cold", "min", "max", "warm",
                      "GFLOP/s", "GB/s", "copy%", "floor%", "B/nnz");
  for (const Result& r : m.results) text += result_line(m, r, run.speeds.copy_speed());
  text += host_vectors_text(m, run.speeds);
  const Result* const best = best_peer(m);
  if (best == nullptr) return text;
  text += fmt::format("  fastest peer: {} {}; times as fast as CSR ALG2, the faster CSR, CSR or BSR, SELL, it:\n",
                      best->by, best->name());
  for (const Result& r : m.results) {
    if (r.by != "spmvpack" || !r.correct()) continue;
    const Ratios ratio = ratios(m, r);
    text += fmt::format("  {:22}{:>9}{:>9}{:>9}{:>9}{:>9}\n", r.name(), times(ratio.over_csr_alg2),
                        times(ratio.over_faster_csr), times(ratio.over_csr_bsr), times(ratio.over_sell),
                        times(ratio.over_best));
  }
  return text;
}

std::string matrices_text(std::span<const MatrixResult> matrices) {
  if (matrices.size() < 2) return "";
  constexpr std::size_t name_width = 20;
  std::string text =
      fmt::format("\nfastest, cold medians in microseconds\n{:{}}{:>9}  {:22}{:>9}{:>9}  {:8}{:>9}{:>7}\n", "",
                  name_width, "nonzeros", "spmvpack", "cold", "GFLOP/s", "peer", "cold", "times");
  for (const MatrixResult& m : matrices) {
    const Result *own = best_own(m), *peer = best_peer(m);
    const auto micro = [](const Result* r) { return r == nullptr ? "-" : fmt::format("{:.1f}", r->cold.median * 1e6); };
    const auto named = [](const Result* r) { return r == nullptr ? "-" : r->name(); };
    text += fmt::format("{:{}}{:>9}  {:22}{:>9}{:>9}  {:8}{:>9}{:>7}\n", shortened(m.name, name_width), name_width,
                        short_count(m.nnz), named(own), micro(own),
                        own == nullptr ? "-" : fmt::format("{:.1f}", 1e-9 * m.flops() / own->cold.median), named(peer),
                        micro(peer), own == nullptr ? "-" : times(ratios(m, *own).over_best));
  }
  return text;
}

std::string summary_text(std::span<const MatrixResult> matrices) {
  std::string text;
  for (const KernelSummary& kernel : summarise_suite(matrices)) {
    for (const Means& means : kernel.sets) {
      if (!means.mean.over_best) continue;
      text += fmt::format("  {:22}{:12}{:>8}{:>10}{:>12}{:>12}{:>8}{:>9}{:>8}\n", kernel.layout + '/' + kernel.kernel,
                          means.set, means.members, times(means.mean.over_csr_alg2), times(means.mean.over_faster_csr),
                          times(means.mean.over_csr_bsr), times(means.mean.over_sell), times(means.mean.over_best),
                          times(means.least.over_best));
    }
  }
  if (text.empty()) return text;
  return fmt::format(
             "\ntimes as fast as cuSPARSE, geometric means of cold medians\n  "
             "{:22}{:12}{:>8}{:>10}{:>12}{:>12}{:>8}{:>9}{:>8}\n",
             "", "", "members", "CSR ALG2", "faster CSR", "CSR or BSR", "SELL", "fastest", "least") +
         text;
}

}  // namespace spmvpack::tools
