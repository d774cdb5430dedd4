#pragma once
/// Layout `csell`, compressed SELL: slices of 32 rows (or block rows) whose columns are steps of a dictionary of
/// patterns, or 8/16/32-bit offsets. Our own, based on SELL-C-sigma (Kreutzer et al.) and on the chunks of ccoo. The
/// functions that decode it serve host and device alike; docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::csell {

enum Param : std::uint8_t {
  param_source = 0,        ///< where values come from: Source
  param_block = 1,         ///< rows and columns of a block
  param_sums = 2,          ///< group g of a slice adds to sum g mod sums
  param_tile_slices = 3,   ///< slices that share a table; 0 without tables
  param_largest_tile = 4,  ///< values of the largest table
  param_patterns_only = 5  ///< 1: every slice is_pattern(), so that kernels need not ask; 0: one is not
};
inline constexpr std::array<std::string_view, 6> parameters{"source",      "block",        "sums",
                                                            "tile_slices", "largest_tile", "patterns_only"};
enum Section : std::uint8_t {  // places in `sections`
  section_slices = 0,
  section_patterns = 1,
  section_stream = 2,
  section_values = 3,
  section_tiles = 4,
  section_references = 5
};

/// What an entry's value is: in `values` in the order of the steps; the element of a tile's table that an id names;
/// that of its step in the dictionary of patterns; the only one of the part; in a slot of its row, or in that of the
/// transposed entry, which has the same bits (mirror) or a mirror's sign flipped (skew).
enum class Source : std::uint8_t { raw, table, step, single, mirror, skew };
inline constexpr std::array<std::string_view, 6> source_names{"raw", "table", "step", "single", "mirror", "skew"};
/// Whether entries with this source own, share or compute their values.
constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are(Source source) noexcept {
  return source == Source::raw ? ValuesAre::own : ValuesAre::shared;
}
constexpr SPMVPACK_HOST_DEVICE bool has_mirrors(Source source) noexcept {
  return source == Source::mirror || source == Source::skew;
}
/// The source whose values lie where this one's do: those of `skew` do as those of `mirror`, but for signs.
constexpr Source without_signs(Source source) noexcept { return source == Source::skew ? Source::mirror : source; }
/// Calls f with the source as a std::integral_constant.
template <class F>
constexpr decltype(auto) dispatch_source(Source source, F&& f) {
  static_assert(source_names.size() == 6, "a source is missing below");
  return dispatch_constant<Source::raw, Source::table, Source::step, Source::mirror, Source::skew, Source::single>(
      source, f);
}

inline constexpr std::uint32_t lanes = 32;       ///< of a slice: block rows
inline constexpr std::uint32_t group_steps = 4;  ///< steps whose offsets, and ids, are one word of a lane
inline constexpr std::uint32_t unit = 32;        ///< bytes that places in `stream` and `values` count
inline constexpr std::uint32_t max_block = 4, max_sums = 4;
inline constexpr std::uint32_t max_table = 65536;  ///< values of a tile; up to 256 have ids of a byte
inline constexpr std::uint32_t max_slots = 32768;  ///< of a slice; up to 128 have references of a byte
inline constexpr std::uint32_t max_patterns = (1U << 30U) - 1;

