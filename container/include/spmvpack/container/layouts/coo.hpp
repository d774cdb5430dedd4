#pragma once
/// Layout `coo`: the row, column and value of every entry, row by row (docs/FORMAT.md, section 7). This is the
/// coordinate layout of Aliaga et al., Euro-Par 2020 Workshops, section 2.1, without padding.

#include <array>

#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack::layouts::coo {

inline constexpr std::array<SectionDescription, 3> sections{{
    {"row_idx", Element::u32, entries_of},
    {"col_idx", Element::u32, entries_of},
    {"values", Element::value, entries_of},
}};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::coo
