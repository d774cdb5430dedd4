#include "spmvpack/encoder/weigh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "decide.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::encoder {

Choice choose(std::span<const Candidate> candidates, std::uint64_t csr_bytes, Objective optimize) {
  const auto share = [&](std::uint64_t bytes) {
    return csr_bytes == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(csr_bytes);
  };
  const auto cost = [&](const Candidate& c) {
    return std::pair{c.fill_reads_x || too_large(c.device_bytes, csr_bytes),
                     rank_of(c.device_bytes, c.seconds, csr_bytes, optimize)};
  };
  Choice choice;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (cost(candidates[i]) < cost(candidates[choice.index])) choice.index = i;
  const Candidate& best = candidates[choice.index];
  const std::string_view csr_name = spmvpack::layouts::csr::layout.name;
  const std::string of_csr_bytes = percent_text(share(best.device_bytes));
  const auto csr =
      std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) { return c.strategy == csr_name; });
  const bool has_csr = csr != candidates.end() && csr->seconds > 0;
  if (optimize == Objective::time && has_csr) choice.beside_csr = {best.seconds, csr->seconds};
  if (optimize == Objective::bytes)
    choice.reason = best.device_bytes < csr_bytes ? of_csr_bytes + " of csr's bytes"
                                                  : "no layout that auto takes is smaller than csr";
  else if (!has_csr)
    choice.reason = fmt::format("{} predicted, {} of csr's bytes", time_text(best.seconds), of_csr_bytes);
  else if (best.strategy == csr_name)
    choice.reason = fmt::format("no layout that auto takes is predicted below its {}", time_text(best.seconds));
  else
    choice.reason = fmt::format("{} of csr's time ({} predicted), {} of its bytes",
                                percent_text(best.seconds / csr->seconds), time_text(best.seconds), of_csr_bytes);
  return choice;
}

Choice choose_by_making(const std::vector<Candidate>& candidates, const std::vector<bool>& made,
                        std::uint64_t csr_bytes, Objective optimize, const std::function<void(std::size_t)>& make) {
  Choice choice = choose(candidates, csr_bytes, optimize);
  for (; !made[choice.index]; choice = choose(candidates, csr_bytes, optimize)) make(choice.index);
  return choice;
}

bool is_hypersparse(const CsrView& a) noexcept {
  constexpr std::uint64_t least_rows = 1'000'000, rows_of_entry = 1000;
  return a.rows() >= least_rows && a.nnz() <= a.rows() / rows_of_entry;
}

bool is_weighed(const Strategy& strategy, const CsrView& a, const Aim& aim) noexcept {
  if (strategy.chooses || strategy.traits.by_name_only || !strategy.traits.suits_target(aim.target)) return false;
  if (holds_complex(a.value_type()) && !strategy.traits.takes_complex) return false;
  if (!is_hypersparse(a)) return true;
  return strategy.traits.empty_rows == EmptyRows::in_a_pass ||
         (strategy.traits.empty_rows == EmptyRows::in_turn && aim.optimize == Objective::bytes);
}

std::string_view weighing_text(const CsrView& a) noexcept {
  return is_hypersparse(a) ? ", as nearly all rows are empty" : "";
}

bool is_left_out(const Plan& plan, const PlanOptions& options) {
  return plan.fill_reads_x() || (options.updatable && plan.holds_by_bits());
}

std::optional<Plan> plan_without_fill(const Strategy& strategy, const Plan& plan, const CsrView& a,
                                      const PlanOptions& options) {
  const auto& [name, value] = strategy.traits.without_fill;
  if (!is_left_out(plan, options) || name.empty() || options.settings.contains(std::string(name))) return {};
  PlanOptions without = options;
  without.settings.emplace(name, value);
  try {
    Plan harmless = strategy.plan(a, without);
    harmless.made_with = fmt::format("{}={}", name, value);
    return harmless;
  } catch (const Error& e) {
    if (!is_refusal(e)) throw;
    return {};
  }
}

PricedPlan price(Plan plan, std::uint64_t rows, const XSectors& x, const Aim& aim) {
  std::vector<Counter> work = work_of(plan, rows, x, aim);
  const double seconds = predicted_seconds(work, profile_of(aim));
  return {std::move(plan), std::move(work), seconds};
}

Weighed weigh(const Strategy& strategy, const CsrView& a, const PlanOptions& options,
              const std::optional<XSectors>& x) {
  const MemoryScope planning("planning " + strategy.name);
  const auto priced = [&](Plan plan) {
    return x ? price(std::move(plan), a.rows(), *x, options.aim) : PricedPlan{std::move(plan)};
  };
  Weighed weighed{&strategy, priced(strategy.plan(a, options)), {}, {}};
  if (std::optional<Plan> other = plan_without_fill(strategy, weighed.asked_for.plan, a, options))
    weighed.without_fill = priced(std::move(*other));
  const PricedPlan& taken = weighed.taken();
  weighed.candidate = {strategy.name, taken.plan.device_bytes(), taken.seconds,
                       is_left_out(taken.plan, options) || !is_weighed(strategy, a, options.aim)};
  return weighed;
}

std::string reason_text(const Choice& choice, const Plan& taken, const CsrView& a) {
  return fmt::format("{}{}{}", choice.reason, taken.made_with_text(), weighing_text(a));
}

}  // namespace spmvpack::encoder
