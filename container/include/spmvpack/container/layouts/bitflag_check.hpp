#pragma once
/// What a part of bitflag must be like, for host and device: each predicate looks at one chunk, entry, segment or
/// column and its neighbours, and returns what is violated. Once check_header() of all chunks, the end among them, has
/// found nothing, those of a chunk's bytes read nothing outside the part's sections.

#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::bitflag {

/// Violations, in the order in which a reader meets them from the beginning of a part.
enum Violation : std::uint32_t {
  sound = 0,
  bad_numbers = violation(1, 0),
  bytes_elsewhere = violation(2, 0),
  rows_before_first = violation(3, 1),
  row_out_of_range = violation(4, 1),
  rows_fall = violation(5, 1),
  too_few_rows = violation(6, 1),
  rows_skipped = violation(7, 1),
  continues_nothing = violation(8, 1),
  no_end = violation(9, 0),
  bytes_end_elsewhere = violation(10, 0),
  stream_goes_on = violation(11, 0),
  bad_segment = violation(12, 6),
  bad_hot_column = violation(13, 5),
  foreign_base = violation(14, 3),
  too_many_starts = violation(15, 2),
  bad_start_row = violation(16, 1),
  starts_no_row = violation(17, 2),
  column_out_of_range = violation(18, 3),
  columns_fall = violation(19, 3),
  bad_exponent = violation(20, 4),
  bad_id = violation(21, 4),
  too_few_starts = violation(22, 2),
  starts_and_continues = violation(23, 2),
  continues_elsewhere = violation(24, 1),
  columns_do_not_go_on = violation(25, 3),
  consecutive_rows_listed = violation(26, 1),
  bytes_of_no_entry = violation(27, 0),
};

/// What the part table says beyond a View.
struct Sizes {
  std::uint64_t units, values, rows, cols;  ///< rows: of all segments
};
inline Sizes sizes_of(const PartView& part) {
  return {units_of(part.info()), values_of(part.info()), segment_rows(part.info()), part.cols()};
}

/// The unit of the stream at which the bytes of chunk c begin, or the last one's end.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t stream_begin(const View<T>& v, std::uint64_t c) {
  if (c == 0) return 0;
  const Chunk before = v.chunks[c - 1];
  return std::uint64_t{before.place} + chunk_layout(before.info, v.source, v.value_bytes).end / unit;
}

/// Where everything of chunk c lies, or that element c is the end: chunks and their rows follow each other.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_header(const View<T>& v, const Sizes& n, std::uint64_t c) {
  const Chunk chunk = v.chunks[c];
  if (!chunk.info.is_sound(v.source) || (chunk.info.entries() == 0 && chunk.base != 0)) return bad_numbers;
  if (chunk.place != stream_begin(v, c)) return bytes_elsewhere;
  if (c == 0 && (chunk.row != 0 || chunk.info.continues())) return rows_before_first;
  if (chunk.row > n.rows) return row_out_of_range;
  if (c != 0) {
    const Chunk before = v.chunks[c - 1];
    const std::uint32_t own = chunk.begin() - before.begin(), starts = before.info.starts();
    if (chunk.begin() < before.begin() || own > max_chunk_rows) return rows_fall;
    if (starts > own) return too_few_rows;
    if (before.info.row_bytes() == 0 && starts != 0 && starts != own) return rows_skipped;
    if (chunk.info.continues() && before.info.entries() == 0) return continues_nothing;
  }
  if (c != v.chunk_count) return stream_begin(v, c + 1) > n.units ? bytes_end_elsewhere : sound;
  if (chunk.info.entries() != 0 || chunk.row != n.rows) return no_end;
  return chunk.place != n.units ? stream_goes_on : sound;
}

/// Whether a tile begins inside a row.
template <class T>
SPMVPACK_HOST_DEVICE bool continues_tile(const View<T>& v, std::uint64_t c) {
  return c % v.tile_chunks == 0 && v.chunks[c].info.continues();
}

/// Each segment's tiles begin with its rows. `s` may be the end.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_segment(const View<T>& v, std::uint64_t s) {
  const std::uint64_t tiles = v.chunk_count / v.tile_chunks, tile = v.segments[s];
  if (tile > tiles || (s == 0 ? tile != 0 : tile < v.segments[s - 1]) || (s == v.segment_count && tile != tiles))
    return bad_segment;
  const Chunk first = v.chunks[tile * v.tile_chunks];
  return first.begin() != s * v.rows || first.info.continues() ? bad_segment : sound;
}

