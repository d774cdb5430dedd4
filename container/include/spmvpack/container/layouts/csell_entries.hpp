#pragma once
/// The entries of a part of csell, for host and device.

#include <bit>

#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts::csell {

/// An entry of a lane, or a block of them.
struct LaneEntry {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t column = none, group = 0;  ///< column: of blocks
  std::uint32_t step = 0;                  ///< of the group
  std::uint64_t before = 0;                ///< entries of the slice, in all lanes, in the steps before this one
};

/// Entries of a slice, in all lanes, before those of each kind of columns.
struct EntriesBefore {
  std::uint64_t kind[4] = {};  // NOLINT(*-avoid-c-arrays): shared with kernels

  static SPMVPACK_HOST_DEVICE EntriesBefore of(const SliceView& slice) {
    EntriesBefore before;
    std::uint64_t g = 0, n = 0, end = 0;
    for (std::uint32_t k = 0; k < 4; ++k) {
      before.kind[k] = n;
      for (end += slice.n.of[k]; g < end; ++g)
        for (const std::uint32_t mask : slice.group(g).mask) n += static_cast<std::uint32_t>(std::popcount(mask));
    }
    return before;
  }
};

/// Calls f(entry) for the entries of a lane by rising columns, until it returns false: merges the four kinds of
/// columns, in each of which they rise. `row`: the lane's. LaneEntry::before counts from `before`.
template <class F>
SPMVPACK_HOST_DEVICE void each_rising(const SliceView& slice, const EntriesBefore& before, std::uint32_t lane,
                                      std::uint32_t row, F&& f) {
  struct Cursor {
    LaneEntry entry;                   // the next one
    std::uint64_t group = 0, end = 0;  // where to look for the one after it
    std::uint32_t step = 0;
    std::uint64_t before = 0;
  };
  const auto advance = [&](Cursor& at) {
    for (; at.group < at.end; ++at.group, at.step = 0)
      for (; at.step < group_steps; ++at.step) {
        const std::uint32_t mask = slice.group(at.group).mask[at.step];
        const std::uint64_t here = at.before;
        at.before += static_cast<std::uint32_t>(std::popcount(mask));
        if ((mask >> lane & 1U) == 0) continue;
        at.entry = {slice.column(at.group, at.step, lane, row), at.group, at.step, here};
        ++at.step;
        return;
      }
    at.entry.column = LaneEntry::none;
  };
  Cursor cursors[4];  // NOLINT(*-avoid-c-arrays): shared with kernels
  std::uint64_t group = 0;
  for (std::uint32_t kind = 0; kind < 4; ++kind) {
    Cursor& at = cursors[kind];
    at.before = before.kind[kind];
    at.group = group;
    at.end = group += slice.n.of[kind];
    advance(at);
  }
  while (true) {
    std::uint32_t least = 0;
    for (std::uint32_t kind = 1; kind < 4; ++kind)
      if (cursors[kind].entry.column < cursors[least].entry.column) least = kind;
    if (cursors[least].entry.column == LaneEntry::none || !f(cursors[least].entry)) return;
    advance(cursors[least]);
  }
}

/// The slot of row r and column c of an entry's block, in a part with this source.
template <Source source, class T>
SPMVPACK_HOST_DEVICE ValueSlot value_slot(const View<T>& v, const SliceView& slice, std::uint64_t s, std::uint32_t lane,
                                          const LaneEntry& entry, std::uint32_t r, std::uint32_t c) {
  const std::uint64_t block_values = std::uint64_t{v.block} * v.block, element = std::uint64_t{r} * v.block + c;
  if constexpr (source == Source::raw) {
    const std::uint32_t mask = slice.group(entry.group).mask[entry.step];
    const auto n = static_cast<std::uint64_t>(std::popcount(mask)),
               rank = static_cast<std::uint64_t>(std::popcount(mask & ((1U << lane) - 1)));
    return element_slot<T>(section_values, v.slices[s].values * std::uint64_t{unit / sizeof(T)} +
                                               entry.before * block_values + raw_place(element, n, rank));
  }
  ValueSlot slot = element_slot<T>(section_values, 0, values_are(source));
  if constexpr (source == Source::table)
    slot.byte = sizeof(T) * (std::uint64_t{v.tiles[s / v.tile_slices].begin} +
                             slice.id(entry.group, entry.step, lane, static_cast<std::uint32_t>(element)));
  if constexpr (source == Source::step)  // where a value even decides which steps are of one pattern
    slot.byte =
        sizeof(T) * (((v.slices[s].first_group() + entry.group) * group_steps + entry.step) * block_values + element);
  if constexpr (has_mirrors(source)) {
    const Reference reference = slice.reference(entry.group, entry.step, lane);
    slot.byte = sizeof(T) * v.place(reference, static_cast<std::uint32_t>(s * lanes + lane),
                                    static_cast<std::uint32_t>(entry.column), r, c);
    if (source == Source::skew && reference.is_mirror()) slot.change = Change::negate;
  }
  return slot;
}

/// A unit is a slice, of which lanes take its lanes in turn.
template <class T>
struct Entries {
  View<T> v;

  static Entries of(const PartView& part) { return {view<T>(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.slice_count; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return 0; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t s, std::uint32_t lane, std::uint32_t stride, Begin&& begin) const {
    const SliceView slice = SliceView::of(v, s);
    const EntriesBefore before = v.source == Source::raw ? EntriesBefore::of(slice) : EntriesBefore{};
    dispatch_source(v.source, [&](auto source) {
      for (std::uint32_t l = lane; l < lanes_of(s); l += stride) {
        const auto row = static_cast<std::uint32_t>(s * lanes + l);
        for (std::uint32_t r = 0; r < v.block; ++r) {
          auto&& put = begin(row * v.block + r, first_run);
          std::uint32_t i = 0;
          each_rising(slice, before, l, row, [&](const LaneEntry& entry) {
            for (std::uint32_t c = 0; c < v.block; ++c)
              put(i++, static_cast<std::uint32_t>(entry.column) * v.block + c,
                  value_slot<source()>(v, slice, s, l, entry, r, c));
            return true;
          });
        }
      }
    });
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each_run(std::uint64_t s, F&& f) const {
    const SliceView slice = SliceView::of(v, s);
    for (std::uint32_t l = 0; l < lanes_of(s); ++l) {
      std::uint32_t n = 0;
      for (std::uint64_t g = 0; g < slice.n.total(); ++g)
        for (const std::uint32_t mask : slice.group(g).mask) n += mask >> l & 1U;
      const auto row = static_cast<std::uint32_t>(s * lanes + l);
      for (std::uint32_t r = 0; r < v.block; ++r) f(row * v.block + r, first_run, n * v.block);
    }
  }

 private:
  /// Lanes with a row.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t lanes_of(std::uint64_t s) const {
    const std::uint64_t left = v.rows - s * lanes;
    return left < lanes ? static_cast<std::uint32_t>(left) : lanes;
  }
};

}  // namespace spmvpack::layouts::csell
