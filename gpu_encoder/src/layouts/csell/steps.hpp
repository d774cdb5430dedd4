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

/// Steps with offsets: with `windows`, the columns are cut into windows of 2^16, and in each, step t has the t-th entry
/// of every lane. step(kind of columns, base, mask) for each, or single(lane, n) for n steps of one lane each, whose
/// base is its column. The lanes' entries are those to be taken next. Ends where either returns false.
template <class Warp, class Step, class Single>
SPMVPACK_HOST_DEVICE void each_offset_step(Warp& w, const Rows& rows, SliceLanes<Warp>& at, bool windows, Step&& step,
                                           Single&& single) {
  constexpr std::uint32_t none = no_key<std::uint32_t>;
  typename SliceLanes<Warp>::Numbers next_column;
  const auto next = [&](unsigned lane) { next_column[lane] = at.has_next(lane) ? at.column(rows, lane) : none; };
  w.each(next);
  for (;;) {
    const std::uint32_t low = w.least([&](unsigned lane) { return next_column[lane]; });
    if (low == none) return;
    const std::uint32_t last = windows ? low + (none - 1 - low < 0xFFFFU ? none - 1 - low : 0xFFFFU) : none - 1;
    std::uint32_t active = w.where([&](unsigned lane) { return next_column[lane] <= last; });
    while (active != 0) {
      const auto is_active = [&](unsigned lane) { return (active >> lane & 1U) != 0; };
      if ((active & (active - 1)) == 0) {
        // The rest of the only row that is left, as after the few long ones of a graph.
        const unsigned lane = lowest_bit(active);
        std::uint32_t n = 0;
        w.each([&](unsigned l) {
          if (l != lane) return;
          std::uint32_t end = at.length[lane] - at.taken[lane];
          if (at.column(rows, lane, end - 1) <= last) {
            n = end;
            return;
          }
          n = 1;
          while (n < end) {
            const std::uint32_t middle = n + (end - n) / 2;
            if (at.column(rows, lane, middle) <= last)
              n = middle + 1;
            else
              end = middle;
          }
        });
        n = w.most([&](unsigned l) { return l == lane ? n : 0U; });
        if (!single(lane, n)) return;
        w.each([&](unsigned l) {
          if (l != lane) return;
          at.taken[lane] += n;
          next(lane);
        });
        break;
      }
      const std::uint32_t base = w.least([&](unsigned lane) { return is_active(lane) ? next_column[lane] : none; });
      const std::uint32_t high = w.most([&](unsigned lane) { return is_active(lane) ? next_column[lane] : 0U; });
      const std::uint32_t spread = high - base;
      if (!step(spread < 256     ? Columns::offset_8
                : spread < 65536 ? Columns::offset_16
                                 : Columns::offset_32,
                base, active))
        return;
      w.each([&](unsigned lane) {
        if (!is_active(lane)) return;
        ++at.taken[lane];
        next(lane);
      });
      active = w.where([&](unsigned lane) { return is_active(lane) && next_column[lane] <= last; });
    }
  }
}

}  // namespace spmvpack::gpu_encoder::csell
