#pragma once
/// Layout `dia`: diagonals (Bell, Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA, NVR-2008-004, section
/// 3.1). docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack::layouts::dia {

enum Param : std::uint8_t { param_diagonals = 0 };
inline constexpr std::array<std::string_view, 1> parameters{"diagonals"};

constexpr std::uint64_t diagonals_of(const PartInfo& part) noexcept { return part.params[param_diagonals]; }
/// Slot r of diagonal d is element d * rows + r.
inline std::uint64_t slots_of(const PartInfo& part) {
  return checked_mul(part.rows.count, diagonals_of(part), "slots of dia");
}
inline constexpr std::array<SectionDescription, 3> sections{{
    {"offsets", Element::u64, diagonals_of},
    {"values", Element::value, slots_of},
    {"stored_zeros", Element::u64, nullptr, 16, 0},
}};

/// The number of an entry's diagonal in `offsets`, counted from the lower left corner: 0 to rows + cols - 2.
constexpr std::uint64_t offset_of(std::uint64_t row, std::uint64_t column, std::uint64_t rows) noexcept {
  return column + rows - 1 - row;
}
/// The column of that diagonal in `row`; at least the number of columns if there is none.
constexpr SPMVPACK_HOST_DEVICE std::uint64_t column_of(std::uint64_t row, std::uint64_t offset,
                                                       std::uint64_t rows) noexcept {
  return offset + row - (rows - 1);
}

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::dia
