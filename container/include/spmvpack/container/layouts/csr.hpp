#pragma once
/// Layout `csr`: row pointers, columns, values (docs/FORMAT.md, section 7).

#include <array>

#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts::csr {

/// The length of the longest row, from which loaders choose a kernel without reading the rows.
enum Param : std::uint8_t { param_longest_row = 0 };
inline constexpr std::array<std::string_view, 1> parameters{"longest_row"};
enum Section : std::uint8_t { section_values = 2 };  ///< a place in `sections`

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

/// A unit is a row.
template <class T>
struct Entries {
  const std::uint32_t *narrow, *col_idx;
  const std::uint64_t* wide;  ///< row pointers are here if it is not null, else in `narrow`
  std::uint64_t rows;

  static Entries of(const PartView& part) {
    const bool is_wide = part.type_of("row_ptr") == format::ElementType::u64;
    return {is_wide ? nullptr : part.get<std::uint32_t>("row_ptr").data(), part.get<std::uint32_t>("col_idx").data(),
            is_wide ? part.get<std::uint64_t>("row_ptr").data() : nullptr, part.rows()};
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return rows; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return 0; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    const std::uint64_t first = row_ptr(unit);
    const auto length = static_cast<std::uint32_t>(row_ptr(unit + 1) - first);
    auto&& put = begin(static_cast<std::uint32_t>(unit), first_run);
    for (std::uint32_t i = lane; i < length; i += lanes)
      put(i, col_idx[first + i], element_slot<T>(section_values, first + i));
  }

 private:
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_ptr(std::uint64_t r) const {
    return wide != nullptr ? wide[r] : narrow[r];
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::csr
