#include "spmvpack/container/layouts/coo.hpp"

#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace coo_plans {
namespace {

using namespace spmvpack::layouts::coo;  // what the bytes mean

PartPlan plan(const PartMatrix& part, const PlanOptions& /*options*/) {
  PartPlan plan = begin_plan(layout, part);
  const auto fill_rows = [part](std::uint64_t begin, std::span<std::byte> out) {
    if (out.empty()) return;
    std::uint64_t row = part.a.row_of(begin / 4);
    compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t k) {
      while (part.a.row_ptr(row + 1) <= k) ++row;
      return static_cast<std::uint32_t>(row);
    });
  };
  plan.sections.push_back(section(plan, sections[0], fill_rows));
  plan.sections.push_back(section(plan, sections[1], copy_from(part.a.col_idx(), part.owner)));
  plan.sections.push_back(section(plan, sections[2], copy_from(part.a.value_bytes(), part.owner)));
  share_by_section(plan);
  plan.work = {{"coo.multiplies", 1}, {"coo.entries", part.a.nnz()}, {"coo.rows", part.a.rows()}};
  return plan;
}

}  // namespace
}  // namespace coo_plans

extern const LayoutEncoder coo{"coo",
                               "coordinates: row, column and value of every entry",
                               "nearly all rows empty; otherwise larger than csr",
                               {},
                               coo_plans::plan};

}  // namespace spmvpack::encoder::layouts
