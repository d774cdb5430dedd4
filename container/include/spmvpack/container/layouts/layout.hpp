#pragma once
/// A layout as the container sees it: its sections and parameters, and how its bytes are checked and unpacked. Writers,
/// readers, `inspect` and the tables in docs/FORMAT.md all follow this description.

#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack {

/// The element type of a section, which may depend on the part.
enum class Element : std::uint8_t {
  u8,
  u16,
  u32,
  u64,
  value,       ///< the part's value type
  row_pointer  ///< u32; u64 from 2^31 nonzeros on
};

/// One section of a layout. A file holds the sections in the order of their descriptions.
struct SectionDescription {
  std::string_view name;
  Element element = Element::u8;
  /// Computes the number of elements from the part's table entry and the counts of the sections described before. Null
  /// if it does not follow from them: the part then has a number of its own, and the layout's check_shape says which
  /// are valid.
  std::uint64_t (*count)(const PartInfo& part) = nullptr;
  std::uint32_t alignment = 16;
  /// format::section_required: the section is always present. format::section_device: a multiply reads it; otherwise
  /// only the host needs it (for unpacking), and it counts as file bytes only.
  std::uint8_t flags = format::section_required | format::section_device;

  [[nodiscard]] constexpr bool required() const noexcept { return (flags & format::section_required) != 0; }
  [[nodiscard]] constexpr bool device() const noexcept { return (flags & format::section_device) != 0; }
  [[nodiscard]] SPMVPACK_EXPORT format::ElementType type(const PartInfo& part) const;
};

/// Counts shared by several layouts.
constexpr std::uint64_t entries_of(const PartInfo& part) noexcept { return part.nnz; }
constexpr std::uint64_t rows_of(const PartInfo& part) noexcept { return part.rows.count; }
constexpr std::uint64_t cols_of(const PartInfo& part) noexcept { return part.cols.count; }

/// Data that a loader derives from a part at load, for all multiplies; loaders' layouts derive their own types from it.
/// No bit of a result depends on it.
struct LayoutState {
  LayoutState() = default;
  LayoutState(const LayoutState&) = delete;
  LayoutState& operator=(const LayoutState&) = delete;
  virtual ~LayoutState() = default;
  /// Whether it holds copies of the part's values, and so must be made anew when they change.
  [[nodiscard]] virtual bool copies_values() const noexcept { return false; }
};

/// Properties that all values of a part share (value_slot.hpp).
struct PartValues {
  layouts::ValuesAre are = layouts::ValuesAre::own;  ///< `own` if they are of every entry
  bool hold_by_bits = false;                         ///< ValueSlot::holds_by_bits of any slot
};

namespace layouts {
struct ValueFunctions;
}  // namespace layouts

struct Layout {
  std::string_view name;
  std::span<const SectionDescription> sections;
  /// Names of PartInfo::params, in the order in which files have them; any further ones are 0. A parameter may be added
  /// at the end if 0 means what was before.
  std::span<const std::string_view> parameters;
  /// Checks parameters and section sizes beyond what the description states. Reads no elements, so the sections may be
  /// in any memory. Error(errc::corrupt). Null if there is nothing more to check.
  void (*check_shape)(const PartView& part);
  /// Throws Error(errc::corrupt) unless every index, offset and encoding of the part is valid, so that code which reads
  /// the part afterwards stays within its buffers. The shape has been checked. O(size), parallel.
  void (*check)(const PartView& part, int threads);
  /// The part's entries with local indices, each row sorted by the matrix's columns. The part has been checked.
  CsrMatrix (*unpack)(const PartView& part, int threads);
  /// The operations of container on the places of values.
  const layouts::ValueFunctions* values;
  /// Whether the part numbers rows and columns alike, so that it can multiply vectors in that order, without its lists;
  /// null: never. Looks at the table entry alone.
  bool (*permuted)(const PartInfo& part) = nullptr;
  /// Whether entries may share all bytes that describe them, so that any number of them fits in a small file.
  bool shares_entries = false;
  /// What the numbers of the parameter "source" are called; empty if there is no such parameter.
  std::span<const std::string_view> source_names = {};
  /// Whether the part's entries own, share or compute their values; null: all own them. Looks at the table entry alone.
  PartValues (*part_values)(const PartInfo& part) = nullptr;
  bool takes_complex = false;  ///< whether its values may be complex
};

/// Whether the entries of a part own, share or compute their values, and so whether the values can be replaced. Looks
/// at the table entry alone. Error(errc::unsupported) if its layout is not known.
SPMVPACK_EXPORT PartValues part_values(const PartInfo& part);

/// The element of `part.counts` for a section of the part's layout; null for any other section, such as a map.
SPMVPACK_EXPORT std::uint64_t* find_count(PartInfo& part, std::string_view section);

/// Whether the part has these sections, each of its type and count. Reads no element. Error(errc::corrupt).
SPMVPACK_EXPORT void check_sections(const PartView& part, std::span<const SectionDescription> sections);

/// The sections of a part whose row or column map is a list. They may stand anywhere among the part's sections.
inline constexpr SectionDescription row_map_section{"row_map", Element::u32, rows_of};
inline constexpr SectionDescription col_map_section{"col_map", Element::u32, cols_of};

/// Checks everything that the tables alone say about a part and its maps: missing sections, their types and counts, and
/// that `counts` are those, parameters. Reads no elements. Error(errc::corrupt). Container::open() does it for every
/// part.
SPMVPACK_EXPORT void check_shape(const PartView& part);

}  // namespace spmvpack
