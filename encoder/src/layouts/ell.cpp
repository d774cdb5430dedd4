#include "spmvpack/container/layouts/ell.hpp"

#include "layouts/ell_work.hpp"
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
  const std::uint64_t width = a.longest_row(options.threads), slots = checked_mul(a.rows(), width, "slots of ell");
  *find_count(plan.info, "col_idx") = slots;
  add_sections(plan, layout.sections);
  describe_multiply(plan, counts_of(a, slots), device_of(options));
  plan.counters = {main_choice("width", width)};
  return plan;
}

void fill(const PartPlan& /*plan*/, const CsrView& a, std::size_t section, std::uint64_t begin,
          std::span<std::byte> out) {
  const auto cursor = [rows = a.rows()](std::uint64_t slot) { return Cursor{rows, {slot % rows, slot / rows}}; };
  if (section == 0)
    fill_columns(a, {}, cursor, begin, out);
  else
    fill_values(a, {}, cursor, begin, out);
}

void fill_ellpack_r(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin,
                    std::span<std::byte> out) {
  if (section != 0) return fill(plan, a, section - 1, begin, out);
  compute_elements<std::uint32_t>(begin, out,
                                  [&](std::uint64_t r) { return static_cast<std::uint32_t>(a.row_length(r)); });
}

PartPlan plan_ell(const PartMatrix& part, const PlanOptions& options) { return plan_of(layout, part, options); }

/// published.bytes: of Kreutzer et al., section 2.1, where rows are padded to whole warps.
PartPlan plan_ellpack_r(const PartMatrix& part, const PlanOptions& options) {
  PartPlan plan = plan_of(spmvpack::layouts::ellpack_r::layout, part, options);
  constexpr std::uint64_t warp = 32, length = 4, column = 4;
  const std::uint64_t rows = div_up(part.a.rows(), warp) * warp, width = part.a.longest_row(options.threads);
  plan.counters.emplace_back("published.bytes", rows * (width * (column + size_of(part.a.value_type())) + length));
  plan.work.emplace_back(ellpack_r_plans::Work::lengths, 1);
  return plan;
}

}  // namespace

void describe_multiply(PartPlan& plan, const SlotCounts& counts, const Device& device) {
  plan.work = work_of<Work>(describe_slots(plan, counts, Steps::of_all_rows, false, device));
  plan.columns = columns_of<Work>(counts.entries);
}

}  // namespace ell_plans

extern const LayoutEncoder ell{"ell",
                               "ELLPACK: every row padded to the longest, neighbouring rows side by side",
                               "rows of one length",
                               {},
                               ell_plans::plan_ell,
                               ell_plans::fill,
                               {.update_multiplies = 5}};
extern const LayoutEncoder ellpack_r{.name = "ellpack_r",
                                     .summary = "ELLPACK-R: ell and the length of every row",
                                     .suits = "rows of nearly one length",
                                     .settings = {},
                                     .plan = ell_plans::plan_ellpack_r,
                                     .fill = ell_plans::fill_ellpack_r,
                                     .traits = {.reproduction = true}};

}  // namespace spmvpack::encoder::layouts
