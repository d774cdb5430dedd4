#pragma once
// Tables of distinct values for tiles of slices, on the device: encoder's plan_tables() for more values than one table
// has.
//
// The values of each of the smallest tiles go to a hash table of its own, then all together through two sorts, by their
// bits and by their tiles. Two neighbouring tiles become one by a merge, in which each value finds its place by
// bisection.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "execution/group.hpp"
#include "layouts/csell/columns.hpp"
#include "layouts/csell/distinct.hpp"
#include "memory.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::gpu_encoder::csell {

/// Tables of tiles of so many slices each, in device memory.
struct TileTables {
  std::uint64_t tile_slices = 0, tiles = 0, count = 0;
  Buffer<std::uint64_t> values;  ///< tile by tile, rising in each
  Buffer<std::uint64_t> begin;   ///< of each tile, and the end
  std::uint64_t largest = 0;     ///< values of a tile
};

/// Of some tiles of the smallest size: all, or `samples` of them.
struct SomeTiles {
  std::uint64_t tiles, tile_slices, samples;  ///< samples: 0 for all
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t count() const { return samples == 0 ? tiles : samples; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t first_slice(std::uint64_t i) const {
    return (samples == 0 ? i : tiles * i / samples) * tile_slices;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t entries(const Rows& rows, std::uint64_t i) const {
    return rows.slice_begin(first_slice(i) + tile_slices) - rows.slice_begin(first_slice(i));
  }
};

/// Adds the values of a piece of a tile to the hash table of the tile. Pieces are as long however long a row is.
struct AddOfTiles {
  static constexpr std::uint64_t piece = 1024;  ///< entries
  Rows rows;
  SomeTiles some;
  std::uint64_t limit;
  const std::uint64_t *first_slot, *first_piece;
  std::uint64_t* slots;
  std::uint32_t *counts, *has_free_slot;  ///< of each tile
  std::uint32_t* too_many;                ///< whether a tile has more than `limit`

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t index, Warp& w) const {
    if (is_beyond(w, too_many, 0)) return;
    const std::uint64_t i = last_at_most(0, some.count(), index, [&](std::uint64_t tile) { return first_piece[tile]; });
    const std::uint64_t tile_begin = rows.slice_begin(some.first_slice(i)),
                        tile_end = tile_begin + some.entries(rows, i),
                        begin = tile_begin + (index - first_piece[i]) * piece,
                        end = begin + piece < tile_end ? begin + piece : tile_end;
    const ValueSet set{slots + first_slot[i], first_slot[i + 1] - first_slot[i], counts + i, has_free_slot + i, limit};
    if (!set.add(w, rows.values, begin, end)) w.once([&] { *too_many = 1; });
  }
};

/// How many slots a tile has, a quarter more than values that matter; its entries, and the pieces that these are cut
/// into.
struct CountSlots {
  Rows rows;
  SomeTiles some;
  std::uint64_t limit;
  std::uint64_t *slots, *entries, *pieces;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    const std::uint64_t all = i < some.count() ? some.entries(rows, i) : 0, most = all < limit + 1 ? all : limit + 1;
    slots[i] = i < some.count() ? most + most / 4 + warp_lanes : 0;
    entries[i] = all;
    pieces[i] = (all + AddOfTiles::piece - 1) / AddOfTiles::piece;
  }
};

/// A hash table for each tile, filled.
struct HashedTiles {
  SomeTiles some = {};
  std::uint64_t entries = 0;
  Buffer<std::uint64_t> first_slot, slots;
  Buffer<std::uint32_t> counts, has_free_slot;
};
/// None if a tile has more than `limit` values.
template <class Execution>
std::optional<HashedTiles> hash_tiles(const Execution& run, const Rows& rows, const SomeTiles& some,
                                      std::uint64_t limit) {
  HashedTiles t;
  t.some = some;
  const std::uint64_t n = some.count();
  t.first_slot = run.template allocate<std::uint64_t>(n + 1);
  const Buffer<std::uint64_t> first_piece = run.template allocate<std::uint64_t>(n + 1);
  Buffer<std::uint64_t> entries = run.template allocate<std::uint64_t>(n + 1);
  run.each(n + 1, CountSlots{rows, some, limit, t.first_slot.data(), entries.data(), first_piece.data()});
  run.sum_before(t.first_slot.data(), t.first_slot.data(), n + 1);
  run.sum_before(first_piece.data(), first_piece.data(), n + 1);
  t.entries = run.sum(entries.data(), n);
  entries.release();
  t.slots = run.template allocate<std::uint64_t>(run.read(t.first_slot.data() + n));
  t.counts = run.template allocate<std::uint32_t>(n);
  t.has_free_slot = run.template allocate<std::uint32_t>(n);
  const Buffer<std::uint32_t> too_many = run.template allocate<std::uint32_t>(1);
  run.zero(t.counts.data(), t.counts.bytes());
  run.zero(t.has_free_slot.data(), t.has_free_slot.bytes());
  run.zero(too_many.data(), too_many.bytes());
  run.each(t.slots.size(), FreeSlots{t.slots.data()});
  run.each_warp(run.read(first_piece.data() + n), 0,
                AddOfTiles{rows, some, limit, t.first_slot.data(), first_piece.data(), t.slots.data(), t.counts.data(),
                           t.has_free_slot.data(), too_many.data()});
  if (run.read(too_many.data()) != 0) return {};
  return t;
}

