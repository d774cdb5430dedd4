#pragma once
/// Layout `sjds`, sliced JDS: slices of 8 rows of a sorted window, entries side by side and without padding, made for
/// the vector registers of a CPU. Our own: jagged diagonals (Saad: Krylov Subspace Methods on Supercomputers, SIAM J.
/// Sci. Stat. Comput. 10(6), 1989) within the slices of SELL-C-sigma (Kreutzer et al., 2014). The functions that decode
/// it serve host and device alike; docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::sjds {

enum Param : std::uint8_t {
  param_source = 0,       ///< where values come from: Source
  param_window_rows = 1,  ///< rows that are sorted together (sigma), a multiple of `lanes`
  param_pieces = 2        ///< slices at the end that are pieces of long rows
};
inline constexpr std::array<std::string_view, 3> parameters{"source", "window_rows", "pieces"};
enum Section : std::uint8_t {  // places in `sections`
  section_windows = 0,
  section_slices = 1,
  section_stream = 2,
  section_values = 3,
  section_codes = 4
};

/// What an entry's value is: in `values` in the order of the slices; the element of it that a code of 4 bits names.
enum class Source : std::uint8_t { raw, code };
inline constexpr std::array<std::string_view, 2> source_names{"raw", "code"};
/// Whether entries with this source own, share or compute their values.
constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are(Source source) noexcept {
  return source == Source::raw ? ValuesAre::own : ValuesAre::shared;
}

inline constexpr std::uint32_t lanes = 8;           ///< of a slice: rows, or every eighth entry of a piece
inline constexpr std::uint32_t reach = 16;          ///< elements of x that a window step loads
inline constexpr std::uint32_t max_entries = 4096;  ///< of a row in a slice, and of a piece
inline constexpr std::uint32_t max_window_rows = 65536, max_table = 16;
inline constexpr std::uint32_t unit = 4;  ///< bytes of an element of `stream`
inline constexpr std::uint32_t slice_words = 6;

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
  std::uint32_t begin;   ///< its part of `stream` begins here
  std::uint32_t values;  ///< its entries of `values`, or its steps of `codes`, begin here
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
  /// For a piece: whether the piece before it is of the same row.
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

/// Where the pieces of a slice's part of `stream` are, in bytes: [its list of rows,] window steps, lanes of each step
/// of the tail, columns of all steps that are no window steps. Whoever reads slice after slice goes from piece to
/// piece, and need not wait for this.
struct StreamLayout {
  std::uint64_t windows, tail, columns, end;
};
constexpr SPMVPACK_HOST_DEVICE StreamLayout stream_layout(const Slice& s) noexcept {
  const auto padded = [](std::uint64_t bytes) { return (bytes + unit - 1) / unit * unit; };
  const std::uint64_t columns =
      std::uint64_t{s.steps()} * lanes + s.tail_entries() + (s.tail() != 0 ? tail_padding : 0);
  StreamLayout at{};
  at.windows = s.is_listed() ? lanes * sizeof(std::uint16_t) : 0;
  at.tail = at.windows + s.windows() * sizeof(WindowStep);
  at.columns = padded(at.tail + s.tail());
  at.end = padded(at.columns + columns * (s.is_wide() ? 4 : 2));
  return at;
}

constexpr std::uint64_t windows_of(const PartInfo& part) noexcept {
  const std::uint64_t rows = part.params[param_window_rows];
  return div_up(part.rows.count, rows == 0 ? 1 : rows);
}
constexpr std::uint64_t slices_of(const PartInfo& part) noexcept { return part.counts[section_slices] / slice_words; }
constexpr Source source_of(const PartInfo& part) noexcept { return static_cast<Source>(part.params[param_source]); }

inline constexpr std::array<SectionDescription, 5> sections{{
    {"windows", Element::u32, [](const PartInfo& part) { return windows_of(part) + 1; }},
    {"slices", Element::u32},
    {"stream", Element::u32},
    {"values", Element::value},
    {"codes", Element::u32},
}};

/// A part's arrays, in host or device memory. T: the type of its values.
template <class T>
struct View {
  const RowWindow* windows;
  const Slice* slices;
  const std::uint32_t* stream;
  const T* values;
  const std::uint32_t* codes;
  std::uint64_t window_count, slice_count, piece_count, rows, cols;
  std::uint32_t window_rows;
  Source source;

  /// Slices of rows; the pieces of long rows follow.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_slices() const { return slice_count - piece_count; }
};

template <class T>
View<T> view(const PartView& part) {
  const PartInfo& info = part.info();
  return {reinterpret_cast<const RowWindow*>(part.get<std::uint32_t>("windows").data()),
          reinterpret_cast<const Slice*>(part.get<std::uint32_t>("slices").data()),
          part.get<std::uint32_t>("stream").data(),
          part.get<T>("values").data(),
          part.get<std::uint32_t>("codes").data(),
          windows_of(info),
          slices_of(info),
          info.params[param_pieces],
          part.rows(),
          part.cols(),
          static_cast<std::uint32_t>(info.params[param_window_rows]),
          source_of(info)};
}

/// One slice, ready to be read step by step.
struct SliceView {
  Slice slice;
  Source source;
  StreamLayout at;
  const std::byte* stream;     ///< of the slice
  const std::uint32_t* codes;  ///< of its first step

  template <class T>
  static SPMVPACK_HOST_DEVICE SliceView of(const View<T>& v, std::uint64_t s) {
    const Slice slice = v.slices[s];
    return {slice, v.source, stream_layout(slice), reinterpret_cast<const std::byte*>(v.stream + slice.begin),
            v.source == Source::code ? v.codes + slice.values : nullptr};
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
    return codes[step] >> 4 * lane & 15U;
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::sjds
