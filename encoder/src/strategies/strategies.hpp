#pragma once
// Factories of strategies, for the registry.

#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/weigh.hpp"

namespace spmvpack::encoder::strategy {

/// Encodes the whole matrix as one part in this layout, or as LayoutEncoder::plan_matrix does.
Strategy one_layout(const LayoutEncoder& layout);
/// That of pkt: a pkt part and a coo part over the same rows.
Plan plan_pkt(const CsrView& a, const PlanOptions& options);
/// An ell part and a coo part over the same rows.
Strategy hyb();
/// sell parts of segments of columns: of equal widths; of doubling widths, the densest columns first.
Strategy segmented_sell();
Strategy nus_sell();
/// Rows by their length: csell or sell, and bitflag.
Strategy split();
/// `auto`: applies choose() to the others.
Strategy choose_best(std::vector<Strategy> others);

/// The plan that `auto` takes, and those that it may take and that are predicted within `times` the least time: by that
/// time, the first `most` of them. csr is one of them, the last if it is slower: others are compared with it. Other
/// plans that cannot be among them are not made. The aim is the least time.
std::vector<PricedPlan> plans_within(double times, std::size_t most, const CsrView& a, const PlanOptions& options);

}  // namespace spmvpack::encoder::strategy
