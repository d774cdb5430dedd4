#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {

Strategy one_layout(const LayoutEncoder& layout) {
  return {.name = std::string(layout.name),
          .summary = std::string(layout.summary),
          .suits = std::string(layout.suits),
          .settings = {layout.settings.begin(), layout.settings.end()},
          .least = layout.least,
          .plan =
              [layout](const CsrView& a, const PlanOptions& options) {
                Plan plan;
                plan.strategy = layout.name;
                plan.parts.push_back(layout.plan(PartMatrix::whole(a, options), options));
                return plan;
              },
          .aims = layout.aims,
          .reproduction = layout.reproduction,
          .hosts_only = layout.hosts_only,
          .without_fill = {std::string(layout.without_fill.first), std::string(layout.without_fill.second)},
          .empty_rows = layout.empty_rows};
}

}  // namespace spmvpack::encoder::strategy
