#include <fmt/format.h>

#include <utility>

#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder {

bool keeps_gpu_waiting(std::uint64_t longest_chain, std::uint64_t csr_bytes) noexcept {
  // One H200: how fast it moves bytes, how long a load takes that misses its caches, and a launch (docs/BENCHMARKS.md).
  constexpr double bytes_per_second = 4.0e12, seconds_per_load = 0.7e-6, seconds_per_launch = 4e-6;
  const double csr = static_cast<double>(csr_bytes) / bytes_per_second + seconds_per_launch;
  return static_cast<double>(longest_chain) * seconds_per_load > 2 * csr;
}

Choice choose(std::span<const Candidate> candidates, std::uint64_t csr_bytes) {
  Choice choice;
  const auto cost = [&](std::size_t i) {
    const Candidate& c = candidates[i];
    return std::pair{c.fill_reads_x || keeps_gpu_waiting(c.longest_chain, csr_bytes), c.device_bytes};
  };
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (cost(i) < cost(choice.index)) choice.index = i;
  const std::uint64_t bytes = candidates[choice.index].device_bytes;
  choice.reason = bytes < csr_bytes ? fmt::format("{:.1f} % of CSR",
                                                  100 * static_cast<double>(bytes) / static_cast<double>(csr_bytes))
                                    : "no layout that it takes is smaller than CSR";
  return choice;
}

namespace strategy {
namespace {

Plan plan_best(const std::vector<Strategy>& others, const CsrView& a, const PlanOptions& options) {
  PlanOptions shared = options;
  if (!shared.values) shared.values = ValueTable::count(a, options.threads);
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
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
    candidates.push_back({s.name, plan.device_bytes(), plan.fill_reads_x(), plan.longest_chain()});
    choice = choose(candidates, csr_bytes);
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
          .summary = "the layout with the fewest device bytes whose rows a GPU does not wait for",
          .settings = std::move(settings),
          .plan = [others = std::move(others)](const CsrView& a,
                                               const PlanOptions& options) { return plan_best(others, a, options); },
          .chooses = true};
}

}  // namespace strategy
}  // namespace spmvpack::encoder
