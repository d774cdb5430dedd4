#include "spmvpack/container/layouts/ell.hpp"

#include "layouts/padded_rows.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"

namespace spmvpack::encoder::layouts {
namespace ell_plans {
namespace {

using namespace spmvpack::layouts::ell;  // what the bytes mean

/// Slots in file order: slot 0 of every row, slot 1 of every row, ...
struct Cursor {
  std::uint64_t rows;
  SlotPlace at;

  [[nodiscard]] SlotPlace place() const { return at; }
  void next() {
    if (++at.row == rows) at = {0, at.step + 1};
  }
};

/// ell and ellpack_r, which has the lengths of the rows besides.
PartPlan plan_of(const spmvpack::Layout& layout, const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_width] = a.longest_row(options.threads);
  const SectionDescription& first = layout.sections[0];
  if (first.name == "row_len")
    plan.sections.push_back(section(plan, first, computed<std::uint32_t>([part](std::uint64_t r) {
                                      return static_cast<std::uint32_t>(part.a.row_length(r));
                                    })));
  add_slots(
      plan, {part, {}}, slots_of(plan.info), layout.sections,
      [rows = a.rows()](std::uint64_t slot) {
        return Cursor{rows, {slot % rows, slot / rows}};
      },
      "ell");
  plan.counters = {{"width", plan.info.params[param_width]}};
  return plan;
}

PartPlan plan_ell(const PartMatrix& part, const PlanOptions& options) { return plan_of(layout, part, options); }

PartPlan plan_ellpack_r(const PartMatrix& part, const PlanOptions& options) {
  return plan_of(spmvpack::layouts::ellpack_r::layout, part, options);
}

}  // namespace
}  // namespace ell_plans

extern const LayoutEncoder ell{"ell",
                               "ELLPACK: every row padded to the longest, neighbouring rows side by side",
                               "rows of one length",
                               {},
                               ell_plans::plan_ell};
extern const LayoutEncoder ellpack_r{.name = "ellpack_r",
                                     .summary = "ELLPACK-R: ell and the length of every row",
                                     .suits = "rows of nearly one length",
                                     .settings = {},
                                     .plan = ell_plans::plan_ellpack_r,
                                     .reproduction = true};

}  // namespace spmvpack::encoder::layouts
