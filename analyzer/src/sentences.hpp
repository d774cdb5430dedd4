#pragma once
/// What reports say in words, as text and as HTML.

#include <cstdint>
#include <string>
#include <vector>

#include "spmvpack/analyzer/report.hpp"

namespace spmvpack::analyzer {

/// The share of a whole; only all and nothing are shown as 100 % and 0 %.
std::string percent(std::uint64_t part, std::uint64_t whole);
/// From 0 to 1, such as "0.00123 %".
std::string share_text(double share);

std::string number_text(double number);
/// "-" without nonzeros.
std::string per_nonzero(std::uint64_t bytes, std::uint64_t nnz);

/// Whether an update of a matrix that is to be updatable may be refused in this layout.
bool may_refuse_zeros(const Report& report, const LayoutCost& cost);

/// When encoding has paid for itself, a line; empty where that is not known.
std::string payback_text(const Report& report);
/// Why the choice saves hardly any bytes, and what would save more, in lines; empty if it saves some.
std::string sparing_text(const Report& report);

/// What it costs that values can be replaced, a sentence in two lines; empty unless it was asked for.
std::string updatable_text(const Report& report);

/// That predictions are of real values and no GPU takes others, a line; empty if the matrix is real.
std::string complex_text(const Report& report);

std::string symmetry_text(const Structure& s);
/// How many values are distinct.
std::string distinct_text(const Structure& s);

/// The recommended layout comes first, the others by what auto minimises. A summary leaves out the reproductions of
/// papers, unless one is recommended.
std::vector<const LayoutCost*> shown_layouts(const Report& report, Detail detail);

}  // namespace spmvpack::analyzer
