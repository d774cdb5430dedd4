#pragma once
/// Layout `bitflag`: chunks of up to 256 consecutive entries, a bit for each that says whether it starts a row, so that
/// rows of any length take no padding. Our own, based on the chunks of ccoo. The functions that decode it serve host
/// and device alike; docs/FORMAT.md, section 7, has the tables.

#include <array>
#include <type_traits>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::bitflag {

enum Param : std::uint8_t {
  param_source = 0,       ///< where values come from: Source
  param_tile_chunks = 1,  ///< chunks of a tile
  param_continued = 2     ///< tiles that begin inside a row
};
inline constexpr std::array<std::string_view, 3> parameters{"source", "tile_chunks", "continued"};
enum Section : std::uint8_t {  // places in `sections`
  section_chunks = 0,
  section_stream = 1,
  section_values = 2,
  section_hot = 3,
  section_segments = 4
};

/// What an entry's value is: in `stream`; the element of `values` that its id names; the only one of the part; the
/// element that its id names in the chunk's window of `values`; an integer over a power of ten.
enum class Source : std::uint8_t { raw, table, single, window, decimal };
inline constexpr std::array<std::string_view, 5> source_names{"raw", "table", "single", "window", "decimal"};
/// Whether entries with this source own, share or compute their values.
constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are(Source source) noexcept {
  if (source == Source::raw) return ValuesAre::own;
  return source == Source::decimal ? ValuesAre::computed : ValuesAre::shared;
}
/// Whether values of type A may come from the source: decimals are of f64 alone.
template <Source source, class A>
inline constexpr bool exists = source != Source::decimal || std::is_same_v<A, double>;
/// Calls f with the source as a std::integral_constant.
template <class F>
constexpr decltype(auto) dispatch_source(Source source, F&& f) {
  static_assert(source_names.size() == 5, "a source is missing below");
  return dispatch_constant<Source::raw, Source::table, Source::window, Source::decimal, Source::single>(source, f);
}

inline constexpr std::uint32_t lanes = 32, lane_entries = 8;  ///< of a chunk; consecutive entries of a lane
inline constexpr std::uint32_t chunk_entries = lanes * lane_entries;
inline constexpr std::uint32_t lane_step = 4;  ///< a chunk has a multiple of so many lanes
inline constexpr std::uint32_t unit = 32;      ///< bytes that places in `stream` count
inline constexpr std::uint32_t max_tile_chunks = 32;
inline constexpr std::uint32_t max_chunk_rows = 4096;  ///< rows of a chunk's own, empty ones among them
inline constexpr std::uint32_t max_table = 256;        ///< values: ids are bytes
inline constexpr std::uint32_t window_step = 4096;     ///< elements between places where windows may begin
inline constexpr std::uint32_t window_size = 65536;    ///< elements: ids are u16
inline constexpr std::uint32_t max_windows = 512;      ///< places where they may begin
inline constexpr std::uint32_t max_window_values = (max_windows - 1) * window_step + window_size;
using layouts::max_exponent;
inline constexpr std::uint32_t max_hot = 32768;
inline constexpr std::uint64_t most_hot_cols = std::uint64_t{1} << 31U;  ///< columns of a part in which some are hot
inline constexpr std::uint32_t max_segment = 65536;                      ///< columns
/// The highest bit of a word of 3 or 4 bytes: the others are a place in `hot`, not a column.
constexpr SPMVPACK_HOST_DEVICE std::uint32_t hot_bit(std::uint32_t column_bytes) noexcept {
  return 1U << (8 * column_bytes - 1);
}

/// A chunk's properties, in bits: entries (9), rows that start in it (9), bytes of a column offset (2; 0, 1, 2, 3: 1,
/// 2, 4, 3), bytes of a row offset (2; 0: its rows are consecutive), whether its first entry continues the row before
/// (1), and what its values have in common (9). That is where its window begins, in steps; or the least exponent (5),
/// and the bits in which each entry stores how much larger its own is, in units of four (2).
struct Info {
  std::uint32_t bits;  ///< 9 | 9 | 2 | 2 | 1 | 9, the lowest first; the last 9 of decimals: 5 | 2, and zeros

