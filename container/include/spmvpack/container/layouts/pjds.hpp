#pragma once
/// Layout `pjds`: padded jagged diagonals (Kreutzer et al.: Sparse Matrix-vector Multiplication on GPGPU Clusters,
/// section 2.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::layouts::pjds {

enum Param : std::uint8_t {
  param_width = 0,  ///< entries of the longest row
  param_slots = 1,
  param_basis = 2  ///< 1: rows and columns are numbered alike, and vectors can stay in that order
};
inline constexpr std::array<std::string_view, 3> parameters{"width", "slots", "basis"};

inline std::uint64_t slots_of(const PartInfo& part) { return part.params[param_slots]; }
inline constexpr std::array<SectionDescription, 3> sections{{
    {"col_start", Element::u64,
     [](const PartInfo& part) { return checked_add(part.params[param_width], 1, "width of pjds"); }},
    {"col_idx", Element::u32, slots_of},
    {"values", Element::value, slots_of},
}};

/// Of a part in any memory.
inline PjdsGeometry geometry(const PartView& part) {
  return {part.get<std::uint64_t>("col_start").data(), part.info().params[param_width]};
}

/// Where the columns of a row rise: the matrix's columns by local one if the basis is permuted, else null.
inline const std::uint32_t* column_order(const PartView& part) {
  return part.info().params[param_basis] != 0 ? part.get<std::uint32_t>("col_map").data() : nullptr;
}

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::pjds