template <class T>
SPMVPACK_HOST_DEVICE Violation check_hot(const View<T>& v, const Sizes& n, std::uint32_t i) {
  return v.hot[i] >= n.cols || (i != 0 && v.hot[i] <= v.hot[i - 1]) ? bad_hot_column : sound;
}

/// The columns of a chunk with entries are those of its rows' segment.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_base(const View<T>& v, const Chunk& chunk) {
  if (v.segment_count <= 1) return sound;
  const std::uint64_t first = chunk.row / v.rows * v.segment_columns;
  return chunk.base != first || chunk.info.column_bytes() > 2 ? foreign_base : sound;
}

/// Entry e of chunk c, in which `starts` rows start before it. `column`: the entry's; `before`: of the entry before it,
/// if there is one and no row starts here.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_entry(const View<T>& v, const Sizes& n, std::uint64_t c, const ChunkView& chunk,
                                           std::uint32_t e, std::uint32_t starts, std::uint32_t column,
                                           std::uint32_t before) {
  const Info info = chunk.chunk.info;
  const bool starts_row = chunk.starts_row(e);
  if (starts_row) {
    if (starts >= info.starts()) return too_many_starts;
    const std::uint32_t row = chunk.start_row(starts);
    if (row < chunk.chunk.begin() || row >= v.chunks[c + 1].begin() ||
        (starts != 0 && row <= chunk.start_row(starts - 1)))
      return bad_start_row;
  } else if (e == 0 && !info.continues()) {
    return starts_no_row;
  }
  if (column < chunk.chunk.base || column >= n.cols ||
      (v.segment_count > 1 && column - chunk.chunk.base >= v.segment_columns))
    return column_out_of_range;
  if (e != 0 && !starts_row && column <= before) return columns_fall;
  if (chunk.has_value(e, n.values)) return sound;
  return v.source == Source::decimal ? bad_exponent : bad_id;
}

/// Chunk c, whose entries start `starts` rows, and the one before it.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_rows(const View<T>& v, std::uint64_t c, const ChunkView& chunk,
                                          std::uint32_t starts) {
  const Info info = chunk.chunk.info;
  if (starts != info.starts()) return too_few_starts;
  if (info.continues()) {
    if (chunk.starts_row(0)) return starts_and_continues;
    // What it continues is the last row of the chunk before, whose columns go on here.
    const ChunkView before = ChunkView::of(v, c - 1);
    const Info of_before = before.chunk.info;
    const std::uint32_t row = of_before.starts() == 0 ? before.chunk.row : before.start_row(of_before.starts() - 1);
    if (chunk.chunk.row != row) return continues_elsewhere;
    if (chunk.column(0) <= before.column(of_before.entries() - 1)) return columns_do_not_go_on;
  }
  const std::uint32_t own = v.chunks[c + 1].begin() - chunk.chunk.begin();
  return info.row_bytes() != 0 && info.starts() >= own ? consecutive_rows_listed : sound;
}

/// What a chunk's pieces have besides entries: nothing. Looks at every `step`-th place of each from the `first` on.
SPMVPACK_HOST_DEVICE inline Violation check_unused(const ChunkView& chunk, std::uint32_t first, std::uint32_t step) {
  const Info info = chunk.chunk.info;
  const std::uint32_t slots = chunk.chunk_lanes * lane_entries;
  bool clear = true;
  const auto require_zeros = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t b = begin + first; b < end; b += step) clear = clear && chunk.bytes[b] == std::byte{0};
  };
  for (std::uint32_t e = info.entries() + first; e < chunk_entries; e += step) clear = clear && !chunk.starts_row(e);
  for (std::uint32_t e = info.entries() + first; e < slots; e += step) {
    clear = clear && chunk.word(e) == 0;
    const std::uint32_t value = chunk.at.values + chunk.value_element(e) * chunk.value_bytes;
    for (std::uint32_t b = value; b < value + chunk.value_bytes; ++b) clear = clear && chunk.bytes[b] == std::byte{0};
  }
  if (chunk.at.exponents != chunk.at.rows) {
    for (std::uint32_t e = info.entries() + first; e < slots; e += step) clear = clear && chunk.more_exponent(e) == 0;
    require_zeros(chunk.at.exponents + slots * info.exponent_bits() / 8, chunk.at.rows);
  }
  require_zeros(chunk.at.rows + info.starts() * info.row_bytes(), chunk.at.end);
  return clear ? sound : bytes_of_no_entry;
}

}  // namespace spmvpack::layouts::bitflag
