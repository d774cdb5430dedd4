#pragma once
/// Layout `sjds`, sliced JDS: slices of 8 rows of a sorted window, entries side by side and without padding, made for
/// the vector registers of a CPU. Ours; jagged diagonals (Saad: Krylov Subspace Methods on Supercomputers, SIAM J. Sci.
/// Stat. Comput. 10(6), 1989) within the slices of SELL-C-sigma (Kreutzer et al., 2014). The functions that decode it
/// serve host and device alike; docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack::layouts::sjds {

enum Param : std::uint8_t {
  param_source = 0,       ///< where values come from: Source
  param_window_rows = 1,  ///< rows that are sorted together (sigma), a multiple of `lanes`
  param_pieces = 2        ///< slices at the end that are pieces of long rows
};
inline constexpr std::array<std::string_view, 3> parameters{"source", "window_rows", "pieces"};
enum Section : std::uint8_t { section_windows = 0, section_slices = 1, section_stream = 2, section_table = 3 };

/// What an entry's value is: in the slice's part of `stream`; the element of `table` that a code of 4 bits names.
enum class Source : std::uint8_t { raw, code };
inline constexpr std::array<std::string_view, 2> source_names{"raw", "code"};

inline constexpr std::uint32_t lanes = 8;           ///< of a slice: rows, or every eighth entry of a piece
inline constexpr std::uint32_t reach = 16;          ///< elements of x that a window step loads
inline constexpr std::uint32_t max_entries = 4096;  ///< of a row in a slice, and of a piece
inline constexpr std::uint32_t max_window_rows = 65536, max_table = 16;
inline constexpr std::uint32_t unit = 8;       ///< bytes that places in `stream` count
inline constexpr std::uint32_t end_units = 8;  ///< of 0, behind the last slice: vectors may be loaded beyond its end
inline constexpr std::uint32_t slice_words = 5;

/// An element of `windows`.
struct RowWindow {
  std::uint32_t bits;  ///< 31 | 1, the lowest first
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t first_slice() const noexcept { return bits & 0x7FFFFFFFU; }
  /// Whether rows of the window are in none of its slices: they have no entries, or are long.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool has_others() const noexcept { return bits >> 31U != 0; }
  static constexpr RowWindow of(std::uint64_t first_slice, bool has_others) noexcept {
    return {static_cast<std::uint32_t>(first_slice) | (has_others ? 0x80000000U : 0U)};
  }
};

/// An element of `slices`. Up to 8 rows by falling length, a lane each; or a piece of a row, whose entries are dealt
/// out to 8 lanes in turn. Window steps come first: their columns lie within 16. Then come further steps of all 8
/// lanes, then those of the tail, of the first few. Entries of a lane are in these steps by rising columns, each kind
/// by itself.
struct Slice {
  std::uint32_t begin;   ///< its units of `stream` begin here
  std::uint32_t row;     ///< its first row; of its window, if it has a list of rows
  std::uint32_t column;  ///< added to columns of 16 bits
  std::uint32_t counts;  ///< 13 | 13 | 3 | 1 | 1 | 1 bits, the lowest first
  std::uint32_t ends;    ///< 13 | 15 bits

  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t windows() const noexcept { return counts & 0x1FFFU; }
  /// Further steps of 8 lanes.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t steps() const noexcept { return counts >> 13U & 0x1FFFU; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t rows() const noexcept { return (counts >> 26U & 7U) + 1; }
  /// Whether columns have 32 bits.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_wide() const noexcept { return (counts >> 29U & 1U) != 0; }
  /// Whether it has a list of rows; otherwise they follow each other.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_listed() const noexcept { return (counts >> 30U & 1U) != 0; }
  /// Of a piece: whether the one before is of the same row.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool continues() const noexcept { return counts >> 31U != 0; }
  /// Steps of fewer lanes.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t tail() const noexcept { return ends & 0x1FFFU; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t tail_entries() const noexcept {
    return ends >> 13U & 0x7FFFU;
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t full() const noexcept { return windows() + steps(); }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t entries() const noexcept {
    return full() * lanes + tail_entries();
  }
  constexpr void set(std::uint32_t windows, std::uint32_t steps, std::uint32_t tail,
                     std::uint32_t tail_entries) noexcept {
    counts = (counts & ~0x3FFFFFFU) | windows | steps << 13U;
    ends = tail | tail_entries << 13U;
  }
  constexpr void set_kind(std::uint32_t rows, bool wide, bool listed, bool continues) noexcept {
    counts = (counts & 0x3FFFFFFU) | (rows - 1) << 26U | (wide ? 1U << 29U : 0U) | (listed ? 1U << 30U : 0U) |
             (continues ? 1U << 31U : 0U);
  }
};
static_assert(sizeof(Slice) == slice_words * sizeof(std::uint32_t));

/// A window step: x from `base` on, and for each lane 4 bits, the lowest for lane 0, how far from there.
struct WindowStep {
  std::uint32_t base, places;
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t column(std::uint32_t lane) const noexcept {
    return base + (places >> 4 * lane & 15U);
  }
};