struct WidenCounts {
  const std::uint32_t* counts;
  std::uint64_t tiles;
  std::uint64_t* begin;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const { begin[i] = i < tiles ? counts[i] : 0; }
};

/// Takes the values of a tile out of its hash table.
struct TakeOut {
  const std::uint64_t *first_slot, *slots, *begin;
  const std::uint32_t* has_free_slot;
  std::uint64_t* values;
  std::uint32_t* tile;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i, Warp& w) const {
    std::uint64_t to = begin[i];
    const auto put = [&](std::uint64_t place, std::uint64_t bits) {
      values[place] = bits;
      tile[place] = static_cast<std::uint32_t>(i);
    };
    for (std::uint64_t slot = first_slot[i]; slot < first_slot[i + 1]; slot += warp_lanes) {
      const auto is_taken = [&](unsigned lane) {
        return slot + lane < first_slot[i + 1] && slots[slot + lane] != free_slot;
      };
      const std::uint32_t mask = w.where(is_taken);
      w.each([&](unsigned lane) {
        if ((mask >> lane & 1U) != 0) put(to + bits_set(mask & ((1U << lane) - 1)), slots[slot + lane]);
      });
      to += bits_set(mask);
    }
    if (has_free_slot[i] != 0) w.once([&] { put(to, free_slot); });
  }
};

struct NumberOff {
  std::uint32_t* number;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const { number[i] = static_cast<std::uint32_t>(i); }
};
struct TileOfSorted {
  const std::uint32_t *tile, *number;
  std::uint32_t *key, *place;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    key[i] = tile[number[i]];
    place[i] = static_cast<std::uint32_t>(i);
  }
};
struct Gather {
  const std::uint64_t* from;
  const std::uint32_t* place;
  std::uint64_t* to;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const { to[i] = from[place[i]]; }
};

inline int bits_of_number(std::uint64_t most) {
  int bits = 1;
  while (bits < 64 && (most >> static_cast<unsigned>(bits)) != 0) ++bits;
  return bits;
}

/// The tables of the smallest tiles.
template <class Execution>
TileTables sorted_tables(const Execution& run, HashedTiles hashed, std::uint32_t value_size) {
  TileTables t;
  t.tile_slices = hashed.some.tile_slices;
  t.tiles = hashed.some.tiles;
  t.begin = run.template allocate<std::uint64_t>(t.tiles + 1);
  run.each(t.tiles + 1, WidenCounts{hashed.counts.data(), t.tiles, t.begin.data()});
  t.largest = run.max(t.begin.data(), t.tiles);
  run.sum_before(t.begin.data(), t.begin.data(), t.tiles + 1);
  t.count = run.read(t.begin.data() + t.tiles);
  if (t.count > 0xFFFFFFFF)
    throw Error(errc::unsupported, "csell: more than 2^32 - 1 values of tiles", {}, "encode on the host");
  Buffer<std::uint64_t> values = run.template allocate<std::uint64_t>(t.count);
  Buffer<std::uint32_t> tile = run.template allocate<std::uint32_t>(t.count);
  run.each_warp(t.tiles, 0,
                TakeOut{hashed.first_slot.data(), hashed.slots.data(), t.begin.data(), hashed.has_free_slot.data(),
                        values.data(), tile.data()});
  hashed = {};
  Buffer<std::uint32_t> number = run.template allocate<std::uint32_t>(t.count);
  run.each(t.count, NumberOff{number.data()});
  run.sort_pairs(values, number, t.count, static_cast<int>(8 * value_size));
  Buffer<std::uint32_t> key = run.template allocate<std::uint32_t>(t.count),
                        place = run.template allocate<std::uint32_t>(t.count);
  run.each(t.count, TileOfSorted{tile.data(), number.data(), key.data(), place.data()});
  tile.release();
  number.release();
  run.sort_pairs(key, place, t.count, bits_of_number(t.tiles));
  key.release();
  t.values = run.template allocate<std::uint64_t>(t.count);
  run.each(t.count, Gather{values.data(), place.data(), t.values.data()});
  return t;
}

