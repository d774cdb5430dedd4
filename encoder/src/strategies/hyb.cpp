#include <algorithm>

#include "layouts/layouts.hpp"
#include "strategies/lazy_part.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {
namespace {

/// CUSP's rule (Bell, Garland; cusp/detail/format_utils, compute_optimal_entries_per_row with its default arguments): a
/// column of ELL is kept while it is filled by at least 4,096 rows and by a third of all rows, as ELL is taken to be
/// three times as fast as COO.
std::uint64_t ell_width(const CsrView& a, std::uint64_t longest) {
  constexpr std::uint64_t relative_speed = 3, breakeven = 4096;
  CountedVector<std::uint64_t> rows(longest + 2);  // of each length
  for (std::uint64_t r = 0; r < a.rows(); ++r) ++rows[a.row_length(r)];
  std::uint64_t width = 0, filled = a.rows() - rows[0];
  while (filled >= breakeven && filled * relative_speed >= a.rows()) filled -= rows[++width];
  return width;
}

/// The entries of each row from `first` on, at most `most`, as a part over all rows and columns.
Cut slice_of_rows(const CsrView& a, std::uint64_t first, std::uint64_t most) {
  Cut part{PartIndices::all(a.rows()), PartIndices::all(a.cols()), Array<std::uint64_t>(a.rows() + 1), first};
  part.row_ptr[0] = 0;
  for (std::uint64_t r = 0; r < a.rows(); ++r) {
    const std::uint64_t length = a.row_length(r);
    part.row_ptr[r + 1] = part.row_ptr[r] + (length > first ? std::min(length - first, most) : 0);
  }
  return part;
}

Plan plan(const CsrView& a, const PlanOptions& options) {
  Plan plan;
  plan.strategy = "hyb";
  const std::uint64_t longest = a.longest_row(options.threads);
  const std::optional<std::uint64_t> chosen = layouts::read_setting(options, "hyb.width", 0, max_dimension, "auto");
  const std::uint64_t width = chosen ? std::min(*chosen, longest) : ell_width(a, longest);
  const auto add_whole = [&](const LayoutEncoder& layout) {
    plan.parts.push_back(layout.plan(PartMatrix::whole(a, options), options));
  };
  if (width == longest) {
    add_whole(layouts::ell);
  } else if (width == 0) {
    add_whole(layouts::coo);
  } else {
    plan.parts.push_back(plan_part(layouts::ell, slice_of_rows(a, 0, width), a.value_type(), options));
    plan.parts.push_back(plan_part(layouts::coo, slice_of_rows(a, width, longest), a.value_type(), options));
  }
  return plan;
}

}  // namespace

Strategy hyb() {
  return {.name = "hyb",
          .summary = "ell for the columns that a third of the rows fill, coo for the rest",
          .suits = "rows of nearly one length but for a few long ones",
          .settings = {{"hyb.width", "auto, or 0 and more",
                        "entries of a row in ell; auto: as many as a third of the rows have"}},
          .plan = plan,
          .traits = {.reproduction = true}};
}

}  // namespace spmvpack::encoder::strategy
