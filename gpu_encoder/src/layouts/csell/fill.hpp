#pragma once
// The sections of csell, written slice by slice: as encoder's writer has them.

#include <cstdint>

#include "layouts/csell/columns.hpp"

namespace spmvpack::gpu_encoder::csell {

/// The tables of distinct values: those of a tile rise.
struct Tables {
  const Tile* tiles = nullptr;  ///< null: there are none
  Words values;                 ///< of all tiles
  std::uint64_t tile_slices = 1;

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t id_bytes(std::uint64_t slice) const {
    return tiles == nullptr ? 0 : tiles[slice / tile_slices].id_bytes();
  }
  /// The number of a value within the table of a tile, by bisection.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t id(const Tile& tile, std::uint64_t bits) const {
    return static_cast<std::uint32_t>(
        last_at_most(0, tile.count, bits, [&](std::uint64_t i) { return values[tile.begin + i]; }));
  }
};

/// The kind of each step with offsets, and its number among those of the kind, once what is left over of a kind has
/// joined the next one.
struct StepPlaces {
  Widened widened;
  std::uint32_t before[3] = {0, 0, 0};  // NOLINT(*-avoid-c-arrays): for kernels
  SPMVPACK_HOST_DEVICE explicit StepPlaces(const OffsetKinds& kinds) : widened(kinds) {}

  /// Of the next steps, one for each lane: sets their kinds anew, and their numbers. Calls add(kind, n) for those that
  /// come to each kind.
  template <class Warp, class Add>
  SPMVPACK_HOST_DEVICE void place(Warp& w, StretchSteps<Warp>& steps, typename SliceLanes<Warp>::Numbers& number,
                                  Add&& add) {
    for (std::uint32_t kind = 0; kind < 3; ++kind) {
      const std::uint32_t mask = w.where([&](unsigned lane) { return steps.kind[lane] == kind; });
      const std::uint32_t kept = kind < 2 ? widened.kept[kind] : no_steps, room = kept - before[kind];
      w.each([&](unsigned lane) {
        if ((mask >> lane & 1U) == 0) return;
        const std::uint32_t rank = bits_set(mask & ((1U << lane) - 1));
        number[lane] = before[kind] + rank;
        if (rank >= room) steps.kind[lane] = kind + 1;
      });
      const std::uint32_t n = bits_set(mask) < room ? bits_set(mask) : room;
      before[kind] += n;
      add(kind, n);
    }
  }
};

/// Writes the headers of slices.
struct WriteSlices {
  SlicePlans plans;
  const std::uint64_t *stream, *values;  ///< where those of a slice begin, in units; null: there are none
  Slice* slices;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s) const {
    slices[s] = {plans.first_group(s), stream == nullptr ? 0 : static_cast<std::uint32_t>(stream[s]),
                 values == nullptr ? 0 : static_cast<std::uint32_t>(values[s]), plans.groups(s).counts()};
  }
};

/// How many units of the stream, or of raw values, a slice has.
struct StreamUnits {
  SlicePlans plans;
  Tables tables;
  std::uint32_t block_values;
  std::uint64_t slices;
  std::uint64_t* units;  ///< and one more, 0
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s) const {
    units[s] = s == slices ? 0 : stream_layout(plans.groups(s), tables.id_bytes(s) * block_values).end;
  }
};
struct ValueUnits {
  Rows rows;
  std::uint64_t* units;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s) const {
    units[s] = (rows.blocks(s) * rows.block_values() * rows.values.size + unit - 1) / unit;
  }
};

/// What slices are written from, and where to.
struct FillTarget {
  Rows rows;
  SlicePlans plans;
  Tables tables;
  const Slice* slices;
  const Group* patterns;
  std::byte* stream;  ///< 0 before
  void* raw;          ///< null: values are elsewhere

  /// Writes what a slice begins with in `stream`, and what fills its raw values up. Returns its part of `stream`.
  template <class Warp>
  SPMVPACK_HOST_DEVICE std::byte* begin(Warp& w, std::uint64_t s, const Slice& slice, const SliceGroups& groups) const {
    std::byte* const out = stream + std::uint64_t{slice.stream} * unit;
    if (slice.counts == SliceGroups::many) w.once([&] { *reinterpret_cast<SliceGroups*>(out) = groups; });
    if (raw == nullptr) return out;
    const std::uint64_t in_unit = unit / rows.values.size, n = rows.blocks(s) * rows.block_values(),
                        first = slice.values * in_unit, all = (n + in_unit - 1) / in_unit * in_unit;
    w.share(all - n, [&](std::uint64_t i) { put_word(raw, rows.values.size, first + n + i, 0); });
    return out;
  }
};

/// Calls f(e, r, c) for the elements of a block, in their order. Entries: blocks are of one element.
template <bool Entries, class F>
SPMVPACK_HOST_DEVICE void each_element(std::uint32_t block, F&& f) {
  if constexpr (Entries) {
    f(0U, 0U, 0U);
  } else {
    for (std::uint32_t r = 0, e = 0; r < block; ++r)
      for (std::uint32_t c = 0; c < block; ++c, ++e) f(e, r, c);
  }
}