  /// `column_bytes`: 1 to 4.
  static constexpr SPMVPACK_HOST_DEVICE Info make(std::uint32_t entries, std::uint32_t starts,
                                                  std::uint32_t column_bytes, std::uint32_t row_bytes,
                                                  bool continues) noexcept {
    const std::uint32_t width = column_bytes == 3 ? 3 : column_bytes / 2;
    return {entries | starts << 9U | width << 18U | row_bytes << 20U | (continues ? 1U : 0U) << 22U};
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t entries() const noexcept { return bits & 0x1FFU; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t starts() const noexcept { return bits >> 9U & 0x1FFU; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t column_bytes() const noexcept {
    const std::uint32_t width = bits >> 18U & 3U;
    return width == 3 ? 3 : 1U << width;
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t row_bytes() const noexcept { return bits >> 20U & 3U; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool continues() const noexcept { return (bits >> 22U & 1U) != 0; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t window() const noexcept { return bits >> 23U; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t exponent() const noexcept { return bits >> 23U & 31U; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t exponent_bits() const noexcept {
    return (bits >> 28U & 3U) * 4;
  }
  /// The last bits, for decimals: 5 | 2.
  static constexpr SPMVPACK_HOST_DEVICE std::uint32_t of_values(std::uint32_t exponent, std::uint32_t each) noexcept {
    return exponent | each / 4 << 5U;
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE Info with_values(std::uint32_t value_bits) const noexcept {
    return {bits | value_bits << 23U};
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_sound(Source source) const noexcept {
    if (entries() == 0) return bits == 0;
    if (source == Source::decimal ? bits >> 30U != 0 || exponent() > max_exponent || exponent_bits() > 8
                                  : source != Source::window && bits >> 23U != 0)
      return false;
    return entries() <= chunk_entries && starts() <= entries() && row_bytes() <= 2 && (continues() || starts() != 0) &&
           (row_bytes() == 0 || starts() != 0);
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t lanes() const noexcept {
    return (entries() + lane_entries * lane_step - 1) / (lane_entries * lane_step) * lane_step;
  }
};

/// An element of `chunks`. Its rows are those of segments, one segment after the other: row r of segment s is
/// s * rows + r, and has the row's entries in the segment's columns. The chunk's own rows, empty ones among them, are
/// from begin() to the next chunk's begin(); the row that it continues is an earlier chunk's. The last element is no
/// chunk, but ends the rows and the stream.
struct Chunk {
  std::uint32_t row;    ///< the row that it continues, or its first own one
  std::uint32_t base;   ///< the column from which offsets count
  std::uint32_t place;  ///< its units of `stream` begin here
  Info info;
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t begin() const noexcept {
    return row + (info.continues() ? 1 : 0);
  }
};
static_assert(sizeof(Chunk) == 16);

/// Where the pieces of a chunk are, in bytes from its place, all multiples of `unit`: a bit for each entry, column
/// offsets, ids, integers or raw values of `value_bytes` each, exponents, row offsets.
struct ChunkLayout {
  std::uint32_t columns, values, exponents, rows, end;
};
constexpr SPMVPACK_HOST_DEVICE ChunkLayout chunk_layout(Info info, Source source, std::uint32_t value_bytes) noexcept {
  if (info.entries() == 0) return {};
  const std::uint32_t slots = info.lanes() * lane_entries;
  ChunkLayout at{};
  at.columns = chunk_entries / 8;
  at.values = at.columns + slots * info.column_bytes();
  at.exponents = at.values + slots * value_bytes;
  at.rows = at.exponents;
  if (source == Source::decimal) at.rows += (slots * info.exponent_bits() / 8 + unit - 1) / unit * unit;
  at.end = at.rows + (info.starts() * info.row_bytes() + unit - 1) / unit * unit;
  return at;
}

/// The element, of `bytes` each, for entry k of a lane: 16 bytes of a lane, or all that it has, are side by side, then
/// those of the next lane.
template <class N>
constexpr SPMVPACK_HOST_DEVICE N slot_of(std::uint32_t bytes, N chunk_lanes, N lane, std::uint32_t k) noexcept {
  const std::uint32_t together = bytes <= 2 ? lane_entries : 16 / bytes;
  return (k / together * chunk_lanes + lane) * together + k % together;
}

/// Where offsets of 3 bytes have the highest one of each, in bytes from the first: after the other two of all.
constexpr SPMVPACK_HOST_DEVICE std::uint32_t highest_bytes(std::uint32_t chunk_lanes) noexcept {
  return chunk_lanes * lane_entries * 2;
}

constexpr Source source_of(const PartInfo& part) noexcept { return static_cast<Source>(part.params[param_source]); }
/// Bytes of an entry's id, integer or raw value. `value_size`: of a value of the matrix.
constexpr SPMVPACK_HOST_DEVICE std::uint32_t stored_bytes(Source source, std::size_t value_size) noexcept {
  switch (source) {
    case Source::raw:
      return static_cast<std::uint32_t>(value_size);
    case Source::table:
      return 1;
    case Source::window:
      return 2;
    case Source::decimal:
      return 4;
    default:
      return 0;
  }
}
using layouts::power_of_ten;
using layouts::powers_of_ten;
constexpr std::uint32_t value_bytes_of(const PartInfo& part) noexcept {
  return stored_bytes(source_of(part), size_of(part.value_type));
}

/// Chunks of all tiles, without the end. For a part whose shape has been checked, or is being, like those below.
constexpr std::uint64_t chunks_of(const PartInfo& part) noexcept {
  const std::uint64_t with_end = part.counts[section_chunks] / (sizeof(Chunk) / sizeof(std::uint32_t));
  return with_end == 0 ? 0 : with_end - 1;
}
/// Units of `stream`.
constexpr std::uint64_t units_of(const PartInfo& part) noexcept {
  return part.counts[section_stream] / (unit / sizeof(std::uint32_t));
}
constexpr std::uint64_t values_of(const PartInfo& part) noexcept { return part.counts[section_values]; }
/// Hot columns.
constexpr std::uint64_t hot_of(const PartInfo& part) noexcept { return part.counts[section_hot]; }
/// Segments of columns; 1: all are one, and `segments` is empty.
constexpr std::uint64_t segments_of(const PartInfo& part) noexcept {
  const std::uint64_t elements = part.counts[section_segments];
  return elements <= 1 ? 1 : elements - 1;
}
/// Columns of a segment; the last one may have fewer.
constexpr std::uint64_t segment_columns(const PartInfo& part) noexcept {
  return div_up(part.cols.count, segments_of(part));
}
/// The most rows of all segments: multiplies and unpacking need memory for each.
constexpr std::uint64_t max_segment_rows(std::uint64_t nnz) noexcept {
  constexpr std::uint64_t always_allowed = std::uint64_t{1} << 24U;
  const std::uint64_t most = nnz > always_allowed ? nnz : always_allowed;
  return most < 0xFFFFFFFE ? most : 0xFFFFFFFE;
}
/// The rows of all segments.
inline std::uint64_t segment_rows(const PartInfo& part) {
  return checked_mul(part.rows.count, segments_of(part), "rows of segments of bitflag");
}

inline constexpr std::array<SectionDescription, 5> sections{{
    {"chunks", Element::u32},
    {"stream", Element::u32, nullptr, unit},
    {"values", Element::value},
    {"hot", Element::u32},
    {"segments", Element::u32},  // the first tile of each, and their number; nothing if there is one
}};

/// A part's arrays, in host or device memory. T: the type of its values.
template <class T>
struct View {
  const Chunk* chunks;
  const std::byte* stream;
  const T* values;
  const std::uint32_t *hot, *segments;
  std::uint64_t chunk_count, rows;  ///< rows: of a segment
  Source source;
  std::uint32_t tile_chunks, value_bytes, hot_count, segment_count, segment_columns;
};

template <class T>
View<T> view(const PartView& part) {
  const PartInfo& info = part.info();
  return {reinterpret_cast<const Chunk*>(part.get<std::uint32_t>("chunks").data()),
          reinterpret_cast<const std::byte*>(part.get<std::uint32_t>("stream").data()),
          part.get<T>("values").data(),
          part.get<std::uint32_t>("hot").data(),
          part.get<std::uint32_t>("segments").data(),
          chunks_of(info),
          part.rows(),
          source_of(info),
          static_cast<std::uint32_t>(info.params[param_tile_chunks]),
          value_bytes_of(info),
          static_cast<std::uint32_t>(hot_of(info)),
          static_cast<std::uint32_t>(segments_of(info)),
          static_cast<std::uint32_t>(segment_columns(info))};
}

/// How much the exponent of entry e exceeds its chunk's, where each entry has `each` bits: 0, 4 or 8.
constexpr SPMVPACK_HOST_DEVICE std::uint32_t more_exponent(const std::byte* exponents, std::uint32_t each,
                                                           std::uint32_t e) noexcept {
  if (each == 0) return 0;
  const auto byte = static_cast<std::uint32_t>(exponents[e * each / 8]);
  return each == 8 ? byte : byte >> e % 2 * 4 & 15U;
}

/// One chunk, ready to be read entry by entry.
struct ChunkView {
  const std::byte* bytes;
  const std::uint32_t* hot;
  Chunk chunk;
  ChunkLayout at;
  Source source;
  std::uint32_t chunk_lanes, value_bytes, hot_count;

  template <class T>
  static SPMVPACK_HOST_DEVICE ChunkView of(const View<T>& v, std::uint64_t c) {
    const Chunk chunk = v.chunks[c];
    return {v.stream + std::uint64_t{chunk.place} * unit,
            v.hot,
            chunk,
            chunk_layout(chunk.info, v.source, v.value_bytes),
            v.source,
            chunk.info.lanes(),
            v.value_bytes,
            v.hot_count};
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE static std::uint32_t number(const std::byte* from, std::uint32_t bytes,
                                                                 std::uint32_t element) {
    switch (bytes) {
      case 1:
        return reinterpret_cast<const std::uint8_t*>(from)[element];
      case 2:
        return reinterpret_cast<const std::uint16_t*>(from)[element];
      default:
        return reinterpret_cast<const std::uint32_t*>(from)[element];
    }
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool starts_row(std::uint32_t e) const {
    return (static_cast<std::uint32_t>(bytes[e / 8]) >> (e % 8) & 1U) != 0;
  }
  /// What is stored for the column of entry e, or of a slot beyond them.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t word(std::uint32_t e) const {
    const std::uint32_t column_bytes = chunk.info.column_bytes();
    const std::byte* const words = bytes + at.columns;
    if (column_bytes == 3) return number(words, 2, e) | number(words + highest_bytes(chunk_lanes), 1, e) << 16U;
    return number(words, column_bytes, slot_of(column_bytes, chunk_lanes, e / lane_entries, e % lane_entries));
  }
  /// Its column; none, 2^32 - 1, if it names a hot column that the part does not have.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t column(std::uint32_t e) const {
    const std::uint32_t w = word(e);
    const std::uint32_t column_bytes = chunk.info.column_bytes();
    if (hot_count == 0 || column_bytes < 3 || (w & hot_bit(column_bytes)) == 0) return chunk.base + w;
    const std::uint32_t place = w - hot_bit(column_bytes);
    return place < hot_count ? hot[place] : ~0U;
  }
  /// The element of ids, integers or raw values of entry e.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t value_element(std::uint32_t e) const {
    return slot_of(value_bytes, chunk_lanes, e / lane_entries, e % lane_entries);
  }
  /// The element of `values` that entry e names.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t id(std::uint32_t e) const {
    const std::uint32_t begin = source == Source::window ? chunk.info.window() * window_step : 0;
    return begin + number(bytes + at.values, value_bytes, value_element(e));
  }
  /// How much the exponent of entry e exceeds the chunk's.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t more_exponent(std::uint32_t e) const {
    return bitflag::more_exponent(bytes + at.exponents, chunk.info.exponent_bits(), e);
  }
  /// Whether `count` elements of `values` have that of entry e, or a power of ten its exponent.
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool has_value(std::uint32_t e, std::uint64_t count) const {
    if (source == Source::table || source == Source::window) return id(e) < count;
    return source != Source::decimal || chunk.info.exponent() + more_exponent(e) <= max_exponent;
  }
  /// The row of the chunk's start number k.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t start_row(std::uint32_t k) const {
    return chunk.info.row_bytes() == 0 ? chunk.begin() + k
                                       : chunk.row + number(bytes + at.rows, chunk.info.row_bytes(), k);
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::bitflag
