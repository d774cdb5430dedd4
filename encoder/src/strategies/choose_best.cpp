#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/text.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder {

Choice choose(std::span<const Candidate> candidates, std::uint64_t csr_bytes, Objective optimize) {
  // Of layouts that take about as long, the smaller: predictions are not better than that.
  constexpr double worth_of_csr = 0.02;
  const auto share = [&](std::uint64_t bytes) {
    return csr_bytes == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(csr_bytes);
  };
  const auto cost = [&](const Candidate& c) {
    const double bytes = optimize == Objective::bytes ? 0.0 : c.seconds * (1 + worth_of_csr * share(c.device_bytes));
    return std::tuple{c.fill_reads_x || too_large(c.device_bytes, csr_bytes), bytes, c.device_bytes};
  };
  Choice choice;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (cost(candidates[i]) < cost(candidates[choice.index])) choice.index = i;
  const Candidate& best = candidates[choice.index];
  const std::string of_csr = fmt::format("{:.1f} % of CSR", 100 * share(best.device_bytes));
  choice.reason = optimize == Objective::time     ? fmt::format("{} predicted, {}", time_text(best.seconds), of_csr)
                  : best.device_bytes < csr_bytes ? of_csr
                                                  : "no layout that it takes is smaller than CSR";
  return choice;
}

namespace strategy {
namespace {

Plan plan_best(const std::vector<Strategy>& others, const CsrView& a, const PlanOptions& options) {
  PlanOptions shared = options;
  if (!shared.values) shared.values = ValueTable::count(a, options.threads);
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  const bool by_time = options.aim.optimize == Objective::time;
  const XSectors x = by_time ? x_sectors(a, options.threads) : XSectors{};
  std::vector<Candidate> candidates;
  Choice choice;
  Plan best;  // only the best is kept: a plan may hold much memory
  for (const Strategy& s : others) {
    report_progress(options.progress, "plan " + s.name, candidates.size(), others.size());
    Plan plan;
    try {
      plan = s.plan(a, shared);
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;
      continue;
    }
    const double seconds = by_time ? predicted_seconds(work_of(plan, x), options.aim.target) : 0;
    candidates.push_back({s.name, plan.device_bytes(), seconds, plan.fill_reads_x()});
    choice = choose(candidates, csr_bytes, options.aim.optimize);
    if (choice.index + 1 == candidates.size()) best = std::move(plan);
  }
  best.reason = choice.reason;
  return best;
}

}  // namespace

Strategy choose_best(std::vector<Strategy> others) {
  std::vector<Setting> settings;
  for (const Strategy& s : others) settings.insert(settings.end(), s.settings.begin(), s.settings.end());
  return {.name = "auto",
          .summary = "the layout of the least predicted time, or of the fewest bytes",
          .settings = std::move(settings),
          .plan = [others = std::move(others)](const CsrView& a,
                                               const PlanOptions& options) { return plan_best(others, a, options); },
          .chooses = true};
}

}  // namespace strategy
}  // namespace spmvpack::encoder