/// Writes the ids, or the raw values, of slices with a pattern.
template <bool Entries>
struct FillPatterns {
  FillTarget to;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    if (!to.plans.has_pattern(s)) return;
    const Rows& rows = to.rows;
    const Slice slice = to.slices[s];
    const SliceGroups groups = to.plans.groups(s);
    std::byte* const out = to.begin(w, s, slice, groups);
    if (to.raw == nullptr && to.tables.tiles == nullptr) return;
    SliceLanes<Warp> at(w, rows, s);
    const std::uint64_t first = rows.slice_begin(s);
    const Words values = near_values(w, first, rows.slice_begin(s + 1) - first);
    const std::uint32_t block = Entries ? 1 : rows.block, block_values = block * block;
    const Tile tile = to.tables.tiles == nullptr ? Tile{} : to.tables.tiles[s / to.tables.tile_slices];
    const std::uint32_t id_bytes = to.tables.id_bytes(s);
    std::byte* const ids = out + stream_layout(groups, id_bytes * block_values).ids * unit;
    std::uint64_t next = std::uint64_t{slice.values} * (unit / values.size);  // raw
    for (std::uint32_t g = 0; g < groups.of[0]; ++g) {
      const Group group = to.patterns[slice.first_group() + g];
      w.each([&](unsigned lane) {
        const auto has = [&](std::uint32_t k) { return (group.mask[k] >> lane & 1U) != 0; };
        /// The element at row r and column c of the lane's block of that number.
        const auto value = [&](std::uint32_t number, std::uint32_t r, std::uint32_t c) {
          const std::uint64_t row = r == 0 ? at.begin[lane] : rows.begin(s * lanes + lane, r);
          return values[row - first + std::uint64_t{number} * block + c];
        };
        if (id_bytes != 0)
          each_element<Entries>(block, [&](std::uint32_t e, std::uint32_t r, std::uint32_t c) {
            std::uint64_t word = 0;
            std::uint32_t number = at.taken[lane];
            for (std::uint32_t k = 0; k < group_steps; ++k)
              if (has(k)) word |= std::uint64_t{to.tables.id(tile, value(number++, r, c))} << (8 * id_bytes * k);
            put_word(ids, id_bytes * group_steps, (g * std::uint64_t{block_values} + e) * lanes + lane, word);
          });
        std::uint64_t of_step = next;
        for (std::uint32_t k = 0; k < group_steps; ++k) {
          const std::uint32_t n = bits_set(group.mask[k]);
          if (has(k) && to.raw != nullptr) {
            const std::uint32_t rank = bits_set(group.mask[k] & ((1U << lane) - 1));
            each_element<Entries>(block, [&](std::uint32_t e, std::uint32_t r, std::uint32_t c) {
              put_word(to.raw, values.size, of_step + raw_place(e, n, rank), value(at.taken[lane], r, c));
            });
          }
          at.taken[lane] += has(k) ? 1 : 0;
          of_step += std::uint64_t{n} * block_values;
        }
      });
      for (const std::uint32_t mask : group.mask) next += std::uint64_t{bits_set(mask)} * block_values;
    }
  }

 private:
  /// The values of all entries of a slice, near the warp if there is room; entry k is element k - first.
  template <class Warp>
  SPMVPACK_HOST_DEVICE Words near_values(Warp& w, std::uint64_t first, std::uint64_t n) const {
    const Words all = to.rows.values.from(first);
    if (all.size == 4) return {w.near(static_cast<const std::uint32_t*>(all.data), n), 4};
    return {w.near(static_cast<const std::uint64_t*>(all.data), n), 8};
  }
};

