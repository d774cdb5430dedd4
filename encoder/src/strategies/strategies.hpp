#pragma once
// Factories of strategies, for the registry.

#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::strategy {

/// Encodes the whole matrix as one part in this layout.
Strategy one_layout(const LayoutEncoder& layout);
/// `auto`: applies choose() to the others.
Strategy choose_best(std::vector<Strategy> others);

}  // namespace spmvpack::encoder::strategy
