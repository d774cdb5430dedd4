#pragma once
/// The entries of a part of csell in the order of CSR, and where the value of each lies, for host and device.

#include <bit>

#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

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

/// With `step`, a value even decides which steps are of one pattern.
constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are(Source source) noexcept {
  return source == Source::raw ? ValuesAre::own : ValuesAre::shared;
}

/// Of row r and column c of an entry's block.
template <class T>
SPMVPACK_HOST_DEVICE ValueSlot value_slot(const View<T>& v, const SliceView& slice, std::uint64_t s, std::uint32_t lane,
                                          const LaneEntry& entry, std::uint32_t r, std::uint32_t c) {
  const std::uint64_t block_values = std::uint64_t{v.block} * v.block, element = std::uint64_t{r} * v.block + c;
  switch (v.source) {
    case Source::raw: {
      const std::uint32_t mask = slice.group(entry.group).mask[entry.step];
      const auto n = static_cast<std::uint64_t>(std::popcount(mask)),
                 rank = static_cast<std::uint64_t>(std::popcount(mask & ((1U << lane) - 1)));
      return element_slot<T>(v.slices[s].values * std::uint64_t{unit / sizeof(T)} + entry.before * block_values +
                             raw_place(element, n, rank));
    }
    case Source::table:
      return element_slot<T>(std::uint64_t{v.tiles[s / v.tile_slices].begin} +
                             slice.id(entry.group, entry.step, lane, static_cast<std::uint32_t>(element)));
    case Source::step:
      return element_slot<T>(((v.slices[s].first_group() + entry.group) * group_steps + entry.step) * block_values +
                             element);
    case Source::mirror:
    case Source::skew: {
      const Reference reference = slice.reference(entry.group, entry.step, lane);
      ValueSlot slot = element_slot<T>(v.place(reference, static_cast<std::uint32_t>(s * lanes + lane),
                                               static_cast<std::uint32_t>(entry.column), r, c));
      if (v.source == Source::skew && reference.is_mirror()) slot.change = Change::negate;
      return slot;
    }
    default:
      return element_slot<T>(0);
  }
}

/// Calls f(column, slot) for the entries of row r of a lane's block row, from left to right. The part has been checked.
/// `before`: EntriesBefore::of(slice), which only a raw source needs.
template <class T, class F>
SPMVPACK_HOST_DEVICE void each_entry(const View<T>& v, const SliceView& slice, const EntriesBefore& before,
                                     std::uint64_t s, std::uint32_t lane, std::uint32_t r, F&& f) {
  each_rising(slice, before, lane, static_cast<std::uint32_t>(s * lanes + lane), [&](const LaneEntry& entry) {
    for (std::uint32_t c = 0; c < v.block; ++c)
      f(static_cast<std::uint32_t>(entry.column) * v.block + c, value_slot(v, slice, s, lane, entry, r, c));
    return true;
  });
}

}  // namespace spmvpack::layouts::csell
