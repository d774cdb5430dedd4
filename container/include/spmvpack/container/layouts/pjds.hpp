#pragma once
/// Layout `pjds`: padded jagged diagonals (Kreutzer et al.: Sparse Matrix-vector Multiplication on GPGPU Clusters,
/// section 2.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::layouts::pjds {

enum Param : std::uint8_t {
  param_basis = 0,      ///< 1: rows and columns are numbered alike, and vectors can stay in that order
  param_block_rows = 1  ///< b_r, the rows that are padded alike; 0 stands for `warp_rows`
};
inline constexpr std::array<std::string_view, 2> parameters{"basis", "block_rows"};
inline constexpr std::uint64_t warp_rows = 32, max_block_rows = 65536;
enum Section : std::uint8_t { section_col_start = 0, section_col_idx = 1, section_values = 2 };  ///< in `sections`

constexpr std::uint64_t slots_of(const PartInfo& part) noexcept { return part.counts[section_col_idx]; }
constexpr std::uint64_t block_rows_of(const PartInfo& part) noexcept {
  const std::uint64_t rows = part.params[param_block_rows];
  return rows == 0 ? warp_rows : rows;
}
/// Entries of the longest row.
constexpr std::uint64_t width_of(const PartInfo& part) noexcept {
  const std::uint64_t starts = part.counts[section_col_start];
  return starts == 0 ? 0 : starts - 1;
}
inline constexpr std::array<SectionDescription, 3> sections{{
    {"col_start", Element::u64},
    {"col_idx", Element::u32},
    {"values", Element::value, slots_of},
}};

/// The geometry of a part in any memory.
inline PjdsGeometry geometry(const PartView& part) {
  return {part.get<std::uint64_t>("col_start").data(), width_of(part.info()), block_rows_of(part.info())};
}

/// Where the columns of a row rise: the matrix's columns by local one if the basis is permuted, else null.
inline const std::uint32_t* column_order(const PartView& part) {
  return part.info().params[param_basis] != 0 ? part.get<std::uint32_t>("col_map").data() : nullptr;
}

template <class T>
struct Entries : PaddedEntries<T, PjdsGeometry, section_values> {
  static Entries of(const PartView& part) {
    return {{geometry(part), part.get<std::uint32_t>("col_idx").data(), part.rows()}};
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::pjds