/// Neighbouring tables and the one that they become.
struct Pairs {
  const std::uint64_t *values, *begin;
  std::uint64_t tiles;

  /// The tile of element i.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t tile_of(std::uint64_t i) const {
    return last_at_most(0, tiles, i, [&](std::uint64_t t) { return begin[t]; });
  }
  /// The first element of a tile that is not below `bits`; its end if there is none.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t not_below(std::uint64_t tile, std::uint64_t bits) const {
    std::uint64_t low = begin[tile], high = begin[tile + 1];
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (values[middle] < bits)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};
/// Which elements of right tables are in the left one, too.
struct MarkRepeated {
  Pairs pairs;
  std::uint32_t* is_repeated;  ///< and one more, 0
  std::uint64_t count;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    is_repeated[i] = 0;
    if (i == count) return;
    const std::uint64_t tile = pairs.tile_of(i);
    if (tile % 2 == 0) return;
    const std::uint64_t place = pairs.not_below(tile - 1, pairs.values[i]);
    if (place < pairs.begin[tile] && pairs.values[place] == pairs.values[i]) is_repeated[i] = 1;
  }
};
/// repeated_before: of all elements.
struct WiderBegin {
  Pairs pairs;
  const std::uint32_t* repeated_before;
  std::uint64_t* begin;
  std::uint64_t* united;  ///< the sizes of tables that have become of two; null: not asked for
  std::uint64_t wider;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t t) const {
    begin[t] = begin_of(t);
    if (united != nullptr && t < wider) united[t] = 2 * t + 1 < pairs.tiles ? begin_of(t + 1) - begin_of(t) : 0;
  }

 private:
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t begin_of(std::uint64_t t) const {
    const std::uint64_t first = pairs.begin[2 * t < pairs.tiles ? 2 * t : pairs.tiles];
    return first - repeated_before[first];
  }
};
struct Merge {
  Pairs pairs;
  const std::uint32_t* repeated_before;
  std::uint64_t* to;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    const std::uint64_t tile = pairs.tile_of(i), bits = pairs.values[i];
    const bool is_right = tile % 2 == 1;
    if (is_right && repeated_before[i + 1] != repeated_before[i]) return;
    // Where the pair begins, and how many of it come before.
    const std::uint64_t first = pairs.begin[is_right ? tile - 1 : tile];
    std::uint64_t place = first - repeated_before[first];
    if (is_right) {
      const std::uint64_t right = pairs.begin[tile];
      place += i - right - (repeated_before[i] - repeated_before[right]) + pairs.not_below(tile - 1, bits) - first;
    } else {
      place += i - first;
      if (tile + 1 < pairs.tiles) {
        const std::uint64_t right = pairs.begin[tile + 1], end = pairs.not_below(tile + 1, bits);
        place += end - right - (repeated_before[end] - repeated_before[right]);
      }
    }
    to[place] = bits;
  }
};

/// The tables of tiles twice as large. None if one that has become of two has more than `most` values.
template <class Execution>
std::optional<TileTables> widened(const Execution& run, const TileTables& from, std::uint64_t most) {
  TileTables t;
  t.tile_slices = from.tile_slices * 2;
  t.tiles = div_up(from.tiles, 2);
  const Pairs pairs{from.values.data(), from.begin.data(), from.tiles};
  const Buffer<std::uint32_t> repeated = run.template allocate<std::uint32_t>(from.count + 1);
  run.each(from.count + 1, MarkRepeated{pairs, repeated.data(), from.count});
  run.sum_before(repeated.data(), repeated.data(), from.count + 1);
  t.begin = run.template allocate<std::uint64_t>(t.tiles + 1);
  const Buffer<std::uint64_t> united = run.template allocate<std::uint64_t>(t.tiles);
  run.each(t.tiles + 1, WiderBegin{pairs, repeated.data(), t.begin.data(), united.data(), t.tiles});
  t.largest = run.max(united.data(), t.tiles);
  if (t.largest > most) return {};
  // The last tile may have no neighbour.
  if (from.tiles % 2 == 1) {
    const std::vector<std::uint64_t> last = run.read(t.begin.data() + (t.tiles - 1), 2);
    t.largest = std::max(t.largest, last[1] - last[0]);
  }
  t.count = run.read(t.begin.data() + t.tiles);
  t.values = run.template allocate<std::uint64_t>(t.count);
  run.each(from.count, Merge{pairs, repeated.data(), t.values.data()});
  return t;
}

