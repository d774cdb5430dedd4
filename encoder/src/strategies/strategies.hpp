#pragma once
// The strategies' makers, for the registry.

#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::strategy {

/// The whole matrix as one part of this layout.
Strategy one_layout(const LayoutEncoder& layout);
/// `auto`: choose() among the others.
Strategy choose_best(std::vector<Strategy> others);

}  // namespace spmvpack::encoder::strategy
