#pragma once
/// What a part of csell must be like, for host and device: each predicate looks at one tile, slice, step or lane and
/// its neighbours, and returns what is violated first. Once Tables and check_slice() of all slices have found nothing,
/// those of a slice's lanes read nothing outside the part's sections; check_mirrors() is for a part in whose lanes and
/// slots nothing is wrong.

#include <bit>
#include <cstring>

#include "spmvpack/container/layouts/csell_entries.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::csell {

/// Violations, in the order in which a reader meets them from the beginning of a part.
enum Violation : std::uint32_t {
  sound = 0,
  bad_table = violation(1, 0),
  values_of_no_tile = violation(2, 0),
  wrong_largest_tile = violation(3, 0),
  bad_pattern = violation(4, 2),
  stream_elsewhere = violation(5, 1),
  few_groups = violation(6, 1),
  more_than_counts = violation(7, 6),
  pattern_out_of_range = violation(8, 1),
  unused_pattern = violation(9, 1),
  columns_without_values = violation(10, 1),
  bad_references = violation(11, 1),
  stream_ends_elsewhere = violation(12, 1),
  bad_group = violation(13, 2),
  slots_elsewhere = violation(14, 1),
  slots_within_one = violation(15, 1),
  values_of_its_own = violation(16, 1),
  values_elsewhere = violation(17, 1),
  values_end_elsewhere = violation(18, 1),
  padding_with_value = violation(19, 6),
  next_stream_elsewhere = violation(20, 1),  ///< or, after the last slice, the section goes on
  next_values_elsewhere = violation(21, 1),
  slots_of_no_slice = violation(22, 1),
  value_of_no_step = violation(23, 6),
  reference_of_no_step = violation(24, 6),
  row_out_of_range = violation(25, 3),
  column_out_of_range = violation(26, 3),
  columns_fall = violation(27, 3),
  id_out_of_range = violation(28, 4),
  column_twice = violation(29, 3),
  bytes_of_no_entry = violation(30, 6),
  slot_out_of_range = violation(31, 7),
  slot_twice = violation(32, 7),
  value_of_no_entry = violation(33, 6),
  mirror_of_no_row = violation(34, 8),
  mirror_of_no_slot = violation(35, 8),
  mirror_of_another = violation(36, 8),
  slice_of_offsets = violation(37, 9),  ///< or of more than 255 patterns, in a part that says it has none
  patterns_unsaid = violation(38, 9),   ///< all slices are patterns, and the part does not say so
};

/// What the part table says beyond a View.
struct Sizes {
  std::uint64_t patterns, stream, values, tiles, largest_tile, cols;  ///< cols: of blocks
  bool patterns_only;
};
inline Sizes sizes_of(const PartView& part) {
  const PartInfo& info = part.info();
  return {.patterns = patterns_of(info),
          .stream = units_of(info),
          .values = values_of(info),
          .tiles = tiles_of(info),
          .largest_tile = info.params[param_largest_tile],
          .cols = part.cols() / info.params[param_block],
          .patterns_only = info.params[param_patterns_only] != 0};
}

template <class T>
inline constexpr std::uint64_t per_unit = unit / sizeof(T);  ///< values

/// Whether any bit of values [first, last) is set.
template <class T>
SPMVPACK_HOST_DEVICE bool has_bits(const T* values, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i < last; ++i) {
    bits_of<T> bits = 0;
    std::memcpy(&bits, values + i, sizeof bits);
    if (bits != 0) return true;
  }
  return false;
}

SPMVPACK_HOST_DEVICE inline std::uint64_t entries_of(const SliceView& slice) {
  std::uint64_t n = 0;
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (const std::uint32_t mask : slice.group(g).mask) n += static_cast<std::uint32_t>(std::popcount(mask));
  return n;
}

/// The tables of tiles 0, 1, ...: they may be shared, but leave no gap.
struct Tables {
  std::uint64_t end = 0, largest = 0;

  SPMVPACK_HOST_DEVICE Violation add(const Tile& tile, const Sizes& n) {
    const std::uint64_t stop = std::uint64_t{tile.begin} + tile.count;
    if (tile.count > max_table || stop > n.values || tile.begin > end) return bad_table;
    end = stop > end ? stop : end;
    largest = tile.count > largest ? tile.count : largest;
    return sound;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE Violation check(Source source, const Sizes& n) const {
    if (source == Source::table && end != n.values) return values_of_no_tile;
    return largest != n.largest_tile ? wrong_largest_tile : sound;
  }
};

/// Step `step` of the dictionary has, if it is nothing, no value and no reference.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_step(const View<T>& v, std::uint64_t step) {
  if (v.patterns[step / group_steps].mask[step % group_steps] != 0) return sound;
  const std::uint64_t block_values = std::uint64_t{v.block} * v.block;
  if (v.source == Source::step && has_bits(v.values, step * block_values, (step + 1) * block_values))
    return value_of_no_step;
  return has_mirrors(v.source) && v.references[step] != 0 ? reference_of_no_step : sound;
}

