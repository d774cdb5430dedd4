#include "sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/payback.hpp"

namespace spmvpack::analyzer {
namespace {

const LayoutCost* find_layout(const Report& report, std::string_view name) {
  for (const LayoutCost& cost : report.layouts)
    if (cost.name == name) return &cost;
  return nullptr;
}

bool is_left_out(const Report& report, const LayoutCost& cost) {
  return cost.fill_reads_x || may_refuse_zeros(report, cost);
}

}  // namespace

bool may_refuse_zeros(const Report& report, const LayoutCost& cost) {
  return report.not_updatable.has_value() && cost.holds_by_bits;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (part != 0 && share < 0.05) return "<0.1 %";
  if (part != whole && share >= 99.95) return ">99.9 %";
  return fmt::format("{:.1f} %", share);
}

std::string share_text(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string number_text(double number) {
  return number < 99'999 ? fmt::format("{:.3f}", number) : fmt::format("{:.3g}", number);
}

std::string per_nonzero(std::uint64_t bytes, std::uint64_t nnz) {
  return nnz == 0 ? "-" : number_text(static_cast<double>(bytes) / static_cast<double>(nnz));
}

std::string payback_text(const Report& report) {
  if (!report.recommended_encode_seconds || !report.layouts[report.recommended].time_of_csr) return "";
  if (!report.recommended_pays_after) return "Encoding never pays by time: csr is as fast (predicted)\n";
  return fmt::format("Encoding pays {} (predicted: {} on one core)\n",
                     encoder::pays_text(report.recommended_pays_after), time_text(*report.recommended_encode_seconds));
}

std::string sparing_text(const Report& report) {
  constexpr double hardly = 0.9;  // of csr's bytes
  const LayoutCost& best = report.layouts[report.recommended];
  const LayoutCost* const csr = find_layout(report, layouts::csr::layout.name);
  if (report.aim.optimize != encoder::Objective::time || best.bytes_of_csr < hardly || csr == nullptr) return "";
  const LayoutCost* smallest = nullptr;
  for (const LayoutCost& cost : report.layouts)
    if (!is_left_out(report, cost) && !cost.by_name_only && cost.time_of_csr &&
        (smallest == nullptr || cost.device_bytes < smallest->device_bytes))
      smallest = &cost;
  if (smallest == nullptr) return "";
  if (smallest->bytes_of_csr >= hardly)
    return fmt::format("The smallest that auto takes, {}, has {} of csr's bytes.\n", smallest->name,
                       percent_text(smallest->bytes_of_csr));
  std::string text;
  if (report.aim.target == encoder::Target::gpu && report.aim.columns == 1 &&
      2 * report.balance.multiply_seconds < csr->predicted_seconds)
    text = fmt::format(
        "A small matrix for a GPU: moving the bytes of csr takes {} of its {}.\n"
        "The rest is starting threads and waiting, which fewer bytes do not shorten.\n",
        time_text(report.balance.multiply_seconds), time_text(csr->predicted_seconds));
  return text + fmt::format("{} would take {} of csr's bytes, but {} of its time;\n--optimize bytes takes it.\n",
                            smallest->name, percent_text(smallest->bytes_of_csr), percent_text(*smallest->time_of_csr));
}

std::string updatable_text(const Report& report) {
  if (!report.not_updatable) return "";
  const ChosenCost& plain = *report.not_updatable;
  const LayoutCost& best = report.layouts[report.recommended];
  const auto times = [](double of, double to) {
    const double ratio = to == 0 ? 1 : of / to;
    return ratio < 9.995 ? fmt::format("{:.2f} times", ratio)
                         : grouped(static_cast<std::uint64_t>(std::llround(ratio))) + " times";
  };
  return fmt::format(
      "Updatable: {} the bytes and {} the time of {}, which\n"
      "auto takes if values never change: {} bytes, {} per nonzero, {}\n",
      times(static_cast<double>(best.device_bytes), static_cast<double>(plain.device_bytes)),
      times(best.predicted_seconds, plain.predicted_seconds), plain.layout, grouped(plain.device_bytes),
      per_nonzero(plain.device_bytes, report.facts.nnz), time_text(plain.predicted_seconds));
}

std::string complex_text(const Report& report) {
  if (!holds_complex(report.facts.value_type)) return "";
  return report.aim.target == encoder::Target::gpu
             ? "GPUs do not multiply by complex values yet; times are by those of real values.\n"
             : "Times of complex values are predicted by those of real ones.\n";
}

std::string symmetry_text(const Structure& s) {
  if (!s.symmetry) return "not square";
  const SymmetryCounts& counts = *s.symmetry;
  if (counts.symmetric()) return counts.off_diagonal == 0 ? "symmetric: no off-diagonal entries" : "symmetric";
  if (counts.skew_symmetric()) return "skew-symmetric";
  if (counts.hermitian()) return "Hermitian";
  if (counts.pattern_symmetric())
    return fmt::format("pattern symmetric; {} of the mirrored values are equal",
                       percent(counts.equal, counts.off_diagonal));
  return fmt::format("unsymmetric: {} of the off-diagonal entries are mirrored",
                     percent(counts.mirrored, counts.off_diagonal));
}

std::string distinct_text(const Structure& s) {
  const encoder::ValueTable& values = *s.values;
  const std::string covered = percent(values.covered(encoder::ValueTable::max_frequent), s.nnz);
  if (values.exceeds())
    return fmt::format("more than {}; 256 cover {} of the nonzeros", grouped(encoder::ValueTable::max_distinct),
                       covered);
  if (values.distinct() <= encoder::ValueTable::max_frequent) return grouped(values.distinct());
  return fmt::format("{}; the 256 most frequent cover {} of the nonzeros", grouped(values.distinct()), covered);
}

std::vector<const LayoutCost*> shown_layouts(const Report& report, Detail detail) {
  const LayoutCost* const first = &report.layouts[report.recommended];
  std::vector<const LayoutCost*> sorted;
  for (const LayoutCost& cost : report.layouts)
    if (detail == Detail::full || !cost.reproduction || &cost == first) sorted.push_back(&cost);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const LayoutCost* a, const LayoutCost* b) {
    if ((a == first) != (b == first)) return a == first;
    return report.aim.optimize == encoder::Objective::time ? a->predicted_seconds < b->predicted_seconds
                                                           : a->device_bytes < b->device_bytes;
  });
  return sorted;
}

}  // namespace spmvpack::analyzer
