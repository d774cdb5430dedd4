#pragma once
/// What a part of amb must be like, for host and device: each predicate looks at one chunk, lane or row and its
/// neighbours, and returns what is violated first. Once check_chunk() of all chunks and check_steps() have found
/// nothing, the others read nothing outside the part's sections.

#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::amb {

/// Violations, in the order in which a reader meets them from the beginning of a part.
enum Violation : std::uint32_t {
  sound = 0,
  chunk_elsewhere = violation(1, 0),
  segment_out_of_range = violation(2, 0),
  wrong_steps = violation(3, 0),
  row_out_of_range = violation(4, 1),
  row_twice = violation(5, 1),
  bad_partial_sum = violation(6, 1),
  no_lane = violation(7, 1),
  one_partial_sum = violation(8, 2),
  shared_rows_fall = violation(9, 2),
  segments_fall = violation(10, 2),
  empty_rows_fall = violation(11, 2),
  row_nowhere = violation(12, 1),
  block_leaves_segment = violation(13, 3),
  padding_of_another_column = violation(14, 3),
  padding_with_value = violation(15, 4),
  columns_fall = violation(16, 3),
  block_without_entry = violation(17, 4),
  too_many_steps = violation(18, 3),
};

/// What the part table says beyond a View.
struct Sizes {
  std::uint64_t rows, cols, segments;
};
inline Sizes sizes_of(const PartView& part) {
  return {part.rows(), part.cols(), div_up(part.cols(), part.info().params[param_segment_cols])};
}

/// The step at which chunk c begins, or the last one ends.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t step_begin(const View<T>& v, std::uint64_t c) {
  return c == 0 ? 0 : std::uint64_t{v.cs[c - 1]} + ChunkLength{v.cl[c - 1]}.steps();
}

/// Chunks follow each other in the steps, and their segments exist.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_chunk(const View<T>& v, const Sizes& n, std::uint64_t c) {
  if (v.cs[c] != step_begin(v, c)) return chunk_elsewhere;
  return ChunkLength{v.cl[c]}.segment() >= n.segments ? segment_out_of_range : sound;
}

/// Where the last chunk ends, the steps do.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_steps(const View<T>& v) {
  return step_begin(v, v.chunks) != v.steps ? wrong_steps : sound;
}

/// A row in a place of its own. seen(row): marks it, and returns whether it was marked.
template <class Seen>
SPMVPACK_HOST_DEVICE Violation check_row(std::uint32_t row, const Sizes& n, Seen&& seen) {
  if (row >= n.rows) return row_out_of_range;
  return seen(row) ? row_twice : sound;
}

/// Where the sum of a lane, of those of all chunks, goes. claim(i, segment): sets an element of the segments of partial
/// sums, which count from 1 on, and returns what it was; 0 before.
template <class T, class Seen, class Claim>
SPMVPACK_HOST_DEVICE Violation check_target(const View<T>& v, const Sizes& n, std::uint64_t lane, Seen&& seen,
                                            Claim&& claim) {
  const LaneRow to{v.row_idx[lane]};
  if (to.is_none()) return sound;
  if (!to.is_shared()) return check_row(to.index(), n, seen);
  return to.index() >= v.shared || claim(to.index(), ChunkLength{v.cl[lane / v.chunk_rows]}.segment() + 1) != 0
             ? bad_partial_sum
             : sound;
}

/// Partial sum i, when those of all lanes are known: its row has several, in the order of their segments.
template <class T, class Seen>
SPMVPACK_HOST_DEVICE Violation check_shared(const View<T>& v, const Sizes& n, std::uint64_t i,
                                            const std::uint32_t* segments, Seen&& seen) {
  if (segments[i] == 0) return no_lane;
  const std::uint32_t row = v.shared_rows[i];
  if (i == 0 || row != v.shared_rows[i - 1]) {
    if (const Violation found = check_row(row, n, seen); found != sound) return found;
    if (i + 1 == v.shared || row != v.shared_rows[i + 1]) return one_partial_sum;
    return i != 0 && row < v.shared_rows[i - 1] ? shared_rows_fall : sound;
  }
  return segments[i] <= segments[i - 1] ? segments_fall : sound;
}

template <class T, class Seen>
SPMVPACK_HOST_DEVICE Violation check_empty(const View<T>& v, const Sizes& n, std::uint64_t i, Seen&& seen) {
  if (i != 0 && v.empty_rows[i] <= v.empty_rows[i - 1]) return empty_rows_fall;
  return check_row(v.empty_rows[i], n, seen);
}

/// What check_lane() finds, at which step, and the lane's entries.
struct LaneCheck {
  Violation found = sound;
  std::uint32_t step = 0, entries = 0;
};

/// The blocks and padding of a lane. has_entry(slot): whether the value of a slot is an entry's; `all_known`: if false,
/// entries may be missing.
template <class T, class HasEntry>
SPMVPACK_HOST_DEVICE LaneCheck check_lane(const View<T>& v, const Sizes& n, std::uint64_t chunk, std::uint64_t lane,
                                          HasEntry&& has_entry, bool all_known) {
  const ChunkLength length{v.cl[chunk]};
  const std::uint64_t begin = std::uint64_t{length.segment()} * v.segment_cols, left = n.cols - begin,
                      segment_cols = left < v.segment_cols ? left : v.segment_cols;
  const bool none = LaneRow{v.row_idx[chunk * v.chunk_rows + lane]}.is_none();
  LaneCheck check, fall;
  std::uint32_t next = 0, last = 0;  // the column that a further block, a further entry reaches at least
  bool ended = none, is_empty = false;
  for (std::uint32_t step = 0; step < length.steps(); ++step) {
    const std::uint32_t column = v.col_idx[v.place(chunk, step, lane)];
    ended = ended || column < next;
    if (std::uint64_t{column} + v.block > segment_cols) return {block_leaves_segment, step};
    if (ended && column + 1 != (none ? 1 : next)) return {padding_of_another_column, step};
    next = column + 1;
    bool filled = false;
    for (std::uint32_t i = 0; i < v.block; ++i) {
      if ((v.block != 1 || ended) && !has_entry(v.slot(chunk, step, i, lane))) continue;
      if (ended) return {padding_with_value, step};
      if (column + i < last && fall.found == sound) fall = {columns_fall, step};
      last = column + i + 1;
      filled = true;
      ++check.entries;
    }
    is_empty = is_empty || (!ended && !filled && all_known);
  }
  if (fall.found != sound) return fall;
  check.found = is_empty ? block_without_entry : sound;
  return check;
}

/// A chunk of so many steps has a lane whose last block is in the last of them; its lanes have been checked.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_length(const View<T>& v, std::uint64_t chunk) {
  const std::uint32_t last = ChunkLength{v.cl[chunk]}.steps() - 1;
  for (std::uint32_t lane = 0; lane < v.chunk_rows; ++lane) {
    if (LaneRow{v.row_idx[chunk * v.chunk_rows + lane]}.is_none()) continue;
    if (last == 0 || v.col_idx[v.place(chunk, last, lane)] > v.col_idx[v.place(chunk, last - 1, lane)]) return sound;
  }
  return too_many_steps;
}

}  // namespace spmvpack::layouts::amb
