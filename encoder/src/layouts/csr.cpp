#include "spmvpack/container/layouts/csr.hpp"

#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using namespace spmvpack::layouts::csr;  // what the bytes mean

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_longest_row] = a.longest_row(options.threads);
  const bool wide = sections[0].type(plan.info) == format::ElementType::u64;
  const auto pointer = [part](std::uint64_t r) { return part.a.row_ptr(r); };
  plan.sections.push_back(section(
      plan, sections[0], wide ? computed<std::uint64_t>(pointer) : computed<std::uint32_t>([pointer](std::uint64_t r) {
        return static_cast<std::uint32_t>(pointer(r));
      })));
  plan.sections.push_back(section(plan, sections[1], copy_from(a.col_idx(), part.owner)));
  plan.sections.push_back(section(plan, sections[2], copy_from(a.value_bytes(), part.owner)));
  share_by_section(plan);
  plan.counters = {{"row_ptr.bits", wide ? 64U : 32U}};
  return plan;
}

}  // namespace

extern const LayoutEncoder csr{"csr", "compressed sparse row: row pointers, columns, values", {}, plan};

}  // namespace spmvpack::encoder::layouts
