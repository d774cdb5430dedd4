#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
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
    const double seconds = optimize == Objective::bytes ? 0.0 : c.seconds * (1 + worth_of_csr * share(c.device_bytes));
    return std::tuple{c.fill_reads_x || too_large(c.device_bytes, csr_bytes), seconds, c.device_bytes};
  };
  Choice choice;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (cost(candidates[i]) < cost(candidates[choice.index])) choice.index = i;
  const Candidate& best = candidates[choice.index];
  const std::string of_csr_bytes = percent_text(share(best.device_bytes));
  const auto csr =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.strategy == "csr"; });
  if (optimize == Objective::bytes)
    choice.reason =
        best.device_bytes < csr_bytes ? of_csr_bytes + " of csr's bytes" : "none that auto takes is smaller than csr";
  else if (csr == candidates.end() || !(csr->seconds > 0))
    choice.reason = fmt::format("{} predicted, {} of csr's bytes", time_text(best.seconds), of_csr_bytes);
  else if (best.strategy == "csr")
    choice.reason = fmt::format("none that auto takes is predicted below its {}", time_text(best.seconds));
  else
    choice.reason = fmt::format("{} of csr's time ({} predicted), {} of its bytes",
                                percent_text(best.seconds / csr->seconds), time_text(best.seconds), of_csr_bytes);
  return choice;
}

namespace strategy {
namespace {

Plan plan_best(const std::vector<Strategy>& all, const CsrView& a, const PlanOptions& options) {
  std::vector<Strategy> others;
  std::copy_if(all.begin(), all.end(), std::back_inserter(others),
               [&](const Strategy& s) { return s.suits_target(options.aim.target); });
  PlanOptions shared = options;
  shared.only_own = true;
  if (!shared.values) shared.values = ValueTable::count(a, options.threads);
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  const bool by_time = options.aim.optimize == Objective::time;
  const XSectors x = by_time ? x_sectors(a, options.threads) : XSectors{};
  const auto seconds_of = [&](const std::vector<Counter>& work) {
    return by_time ? predicted_seconds(work, profile_of(options.aim)) : 0.0;
  };
  std::vector<Candidate> candidates;  // what each plan takes, or while it is not made, at least
  candidates.reserve(others.size());
  for (const Strategy& s : others) candidates.push_back({s.name});
  const auto better_of = [&](std::size_t i, std::size_t j) {  // ties go to the first
    const std::size_t first = std::min(i, j), last = std::max(i, j);
    const std::array two{candidates[first], candidates[last]};
    return choose(two, csr_bytes, options.aim.optimize).index == 0 ? first : last;
  };
  std::vector<bool> made(others.size());
  std::optional<std::size_t> best;  // of those that are made; only this plan is kept: it may hold much memory
  Plan best_plan;
  const auto make = [&](std::size_t i) {
    const auto done = static_cast<std::uint64_t>(std::count(made.begin(), made.end(), true));
    report_progress(options.progress, "plan " + others[i].name, done, others.size());
    made[i] = true;
    Candidate& candidate = candidates[i];
    try {
      Plan plan = others[i].plan(a, shared);
      candidate.device_bytes = plan.device_bytes();
      candidate.seconds = seconds_of(work_of(plan, a.rows(), x));
      candidate.fill_reads_x = plan.fill_reads_x();
      if (!best || better_of(i, *best) == i) best_plan = std::move(plan), best = i;
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;
      candidate = {others[i].name, ~std::uint64_t{0}, std::numeric_limits<double>::infinity(), true};
    }
  };
  Survey survey = survey_of(a, shared.values, options.threads);
  survey.fewest_bytes = !by_time;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (!others[i].least || !settings_of(others[i], options.settings).empty()) {
      make(i);
      continue;
    }
    const Least least = others[i].least(survey);
    candidates[i].device_bytes = least.device_bytes;
    candidates[i].seconds = seconds_of(work_of(survey, least, x));
  }
  // A plan need not be made if it is not the best even with the least that it may take.
  Choice choice = choose(candidates, csr_bytes, options.aim.optimize);
  for (; !made[choice.index]; choice = choose(candidates, csr_bytes, options.aim.optimize)) make(choice.index);
  best_plan.reason = std::move(choice.reason);
  return best_plan;
}

}  // namespace

Strategy choose_best(std::vector<Strategy> others) {
  std::vector<Setting> settings;
  for (const Strategy& s : others) settings.insert(settings.end(), s.settings.begin(), s.settings.end());
  return {.name = "auto",
          .summary = "the layout of the least predicted time, or of the fewest bytes",
          .suits = "what is predicted fastest, or smallest with --optimize bytes",
          .settings = std::move(settings),
          .plan = [others = std::move(others)](const CsrView& a,
                                               const PlanOptions& options) { return plan_best(others, a, options); },
          .chooses = true,
          .aims = true};
}

}  // namespace strategy
}  // namespace spmvpack::encoder