/// With mirrors, where the value of an entry is: 2 slot if the slot is of the entry's own row; 2 slot + 1 if it is of
/// the row with the number of its column, where the transposed entry is.
struct Reference {
  std::uint32_t bits;  ///< 1 | 15, the lowest first
  static constexpr Reference own(std::uint32_t slot) noexcept { return {2 * slot}; }
  static constexpr Reference mirror(std::uint32_t slot) noexcept { return {2 * slot + 1}; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_mirror() const noexcept { return (bits & 1U) != 0; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t slot() const noexcept { return bits >> 1U; }
};

/// How the columns of a group are stored: lane l's column is base + l's row (pattern), or base + an offset, modulo
/// 2^32.
enum class Columns : std::uint8_t { pattern, offset_8, offset_16, offset_32 };

/// Four steps. `base` is a column (of blocks), or in a pattern column - row; `mask` has a bit for each lane with an
/// entry. What stands for an entry that is not there is 0: bases, offsets, ids and values of steps.
struct Group {
  std::uint32_t base[group_steps], mask[group_steps];  // NOLINT(*-avoid-c-arrays): shared with kernels

  /// Whether there is a step, and only at the end steps that fill up.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_sound() const noexcept {
    bool ok = mask[0] != 0;
    for (std::uint32_t k = 1; k < group_steps; ++k) ok = ok && (mask[k] != 0 ? mask[k - 1] != 0 : base[k] == 0);
    return ok;
  }
};
static_assert(sizeof(Group) == unit);

/// An element of `slices`.
struct Slice {
  std::uint32_t pattern;  ///< 30 | 2 bits: its first group of the dictionary; with mirrors, reference_bytes()
  std::uint32_t stream;   ///< its units of `stream` begin here
  std::uint32_t values;   ///< its values begin here, in units; 0 unless the source is raw, or there are mirrors
  std::uint32_t counts;   ///< 8 | 8 | 8 | 8 bits: groups of each kind of columns; `many`: see SliceGroups
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t first_group() const noexcept {
    return pattern & max_patterns;
  }
  /// Bytes of a lane's reference in `stream`; 0 if references are those of the dictionary's steps, or there are none.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t reference_bytes() const noexcept { return pattern >> 30U; }
  /// Whether all groups are of the dictionary, and few.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_pattern() const noexcept { return counts <= 0xFF; }
};
static_assert(sizeof(Slice) == 16);

/// The number of groups of each kind of columns. A slice with more than 255 of a kind has counts = many, and its part
/// of `stream` begins with a unit that holds them, and zeros; so does one that has 255 of each.
struct SliceGroups {
  static constexpr std::uint32_t many = 0xFFFFFFFF;
  std::uint32_t of[4];  // NOLINT(*-avoid-c-arrays): shared with kernels

  static constexpr SPMVPACK_HOST_DEVICE SliceGroups from(std::uint32_t counts) noexcept {
    return {{counts & 0xFFU, counts >> 8U & 0xFFU, counts >> 16U & 0xFFU, counts >> 24U}};
  }
  /// The element `counts` of a slice with these.
  [[nodiscard]] constexpr std::uint32_t counts() const noexcept {
    std::uint32_t most = 0;
    for (const std::uint32_t n : of) most = n > most ? n : most;
    const std::uint32_t packed = of[0] | of[1] << 8U | of[2] << 16U | of[3] << 24U;
    return most > 255 || packed == many ? many : packed;
  }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint64_t total() const noexcept {
    return std::uint64_t{of[0]} + of[1] + of[2] + of[3];
  }
};

/// Where the pieces of a slice's part of `stream` are, in units: [counts] groups, words of 8, 16 and 32 bits a step,
/// ids or references.
struct StreamLayout {
  std::uint64_t groups, words[3], ids, end;  // NOLINT(*-avoid-c-arrays): shared with kernels
};
/// `id_bytes`: of an entry's ids, one for each value of its block, or of its reference; 0 if it has none. The words of
/// a group are 32 x 4 offsets.
constexpr SPMVPACK_HOST_DEVICE StreamLayout stream_layout(const SliceGroups& n, bool many,
                                                          std::uint32_t id_bytes) noexcept {
  constexpr std::uint32_t word_units = lanes * group_steps / unit;  // of one byte each
  StreamLayout at{};
  at.groups = many ? 1 : 0;
  at.words[0] = at.groups + n.of[1] + n.of[2] + n.of[3];
  at.words[1] = at.words[0] + std::uint64_t{n.of[1]} * word_units;
  at.words[2] = at.words[1] + std::uint64_t{n.of[2]} * word_units * 2;
  at.ids = at.words[2] + std::uint64_t{n.of[3]} * word_units * 4;
  at.end = at.ids + n.total() * word_units * id_bytes;
  return at;
}

/// The same of groups that are known: `many` follows from them.
constexpr StreamLayout stream_layout(const SliceGroups& n, std::uint32_t id_bytes) noexcept {
  return stream_layout(n, n.counts() == SliceGroups::many, id_bytes);
}

/// The byte at which the ids of one value of a group's blocks begin among those of the slice. `number`: the group's,
/// times the values of a block, plus the value's. A slice has less than 2^37 bytes.
constexpr SPMVPACK_HOST_DEVICE std::uint64_t ids_begin(std::uint32_t number, std::uint32_t id_bytes) noexcept {
  return std::uint64_t{number * id_bytes} * (lanes * group_steps);
}

/// A tile's table: elements [begin, begin + count) of `values`.
struct Tile {
  std::uint32_t begin, count;
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t id_bytes() const noexcept { return count <= 256 ? 1 : 2; }
};
static_assert(sizeof(Tile) == 8);

constexpr Source source_of(const PartInfo& part) noexcept { return static_cast<Source>(part.params[param_source]); }
/// Groups of the dictionary.
constexpr std::uint64_t patterns_of(const PartInfo& part) noexcept {
  return part.counts[section_patterns] / (sizeof(Group) / sizeof(std::uint32_t));
}
/// Units of `stream`.
constexpr std::uint64_t units_of(const PartInfo& part) noexcept {
  return part.counts[section_stream] / (unit / sizeof(std::uint32_t));
}
constexpr std::uint64_t values_of(const PartInfo& part) noexcept { return part.counts[section_values]; }
/// Slices of a part whose shape has been checked, or is being.
constexpr std::uint64_t slices_of(const PartInfo& part) noexcept {
  const std::uint64_t block = part.params[param_block];
  return block == 0 ? 0 : div_up(div_up(part.rows.count, block), lanes);
}
constexpr std::uint64_t tiles_of(const PartInfo& part) noexcept {
  const std::uint64_t n = part.params[param_tile_slices];
  return n == 0 ? 0 : div_up(slices_of(part), n);
}
/// Values of a slot of a slice: of 32 blocks.
constexpr SPMVPACK_HOST_DEVICE std::uint64_t slot_values(std::uint32_t block) noexcept {
  return std::uint64_t{block} * block * lanes;
}
/// The place, among the raw values of a step with n entries, of an element of the block of entry number `rank`. Values
/// are stored element by element of the block, those of all entries side by side.
template <class N>
constexpr SPMVPACK_HOST_DEVICE N raw_place(N element, N n, N rank) noexcept {
  return element * n + rank;
}
inline constexpr std::array<SectionDescription, 6> sections{{
    {"slices", Element::u32, [](const PartInfo& part) { return slices_of(part) * 4; }},
    {"patterns", Element::u32, nullptr, unit},
    {"stream", Element::u32, nullptr, unit},
    {"values", Element::value, nullptr, unit},
    {"tiles", Element::u32, [](const PartInfo& part) { return tiles_of(part) * 2; }},
    // Of the dictionary's steps: only with mirrors.
    {"references", Element::u16,
     [](const PartInfo& part) { return has_mirrors(source_of(part)) ? patterns_of(part) * group_steps : 0; }, 16,
     format::section_device},
}};

/// A part's arrays, in host or device memory. T: the type of its values.
template <class T>
struct View {
  const Slice* slices;
  const Group* patterns;
  const std::byte* stream;
  const T* values;
  const Tile* tiles;
  const std::uint16_t* references;  ///< of the dictionary's steps; null without mirrors
  std::uint64_t slice_count, rows;  ///< rows: block rows
  std::uint32_t block, sums, tile_slices;
  Source source;

