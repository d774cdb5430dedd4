#pragma once
// `auto` on the device: encoder's rule among the layouts that have passes, by the same work at the same prices.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "choice/compare.hpp"
#include "choice/survey.hpp"
#include "choice/x_traffic.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/weigh.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::gpu_encoder {

template <class Execution>
encoder::XSectors x_sectors_of(const Execution& run, const Csr& a, const encoder::Aim& aim) {
  return encoder::x_sectors(a.cols, a.type, encoder::profile_of(aim).x_caches,
                            [&](const encoder::XCache& cache) { return x_traffic::x_lines_loaded(run, a, cache); });
}

/// The search of encoder's `auto`. A layout is not planned if the least that it may take is not the best; of those that
/// are, the plan of the best so far is kept.
template <class Execution>
class Weighing {
 public:
  Weighing(const Execution& run, const Csr& a, const PartOptions& options)
      : run_(run), a_(a), options_(options), by_{sizes_of(a), &options.plan} {
    const encoder::Aim& aim = options.plan.aim;
    by_.survey = survey_of(run, a, options.plan.updatable);
    by_.survey.fewest_bytes = aim.optimize == encoder::Objective::bytes;
    by_.survey.device = encoder::profile_of(aim).device;
    if (aim.optimize == encoder::Objective::time) by_.x = x_sectors_of(run, a, aim);
    const auto layouts = all_layouts<Execution>();
    for (const encoder::Strategy& strategy : encoder::strategies()) {
      if (!is_planned(strategy, by_)) continue;
      const auto found = std::find_if(layouts.begin(), layouts.end(), [&](auto& l) { return l.name == strategy.name; });
      if (found == layouts.end()) {
        left_out_.push_back(&strategy);
        continue;
      }
      const auto least = least_of(strategy, by_);
      strategies_.push_back(&strategy);
      layouts_.push_back(*found);
      candidates_.push_back(least.value_or(encoder::Candidate{strategy.name}));
      made_.push_back(false);
      if (!least) make(made_.size() - 1);
    }
  }

  EncodedPart encode(DeviceChoice& said) {
    const encoder::Choice choice = encoder::choose_by_making(
        candidates_, made_, csr_bytes_of(by_), options_.plan.aim.optimize, [this](std::size_t i) { make(i); });
    if (best_ != choice.index) refuse();
    said = choice_of(choice, candidates_, left_out_, by_);
    for (const auto& [strategy, refusal] : refusals_) said.refused.push_back({strategy->name, refusal.what()});
    return plan_.write();
  }

 private:
  void make(std::size_t i) {
    made_[i] = true;
    try {
      PlannedPart planned = layouts_[i].plan(run_, a_, options_);
      candidates_[i] = candidate_of(*strategies_[i], std::move(planned.plan), by_);
      if (best_ && !takes_over(i)) return;
      best_ = i;
      plan_ = std::move(planned);
    } catch (const Error& e) {
      if (!encoder::is_refusal(e)) throw;
      refusals_.emplace_back(strategies_[i], e);
      candidates_[i] = {strategies_[i]->name, ~std::uint64_t{0}, std::numeric_limits<double>::infinity(), true};
    }
  }
  /// Whether it is better than the best so far; of equals the first is.
  [[nodiscard]] bool takes_over(std::size_t i) const {
    return i > *best_ ? is_better(candidates_[i], candidates_[*best_], by_)
                      : !is_better(candidates_[*best_], candidates_[i], by_);
  }
  [[noreturn]] void refuse() const {
    if (refusals_.empty()) throw Error(errc::internal, "auto has no layout to choose from");
    const Error& first = refusals_.front().second;  // csr's, which is the first that is planned
    throw Error(first.code(), "no layout on the device takes the matrix; " + first.message(), first.where(),
                first.remedy());
  }

  const Execution& run_;
  const Csr& a_;
  const PartOptions& options_;
  Yardstick by_;
  std::vector<const encoder::Strategy*> strategies_, left_out_;
  std::vector<LayoutOnDevice<Execution>> layouts_;
  std::vector<encoder::Candidate> candidates_;
  std::vector<bool> made_;
  std::optional<std::size_t> best_;  ///< of those that are made
  PlannedPart plan_;                 ///< of this one
  std::vector<std::pair<const encoder::Strategy*, Error>> refusals_;
};

}  // namespace spmvpack::gpu_encoder
