#pragma once
// What encode() does with a Tuner.

#include <functional>

#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::encoder {

struct TunedPlan {
  Plan plan;
  Tuning tuning;
};

/// The plan that measures fastest of those that `auto` may take. `container_of`: the container of a plan. Errors:
/// errc::usage if the request is not for `auto` and the least time; if nothing could be measured, the first refusal.
TunedPlan tuned_plan(const CsrView& a, const PlanOptions& options, const EncodeRequest& request,
                     const std::function<ContainerSource(const Plan&)>& container_of);

/// What the provenance says of it.
std::vector<MeasuredLayout> measured_layouts(const Tuning& tuning);

}  // namespace spmvpack::encoder