  /// Bytes of an id, or of a reference.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t id_bytes(std::uint64_t slice) const {
    if (has_mirrors(source)) return slices[slice].reference_bytes();
    return tile_slices == 0 ? 0 : tiles[slice / tile_slices].id_bytes();
  }
  /// Ids of an entry.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t ids_of_entry() const {
    return has_mirrors(source) ? 1 : block * block;
  }
  /// With mirrors: the place in `values` of row r and column c of the block that this reference of block row `row`, in
  /// block column `column`, names. Elements of a block are 32 values apart.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t place(Reference reference, std::uint32_t row, std::uint32_t column,
                                                         std::uint32_t r, std::uint32_t c) const {
    const std::uint32_t owner = reference.is_mirror() ? column : row;
    const std::uint32_t element = reference.is_mirror() ? c * block + r : r * block + c;
    return std::uint64_t{slices[owner / lanes].values} * (unit / sizeof(T)) + reference.slot() * slot_values(block) +
           element * lanes + owner % lanes;
  }
};

template <class T>
View<T> view(const PartView& part) {
  const auto& p = part.info().params;
  return {reinterpret_cast<const Slice*>(part.get<std::uint32_t>("slices").data()),
          reinterpret_cast<const Group*>(part.get<std::uint32_t>("patterns").data()),
          reinterpret_cast<const std::byte*>(part.get<std::uint32_t>("stream").data()),
          part.get<T>("values").data(),
          reinterpret_cast<const Tile*>(part.get<std::uint32_t>("tiles").data()),
          part.find("references") == nullptr ? nullptr : part.get<std::uint16_t>("references").data(),
          slices_of(part.info()),
          part.rows() / p[param_block],
          static_cast<std::uint32_t>(p[param_block]),
          static_cast<std::uint32_t>(p[param_sums]),
          static_cast<std::uint32_t>(p[param_tile_slices]),
          source_of(part.info())};
}

