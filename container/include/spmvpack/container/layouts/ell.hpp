#pragma once
/// Layout `ell`: ELLPACK, every row padded to the longest (Bell, Garland: Efficient Sparse Matrix-Vector Multiplication
/// on CUDA, NVR-2008-004, section 3.2; Kreutzer et al.: Sparse Matrix-vector Multiplication on GPGPU Clusters, section
/// 2.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::layouts::ell {

enum Section : std::uint8_t { section_col_idx = 0, section_values = 1 };  ///< places in `sections`

/// Slot `step` of row r is element step * rows + r: neighbouring rows lie side by side.
constexpr std::uint64_t slots_of(const PartInfo& part) noexcept { return part.counts[section_col_idx]; }
inline constexpr std::array<SectionDescription, 2> sections{{
    {"col_idx", Element::u32},
    {"values", Element::value, slots_of},
}};

/// Slots of a row: entries of the longest one. Of a part of ell or ellpack_r in any memory.
inline std::uint64_t width_of(const PartView& part) {
  return part.rows() == 0 ? 0 : part.get<std::uint32_t>("col_idx").size() / part.rows();
}
inline EllGeometry geometry(const PartView& part) { return {part.rows(), width_of(part)}; }

template <class T>
struct Entries : PaddedEntries<T, EllGeometry, section_values> {
  static Entries of(const PartView& part) {
    return {{geometry(part), part.get<std::uint32_t>("col_idx").data(), part.rows()}};
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::ell
