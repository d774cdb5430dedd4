#include "spmvpack/container/layouts/coo.hpp"

#include "layouts/coo_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/launch_rules/csr.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"

namespace spmvpack::encoder::layouts {
namespace coo_plans {
namespace {

using namespace spmvpack::layouts::coo;  // what the bytes mean

namespace host_tasks = launch_rules::host_tasks;

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  PartPlan plan = begin_plan(layout, part);
  add_sections(plan, sections);
  share_by_section(plan);
  const std::uint64_t rows = part.a.rows(), entries = part.a.nnz();
  plan.work = {{Work::multiplies, 1},
               {Work::entries, entries},
               {Work::rows, rows},
               {Work::long_rows, has_long_row(part.a.longest_row(options.threads), launch_rules::csr::chunk_entries)},
               {Work::alone, host_tasks::alone(entries, rows, host_tasks::coo_rows)}};
  return plan;
}

void fill(const PartPlan& /*plan*/, const CsrView& a, std::size_t section, std::uint64_t begin,
          std::span<std::byte> out) {
  if (section != 0) return copy_from(section == 1 ? a.col_idx() : a.value_bytes(), begin, out);
  if (out.empty()) return;
  std::uint64_t row = a.row_of(begin / 4);
  compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t k) {
    while (a.row_ptr(row + 1) <= k) ++row;
    return static_cast<std::uint32_t>(row);
  });
}

}  // namespace
}  // namespace coo_plans

extern const LayoutEncoder coo{
    .name = "coo",
    .summary = "coordinates: row, column and value of every entry",
    .suits = "nearly all rows empty; otherwise larger than csr",
    .settings = {},
    .plan = coo_plans::plan,
    .fill = coo_plans::fill,
    .traits = {.update_multiplies = 1, .takes_complex = true, .empty_rows = EmptyRows::in_a_pass}};

}  // namespace spmvpack::encoder::layouts
