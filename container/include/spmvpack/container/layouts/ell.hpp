#pragma once
/// Layout `ell`: ELLPACK, every row padded to the longest (Bell, Garland: Efficient Sparse Matrix-Vector Multiplication
/// on CUDA, NVR-2008-004, section 3.2; Kreutzer et al.: Sparse Matrix-vector Multiplication on GPGPU Clusters, section
/// 2.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::layouts::ell {

enum Param : std::uint8_t { param_width = 0 };  ///< entries of the longest row
inline constexpr std::array<std::string_view, 1> parameters{"width"};

/// Slot `step` of row r is element step * rows + r: neighbouring rows lie side by side.
inline std::uint64_t slots_of(const PartInfo& part) {
  return checked_mul(part.rows.count, part.params[param_width], "slots of ell");
}
inline constexpr std::array<SectionDescription, 2> sections{{
    {"col_idx", Element::u32, slots_of},
    {"values", Element::value, slots_of},
}};

inline EllGeometry geometry(const PartView& part) { return {part.rows(), part.info().params[param_width]}; }

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::ell
