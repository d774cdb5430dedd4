#pragma once
/// Layout `coo`: the row, column and value of every entry, row by row (docs/FORMAT.md, section 7). This is the
/// coordinate layout of Aliaga et al., Euro-Par 2020 Workshops, section 2.1, without padding.

#include <array>

#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts::coo {

enum Section : std::uint8_t { section_values = 2 };  ///< a place in `sections`
inline constexpr std::array<SectionDescription, 3> sections{{
    {"row_idx", Element::u32, entries_of},
    {"col_idx", Element::u32, entries_of},
    {"values", Element::value, entries_of},
}};

/// A unit is so many neighbouring entries. Its first row is a run if it begins before them.
template <class T>
struct Entries {
  static constexpr std::uint64_t unit_entries = 256;
  const std::uint32_t *row_idx, *col_idx;
  std::uint64_t count;

  static Entries of(const PartView& part) {
    return {part.get<std::uint32_t>("row_idx").data(), part.get<std::uint32_t>("col_idx").data(), part.info().nnz};
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return div_up(count, unit_entries); }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return units(); }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    const std::uint64_t first = unit * unit_entries, end = count - first < unit_entries ? count : first + unit_entries;
    std::uint64_t next = first + lane;
    for (std::uint64_t k = first; k < end;) {
      const std::uint32_t row = row_idx[k];
      auto&& put = begin(row, k == first && k != 0 && row_idx[k - 1] == row ? unit : first_run);
      for (std::uint32_t i = 0; k < end && row_idx[k] == row; ++k, ++i) {
        if (k != next) continue;
        put(i, col_idx[k], element_slot<T>(section_values, k));
        next += lanes;
      }
    }
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::coo