/// Where the values or slots of a slice are, whose stream is in its place.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_values(const View<T>& v, const Sizes& n, std::uint64_t s, const SliceView& view) {
  const std::uint64_t begin = v.slices[s].values * per_unit<T>;
  if (has_mirrors(v.source)) {
    // The slots of a slice end where those of the next begin.
    if (s == 0 ? begin != 0 : begin < v.slices[s - 1].values * per_unit<T> || begin > n.values) return slots_elsewhere;
    return begin % slot_values(v.block) != 0 ? slots_within_one : sound;
  }
  if (v.source != Source::raw) return begin != 0 ? values_of_its_own : sound;
  if (s == 0 && begin != 0) return values_elsewhere;
  const std::uint64_t end = begin + entries_of(view) * v.block * v.block, padded = round_up(end, per_unit<T>);
  if (padded > n.values) return values_end_elsewhere;
  if (has_bits(v.values, end, padded)) return padding_with_value;
  const bool last = s + 1 == v.slice_count;
  return padded != (last ? n.values : v.slices[s + 1].values * per_unit<T>) ? next_values_elsewhere : sound;
}

/// Where everything of a slice lies, so that reading it stays in its sections. Each slice ends where the next begins,
/// and the last where the section does. What is wrong with the slice itself comes before what is with the next one.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_slice(const View<T>& v, const Sizes& n, std::uint64_t s) {
  const Slice slice = v.slices[s];
  const bool many = slice.counts == SliceGroups::many;
  if ((s == 0 && slice.stream != 0) || std::uint64_t{slice.stream} + (many ? 1 : 0) > n.stream) return stream_elsewhere;
  const SliceView view = SliceView::of(v, s);
  if (many) {
    if (view.n.counts() != SliceGroups::many) return few_groups;
    for (std::size_t i = sizeof(SliceGroups); i < unit; ++i)
      if (view.stream[i] != std::byte{0}) return more_than_counts;
  }
  const std::uint64_t groups = view.n.total(), own_patterns = view.n.of[0];
  if (slice.first_group() + own_patterns > n.patterns) return pattern_out_of_range;
  if (own_patterns == 0 && slice.first_group() != 0) return unused_pattern;
  if (v.source == Source::step && groups != own_patterns) return columns_without_values;
  const std::uint32_t reference_bytes = slice.reference_bytes();
  if (!has_mirrors(v.source)) {
    if (reference_bytes != 0) return pattern_out_of_range;
  } else if (reference_bytes > 2 || (reference_bytes == 0 ? groups != own_patterns : groups == 0)) {
    return bad_references;
  }
  if (view.at.end > n.stream - slice.stream) return stream_ends_elsewhere;
  for (std::uint64_t g = own_patterns; g < groups; ++g)
    if (!view.group(g).is_sound()) return bad_group;
  const Violation of_values = check_values(v, n, s, view);
  if (of_values != sound && of_values != next_values_elsewhere) return of_values;
  const std::uint64_t next = s + 1 == v.slice_count ? n.stream : v.slices[s + 1].stream;
  return slice.stream + view.at.end != next ? next_stream_elsewhere : of_values;
}

/// Whether a slice is what `patterns_only` says of all.
SPMVPACK_HOST_DEVICE inline Violation check_kind(const Slice& slice, const Sizes& n) {
  return n.patterns_only && !slice.is_pattern() ? slice_of_offsets : sound;
}
/// Whether `patterns_only` says what is so, of a part with slices that are no patterns, or without.
SPMVPACK_HOST_DEVICE inline Violation check_kinds(bool others, const Sizes& n) {
  return !n.patterns_only && !others ? patterns_unsaid : sound;
}

/// Sections that no slice has a piece of are empty.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_no_slices(const View<T>& v, const Sizes& n) {
  if (v.slice_count != 0) return sound;
  if (n.stream != 0) return next_stream_elsewhere;
  if (n.values == 0) return sound;
  return has_mirrors(v.source) ? slots_of_no_slice : v.source == Source::raw ? next_values_elsewhere : sound;
}

/// Whether two entries of a lane have the same column, if each kind of columns rises.
SPMVPACK_HOST_DEVICE inline bool has_column_twice(const SliceView& slice, std::uint32_t lane, std::uint32_t row) {
  std::uint64_t before = LaneEntry::none;
  bool twice = false;
  each_rising(slice, {}, lane, row, [&](const LaneEntry& entry) {
    twice = entry.column == before;
    before = entry.column;
    return !twice;
  });
  return twice;
}

