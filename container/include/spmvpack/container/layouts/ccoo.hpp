#pragma once
/// Layout `ccoo`: Compressed COO (Aliaga, Anzt, Quintana-Ortí, Tomás, Tsai: Balanced and Compressed Coordinate Layout
/// for the Sparse Matrix-Vector Product on GPUs, Euro-Par 2020 Workshops, section 2.2). The functions that decode it
/// serve host and device alike; docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::ccoo {

inline constexpr std::uint32_t default_lanes = 256;  ///< B, lanes of a full chunk
inline constexpr std::uint32_t max_row_span = 255;   ///< the largest offset of a row byte
inline constexpr std::uint32_t lut_capacity = 256;
inline constexpr std::uint32_t most_slots = default_lanes * 8;                     ///< of a chunk
enum Param : std::uint8_t { param_lanes = 0, param_slots = 1, param_single = 2 };  ///< B, K, whether there is one value
inline constexpr std::array<std::string_view, 3> parameters{"lanes", "slots", "single"};
enum Section : std::uint8_t { section_encoding = 0, section_blob = 4, section_lut = 5 };  ///< places in `sections`

constexpr std::uint64_t chunks_of(const PartInfo& part) noexcept { return part.counts[section_encoding]; }
inline constexpr std::array<SectionDescription, 6> sections{{
    {"encoding", Element::u8},
    {"row_base", Element::u32, chunks_of},
    {"col_base", Element::u32, chunks_of},
    {"blob_offset", Element::u64, chunks_of},
    {"blob", Element::u8, nullptr, 256},
    {"lut", Element::value},
}};

/// Lanes of a group: a warp, or all lanes of a chunk with fewer than 32.
constexpr SPMVPACK_HOST_DEVICE std::uint32_t group_lanes(std::uint32_t lanes) noexcept {
  return lanes < 32 ? lanes : 32;
}

/// A chunk's encoding byte.
struct Encoding {
  std::uint8_t bits = 0;  ///< 1 | 2 | 1 | 3 | 1 bits, the lowest first

  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool one_row() const noexcept { return (bits & 1U) != 0; }
  /// 0, 1, 2: column offsets of 8, 16, 32 bits.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE unsigned column_code() const noexcept { return (bits >> 1U) & 3U; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t column_bytes() const noexcept {
    return 1U << column_code();
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool lut() const noexcept { return (bits & 8U) != 0; }
  /// Whether the chunk's entries own, share or compute their values.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are() const noexcept {
    return lut() ? ValuesAre::shared : ValuesAre::own;
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t groups() const noexcept { return ((bits >> 4U) & 7U) + 1; }
  /// Whether the chunk's first row is the last row of the chunk before it.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool continues() const noexcept { return (bits & 128U) != 0; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool valid() const noexcept { return column_code() != 3; }
};

constexpr Encoding make_encoding(bool one_row, unsigned column_code, bool lut, std::uint32_t groups,
                                 bool continues) noexcept {
  return {static_cast<std::uint8_t>((one_row ? 1U : 0U) | column_code << 1U | (lut ? 8U : 0U) | (groups - 1) << 4U |
                                    (continues ? 128U : 0U))};
}

/// The code of the narrowest column offsets that cover `span` = largest - smallest column.
constexpr unsigned column_code_for(std::uint32_t span) noexcept { return span < 256 ? 0 : span < 65536 ? 1 : 2; }

/// The offsets of the arrays in a chunk's blob and the blob's end, in bytes from its start. Row bytes come first.
struct BlobLayout {
  std::uint32_t columns = 0, values = 0, end = 0;
};
/// @param lanes       stored lanes of the chunk (groups times lanes per group)
/// @param slots       K
/// @param value_bytes 8 or 4, the size of a raw value
/// @param id_bytes    1, or 0 if all entries have the value lut[0]
constexpr SPMVPACK_HOST_DEVICE BlobLayout blob_layout(Encoding e, std::uint32_t lanes, std::uint32_t slots,
                                                      std::uint32_t value_bytes, std::uint32_t id_bytes) noexcept {
  const std::uint32_t columns = e.one_row() ? 0 : lanes;
  const std::uint32_t values = columns + lanes * slots * e.column_bytes();
  return {columns, values, values + lanes * slots * (e.lut() ? id_bytes : value_bytes)};
}

/// The arrays of a ccoo part. T is the value type.
template <class T>
struct View {
  std::uint32_t lanes = 0, slots = 0;  ///< B, K
  bool single = false;                 ///< whether all entries have the value lut[0], and blobs no ids
  std::uint64_t chunks = 0;
  const std::uint8_t* encoding = nullptr;
  const std::uint32_t* row_base = nullptr;
  const std::uint32_t* col_base = nullptr;
  const std::uint64_t* blob_offset = nullptr;
  const std::byte* blob = nullptr;
  const T* lut = nullptr;
};
template <class T>
SPMVPACK_EXPORT View<T> view(const PartView& part);

/// Lanes of a chunk that are in its blob.
template <class T>
constexpr SPMVPACK_HOST_DEVICE std::uint32_t stored_lanes(const View<T>& v, std::uint64_t c) noexcept {
  return Encoding{v.encoding[c]}.groups() * group_lanes(v.lanes);
}
template <class T>
constexpr SPMVPACK_HOST_DEVICE BlobLayout blob_layout(const View<T>& v, std::uint64_t c) noexcept {
  return blob_layout({v.encoding[c]}, stored_lanes(v, c), v.slots, sizeof(T), v.single ? 0 : 1);
}

/// The row of lane `lane`; `rows` points to the start of the chunk's blob.
inline SPMVPACK_HOST_DEVICE std::uint32_t lane_row(Encoding e, std::uint32_t row_base, const std::byte* rows,
                                                   std::uint32_t lane) noexcept {
  return e.one_row() ? row_base : row_base + static_cast<std::uint32_t>(rows[lane]);
}

/// Where rows start among eight row bytes: bit i is set if byte i (in memory order) differs from the one before it;
/// `before` precedes the first.
inline SPMVPACK_HOST_DEVICE std::uint32_t row_starts(std::uint64_t row_bytes, std::uint8_t before) noexcept {
  constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7FU;
  const std::uint64_t differs = row_bytes ^ (row_bytes << 8U | before);
  const std::uint64_t marks = (((differs & low_bits) + low_bits) | differs) & ~low_bits;  // bit 7 of each such byte
  return static_cast<std::uint32_t>((marks >> 7U) * 0x0102040810204080U >> 56U);
}

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::ccoo
