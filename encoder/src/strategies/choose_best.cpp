#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {
namespace {

bool is_csr(const Strategy& strategy) { return strategy.name == layouts::csr.name; }

/// The plans of strategies, each made once it is needed: a search for what choose() would take of all.
class Weighing {
 public:
  /// Of plans that are made, the best and those within `times` the least time are kept, and with them csr's: others may
  /// hold much memory.
  Weighing(const std::vector<Strategy>& all, const CsrView& a, const PlanOptions& options, double times)
      : a_(a),
        options_(options),
        times_(times),
        csr_bytes_(spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type())) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(strategies_),
                 [&](const Strategy& s) { return is_weighed(s, a, options.aim) || is_csr(s); });
    options_.only_own = true;
    options_.values = layouts::values_of(a, options_.values, options_, true);
    if (options_.aim.optimize == Objective::time) x_ = x_sectors(a, options.threads, profile_of(options.aim).x_caches);
    made_.resize(strategies_.size());
    plans_.resize(strategies_.size());
    for (const Strategy& s : strategies_) candidates_.push_back({s.name});
    std::optional<Survey> survey;
    for (std::size_t i = 0; i < strategies_.size(); ++i) {
      const Strategy& s = strategies_[i];
      if (!s.traits.least || !settings_of(s, options.settings).empty()) {
        make(i);
        continue;
      }
      if (!survey) {
        survey = survey_of(a, options_.values, options.threads);
        survey->fewest_bytes = options_.aim.optimize == Objective::bytes;
        survey->device = profile_of(options.aim).device;
      }
      const Least least = s.traits.least(*survey);
      candidates_[i].device_bytes = least.device_bytes;
      if (x_)
        candidates_[i].seconds =
            predicted_seconds(work_of(*survey, least, *x_, options_.aim), profile_of(options_.aim));
    }
  }

  /// The best. A plan need not be made if it is not the best even with the least that it may take. Throws the first
  /// refusal, csr's if there is one, if all refuse the matrix.
  Choice make_best() {
    Choice choice =
        choose_by_making(candidates_, made_, csr_bytes_, options_.aim.optimize, [this](std::size_t i) { make(i); });
    if (!plans_[choice.index]) refuse();  // what is refused is chosen last, so that all are made
    return choice;
  }

  /// The place of csr, once it is made; none if it was refused.
  [[nodiscard]] std::optional<std::size_t> csr() const {
    for (std::size_t i = 0; i < strategies_.size(); ++i)
      if (is_csr(strategies_[i]) && plans_[i]) return i;
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

  PricedPlan take(std::size_t i) { return std::move(plans_[i].value()); }

 private:
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

  [[noreturn]] void refuse() const {
    if (!refusal_) throw Error(errc::internal, "auto has no layout to choose from");
    throw Error(refusal_->code(), "no layout takes the matrix; " + refusal_->message(), refusal_->where(),
                refusal_->remedy());
  }

  void make(std::size_t i) {
    const auto done = static_cast<std::uint64_t>(std::count(made_.begin(), made_.end(), true));
    report_progress(options_.progress, "plan " + strategies_[i].name, done, strategies_.size());
    made_[i] = true;
    Candidate& candidate = candidates_[i];
    try {
      Weighed weighed = weigh(strategies_[i], a_, options_, x_);
      candidate = weighed.candidate;
      plans_[i] = std::move(weighed.taken());
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;
      if (!refusal_ || is_csr(strategies_[i])) refusal_ = e;
      candidate = {strategies_[i].name, ~std::uint64_t{0}, std::numeric_limits<double>::infinity(), true};
      return;
    }
    if (may_be_taken(i)) least_seconds_ = std::min(least_seconds_, candidate.seconds);
    if (!best_ || better_of(i, *best_) == i) best_ = i;
    for (std::size_t j = 0; j < plans_.size(); ++j)
      if (j != *best_ && (times_ == 0 || !(is_near(j) || is_csr(strategies_[j])))) plans_[j].reset();
  }

  CsrView a_;
  PlanOptions options_;
  double times_;
  std::uint64_t csr_bytes_;
  std::optional<XSectors> x_;  ///< none if bytes are what is minimised
  std::vector<Strategy> strategies_;
  std::vector<Candidate> candidates_;  ///< what each plan takes, or while it is not made, at least
  std::vector<bool> made_;
  std::vector<std::optional<PricedPlan>> plans_;
  std::optional<std::size_t> best_;  ///< of those that are made
  std::optional<Error> refusal_;     ///< the one to name if all refuse the matrix
  double least_seconds_ = std::numeric_limits<double>::infinity();
};

Plan plan_best(const std::vector<Strategy>& all, const CsrView& a, const PlanOptions& options) {
  Weighing weighing(all, a, options, 0);
  const Choice choice = weighing.make_best();
  Plan plan = weighing.take(choice.index).plan;
  plan.reason = reason_text(choice, plan, a);
  plan.beside_csr = choice.beside_csr;
  return plan;
}

}  // namespace

std::vector<PricedPlan> plans_within(double times, std::size_t most, const CsrView& a, const PlanOptions& options) {
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
  std::vector<PricedPlan> plans;
  plans.reserve(order.size());
  for (const std::size_t i : order) plans.push_back(weighing.take(i));
  return plans;
}

Strategy choose_best(std::vector<Strategy> others) {
  std::vector<Setting> settings;
  for (const Strategy& s : others)
    if (!s.traits.by_name_only) settings.insert(settings.end(), s.settings.begin(), s.settings.end());
  return {.name = "auto",
          .summary = "the layout with the lowest predicted time, or the fewest bytes",
          .suits = "what is predicted fastest, or smallest with --optimize bytes",
          .settings = std::move(settings),
          .plan = [others = std::move(others)](const CsrView& a,
                                               const PlanOptions& options) { return plan_best(others, a, options); },
          .chooses = true,
          .traits = {.aims = true, .takes_complex = true}};
}

}  // namespace spmvpack::encoder::strategy
