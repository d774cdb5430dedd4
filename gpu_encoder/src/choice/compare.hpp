#pragma once
// What `auto` compares on the device: candidates as encoder has them.

#include <cstdint>
#include <optional>
#include <vector>

#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/weigh.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::gpu_encoder {

/// What plans are compared by. Without `x`, bytes are what counts.
struct Yardstick {
  CsrView sizes;
  const encoder::PlanOptions* options;
  encoder::Survey survey = {};
  std::optional<encoder::XSectors> x = {};
};
/// Whether `auto` plans the layout, or would if it were on the device: csr always, as what others are compared with.
bool is_planned(const encoder::Strategy& strategy, const Yardstick& by);
/// What plans of the strategy take at least. None: nothing is known, or a setting asks for another plan.
std::optional<encoder::Candidate> least_of(const encoder::Strategy& strategy, const Yardstick& by);
/// What a planned part takes.
encoder::Candidate candidate_of(const encoder::Strategy& strategy, encoder::PartPlan part, const Yardstick& by);
/// Whether the second is better; the first if they are equal.
bool is_better(const encoder::Candidate& other, const encoder::Candidate& best, const Yardstick& by);
std::uint64_t csr_bytes_of(const Yardstick& by);
/// What is said of the choice. `left_out`: strategies without passes.
DeviceChoice choice_of(const encoder::Choice& choice, const std::vector<encoder::Candidate>& candidates,
                       const std::vector<const encoder::Strategy*>& left_out, const Yardstick& by);

}  // namespace spmvpack::gpu_encoder
