#pragma once
// The steps of a slice, one after the other, by a warp: as encoder's SliceSteps has them.

#include <cstdint>
#include <limits>

#include "layouts/csell/rows.hpp"

namespace spmvpack::gpu_encoder::csell {

template <class Key>
inline constexpr Key no_key = std::numeric_limits<Key>::max();
inline constexpr std::uint32_t no_steps = 0xFFFFFFFF;

/// Those of the lanes whose next blocks have the bits of the first one's.
template <class Warp>
SPMVPACK_HOST_DEVICE std::uint32_t with_values_of_first(Warp& w, const Rows& rows, const SliceLanes<Warp>& at,
                                                        std::uint64_t slice, std::uint32_t mask) {
  if ((mask & (mask - 1)) == 0) return mask;
  const unsigned first = lowest_bit(mask);
  const std::uint64_t row = slice * lanes;
  const std::uint32_t taken = w.of_lane(at.taken, first);
  return w.where([&](unsigned lane) {
    if ((mask >> lane & 1U) == 0) return false;
    for (std::uint32_t r = 0; r < rows.block; ++r) {
      const std::uint64_t mine = rows.begin(row + lane, r) + std::uint64_t{at.taken[lane]} * rows.block,
                          other = rows.begin(row + first, r) + std::uint64_t{taken} * rows.block;
      for (std::uint32_t c = 0; c < rows.block; ++c)
        if (rows.values[mine + c] != rows.values[other + c]) return false;
    }
    return true;
  });
}

/// Steps of equal column - row, and equal values if `by_value`, in the order of column - row: step(base, mask) for
/// each, with the lanes' entries as those to be taken next. Their number; no_steps, after some of them, if they are
/// more than `most`. Key: holds column - row, counted from the least that the slice may have.
template <class Key, class Warp, class Step>
SPMVPACK_HOST_DEVICE std::uint32_t each_pattern_step(Warp& w, const Rows& rows, SliceLanes<Warp>& at,
                                                     std::uint64_t slice, bool by_value, std::uint64_t most,
                                                     Step&& step) {
  const auto first_row = static_cast<std::uint32_t>(slice * lanes);
  typename Warp::template PerLane<Key> distance;
  const auto next = [&](unsigned lane) {
    distance[lane] = at.has_next(lane) ? static_cast<Key>(static_cast<Key>(at.column(rows, lane)) + (lanes - 1 - lane))
                                       : no_key<Key>;
  };
  w.each(next);
  for (std::uint32_t steps = 0;;) {
    const Key low = w.least([&](unsigned lane) { return distance[lane]; });
    if (low == no_key<Key>) return steps;
    std::uint32_t left = w.where([&](unsigned lane) { return distance[lane] == low; });
    while (left != 0) {
      const std::uint32_t mask = by_value ? with_values_of_first(w, rows, at, slice, left) : left;
      left &= ~mask;
      if (steps == most) return no_steps;
      ++steps;
      step(static_cast<std::uint32_t>(low) - (lanes - 1) - first_row, mask);
      w.each([&](unsigned lane) {
        if ((mask >> lane & 1U) == 0) return;
        ++at.taken[lane];
        next(lane);
      });
    }
  }
}

/// Stretches of steps with offsets, in each of which the same lanes have an entry: with `windows`, the columns are cut
/// into windows of 2^16, and in each, step t has the t-th entry of every lane. stretch(mask, n) for each, with the
/// lanes' entries as those to be taken next; ends where it returns false.
template <class Warp, class Stretch>
SPMVPACK_HOST_DEVICE void each_stretch(Warp& w, const Rows& rows, SliceLanes<Warp>& at, bool windows,
                                       Stretch&& stretch) {
  constexpr std::uint32_t none = no_key<std::uint32_t>;
  typename SliceLanes<Warp>::Numbers left;  // entries of each lane in the window
  for (;;) {
    const std::uint32_t low = w.least([&](unsigned lane) { return at.has_next(lane) ? at.column(rows, lane) : none; });
    if (low == none) return;
    const std::uint32_t last = windows ? low + (none - 1 - low < 0xFFFFU ? none - 1 - low : 0xFFFFU) : none - 1;
    w.each([&](unsigned lane) {
      std::uint32_t begin = 0, end = at.length[lane] - at.taken[lane];
      if (windows && end != 0 && at.column(rows, lane, end - 1) > last) {
        while (begin < end) {
          const std::uint32_t middle = begin + (end - begin) / 2;
          if (at.column(rows, lane, middle) <= last)
            begin = middle + 1;
          else
            end = middle;
        }
      }
      left[lane] = end;
    });
    for (;;) {
      const std::uint32_t n = w.least([&](unsigned lane) { return left[lane] != 0 ? left[lane] : none; });
      if (n == none) break;
      if (!stretch(w.where([&](unsigned lane) { return left[lane] != 0; }), n)) return;
      w.each([&](unsigned lane) {
        if (left[lane] == 0) return;
        left[lane] -= n;
        at.taken[lane] += n;
      });
    }
  }
}

/// Some consecutive steps of a stretch: each lane has one, as far as there are any.
template <class Warp>
struct StretchSteps {
  static constexpr std::uint32_t no_kind = 3;
  typename SliceLanes<Warp>::Numbers base, kind;  ///< kind: 0 to 2 for offsets of 8, 16 and 32 bits; no_kind: no step

  /// Steps `first` to n of a stretch.
  SPMVPACK_HOST_DEVICE StretchSteps(Warp& w, const Rows& rows, SliceLanes<Warp>& at, std::uint32_t mask,
                                    std::uint32_t first, std::uint32_t n) {
    typename SliceLanes<Warp>::Numbers high;
    w.each([&](unsigned lane) {
      base[lane] = no_key<std::uint32_t>;
      high[lane] = 0;
    });
    each_column(w, rows, at, mask, first, n, [&](unsigned lane, unsigned, std::uint32_t column) {
      base[lane] = column < base[lane] ? column : base[lane];
      high[lane] = column > high[lane] ? column : high[lane];
    });
    w.each([&](unsigned lane) {
      const std::uint32_t spread = high[lane] - base[lane];
      kind[lane] = first + lane >= n ? no_kind : spread < 256 ? 0 : spread < 65536 ? 1 : 2;
    });
  }
  /// f(lane, row, column) for each lane's step and each row of the mask.
  template <class F>
  SPMVPACK_HOST_DEVICE static void each_column(Warp& w, const Rows& rows, SliceLanes<Warp>& at, std::uint32_t mask,
                                               std::uint32_t first, std::uint32_t n, F&& f) {
    for (; mask != 0; mask &= mask - 1) {
      const unsigned row = lowest_bit(mask);
      const std::uint64_t begin =
          w.of_lane(at.begin, row) + std::uint64_t{w.of_lane(at.taken, row) + first} * rows.block;
      w.each([&](unsigned lane) {
        if (first + lane < n) f(lane, row, rows.in_blocks(rows.a.col_idx[begin + std::uint64_t{lane} * rows.block]));
      });
    }
  }
};

}  // namespace spmvpack::gpu_encoder::csell
