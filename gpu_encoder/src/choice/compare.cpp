#include "choice/compare.hpp"

#include <algorithm>
#include <array>

#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::gpu_encoder {

bool is_planned(const encoder::Strategy& strategy, const Yardstick& by) {
  return strategy.name == layouts::csr::layout.name || encoder::is_weighed(strategy, by.sizes, by.options->aim);
}

std::optional<encoder::Candidate> least_of(const encoder::Strategy& strategy, const Yardstick& by) {
  if (strategy.traits.least == nullptr || !settings_of(strategy, by.options->settings).empty()) return {};
  const encoder::Least least = strategy.traits.least(by.survey);
  encoder::Candidate candidate{strategy.name, least.device_bytes};
  const encoder::Aim& aim = by.options->aim;
  if (by.x) candidate.seconds = predicted_seconds(work_of(by.survey, least, *by.x, aim), encoder::profile_of(aim));
  return candidate;
}

encoder::Candidate candidate_of(const encoder::Strategy& strategy, encoder::PartPlan part, const Yardstick& by) {
  encoder::Plan plan;
  plan.strategy = strategy.name;
  plan.parts.push_back(std::move(part));
  encoder::Candidate candidate{strategy.name, plan.device_bytes()};
  const encoder::Aim& aim = by.options->aim;
  candidate.fill_reads_x = is_left_out(plan, *by.options) || !encoder::is_weighed(strategy, by.sizes, aim);
  if (by.x) candidate.seconds = price(std::move(plan), by.sizes.rows(), *by.x, aim).seconds;
  return candidate;
}

std::uint64_t csr_bytes_of(const Yardstick& by) {
  return layouts::csr::device_bytes(by.sizes.rows(), by.sizes.nnz(), by.sizes.value_type());
}

bool is_better(const encoder::Candidate& other, const encoder::Candidate& best, const Yardstick& by) {
  return encoder::choose(std::array{best, other}, csr_bytes_of(by), by.options->aim.optimize).index == 1;
}

DeviceChoice choice_of(const encoder::Choice& choice, const std::vector<encoder::Candidate>& candidates,
                       const std::vector<const encoder::Strategy*>& left_out, const Yardstick& by) {
  DeviceChoice said;
  said.layout = candidates[choice.index].strategy;
  said.reason = choice.reason + std::string(encoder::weighing_text(by.sizes));
  if (by.x) said.seconds = candidates[choice.index].seconds;
  for (const encoder::Strategy* const strategy : left_out) {
    LeftOut& left = said.left_out.emplace_back();
    left.strategy = strategy->name;
    if (const auto least = least_of(*strategy, by)) {
      left.least_bytes = least->device_bytes;
      if (by.x) left.least_seconds = least->seconds;
    }
  }
  std::stable_sort(said.left_out.begin(), said.left_out.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.least_seconds < b.least_seconds; });
  return said;
}

}  // namespace spmvpack::gpu_encoder
