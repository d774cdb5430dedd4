#pragma once
/// What a part of sjds must be like, for host and device: each predicate looks at one window or slice and its
/// neighbours, and returns what is violated first. Once check_window() and check_slice() of all have found nothing,
/// check_entries() reads nothing outside the part's sections.

#include "spmvpack/container/layouts/sjds_entries.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::sjds {

/// Violations, in the order in which a reader meets them from the beginning of a part.
enum Violation : std::uint32_t {
  sound = 0,
  slices_elsewhere = violation(1, 0),
  too_many_rows = violation(2, 0),
  others_missaid = violation(3, 0),
  stream_elsewhere = violation(4, 1),
  bits_of_nothing = violation(5, 1),
  too_many_entries = violation(6, 1),
  outside_window = violation(7, 1),
  lanes_missing = violation(8, 1),
  bad_piece = violation(9, 1),
  pieces_fall = violation(10, 1),
  stream_ends_elsewhere = violation(11, 1),
  values_elsewhere = violation(12, 1),  ///< or after the last slice, they go on
  row_out_of_range = violation(13, 3),
  row_twice = violation(14, 3),
  bad_tail = violation(15, 2),
  window_leaves_columns = violation(16, 4),
  column_out_of_range = violation(17, 4),
  columns_fall = violation(18, 4),
  code_out_of_range = violation(19, 5),
  padding_not_zero = violation(20, 2),
};

/// What the part table says beyond a View.
struct Sizes {
  std::uint64_t stream, values, codes;
};
inline Sizes sizes_of(const PartView& part) {
  const auto& counts = part.info().counts;
  return {counts[section_stream], counts[section_values], counts[section_codes]};
}

/// Window w, or behind the last one, the end.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_window(const View<T>& v, std::uint64_t w) {
  const RowWindow window = v.windows[w];
  if (w == 0 && window.first_slice() != 0) return slices_elsewhere;
  if (w == v.window_count) return window.bits != v.row_slices() ? slices_elsewhere : sound;
  const std::uint64_t first = window.first_slice(), end = v.windows[w + 1].first_slice(), begin_row = w * v.window_rows,
                      left = v.rows - begin_row, rows = left < v.window_rows ? left : v.window_rows;
  if (end < first || end > v.row_slices()) return slices_elsewhere;
  const std::uint64_t in_slices = end == first ? 0 : (end - first - 1) * lanes + v.slices[end - 1].rows();
  if (in_slices > rows) return too_many_rows;
  return window.has_others() != (in_slices < rows) ? others_missaid : sound;
}

/// Where slice s begins in the stream, or the last one ends.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t stream_begin(const View<T>& v, std::uint64_t s) {
  return s == 0 ? 0 : v.slices[s - 1].begin + stream_layout(v.slices[s - 1]).end / unit;
}
/// The same in the values, or the codes.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t values_begin(const View<T>& v, std::uint64_t s) {
  if (s == 0) return 0;
  const Slice& before = v.slices[s - 1];
  return std::uint64_t{before.values} + (v.source == Source::raw ? before.entries() : before.full() + before.tail());
}

/// Where the last slice ends, the stream and the values, or the codes, do. Of a part without slices, too.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_end(const View<T>& v, const Sizes& n) {
  if (stream_begin(v, v.slice_count) != n.stream) return stream_ends_elsewhere;
  return values_begin(v, v.slice_count) != (v.source == Source::raw ? n.values : n.codes) ? values_elsewhere : sound;
}

/// A slice of rows: its place among those of its window.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_rows(const View<T>& v, std::uint64_t s, const Slice& slice) {
  if (slice.continues()) return bits_of_nothing;
  if (slice.full() + slice.tail() > max_entries || slice.tail_entries() > slice.tail() * (lanes - 1))
    return too_many_entries;
  const std::uint64_t w = slice.row / v.window_rows;
  if (w >= v.window_count || s < v.windows[w].first_slice() || s >= v.windows[w + 1].first_slice())
    return outside_window;
  const std::uint64_t end = (w + 1) * v.window_rows < v.rows ? (w + 1) * v.window_rows : v.rows;
  if (slice.is_listed() ? slice.row != w * v.window_rows : std::uint64_t{slice.row} + slice.rows() > end)
    return outside_window;
  const bool is_last = s + 1 == v.windows[w + 1].first_slice();
  if (slice.rows() < lanes ? !is_last || slice.full() != 0 : false) return lanes_missing;
  return slice.entries() == 0 ? lanes_missing : sound;
}

/// A piece of a long row: those of a row follow each other, and all but the last have as many entries as a piece has.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_piece(const View<T>& v, std::uint64_t s, const Slice& slice) {
  const std::uint64_t n = slice.entries();
  if (slice.rows() != 1 || slice.is_listed() || slice.row >= v.rows || n == 0 || n > max_entries || slice.tail() > 1 ||
      (slice.tail() == 0 ? slice.tail_entries() != 0 : slice.tail_entries() - 1U >= lanes - 1))
    return bad_piece;
  const bool is_first = s == v.row_slices();
  if (slice.continues() && (is_first || v.slices[s - 1].row != slice.row || v.slices[s - 1].entries() != max_entries))
    return bad_piece;
  return !slice.continues() && !is_first && v.slices[s - 1].row >= slice.row ? pieces_fall : sound;
}