/// Columns of 0 behind those of a tail, so that 8 may be loaded for each of its steps.
inline constexpr std::uint32_t tail_padding = lanes - 1;

/// Where the pieces of a slice's part of `stream` are, in bytes: [its list of rows,] window steps, columns of the other
/// steps, codes of all steps (4 bits a lane), lanes of each step of the tail, values.
struct StreamLayout {
  std::uint64_t windows, columns, codes, tail, values, end;
};
constexpr SPMVPACK_HOST_DEVICE StreamLayout stream_layout(const Slice& s, Source source,
                                                          std::uint32_t value_bytes) noexcept {
  const auto padded = [](std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; };
  const std::uint64_t columns =
      std::uint64_t{s.steps()} * lanes + s.tail_entries() + (s.tail() != 0 ? tail_padding : 0);
  const std::uint64_t steps = std::uint64_t{s.full()} + s.tail();
  StreamLayout at{};
  at.windows = s.is_listed() ? lanes * sizeof(std::uint16_t) : 0;
  at.columns = at.windows + s.windows() * sizeof(WindowStep);
  at.codes = padded(at.columns + columns * (s.is_wide() ? 4 : 2), 4);
  at.tail = at.codes + (source == Source::code ? steps * 4 : 0);
  at.values = padded(at.tail + s.tail(), unit);
  at.end = padded(at.values + (source == Source::raw ? std::uint64_t{s.entries()} * value_bytes : 0), unit);
  return at;
}

constexpr std::uint64_t windows_of(const PartInfo& part) noexcept {
  const std::uint64_t rows = part.params[param_window_rows];
  return div_up(part.rows.count, rows == 0 ? 1 : rows);
}
constexpr std::uint64_t slices_of(const PartInfo& part) noexcept { return part.counts[section_slices] / slice_words; }
constexpr std::uint64_t units_of(const PartInfo& part) noexcept { return part.counts[section_stream] / unit; }
constexpr Source source_of(const PartInfo& part) noexcept { return static_cast<Source>(part.params[param_source]); }

inline constexpr std::array<SectionDescription, 4> sections{{
    {"windows", Element::u32, [](const PartInfo& part) { return windows_of(part) + 1; }},
    {"slices", Element::u32},
    {"stream", Element::u8, nullptr, 64},
    {"table", Element::value},
}};

/// A part's arrays, in host or device memory. T: the type of its values.
template <class T>
struct View {
  const RowWindow* windows;
  const Slice* slices;
  const std::byte* stream;
  const T* table;
  std::uint64_t window_count, slice_count, piece_count, rows, cols;
  std::uint32_t window_rows, table_size;
  Source source;

  /// Slices of rows; the pieces of long rows follow.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_slices() const { return slice_count - piece_count; }
};

template <class T>
View<T> view(const PartView& part) {
  const PartInfo& info = part.info();
  return {reinterpret_cast<const RowWindow*>(part.get<std::uint32_t>("windows").data()),
          reinterpret_cast<const Slice*>(part.get<std::uint32_t>("slices").data()),
          reinterpret_cast<const std::byte*>(part.get<std::uint8_t>("stream").data()),
          part.get<T>("table").data(),
          windows_of(info),
          slices_of(info),
          info.params[param_pieces],
          part.rows(),
          part.cols(),
          static_cast<std::uint32_t>(info.params[param_window_rows]),
          static_cast<std::uint32_t>(info.counts[section_table]),
          source_of(info)};
}

/// One slice, ready to be read step by step.
struct SliceView {
  Slice slice;
  Source source;
  StreamLayout at;
  const std::byte* stream;  ///< of the slice

  template <class T>
  static SPMVPACK_HOST_DEVICE SliceView of(const View<T>& v, std::uint64_t s) {
    const Slice slice = v.slices[s];
    return {slice, v.source, stream_layout(slice, v.source, sizeof(T)), v.stream + std::uint64_t{slice.begin} * unit};
  }
  /// The row of a lane.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t row(std::uint32_t lane) const {
    return slice.row + (slice.is_listed() ? reinterpret_cast<const std::uint16_t*>(stream)[lane] : lane);
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE const WindowStep* window_steps() const {
    return reinterpret_cast<const WindowStep*>(stream + at.windows);
  }
  /// Lanes of each step of the tail.
  [[nodiscard]] SPMVPACK_HOST_DEVICE const std::uint8_t* tail() const {
    return reinterpret_cast<const std::uint8_t*>(stream + at.tail);
  }
  /// Element i of the columns that are stored one by one.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t column(std::uint64_t i) const {
    const std::byte* const columns = stream + at.columns;
    return slice.is_wide() ? reinterpret_cast<const std::uint32_t*>(columns)[i]
                           : std::uint64_t{slice.column} + reinterpret_cast<const std::uint16_t*>(columns)[i];
  }
  /// The code of a lane in a step of all.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t code(std::uint64_t step, std::uint32_t lane) const {
    return reinterpret_cast<const std::uint32_t*>(stream + at.codes)[step] >> 4 * lane & 15U;
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::sjds
