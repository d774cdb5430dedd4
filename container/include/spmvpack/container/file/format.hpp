#pragma once
/// The bytes of an .spmvc file, version 0.3, as C++ structs. docs/FORMAT.md is the specification; each struct matches a
/// table there. Everything is little-endian, and copied in and out rather than aliased.

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "spmvpack/container/base/types.hpp"

namespace spmvpack::format {

static_assert(std::endian::native == std::endian::little, "spmvpack runs on little-endian machines");

/// No text file starts with 0x89; CR LF and LF expose line-ending conversion; 0x1A stops DOS's `type`.
inline constexpr std::array<std::uint8_t, 8> magic{0x89, 'S', 'P', 'V', 0x0D, 0x0A, 0x1A, 0x0A};
inline constexpr std::uint16_t version_major = 0, version_minor = 3;
inline constexpr std::uint64_t header_bytes = 4096;     ///< also the offset of the first section
inline constexpr std::uint64_t section_boundary = 256;  ///< sections and the tables start on multiples of this
inline constexpr std::uint64_t block_bytes = 1U << 20;  ///< raw bytes of a block; a section's last may be shorter
inline constexpr std::uint32_t no_part = 0xFFFFFFFF;

// What bounds the work of a reader by the size of the file.
inline constexpr std::uint32_t max_parts = 65536;                ///< of a file
inline constexpr std::uint32_t max_parameters = 16;              ///< of a part
inline constexpr std::uint64_t max_provenance_bytes = 1U << 20;  ///< raw
/// The parts of a role have together at most so many times the rows of A, or of A^T, plus the nonzeros.
inline constexpr std::uint64_t max_row_share = 64;
/// The most stored bytes of a block of `raw` bytes with codec zstd: ZSTD_compressBound().
constexpr std::uint64_t max_stored_bytes(std::uint64_t raw) noexcept {
  constexpr std::uint64_t small = std::uint64_t{128} << 10U;
  return raw + raw / 256 + (raw < small ? (small - raw) / 2048 : 0);
}

using Name = std::array<char, 16>;  ///< ASCII, padded with zero bytes

enum class ElementType : std::uint8_t { u8 = 1, u16 = 2, u32 = 3, u64 = 4, f32 = 5, f64 = 6, c64 = 7, c128 = 8 };
/// What the header's digest is made with: XXH3-128 of pieces (docs/FORMAT.md, section 6).
enum class DigestAlgorithm : std::uint8_t { xxh3_128 = 1 };
enum class Role : std::uint8_t { a = 1, transpose = 2 };  ///< whose entries a part has: those of A or of A^T
enum class MapKind : std::uint8_t { all = 0, range = 1, list = 2 };
enum class Codec : std::uint8_t { none = 0, zstd = 1 };
enum class Filter : std::uint8_t { none = 0, shuffle = 1, delta = 2 };

constexpr std::uint64_t size_of(ElementType t) noexcept {
  switch (t) {
    case ElementType::u8:
      return 1;
    case ElementType::u16:
      return 2;
    case ElementType::u32:
    case ElementType::f32:
      return 4;
    case ElementType::u64:
    case ElementType::f64:
    case ElementType::c64:
      return 8;
    case ElementType::c128:
      return 16;
  }
  return 0;
}
constexpr std::string_view to_string(ElementType t) noexcept {
  constexpr std::array<std::string_view, 9> names{"", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128"};
  return names.at(static_cast<std::size_t>(t));
}
constexpr ElementType element_type(ValueType t) noexcept {
  switch (t) {
    case ValueType::f32:
      return ElementType::f32;
    case ValueType::f64:
      return ElementType::f64;
    case ValueType::c64:
      return ElementType::c64;
    case ValueType::c128:
      return ElementType::c128;
  }
  return ElementType{};
}

/// Optional features: what a writer has found, bit for bit, of a matrix whose source says that it is general.
inline constexpr std::uint64_t feature_symmetric = 2, feature_skew_symmetric = 4, feature_hermitian = 8;

// Reserved until they exist: a reader refuses them, by name.
inline constexpr std::string_view signature_section = "signature";  ///< of no part

inline constexpr std::uint8_t last_element_type = 8, max_filter_width = 16;

// Sections of no part that only shares have: optional, u32, not device.
inline constexpr std::string_view ghosts_section = "ghosts", original_rows_section = "original_rows";

inline constexpr std::uint8_t section_required = 1;  ///< a reader that does not know the section must refuse the file
inline constexpr std::uint8_t section_device = 2;    ///< a multiply reads the section, so it counts as device bytes

struct Header {  // 4,096 bytes
  std::array<std::uint8_t, 8> magic;
  std::uint16_t version_major, version_minor;
  std::uint32_t header_bytes;
  std::uint64_t required_features, optional_features;
  std::uint64_t rows, cols, nnz;
  std::uint8_t value_type, field, symmetry, digest_algorithm;
  std::array<std::uint8_t, 4> reserved0;
  std::uint64_t file_bytes;
  std::uint64_t digest_low, digest_high;
  std::uint64_t tables_offset, tables_bytes, tables_checksum;
  std::uint32_t part_count, parameter_count, section_count;
  std::array<std::uint8_t, 4> reserved1;
  std::uint64_t block_count;
  // Of a matrix that is one rank's share of another one; all are 0 if it is none.
  std::uint64_t global_rows, global_cols, first_row;
  std::uint32_t rank, ranks;
  std::uint64_t first_col, own_cols, global_nnz, partition;
  std::uint64_t global_digest_low, global_digest_high;
  std::array<std::uint8_t, 3872> reserved2;
  std::uint64_t header_checksum;  ///< XXH3-64 of the 4,088 bytes before it
};
static_assert(sizeof(Header) == header_bytes);

struct Part {  // 96 bytes
  Name layout;
  std::uint8_t value_type, role, row_map, col_map;
  std::uint32_t reserved0;
  std::uint64_t row_begin, row_count, col_begin, col_count;
  std::uint64_t nnz;
  std::uint32_t first_section, section_count;
  std::uint32_t first_parameter, parameter_count;
  std::array<std::uint8_t, 16> reserved1;
};
static_assert(sizeof(Part) == 96);

struct Parameter {  // 24 bytes
  Name name;
  std::uint64_t value;  ///< never 0: what is not written is
};
static_assert(sizeof(Parameter) == 24);

struct Section {  // 96 bytes
  Name name;
  std::uint32_t part;
  std::uint8_t element_type, codec, filter, flags;
  std::uint32_t alignment;
  std::uint8_t filter_width;
  std::array<std::uint8_t, 3> reserved0;
  std::uint64_t count, raw_bytes, stored_bytes, offset, first_block, block_count;
  std::array<std::uint8_t, 16> reserved1;
};
static_assert(sizeof(Section) == 96);

struct Block {             // 16 bytes
  std::uint64_t checksum;  ///< XXH3-64 of the stored bytes
  std::uint32_t stored_bytes, reserved;
};
static_assert(sizeof(Block) == 16);

constexpr std::string_view name_view(const Name& name) noexcept {
  std::size_t n = 0;
  while (n < name.size() && name[n] != '\0') ++n;
  return {name.data(), n};
}
constexpr Name make_name(std::string_view text) noexcept {
  Name name{};
  for (std::size_t i = 0; i < text.size() && i < name.size(); ++i) name[i] = text[i];
  return name;
}

}  // namespace spmvpack::format