/// The entries of a lane: in range, once, and rising within each kind of columns. Adds their number to `entries`.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_lane(const View<T>& v, const Sizes& n, const SliceView& slice, std::uint64_t s,
                                          std::uint32_t lane, std::uint64_t& entries) {
  const std::uint64_t row = s * lanes + lane;
  const std::uint32_t table = v.tile_slices == 0 ? 0 : v.tiles[s / v.tile_slices].count;
  std::uint64_t g = 0, end = 0;
  std::uint32_t kinds_met = 0;
  for (const std::uint32_t groups : slice.n.of) {
    std::uint64_t least = 0;  // column that the next entry may have
    for (end += groups; g < end; ++g)
      for (std::uint32_t k = 0; k < group_steps; ++k) {
        if ((slice.group(g).mask[k] >> lane & 1U) == 0) continue;
        if (row >= v.rows) return row_out_of_range;
        const std::uint32_t column = slice.column(g, k, lane, static_cast<std::uint32_t>(row));
        if (column >= n.cols) return column_out_of_range;
        if (column < least) return columns_fall;
        if (v.tile_slices != 0 && !slice.ids_below(g, k, lane, table)) return id_out_of_range;
        least = std::uint64_t{column} + 1;
        ++entries;
      }
    kinds_met += least != 0 ? 1 : 0;
  }
  return kinds_met > 1 && has_column_twice(slice, lane, static_cast<std::uint32_t>(row)) ? column_twice : sound;
}

/// A lane without an entry in a step has no offset, id or reference there.
SPMVPACK_HOST_DEVICE inline Violation check_unused(const SliceView& slice, std::uint64_t g, std::uint32_t k,
                                                   std::uint32_t lane) {
  const bool clear =
      slice.column(g, k, lane, 0) == slice.group(g).base[k] && (slice.id_bytes == 0 || slice.ids_below(g, k, lane, 1));
  return clear ? sound : bytes_of_no_entry;
}

/// With mirrors, the slots of a slice.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t slots_of(const View<T>& v, const Sizes& n, std::uint64_t s) {
  const std::uint64_t end = s + 1 < v.slice_count ? v.slices[s + 1].values * per_unit<T> : n.values;
  return (end - v.slices[s].values * per_unit<T>) / slot_values(v.block);
}

/// The place of a row's slot among all slots and lanes of the part.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t slot_place(const View<T>& v, std::uint32_t row, std::uint32_t slot) {
  return v.slices[row / lanes].values * per_unit<T> / (std::uint64_t{v.block} * v.block) + std::uint64_t{slot} * lanes +
         row % lanes;
}

/// Calls f(column, reference) for the entries of a lane until it finds something.
template <class F>
SPMVPACK_HOST_DEVICE Violation check_references(const SliceView& slice, std::uint32_t lane, std::uint32_t row, F&& f) {
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (std::uint32_t k = 0; k < group_steps; ++k) {
      if ((slice.group(g).mask[k] >> lane & 1U) == 0) continue;
      if (const Violation found = f(slice.column(g, k, lane, row), slice.reference(g, k, lane)); found != sound)
        return found;
    }
  return sound;
}

/// The slots of a lane are of one entry each, and what no entry has is zero. `columns`: by slot_place(), of which
/// column each slot is, from 1 on; 0 before: of none.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_slots(const View<T>& v, const Sizes& n, std::uint64_t s, std::uint32_t lane,
                                           std::uint32_t* columns) {
  const auto row = static_cast<std::uint32_t>(s * lanes + lane);
  const std::uint64_t slots = slots_of(v, n, s);
  const Violation found =
      check_references(SliceView::of(v, s), lane, row, [&](std::uint32_t column, Reference reference) {
        if (reference.is_mirror()) return sound;
        if (reference.slot() >= slots) return slot_out_of_range;
        std::uint32_t& known = columns[slot_place(v, row, reference.slot())];
        if (known != 0) return slot_twice;
        known = column + 1;
        return sound;
      });
  if (found != sound) return found;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (columns[slot_place(v, row, slot)] != 0) continue;
    const std::uint64_t first = v.place(Reference::own(slot), row, 0, 0, 0);
    for (std::uint64_t e = 0; e < std::uint64_t{v.block} * v.block; ++e)
      if (has_bits(v.values, first + e * lanes, first + e * lanes + 1)) return value_of_no_entry;
  }
  return sound;
}

/// Mirrors are of entries that have a slot: of the row that is their column, in the column that is their row.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_mirrors(const View<T>& v, const Sizes& n, std::uint64_t s, std::uint32_t lane,
                                             const std::uint32_t* columns) {
  const auto row = static_cast<std::uint32_t>(s * lanes + lane);
  return check_references(SliceView::of(v, s), lane, row, [&](std::uint32_t column, Reference reference) {
    if (!reference.is_mirror()) return sound;
    if (column >= v.rows) return mirror_of_no_row;
    if (reference.slot() >= slots_of(v, n, column / lanes)) return mirror_of_no_slot;
    return columns[slot_place(v, column, reference.slot())] != row + 1 ? mirror_of_another : sound;
  });
}

}  // namespace spmvpack::layouts::csell
