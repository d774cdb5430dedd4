#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {

Strategy one_layout(const LayoutEncoder& layout) {
  return {.name = std::string(layout.name),
          .summary = std::string(layout.summary),
          .suits = std::string(layout.suits),
          .settings = {layout.settings.begin(), layout.settings.end()},
          .plan =
              [layout](const CsrView& a, const PlanOptions& options) {
                if (layout.plan_matrix != nullptr) return layout.plan_matrix(a, options);
                Plan plan;
                plan.strategy = layout.name;
                plan.parts.push_back(layout.plan(PartMatrix::whole(a, options), options));
                return plan;
              },
          .traits = layout.traits};
}

}  // namespace spmvpack::encoder::strategy
