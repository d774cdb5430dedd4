#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "decide.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "strategies/strategies.hpp"

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
  const std::string of_csr_bytes = percent_text(share(best.device_bytes));
  const auto csr =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.strategy == "csr"; });
  const bool has_csr = csr != candidates.end() && csr->seconds > 0;
  if (optimize == Objective::time && has_csr) choice.beside_csr = {best.seconds, csr->seconds};
  if (optimize == Objective::bytes)
    choice.reason =
        best.device_bytes < csr_bytes ? of_csr_bytes + " of csr's bytes" : "none that auto takes is smaller than csr";
  else if (!has_csr)
    choice.reason = fmt::format("{} predicted, {} of csr's bytes", time_text(best.seconds), of_csr_bytes);
  else if (best.strategy == "csr")
    choice.reason = fmt::format("none that auto takes is predicted below its {}", time_text(best.seconds));
  else
    choice.reason = fmt::format("{} of csr's time ({} predicted), {} of its bytes",
                                percent_text(best.seconds / csr->seconds), time_text(best.seconds), of_csr_bytes);
  return choice;
}

bool is_hypersparse(const CsrView& a) noexcept {
  constexpr std::uint64_t least_rows = 1'000'000, rows_of_entry = 1000;
  return a.rows() >= least_rows && a.nnz() <= a.rows() / rows_of_entry;
}

bool is_weighed(const Strategy& strategy, const CsrView& a, const Aim& aim) noexcept {
  if (strategy.chooses || strategy.by_name_only || !strategy.suits_target(aim.target)) return false;
  if (!is_hypersparse(a)) return true;
  return strategy.empty_rows == EmptyRows::in_a_pass ||
         (strategy.empty_rows == EmptyRows::in_turn && aim.optimize == Objective::bytes);
}

std::string_view weighing_text(const CsrView& a) noexcept {
  return is_hypersparse(a) ? ", as nearly all rows are empty" : "";
}

