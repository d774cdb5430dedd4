#pragma once
/// The entries of a part of sjds, for host and device.

#include "spmvpack/container/layouts/entries.hpp"
#include "spmvpack/container/layouts/sjds.hpp"

namespace spmvpack::layouts::sjds {

/// The slot of a lane in a step of all lanes, whose first entry is number `before` of the slice.
template <class T>
SPMVPACK_HOST_DEVICE ValueSlot value_slot(const SliceView& slice, std::uint64_t step, std::uint64_t before,
                                          std::uint32_t lane) {
  if (slice.source == Source::code)
    return element_slot<T>(section_values, slice.code(step, lane), values_are(slice.source));
  return element_slot<T>(section_values, slice.slice.values + before + lane);
}

/// Steps that are no window steps, one after the other.
struct OtherStep {
  std::uint64_t step = 0;    ///< from 0 on
  std::uint64_t before = 0;  ///< entries in those before it
  std::uint64_t count;       ///< how many there are
  std::uint32_t lanes_here;  ///< that have an entry

  explicit SPMVPACK_HOST_DEVICE OtherStep(const SliceView& s)
      : count(std::uint64_t{s.slice.steps()} + s.slice.tail()), lanes_here(lanes_of(s)) {}
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool is_there() const { return step < count; }
  SPMVPACK_HOST_DEVICE void next(const SliceView& s) {
    before += lanes_here;
    ++step;
    lanes_here = lanes_of(s);
  }

 private:
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t lanes_of(const SliceView& s) const {
    if (step < s.slice.steps()) return lanes;
    return step < count ? s.tail()[step - s.slice.steps()] : 0;
  }
};

/// Calls f(column, slot) for the entries of a lane of a slice of rows, from left to right: merges both kinds of steps,
/// in each of which columns rise.
template <class T, class F>
SPMVPACK_HOST_DEVICE void each_entry(const SliceView& slice, std::uint32_t lane, F&& f) {
  const std::uint64_t windows = slice.slice.windows();
  std::uint64_t w = 0;
  OtherStep other(slice);
  while (true) {
    const bool has_window = w < windows, has_other = other.is_there() && lane < other.lanes_here;
    if (!has_window && !has_other) return;
    const std::uint64_t of_window = has_window ? slice.window_steps()[w].column(lane) : 0,
                        of_other = has_other ? slice.column(other.before + lane) : 0;
    if (has_window && (!has_other || of_window < of_other)) {
      f(of_window, value_slot<T>(slice, w, w * lanes, lane));
      ++w;
    } else {
      f(of_other, value_slot<T>(slice, windows + other.step, windows * lanes + other.before, lane));
      other.next(slice);
    }
  }
}

/// The same for a piece of a row. A step's entries follow each other in the row.
template <class T, class F>
SPMVPACK_HOST_DEVICE void each_entry_of_piece(const SliceView& slice, F&& f) {
  const std::uint64_t windows = slice.slice.windows();
  std::uint64_t w = 0;
  for (OtherStep other(slice); w < windows || other.is_there();) {
    if (w < windows && (!other.is_there() || slice.window_steps()[w].column(0) < slice.column(other.before))) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        f(std::uint64_t{slice.window_steps()[w].column(lane)}, value_slot<T>(slice, w, w * lanes, lane));
      ++w;
    } else {
      for (std::uint32_t lane = 0; lane < other.lanes_here; ++lane)
        f(slice.column(other.before + lane),
          value_slot<T>(slice, windows + other.step, windows * lanes + other.before, lane));
      other.next(slice);
    }
  }
}

/// A unit is a slice, of which lanes take its lanes in turn. Pieces of a row are runs.
template <class T>
struct Entries {
  View<T> v;

  static Entries of(const PartView& part) { return {view<T>(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.slice_count; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return v.piece_count; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t s, std::uint32_t lane, std::uint32_t stride, Begin&& begin) const {
    const SliceView slice = SliceView::of(v, s);
    std::uint32_t i = 0, next = lane;
    if (s >= v.row_slices()) {
      auto&& put = begin(slice.slice.row, s - v.row_slices());
      return each_entry_of_piece<T>(slice, [&](std::uint64_t column, const ValueSlot& slot) {
        if (i++ != next) return;
        put(next, static_cast<std::uint32_t>(column), slot);
        next += stride;
      });
    }
    for (std::uint32_t l = lane; l < slice.slice.rows(); l += stride, i = 0) {
      auto&& put = begin(slice.row(l), first_run);
      each_entry<T>(slice, l, [&](std::uint64_t column, const ValueSlot& slot) {
        put(i++, static_cast<std::uint32_t>(column), slot);
      });
    }
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each_run(std::uint64_t s, F&& f) const {
    const SliceView slice = SliceView::of(v, s);
    if (s >= v.row_slices()) return f(slice.slice.row, s - v.row_slices(), slice.slice.entries());
    for (std::uint32_t l = 0; l < slice.slice.rows(); ++l) {
      std::uint32_t n = slice.slice.full();
      for (std::uint32_t k = 0; k < slice.slice.tail() && slice.tail()[k] > l; ++k) ++n;
      f(slice.row(l), first_run, n);
    }
  }
};

/// The last column of a piece.
SPMVPACK_HOST_DEVICE inline std::uint64_t last_column(const SliceView& slice) {
  std::uint64_t last = 0;
  if (slice.slice.windows() != 0) last = slice.window_steps()[slice.slice.windows() - 1].column(lanes - 1);
  if (const std::uint64_t others = slice.slice.entries() - std::uint64_t{slice.slice.windows()} * lanes; others != 0)
    if (const std::uint64_t column = slice.column(others - 1); column > last) last = column;
  return last;
}

}  // namespace spmvpack::layouts::sjds