/// Writes the part of `stream`, and the raw values, of slices with offsets.
struct FillOffsets {
  FillTarget to;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    if (to.plans.has_pattern(s)) return;
    const Rows& rows = to.rows;
    const Slice slice = to.slices[s];
    const SliceGroups groups = to.plans.groups(s);
    std::byte* const out = to.begin(w, s, slice, groups);
    const OffsetKinds kinds = to.plans.kinds[s];
    const bool windows = kinds.windows != 0;
    const std::uint32_t block = rows.block, block_values = rows.block_values();
    const Tile tile = to.tables.tiles == nullptr ? Tile{} : to.tables.tiles[s / to.tables.tile_slices];
    const std::uint32_t id_bytes = to.tables.id_bytes(s);
    const StreamLayout in = stream_layout(groups, id_bytes * block_values);
    auto* const headers = reinterpret_cast<Group*>(out + in.groups * unit);
    // Where the values of the next step of each kind are: those of narrow steps come first.
    std::uint64_t next[3] = {0, 0, 0};  // NOLINT(*-avoid-c-arrays): in a kernel
    typename SliceLanes<Warp>::Numbers number;
    if (to.raw != nullptr) {
      StepPlaces places(kinds);
      SliceLanes<Warp> at(w, rows, s);
      each_stretch(w, rows, at, windows, [&](std::uint32_t mask, std::uint32_t n) {
        const std::uint64_t of_step = std::uint64_t{bits_set(mask)} * block_values;
        for (std::uint32_t first = 0; first < n; first += warp_lanes) {
          StretchSteps<Warp> steps(w, rows, at, mask, first, n);
          places.place(w, steps, number, [&](std::uint32_t kind, std::uint32_t count) {
            for (++kind; kind < 3; ++kind) next[kind] += count * of_step;
          });
        }
        return true;
      });
      for (std::uint64_t& first : next) first += std::uint64_t{slice.values} * (unit / rows.values.size);
    }
    StepPlaces places(kinds);
    SliceLanes<Warp> at(w, rows, s);
    each_stretch(w, rows, at, windows, [&](std::uint32_t mask, std::uint32_t n) {
      const std::uint32_t rows_of_step = bits_set(mask);
      for (std::uint32_t first = 0; first < n; first += warp_lanes) {
        StretchSteps<Warp> steps(w, rows, at, mask, first, n);
        const std::uint32_t before[3] = {places.before[0], places.before[1], places.before[2]};  // NOLINT: as above
        std::uint32_t count[3];                                                                  // NOLINT: as above
        places.place(w, steps, number, [&](std::uint32_t kind, std::uint32_t of_kind) { count[kind] = of_kind; });
        /// The group of a lane's step, among those of all kinds.
        const auto group_of = [&](unsigned lane) {
          const std::uint32_t kind = steps.kind[lane];
          return (kind > 0 ? groups.of[1] : 0) + (kind > 1 ? groups.of[2] : 0) + number[lane] / group_steps;
        };
        w.each([&](unsigned lane) {
          if (first + lane >= n) return;
          Group& header = headers[group_of(lane)];
          header.base[number[lane] % group_steps] = steps.base[lane];
          header.mask[number[lane] % group_steps] = mask;
        });
        std::uint32_t rank = 0;
        for (std::uint32_t left = mask; left != 0; left &= left - 1, ++rank) {
          const unsigned row = lowest_bit(left);
          const std::uint64_t begin = w.of_lane(at.begin, row);
          const std::uint32_t taken = w.of_lane(at.taken, row) + first;
          w.each([&](unsigned lane) {
            if (first + lane >= n) return;
            const std::uint32_t kind = steps.kind[lane], k = number[lane] % group_steps;
            const std::uint64_t in_row = std::uint64_t{taken + lane} * block;
            const std::uint64_t element =
                std::uint64_t{number[lane] / group_steps} * (lanes * group_steps) + row * group_steps + k;
            const std::uint32_t offset = rows.in_blocks(rows.a.col_idx[begin + in_row]) - steps.base[lane];
            std::byte* const words = out + in.words[kind] * unit;
            if (kind == 0)
              reinterpret_cast<std::uint8_t*>(words)[element] = static_cast<std::uint8_t>(offset);
            else if (kind == 1)
              reinterpret_cast<std::uint16_t*>(words)[element] = static_cast<std::uint16_t>(offset);
            else
              reinterpret_cast<std::uint32_t*>(words)[element] = offset;
            if (id_bytes == 0 && to.raw == nullptr) return;
            const std::uint64_t of_step =
                next[kind] + std::uint64_t{number[lane] - before[kind]} * rows_of_step * block_values;
            each_element<false>(block, [&](std::uint32_t e, std::uint32_t r, std::uint32_t c) {
              const std::uint64_t bits = rows.values[(r == 0 ? begin : rows.begin(s * lanes + row, r)) + in_row + c];
              if (to.raw != nullptr)
                return put_word(to.raw, rows.values.size, of_step + raw_place(e, rows_of_step, rank), bits);
              const std::uint64_t place =
                  ((std::uint64_t{group_of(lane)} * block_values + e) * lanes + row) * group_steps + k;
              const std::uint32_t id = to.tables.id(tile, bits);
              if (id_bytes == 1)
                reinterpret_cast<std::uint8_t*>(out + in.ids * unit)[place] = static_cast<std::uint8_t>(id);
              else
                reinterpret_cast<std::uint16_t*>(out + in.ids * unit)[place] = static_cast<std::uint16_t>(id);
            });
          });
        }
        for (std::uint32_t kind = 0; kind < 3; ++kind)
          next[kind] += std::uint64_t{count[kind]} * rows_of_step * block_values;
      }
      return true;
    });
  }
};

/// Writes `stream` and the raw values.
template <class Execution>
void fill_slices(const Execution& run, const ColumnsPlan& columns, const FillTarget& to) {
  const bool some_patterns = columns.sums.in_patterns != 0, some_offsets = columns.sums.in_patterns != columns.slices;
  const std::uint32_t near = near_bytes(to.rows, to.rows.values.size);
  if (some_patterns && to.rows.block == 1) run.each_warp(columns.slices, near, FillPatterns<true>{to});
  if (some_patterns && to.rows.block != 1) run.each_warp(columns.slices, near, FillPatterns<false>{to});
  if (some_offsets) run.each_warp(columns.slices, 0, FillOffsets{to});
}

}  // namespace spmvpack::gpu_encoder::csell