/// What a slice says of itself, and that it begins where the one before ends; of the last one, that everything ends.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_slice(const View<T>& v, const Sizes& n, std::uint64_t s) {
  const Slice slice = v.slices[s];
  if (slice.begin != stream_begin(v, s)) return stream_elsewhere;
  if (slice.values != values_begin(v, s)) return values_elsewhere;
  if (slice.ends >> 28U != 0 || (slice.column != 0 && (slice.is_wide() || slice.steps() + slice.tail() == 0)))
    return bits_of_nothing;
  const Violation found = s < v.row_slices() ? check_rows(v, s, slice) : check_piece(v, s, slice);
  return found != sound || s + 1 != v.slice_count ? found : check_end(v, n);
}

/// Whether bytes [begin, end) of a slice's stream are 0.
SPMVPACK_HOST_DEVICE inline bool is_zero(const SliceView& slice, std::uint64_t begin, std::uint64_t end) {
  for (; begin < end; ++begin)
    if (slice.stream[begin] != std::byte{0}) return false;
  return true;
}

/// The lanes of the steps of the tail: fewer and fewer, and of all rows if there are no other steps. That of a piece
/// comes behind its window steps, too.
SPMVPACK_HOST_DEVICE inline bool is_sound_tail(const SliceView& slice, bool is_piece) {
  const Slice& s = slice.slice;
  std::uint32_t most = is_piece || s.full() != 0 ? lanes - 1 : s.rows(), sum = 0;
  for (std::uint32_t k = 0; k < s.tail(); ++k) {
    const std::uint32_t here = slice.tail()[k];
    if (here == 0 || here > most || (k == 0 && !is_piece && s.full() == 0 && here != s.rows())) return false;
    most = here;
    sum += here;
  }
  if (is_piece && s.tail() != 0 && s.windows() != 0 &&
      slice.window_steps()[s.windows() - 1].column(lanes - 1) >= slice.column(std::uint64_t{s.steps()} * lanes))
    return false;
  return sum == s.tail_entries();
}

/// Whether everything of a slice that belongs to no entry is 0. Its tail is sound.
SPMVPACK_HOST_DEVICE inline bool is_padding_zero(const SliceView& slice) {
  const Slice& s = slice.slice;
  if (s.is_listed())
    for (std::uint32_t lane = s.rows(); lane < lanes; ++lane)
      if (reinterpret_cast<const std::uint16_t*>(slice.stream)[lane] != 0) return false;
  const std::uint64_t columns = std::uint64_t{s.steps()} * lanes + s.tail_entries();
  if (!is_zero(slice, slice.at.tail + s.tail(), slice.at.columns) ||
      !is_zero(slice, slice.at.columns + columns * (s.is_wide() ? 4 : 2), slice.at.end))
    return false;
  if (slice.source == Source::code)
    for (std::uint32_t k = 0; k < s.tail(); ++k)
      for (std::uint32_t lane = slice.tail()[k]; lane < lanes; ++lane)
        if (slice.code(std::uint64_t{s.full()} + k, lane) != 0) return false;
  return true;
}

/// The entries of slice s. seen(row): marks it, and returns whether it was marked; pieces that continue a row do not
/// ask.
template <class T, class Seen>
SPMVPACK_HOST_DEVICE Violation check_entries(const View<T>& v, const Sizes& n, std::uint64_t s, Seen&& seen) {
  const SliceView slice = SliceView::of(v, s);
  const bool is_piece = s >= v.row_slices();
  if (!is_sound_tail(slice, is_piece)) return bad_tail;
  if (!is_padding_zero(slice)) return padding_not_zero;
  for (std::uint32_t k = 0; k < slice.slice.windows(); ++k)
    if (std::uint64_t{slice.window_steps()[k].base} + reach > v.cols) return window_leaves_columns;
  Violation found = sound;
  std::uint64_t next = 0;  // the column that the next entry reaches at least
  const auto look = [&](std::uint64_t column, const ValueSlot& slot) {
    if (found != sound) return;
    if (column >= v.cols)
      found = column_out_of_range;
    else if (column < next)
      found = columns_fall;
    else if (slice.source == Source::code && slot.byte >= n.values * sizeof(T))
      found = code_out_of_range;
    next = column + 1;
  };
  if (is_piece) {
    if (slice.slice.continues()) {
      const SliceView before = SliceView::of(v, s - 1);
      next = is_sound_tail(before, true) ? last_column(before) + 1 : 0;
    } else if (seen(slice.slice.row)) {
      return row_twice;
    }
    each_entry_of_piece<T>(slice, look);
    return found;
  }
  const std::uint64_t window_end = (slice.slice.row / v.window_rows + 1) * std::uint64_t{v.window_rows};
  for (std::uint32_t lane = 0; lane < slice.slice.rows(); ++lane) {
    const std::uint64_t row = slice.row(lane);
    if (row >= v.rows || row >= window_end) return row_out_of_range;
    if (seen(static_cast<std::uint32_t>(row))) return row_twice;
    next = 0;
    each_entry<T>(slice, lane, look);
    if (found != sound) return found;
  }
  return sound;
}

}  // namespace spmvpack::layouts::sjds