std::optional<Plan> plan_without_fill(const Strategy& strategy, const Plan& plan, const CsrView& a,
                                      const PlanOptions& options) {
  const auto& [name, value] = strategy.without_fill;
  if (!plan.fill_reads_x() || name.empty() || options.settings.find(name) != options.settings.end()) return {};
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

namespace strategy {
namespace {

/// The plans of strategies, each made once it is needed.
class Weighing {
 public:
  /// Of plans that are made, the best and those within `times` the least time are kept, and with them csr's: others may
  /// hold much memory.
  Weighing(const std::vector<Strategy>& all, const CsrView& a, const PlanOptions& options, double times)
      : a_(a),
        options_(options),
        times_(times),
        by_time_(options.aim.optimize == Objective::time),
        csr_bytes_(spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type())) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(strategies_),
                 [&](const Strategy& s) { return is_weighed(s, a, options.aim) || s.name == "csr"; });
    options_.only_own = true;
    if (!options_.values) options_.values = ValueTable::count(a, options.threads);
    if (by_time_) x_ = x_sectors(a, options.threads, profile_of(options.aim).x_caches);
    made_.resize(strategies_.size());
    plans_.resize(strategies_.size());
    for (const Strategy& s : strategies_) candidates_.push_back({s.name});
    std::optional<Survey> survey;
    for (std::size_t i = 0; i < strategies_.size(); ++i) {
      const Strategy& s = strategies_[i];
      if (!s.least || !settings_of(s, options.settings).empty()) {
        make(i);
        continue;
      }
      if (!survey) {
        survey = survey_of(a, options_.values, options.threads);
        survey->fewest_bytes = !by_time_;
        survey->device = profile_of(options.aim).device;
      }
      const Least least = s.least(*survey);
      candidates_[i].device_bytes = least.device_bytes;
      candidates_[i].seconds = seconds_of(work_of(*survey, least, x_));
    }
  }

  /// The best. A plan need not be made if it is not the best even with the least that it may take.
  Choice make_best() {
    Choice choice = choose(candidates_, csr_bytes_, options_.aim.optimize);
    for (; !made_[choice.index]; choice = choose(candidates_, csr_bytes_, options_.aim.optimize)) make(choice.index);
    return choice;
  }

  /// The place of csr, once it is made; none if it was refused.
  [[nodiscard]] std::optional<std::size_t> csr() const {
    for (std::size_t i = 0; i < strategies_.size(); ++i)
      if (strategies_[i].name == "csr" && plans_[i]) return i;
    return {};
  }

  /// Those within `times` the least time, by their time, once the best is made. Others are not made.
  std::vector<std::size_t> make_near() {
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < strategies_.size(); ++i)
      if (!made_[i] && is_near(i)) make(i);
    for (std::size_t i = 0; i < strategies_.size(); ++i)
      if (made_[i] && is_near(i)) near.push_back(i);
    std::stable_sort(near.begin(), near.end(),
                     [this](std::size_t i, std::size_t j) { return candidates_[i].seconds < candidates_[j].seconds; });
    return near;
  }

  [[nodiscard]] double seconds(std::size_t i) const { return candidates_[i].seconds; }
  Plan take(std::size_t i) { return std::move(plans_[i].value()); }

 private:
  [[nodiscard]] double seconds_of(const std::vector<Counter>& work) const {
    return by_time_ ? predicted_seconds(work, profile_of(options_.aim)) : 0.0;
  }

  /// Ties go to the first.
  [[nodiscard]] std::size_t better_of(std::size_t i, std::size_t j) const {
    const std::size_t first = std::min(i, j), last = std::max(i, j);
    const std::array two{candidates_[first], candidates_[last]};
    return choose(two, csr_bytes_, options_.aim.optimize).index == 0 ? first : last;
  }

  [[nodiscard]] bool may_be_taken(std::size_t i) const {
    return !candidates_[i].fill_reads_x && !too_large(candidates_[i].device_bytes, csr_bytes_);
  }
  [[nodiscard]] bool is_near(std::size_t i) const {
    return may_be_taken(i) && candidates_[i].seconds <= times_ * least_seconds_;
  }

  void make(std::size_t i) {
    const auto done = static_cast<std::uint64_t>(std::count(made_.begin(), made_.end(), true));
    report_progress(options_.progress, "plan " + strategies_[i].name, done, strategies_.size());
    made_[i] = true;
    Candidate& candidate = candidates_[i];
    try {
      Plan plan = strategies_[i].plan(a_, options_);
      if (std::optional<Plan> harmless = plan_without_fill(strategies_[i], plan, a_, options_))
        plan = std::move(*harmless);
      candidate.device_bytes = plan.device_bytes();
      candidate.seconds = seconds_of(work_of(plan, a_.rows(), x_));
      candidate.fill_reads_x = plan.fill_reads_x() || !is_weighed(strategies_[i], a_, options_.aim);
      plans_[i] = std::move(plan);
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;
      candidate = {strategies_[i].name, ~std::uint64_t{0}, std::numeric_limits<double>::infinity(), true};
      return;
    }
    if (may_be_taken(i)) least_seconds_ = std::min(least_seconds_, candidate.seconds);
    if (!best_ || better_of(i, *best_) == i) best_ = i;
    for (std::size_t j = 0; j < plans_.size(); ++j)
      if (j != *best_ && (times_ == 0 || !(is_near(j) || strategies_[j].name == "csr"))) plans_[j].reset();
  }

  CsrView a_;
  PlanOptions options_;
  double times_;
  bool by_time_;
  std::uint64_t csr_bytes_;
  XSectors x_;
  std::vector<Strategy> strategies_;
  std::vector<Candidate> candidates_;  ///< what each plan takes, or while it is not made, at least
  std::vector<bool> made_;
  std::vector<std::optional<Plan>> plans_;
  std::optional<std::size_t> best_;  ///< of those that are made
  double least_seconds_ = std::numeric_limits<double>::infinity();
};

Plan plan_best(const std::vector<Strategy>& all, const CsrView& a, const PlanOptions& options) {
  Weighing weighing(all, a, options, 0);
  const Choice choice = weighing.make_best();
  Plan plan = weighing.take(choice.index);
  plan.reason = fmt::format("{}{}{}", choice.reason, plan.made_with_text(), weighing_text(a));
  plan.beside_csr = choice.beside_csr;
  return plan;
}

}  // namespace

std::vector<WeighedPlan> plans_within(double times, std::size_t most, const CsrView& a, const PlanOptions& options) {
  Weighing weighing({strategies().begin(), strategies().end()}, a, options, times);
  const std::size_t best = weighing.make_best().index;
  std::vector<std::size_t> order = weighing.make_near();
  order.erase(std::remove(order.begin(), order.end(), best), order.end());
  order.insert(order.begin(), best);
  order.resize(std::min(most, order.size()));
  if (const auto csr = weighing.csr(); csr && std::find(order.begin(), order.end(), *csr) == order.end()) {
    if (order.size() == most) order.pop_back();
    order.push_back(*csr);
  }
  std::vector<WeighedPlan> plans;
  plans.reserve(order.size());
  for (const std::size_t i : order) plans.push_back({weighing.take(i), weighing.seconds(i)});
  return plans;
}

Strategy choose_best(std::vector<Strategy> others) {
  std::vector<Setting> settings;
  for (const Strategy& s : others)
    if (!s.by_name_only) settings.insert(settings.end(), s.settings.begin(), s.settings.end());
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
