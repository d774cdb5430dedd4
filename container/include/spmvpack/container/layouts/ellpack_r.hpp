#pragma once
/// Layout `ellpack_r`: ELLPACK-R, ell with a list of row lengths (Vazquez, Fernandez, Garzon: A New Approach for Sparse
/// Matrix Vector Product on NVIDIA GPUs, 2011; Kreutzer et al.: Sparse Matrix-vector Multiplication on GPGPU Clusters,
/// section 2.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/layouts/ell.hpp"

namespace spmvpack::layouts::ellpack_r {

enum Section : std::uint8_t { section_col_idx = 1, section_values = 2 };  ///< places in `sections`

constexpr std::uint64_t slots_of(const PartInfo& part) noexcept { return part.counts[section_col_idx]; }
using ell::width_of;

inline constexpr std::array<SectionDescription, 3> sections{{
    {"row_len", Element::u32, rows_of},
    {"col_idx", Element::u32},
    {"values", Element::value, slots_of},
}};

/// The geometry of a part in any memory.
inline EllpackRGeometry geometry(const PartView& part) {
  return {part.get<std::uint32_t>("row_len").data(), part.rows()};
}

template <class T>
struct Entries : PaddedEntries<T, EllpackRGeometry, section_values> {
  static Entries of(const PartView& part) {
    return {{geometry(part), part.get<std::uint32_t>("col_idx").data(), part.rows()}};
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::ellpack_r
