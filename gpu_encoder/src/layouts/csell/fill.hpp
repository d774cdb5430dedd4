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
    std::uint32_t low = 0, high = tile.count;  // the value at `low` is at most `bits`, that at `high` is more
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (values[tile.begin + middle] <= bits ? low : high) = middle;
    }
    return low;
  }
};

/// The kind of each step with offsets, and its number among those of the kind, once what is left over of a kind has
/// joined the next one.
struct StepPlaces {
  Widened widened;
  std::uint32_t before[3] = {0, 0, 0};  // NOLINT(*-avoid-c-arrays): for kernels
  struct Place {
    std::uint32_t kind, number;
  };
  SPMVPACK_HOST_DEVICE explicit StepPlaces(const OffsetKinds& kinds) : widened(kinds) {}

  /// Of step i from now on, all of one kind.
  [[nodiscard]] SPMVPACK_HOST_DEVICE Place at(std::uint32_t kind, std::uint32_t i) const {
    while (kind < 2 && before[kind] + i >= widened.kept[kind]) {
      i -= widened.kept[kind] - before[kind];
      ++kind;
    }
    return {kind, before[kind] + i};
  }
  /// Goes past n steps of one kind: calls add(kind, n) for the kinds that they come to.
  template <class Add>
  SPMVPACK_HOST_DEVICE void pass(std::uint32_t kind, std::uint32_t n, Add&& add) {
    for (; kind < 2 && n > widened.kept[kind] - before[kind]; ++kind) {
      const std::uint32_t here = widened.kept[kind] - before[kind];
      before[kind] += here;
      add(kind, here);
      n -= here;
    }
    before[kind] += n;
    add(kind, n);
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

/// Writes the stream, which is 0 before, and the raw values of a slice.
struct FillSlice {
  Rows rows;
  SlicePlans plans;
  Tables tables;
  const Slice* slices;
  const Group* patterns;
  std::byte* stream;
  void* raw;  ///< null: values are elsewhere

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    const Slice slice = slices[s];
    std::byte* const out = stream + std::uint64_t{slice.stream} * unit;
    const SliceGroups groups = plans.groups(s);
    if (slice.counts == SliceGroups::many) w.once([&] { *reinterpret_cast<SliceGroups*>(out) = groups; });
    if (plans.has_pattern(s))
      fill_pattern(w, s, slice, groups, out);
    else
      fill_offsets(w, s, slice, groups, out);
    if (raw == nullptr) return;
    const std::uint64_t in_unit = unit / rows.values.size, n = rows.blocks(s) * rows.block_values(),
                        first = slice.values * in_unit, all = (n + in_unit - 1) / in_unit * in_unit;
    w.share(all - n, [&](std::uint64_t i) { put_word(raw, rows.values.size, first + n + i, 0); });
  }

 private:
  /// The values of all entries of a slice, near the warp if there is room; entry k is element k - first.
  template <class Warp>
  SPMVPACK_HOST_DEVICE Words near_values(Warp& w, std::uint64_t first, std::uint64_t n) const {
    const Words all = rows.values.from(first);
    if (all.size == 4) return {w.near(static_cast<const std::uint32_t*>(all.data), n), 4};
    return {w.near(static_cast<const std::uint64_t*>(all.data), n), 8};
  }

  template <class Warp>
  SPMVPACK_HOST_DEVICE void fill_pattern(Warp& w, std::uint64_t s, const Slice& slice, const SliceGroups& groups,
                                         std::byte* out) const {
    if (raw == nullptr && tables.tiles == nullptr) return;
    SliceLanes<Warp> at(w, rows, s);
    const std::uint64_t first = rows.slice_begin(s);
    const Words values = near_values(w, first, rows.slice_begin(s + 1) - first);
    const std::uint32_t block = rows.block, block_values = rows.block_values();
    const Tile tile = tables.tiles == nullptr ? Tile{} : tables.tiles[s / tables.tile_slices];
    const std::uint32_t id_bytes = tables.id_bytes(s);
    std::byte* const ids = out + stream_layout(groups, id_bytes * block_values).ids * unit;
    std::uint64_t to = std::uint64_t{slice.values} * (unit / rows.values.size);  // raw
    for (std::uint32_t g = 0; g < groups.of[0]; ++g) {
      const Group group = patterns[slice.first_group() + g];
      w.each([&](unsigned lane) {
        const auto has = [&](std::uint32_t k) { return (group.mask[k] >> lane & 1U) != 0; };
        /// The element at row r and column c of the lane's next block.
        const auto value = [&](std::uint32_t taken, std::uint32_t r, std::uint32_t c) {
          const std::uint64_t row = r == 0 ? at.begin[lane] : rows.begin(s * lanes + lane, r);
          return values[row - first + std::uint64_t{taken} * block + c];
        };
        if (id_bytes != 0) {
          for (std::uint32_t e = 0; e < block_values; ++e) {
            std::uint64_t word = 0;
            std::uint32_t taken = at.taken[lane];
            for (std::uint32_t k = 0; k < group_steps; ++k)
              if (has(k))
                word |= std::uint64_t{tables.id(tile, value(taken++, e / block, e % block))} << (8 * id_bytes * k);
            put_word(ids, id_bytes * group_steps, (g * std::uint64_t{block_values} + e) * lanes + lane, word);
          }
        }
        std::uint64_t of_step = to;
        for (std::uint32_t k = 0; k < group_steps; ++k) {
          if (has(k)) {
            if (raw != nullptr) {
              const std::uint32_t n = bits_set(group.mask[k]),
                                  rank = bits_set(group.mask[k] & ((1U << lane) - 1));
              for (std::uint32_t e = 0; e < block_values; ++e)
                put_word(raw, rows.values.size, of_step + raw_place(e, n, rank),
                         value(at.taken[lane], e / block, e % block));
            }
            ++at.taken[lane];
          }
          of_step += std::uint64_t{bits_set(group.mask[k])} * block_values;
        }
      });
      for (std::uint32_t k = 0; k < group_steps; ++k) to += std::uint64_t{bits_set(group.mask[k])} * block_values;
    }
  }

  template <class Warp>
  SPMVPACK_HOST_DEVICE void fill_offsets(Warp& w, std::uint64_t s, const Slice& slice, const SliceGroups& groups,
                                         std::byte* out) const {
    const OffsetKinds kinds = plans.kinds[s];
    const bool windows = kinds.windows != 0;
    const std::uint32_t block = rows.block, block_values = rows.block_values();
    const Tile tile = tables.tiles == nullptr ? Tile{} : tables.tiles[s / tables.tile_slices];
    const std::uint32_t id_bytes = tables.id_bytes(s);
    const StreamLayout in = stream_layout(groups, id_bytes * block_values);
    Group* const headers = reinterpret_cast<Group*>(out + in.groups * unit);
    // Where the values of the next step of each kind are.
    std::uint64_t to[3] = {0, 0, 0};  // NOLINT(*-avoid-c-arrays): in a kernel
    if (raw != nullptr) {
      // Those of narrow steps come first.
      StepPlaces places(kinds);
      const auto add = [&](std::uint32_t kind, std::uint64_t n) {
        for (++kind; kind < 3; ++kind) to[kind] += n * block_values;
      };
      SliceLanes<Warp> at(w, rows, s);
      each_offset_step(
          w, rows, at, windows,
          [&](Columns columns, std::uint32_t, std::uint32_t mask) {
            places.pass(static_cast<std::uint32_t>(columns) - 1, 1,
                        [&](std::uint32_t kind, std::uint32_t n) { add(kind, std::uint64_t{n} * bits_set(mask)); });
            return true;
          },
          [&](unsigned, std::uint32_t n) {
            places.pass(0, n, add);
            return true;
          });
      for (std::uint64_t& first : to) first += std::uint64_t{slice.values} * (unit / rows.values.size);
    }
    /// The group of a step, among those of all kinds.
    const auto group_of = [&](const StepPlaces::Place& place) {
      return (place.kind > 0 ? groups.of[1] : 0) + (place.kind > 1 ? groups.of[2] : 0) + place.number / group_steps;
    };
    const auto write_header = [&](const StepPlaces::Place& place, std::uint32_t base, std::uint32_t mask) {
      Group& header = headers[group_of(place)];
      header.base[place.number % group_steps] = base;
      header.mask[place.number % group_steps] = mask;
    };
    /// The ids and raw values of block `number` of a lane's row, in a step with n of them.
    const auto write_values = [&](const StepPlaces::Place& place, unsigned lane, std::uint64_t begin,
                                  std::uint64_t number, std::uint64_t of_step, std::uint32_t n, std::uint32_t rank) {
      if (id_bytes == 0 && raw == nullptr) return;
      for (std::uint32_t e = 0; e < block_values; ++e) {
        const std::uint64_t row = e < block ? begin : rows.begin(s * lanes + lane, e / block);
        const std::uint64_t bits = rows.values[row + number * block + e % block];
        if (raw != nullptr) {
          put_word(raw, rows.values.size, of_step + raw_place(e, n, rank), bits);
          continue;
        }
        const std::uint64_t element =
            ((std::uint64_t{group_of(place)} * block_values + e) * lanes + lane) * group_steps +
            place.number % group_steps;
        const std::uint32_t id = tables.id(tile, bits);
        if (id_bytes == 1)
          reinterpret_cast<std::uint8_t*>(out + in.ids * unit)[element] = static_cast<std::uint8_t>(id);
        else
          reinterpret_cast<std::uint16_t*>(out + in.ids * unit)[element] = static_cast<std::uint16_t>(id);
      }
    };
    StepPlaces places(kinds);
    SliceLanes<Warp> at(w, rows, s);
    each_offset_step(
        w, rows, at, windows,
        [&](Columns columns, std::uint32_t base, std::uint32_t mask) {
          const auto kind = static_cast<std::uint32_t>(columns) - 1;
          const StepPlaces::Place place = places.at(kind, 0);
          w.once([&] { write_header(place, base, mask); });
          const std::uint32_t n = bits_set(mask);
          std::byte* const words = out + in.words[place.kind] * unit;
          w.each([&](unsigned lane) {
            if ((mask >> lane & 1U) == 0) return;
            const std::uint64_t element = std::uint64_t{place.number / group_steps} * (lanes * group_steps) +
                                          lane * group_steps + place.number % group_steps;
            const std::uint32_t offset = at.column(rows, lane) - base;
            if (place.kind == 0)
              reinterpret_cast<std::uint8_t*>(words)[element] = static_cast<std::uint8_t>(offset);
            else if (place.kind == 1)
              reinterpret_cast<std::uint16_t*>(words)[element] = static_cast<std::uint16_t>(offset);
            else
              reinterpret_cast<std::uint32_t*>(words)[element] = offset;
            write_values(place, lane, at.begin[lane], at.taken[lane], to[place.kind], n,
                         bits_set(mask & ((1U << lane) - 1)));
          });
          places.pass(kind, 1, [&](std::uint32_t k, std::uint32_t steps) { to[k] += std::uint64_t{steps} * n * block_values; });
          return true;
        },
        [&](unsigned lane, std::uint32_t n) {
          const std::uint64_t begin = w.of_lane(at.begin, lane), from = begin - at.from;
          const std::uint32_t taken = w.of_lane(at.taken, lane);
          w.share(n, [&](std::uint64_t i) {
            const StepPlaces::Place place = places.at(0, static_cast<std::uint32_t>(i));
            write_header(place, rows.in_blocks(at.columns[from + (taken + i) * block]), 1U << lane);
            const std::uint64_t in_kind = place.number - places.before[place.kind];
            write_values(place, lane, begin, taken + i, to[place.kind] + in_kind * block_values, 1, 0);
          });
          places.pass(0, n, [&](std::uint32_t k, std::uint32_t steps) { to[k] += std::uint64_t{steps} * block_values; });
          return true;
        });
  }
};

}  // namespace spmvpack::gpu_encoder::csell
