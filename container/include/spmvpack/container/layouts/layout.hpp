#pragma once
/// What a layout is to the container: its sections and parameters, described once; how its bytes are checked and
/// unpacked. Writers, readers, `inspect` and the test of docs/FORMAT.md's tables all go by this description.

#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack {

/// A section's element type, which may depend on the part.
enum class Element : std::uint8_t {
  u8,
  u16,
  u32,
  u64,
  value,       ///< the part's value type
  row_pointer  ///< u32, or u64 from 2^31 nonzeros on
};

/// One section of a layout. The order of the descriptions is the order in the file.
struct SectionDescription {
  std::string_view name;
  Element element = Element::u8;
  /// Elements, from the part's table entry alone; null: the layout's check knows.
  std::uint64_t (*count)(const PartInfo& part) = nullptr;
  std::uint32_t alignment = 16;
  /// format::section_required: the section is always there. format::section_device: a multiply reads it; without it the
  /// section is for the host alone (unpacking) and counts as file bytes only.
  std::uint8_t flags = format::section_required | format::section_device;

  [[nodiscard]] constexpr bool required() const noexcept { return (flags & format::section_required) != 0; }
  [[nodiscard]] constexpr bool device() const noexcept { return (flags & format::section_device) != 0; }
  [[nodiscard]] SPMVPACK_EXPORT format::ElementType type(const PartInfo& part) const;
};

/// Counts that several layouts share.
constexpr std::uint64_t entries_of(const PartInfo& part) noexcept { return part.nnz; }
constexpr std::uint64_t rows_of(const PartInfo& part) noexcept { return part.rows.count; }
constexpr std::uint64_t cols_of(const PartInfo& part) noexcept { return part.cols.count; }

struct Layout {
  std::string_view name;
  std::span<const SectionDescription> sections;
  std::span<const std::string_view> parameters;  ///< names of PartInfo::params; those after them are 0
  /// What the parameters and the sections' sizes alone say, beyond the description. Reads no element, so that the
  /// sections may lie anywhere. Error(errc::corrupt). Null: nothing.
  void (*check_shape)(const PartView& part);
  /// Throws Error(errc::corrupt) unless every index, offset and encoding of the part is sane, so that nothing which
  /// reads the part afterwards can leave its buffers. The shape has been checked. O(size), parallel.
  void (*check)(const PartView& part, int threads);
  /// The part's entries in local indices, rows sorted by column. The part has been checked.
  CsrMatrix (*unpack)(const PartView& part, int threads);
};

/// The sections of a part whose row or column map is a list. Their place among the part's sections is free.
inline constexpr SectionDescription row_map_section{"row_map", Element::u32, rows_of};
inline constexpr SectionDescription col_map_section{"col_map", Element::u32, cols_of};

/// Everything that the tables alone say of a part and of its maps: sections that are missing, their types and counts,
/// parameters. Reads no element. Error(errc::corrupt).
SPMVPACK_EXPORT void check_shape(const PartView& part);

}  // namespace spmvpack
