#pragma once
// Factories of strategies, for the registry.

#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::strategy {

/// Encodes the whole matrix as one part in this layout.
Strategy one_layout(const LayoutEncoder& layout);
/// An ell part and a coo part over the same rows.
Strategy hyb();
/// sell parts of segments of columns: of equal widths; of doubling widths, the densest columns first.
Strategy segmented_sell();
Strategy nus_sell();
/// Rows by their length: csell or sell, and bitflag.
Strategy split();
/// `auto`: applies choose() to the others.
Strategy choose_best(std::vector<Strategy> others);

}  // namespace spmvpack::encoder::strategy