/// One slice, ready to be read group by group.
struct SliceView {
  const Group* patterns;
  const std::byte* stream;  ///< of the slice
  SliceGroups n;
  StreamLayout at;
  const std::uint16_t* references;       ///< of the steps of its patterns
  std::uint32_t id_bytes, ids_of_entry;  ///< bytes of an id or reference; ids of an entry

  /// `counts` of the slice may be `many`: this reads the stream.
  template <class T>
  static SPMVPACK_HOST_DEVICE SliceView of(const View<T>& v, std::uint64_t s) {
    const Slice slice = v.slices[s];
    SliceView r{};
    r.patterns = v.patterns == nullptr ? nullptr : v.patterns + slice.first_group();
    r.references = v.references == nullptr ? nullptr : v.references + std::uint64_t{slice.first_group()} * group_steps;
    r.stream = v.stream + std::uint64_t{slice.stream} * unit;
    const bool many = slice.counts == SliceGroups::many;
    r.n = many ? *reinterpret_cast<const SliceGroups*>(r.stream) : SliceGroups::from(slice.counts);
    r.id_bytes = v.id_bytes(s);
    r.ids_of_entry = v.ids_of_entry();
    r.at = stream_layout(r.n, many, r.id_bytes * r.ids_of_entry);
    return r;
  }

  [[nodiscard]] SPMVPACK_HOST_DEVICE Columns columns(std::uint64_t group) const {
    std::uint32_t kind = 0;
    for (; kind < 3 && group >= n.of[kind]; ++kind) group -= n.of[kind];
    return static_cast<Columns>(kind);
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE const Group& group(std::uint64_t g) const {
    return g < n.of[0] ? patterns[g] : reinterpret_cast<const Group*>(stream + at.groups * unit)[g - n.of[0]];
  }
  /// The offsets of a group's lanes, group_steps for each; null in a pattern.
  [[nodiscard]] SPMVPACK_HOST_DEVICE const std::byte* words(std::uint64_t g) const {
    if (g < n.of[0]) return nullptr;
    g -= n.of[0];
    std::uint32_t width = 0;  // log2 of the bytes
    for (; width < 2 && g >= n.of[width + 1]; ++width) g -= n.of[width + 1];
    return stream + at.words[width] * unit + g * (lanes * group_steps << width);
  }
  /// The column of a lane that has an entry in step k of group g; `row` is the lane's.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t column(std::uint64_t g, std::uint32_t k, std::uint32_t lane,
                                                          std::uint32_t row) const {
    const std::uint32_t base = group(g).base[k], element = lane * group_steps + k;
    const std::byte* const from = words(g);
    switch (columns(g)) {
      case Columns::pattern:
        return base + row;
      case Columns::offset_8:
        return base + reinterpret_cast<const std::uint8_t*>(from)[element];
      case Columns::offset_16:
        return base + reinterpret_cast<const std::uint16_t*>(from)[element];
      default:
        return base + reinterpret_cast<const std::uint32_t*>(from)[element];
    }
  }
  /// The id of value e of an entry's block, within the table of the slice's tile.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t id(std::uint64_t g, std::uint32_t k, std::uint32_t lane,
                                                      std::uint32_t e) const {
    const std::byte* const ids = stream + at.ids * unit;
    const std::uint64_t element = ((g * ids_of_entry + e) * lanes + lane) * group_steps + k;
    return id_bytes == 1 ? reinterpret_cast<const std::uint8_t*>(ids)[element]
                         : reinterpret_cast<const std::uint16_t*>(ids)[element];
  }
  /// With mirrors, of a lane that has an entry in step k of group g.
  [[nodiscard]] SPMVPACK_HOST_DEVICE Reference reference(std::uint64_t g, std::uint32_t k, std::uint32_t lane) const {
    return {id_bytes == 0 ? references[g * group_steps + k] : id(g, k, lane, 0)};
  }
  /// Whether all ids of a block are below `end`: the number of its table's values if the entry exists, else 1.
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool ids_below(std::uint64_t g, std::uint32_t k, std::uint32_t lane,
                                                    std::uint32_t end) const {
    for (std::uint32_t e = 0; e < ids_of_entry; ++e)
      if (id(g, k, lane, e) >= end) return false;
    return true;
  }
};

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::csell
