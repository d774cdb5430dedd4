#pragma once
/// Layout `sell`: SELL-C-sigma without the sorting, which is the part's list of rows (Kreutzer, Hager, Wellein, Fehske,
/// Bishop: A Unified Sparse Matrix Data Format for Efficient General Sparse Matrix-Vector Multiplication on Modern
/// Processors with Wide SIMD Units, SIAM J. Sci. Comput. 36(5), 2014). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::layouts::sell {

enum Param : std::uint8_t { param_slice_rows = 0 };  ///< C
inline constexpr std::array<std::string_view, 1> parameters{"slice_rows"};
enum Section : std::uint8_t { section_col_idx = 1, section_values = 2 };  ///< places in `sections`
inline constexpr std::uint64_t max_slice_rows = 65536;

/// Steps count in 32 bits: 2^32 of them hold 2^37 slots with slices of 32 rows.
inline constexpr std::uint64_t max_steps = (std::uint64_t{1} << 32) - 1;

/// 0 slice rows, which no valid part has, count as 1.
constexpr std::uint64_t slices_of(const PartInfo& part) noexcept {
  const std::uint64_t slice_rows = part.params[param_slice_rows];
  return div_up(part.rows.count, slice_rows == 0 ? 1 : slice_rows);
}
constexpr std::uint64_t slots_of(const PartInfo& part) noexcept { return part.counts[section_col_idx]; }
/// Slots of a lane, over all slices.
constexpr std::uint64_t steps_of(const PartInfo& part) noexcept {
  const std::uint64_t slice_rows = part.params[param_slice_rows];
  return slots_of(part) / (slice_rows == 0 ? 1 : slice_rows);
}
inline constexpr std::array<SectionDescription, 3> sections{{
    {"slice_ptr", Element::u32, [](const PartInfo& part) { return slices_of(part) + 1; }},
    {"col_idx", Element::u32},
    {"values", Element::value, slots_of},
}};

/// The geometry of a part in any memory.
inline SellGeometry geometry(const PartView& part) {
  return {part.get<std::uint32_t>("slice_ptr").data(),
          static_cast<std::uint32_t>(part.info().params[param_slice_rows])};
}

template <class T>
struct Entries : PaddedEntries<T, SellGeometry, section_values> {
  static Entries of(const PartView& part) {
    return {{geometry(part), part.get<std::uint32_t>("col_idx").data(), part.rows()}};
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::sell
