#pragma once
/// Layout `csr`: row pointers, columns, values (docs/FORMAT.md, section 7).

#include <array>

#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack::layouts::csr {

/// The length of the longest row, from which loaders choose a kernel without reading the rows.
enum Param : std::uint8_t { param_longest_row = 0 };
inline constexpr std::array<std::string_view, 1> parameters{"longest_row"};

inline constexpr std::array<SectionDescription, 3> sections{{
    {"row_ptr", Element::row_pointer, [](const PartInfo& part) { return part.rows.count + 1; }},
    {"col_idx", Element::u32, entries_of},
    {"values", Element::value, entries_of},
}};

/// Bytes of the three arrays for a whole matrix: the yardstick for every other layout.
constexpr std::uint64_t device_bytes(std::uint64_t rows, std::uint64_t nnz, ValueType type) noexcept {
  const std::uint64_t pointer = nnz >> 31U == 0 ? 4 : 8;
  return (rows + 1) * pointer + nnz * (4 + size_of(type));
}

/// The part as a CsrView with local indices; nothing is copied.
SPMVPACK_EXPORT CsrView view(const PartView& part);

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::csr