/// The bytes of a tile's ids, its table and its place.
struct TileBytes {
  SlicePlans plans;
  const std::uint64_t* begin;
  std::uint64_t tile_slices, slices;
  std::uint32_t block_values, value_size;
  std::uint64_t* bytes;
  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t t, Warp& w) const {
    const std::uint64_t first = t * tile_slices, end = first + tile_slices < slices ? first + tile_slices : slices;
    const std::uint64_t groups = w.sum([&](unsigned lane) {
      std::uint64_t mine = 0;
      for (std::uint64_t s = first + lane; s < end; s += warp_lanes) mine += plans.groups(s).total();
      return mine;
    });
    const Tile tile{0, static_cast<std::uint32_t>(begin[t + 1] - begin[t])};
    const std::uint64_t of_tile = (begin[t + 1] - begin[t]) * value_size + sizeof(Tile) +
                                  groups * lanes * group_steps * tile.id_bytes() * block_values;
    w.once([&] { bytes[t] = of_tile; });
  }
};
template <class Execution>
std::uint64_t table_bytes(const Execution& run, const Rows& rows, const ColumnsPlan& columns, const TileTables& t) {
  const Buffer<std::uint64_t> bytes = run.template allocate<std::uint64_t>(t.tiles);
  run.each_warp(t.tiles, 0,
                TileBytes{columns.plans(), t.begin.data(), t.tile_slices, columns.slices, rows.block_values(),
                          rows.values.size, bytes.data()});
  return run.sum(bytes.data(), t.tiles);
}

struct PlannedTables {
  TileTables tables;
  std::uint64_t bytes = 0;  ///< of ids, tables and their places
};

/// A table of all slices.
template <class Execution>
PlannedTables one_table(const Execution& run, const Rows& rows, const ColumnsPlan& columns,
                        const std::vector<std::uint64_t>& values) {
  const std::uint64_t n = values.size();
  PlannedTables one;
  TileTables& t = one.tables;
  t.tile_slices = columns.slices;
  t.tiles = 1;
  t.count = t.largest = n;
  t.values = run.template allocate<std::uint64_t>(n);
  t.begin = run.template allocate<std::uint64_t>(2);
  run.write(t.values.data(), values.data(), n);
  const std::array<std::uint64_t, 2> begin{0, n};
  run.write(t.begin.data(), begin.data(), begin.size());
  one.bytes = table_bytes(run, rows, columns, t);
  return one;
}

/// The tables that cost least, of more distinct values than one table has; none if values do not repeat nearby.
/// distinct: of all entries, or more than rules::max_counted_values.
template <class Execution>
std::optional<PlannedTables> plan_tables(const Execution& run, const Rows& rows, const ColumnsPlan& columns,
                                         std::uint64_t distinct, const rules::TableLimits& limits) {
  if (!rules::worth_sampling_tables(rows.a.nnz, limits)) return {};
  const std::uint64_t smallest = rules::smallest_tile(rows.block), tiles = div_up(columns.slices, smallest);
  constexpr std::uint64_t samples = 32, no_limit = 0xFFFFFFFE;
  {
    const std::optional<HashedTiles> some = hash_tiles(run, rows, {tiles, smallest, samples}, no_limit);
    const std::vector<std::uint32_t> counts = run.read(some->counts.data(), samples);
    rules::RepetitionFacts sample{.entries = some->entries};
    for (const std::uint32_t n : counts) sample.distinct += n;
    if (!rules::worth_tables(sample, {distinct, rows.a.nnz}, limits)) return {};
  }
  std::optional<HashedTiles> all = hash_tiles(run, rows, {tiles, smallest, 0}, rules::most_values_of_smallest(limits));
  if (!all) return {};
  const auto cost = [&](const PlannedTables& t) { return rules::table_cost(t.bytes, t.tables.tiles, limits); };
  PlannedTables best;
  best.tables = sorted_tables(run, std::move(*all), rows.values.size);
  best.bytes = table_bytes(run, rows, columns, best.tables);
  PlannedTables latest;
  for (const TileTables* from = &best.tables; rules::may_widen(from->tiles, from->tile_slices, limits);) {
    std::optional<TileTables> wider = widened(run, *from, rules::most_values(limits));
    if (!wider) break;
    PlannedTables next;
    next.tables = std::move(*wider);
    next.bytes = table_bytes(run, rows, columns, next.tables);
    if (cost(next) < cost(best)) {
      best = std::move(next);
      latest = {};
      from = &best.tables;
    } else {
      latest = std::move(next);
      from = &latest.tables;
    }
  }
  return best;
}

struct WriteTiles {
  const std::uint64_t* begin;
  Tile* tiles;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t t) const {
    tiles[t] = {static_cast<std::uint32_t>(begin[t]), static_cast<std::uint32_t>(begin[t + 1] - begin[t])};
  }
};
struct WriteValues {
  const std::uint64_t* bits;
  std::uint32_t size;
  void* values;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const { put_word(values, size, i, bits[i]); }
};

}  // namespace spmvpack::gpu_encoder::csell
