#pragma once
// What bitflag decides, from counts alone.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/encoder/aim.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoding_rules/chains.hpp"
#include "spmvpack/launch_rules/bitflag.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean
using spmvpack::layouts::ValuesAre;

/// Blocks that a device holds at once, each with a segment of x.
constexpr std::uint64_t device_blocks(const Device& device) {
  return launch_rules::bitflag::resident_blocks(device.multiprocessors);
}

struct PartFacts {
  std::uint64_t rows = 0, cols = 0, entries = 0;
  std::uint64_t value_size = 8, distinct_values = 0;
  std::uint64_t sums_of_few = 0;  ///< a bound of the sums that have entries if there are few segments
  bool updatable = false;         ///< every entry is to have a value of its own
};

/// Whether a table can hold all values, and there are entries.
constexpr bool fit_table(const PartFacts& part) { return part.distinct_values <= max_table && part.entries != 0; }

/// Whether values can have this source. For windows and decimals, that depends on the chunks.
constexpr bool fit(const PartFacts& part, Source source) {
  if (part.updatable && values_are(source) != ValuesAre::own) return false;
  return source == Source::table ? fit_table(part) : source != Source::single || part.distinct_values == 1;
}

/// The source of values if nothing is asked for. For the fewest bytes, chunks may show that another is smaller.
constexpr Source usual_source(const PartFacts& part) {
  if (part.distinct_values == 1 && fit(part, Source::single)) return Source::single;
  const std::uint64_t raw_bytes = part.entries * part.value_size,
                      table_bytes = part.distinct_values * part.value_size + part.entries;
  return fit(part, Source::table) && table_bytes < raw_bytes ? Source::table : Source::raw;
}

/// What is counted of a part's values, for the fewest bytes.
struct ValueFacts {
  std::uint64_t slots = 0, value_size = 8, bytes = 0;  ///< bytes: with usual_source()
  std::optional<std::uint64_t> exponent_bytes = {};    ///< of decimals, if all values are some
};
/// Bytes of decimals: integers of 32 bits, and exponents.
constexpr std::uint64_t decimal_bytes(const ValueFacts& f) { return f.slots * 4 + f.exponent_bytes.value_or(0); }
/// Whether they take fewer bytes.
constexpr bool worth_decimals(const ValueFacts& f) { return f.exponent_bytes && decimal_bytes(f) < f.bytes; }
/// The most values with which windows, whose ids have 16 bits, take fewer bytes than either; 0: none.
constexpr std::uint64_t most_window_values(const ValueFacts& f) {
  const std::uint64_t id_bytes = f.slots * 2, others = worth_decimals(f) ? decimal_bytes(f) : f.bytes;
  return id_bytes + f.value_size < others ? (others - id_bytes - 1) / f.value_size : 0;
}

/// Bytes of an entry but for its value, in full chunks whose rows are consecutive: its column's, on average, its flag
/// and its share of the chunk's header.
constexpr double bytes_but_values(double column_bytes) {
  constexpr ChunkLayout full = chunk_layout(Info::make(chunk_entries, 1, 1, 0, false), Source::single, 0);
  return column_bytes + static_cast<double>(full.columns) / chunk_entries +
         static_cast<double>(sizeof(Chunk)) / chunk_entries;
}

/// The most rows of a chunk's own: half of what the format allows, because one warp writes those without entries.
/// docs/notebook/GPU.md, "What made bitflag fast".
inline constexpr std::uint32_t most_chunk_rows = max_chunk_rows / 2;
/// Bytes of a column offset if columns are at most `span` apart.
constexpr std::uint32_t column_bytes(std::uint32_t span) {
  return span <= 0xFF ? 1 : span <= 0xFFFF ? 2 : span <= 0xFFFFFF ? 3 : 4;
}

/// Segments of a part with few entries; 1: none. Rows must be long, so that each has several entries in a segment. Wide
/// segments leave no room for loads in flight. docs/notebook/GPU.md, "Constants".
constexpr std::uint64_t segments_of_few(const PartFacts& part, const Device& device) {
  constexpr std::uint64_t least_columns = 16384, entries_of_sum = 4;
  if (part.entries < device.small_entries / 4 || part.cols < least_columns) return 1;
  constexpr std::uint64_t few = launch_rules::bitflag::few_segments;
  const std::uint64_t segments = 3 * div_up(part.cols, few) <= 2 * device.segment_columns ? few : 2 * few;
  const bool fit = div_up(part.cols, segments) <= device.segment_columns;
  return fit && segments * part.rows * entries_of_sum <= part.entries ? segments : 1;
}

/// Segments; 1: none.
constexpr std::uint64_t usual_segments(const PartFacts& part, const Device& device) {
  if (part.rows == 0) return 1;
  if (part.entries < device.small_entries) return segments_of_few(part, device);
  // Of at most `of_x` columns each, as many as keep all multiprocessors busy to the end.
  const auto segments_of = [&](std::uint64_t of_x) {
    const std::uint64_t least = div_up(part.cols, of_x);
    const std::uint64_t blocks = device_blocks(device);
    if (least == 0 || least > blocks) return least;
    std::uint64_t segments = blocks / (blocks / least);
    while (segments > least && (segments - 1) * div_up(part.cols, segments) >= part.cols) --segments;
    return segments;
  };
  // A segment's sums of all rows pass through memory: there must be so many entries for each.
  const auto enough = [&](std::uint64_t segments, std::uint64_t entries_of_sum) {
    constexpr std::uint64_t least_segments = 4;
    return segments >= least_segments && segments * part.rows * entries_of_sum <= part.entries;
  };
  // Narrow segments leave room for loads in flight in the cache that shared memory is a part of. They must be few, so
  // that a thread can add up the sums of a row; most of these may be empty, as for short rows. Wide rows have segments
  // as wide as fits. docs/notebook/GPU.md, "Constants".
  constexpr std::uint64_t entries_of_sum = 8;
  const std::uint64_t narrow = segments_of(device.segment_columns / 2), wide = segments_of(device.segment_columns);
  if (narrow <= launch_rules::bitflag::few_segments && enough(narrow, 3) &&
      part.sums_of_few * entries_of_sum <= part.entries)
    return narrow;
  return enough(wide, entries_of_sum) ? wide : 1;
}
/// 1 for several columns, which are multiplied one by one with segments.
constexpr std::uint64_t usual_segments(const PartFacts& part, const Aim& aim, const Device& device) {
  return several_columns(aim) ? 1 : usual_segments(part, device);
}
/// Whether a part can have so many segments.
constexpr bool can_have_segments(const PartFacts& part, std::uint64_t segments) {
  const std::uint64_t columns = div_up(part.cols, segments);
  return segments <= part.cols && columns <= max_segment && (segments - 1) * columns < part.cols &&
         part.rows * segments <= max_segment_rows(part.entries);
}

/// Hot columns to look for; 0: none. They take more bytes, and on a host no less time. An x of few columns stays in the
/// first-level cache, where the elements of x in shared memory leave enough room unless they are more.
constexpr std::uint64_t hot_columns_to_count(const PartFacts& part, const Aim& aim, const Device& device) {
  constexpr std::uint64_t least_cols = 32768;
  if (aim.optimize == Objective::bytes || aim.target == Target::host) return 0;
  if (part.entries < device.small_entries || part.cols <= least_cols || part.cols > most_hot_cols) return 0;
  return device.hot_bytes / part.value_size;
}
/// Bytes of columns if some are hot: one bit says which.
constexpr std::uint32_t hot_column_bytes(std::uint64_t cols) { return cols <= hot_bit(3) ? 3 : 4; }
/// Whether those with so many of the part's entries are worth it. `column_bytes`: of a column without them, on average.
/// docs/notebook/GPU.md, "Hot columns".
constexpr bool worth_hot_columns(const PartFacts& part, std::uint64_t hot_entries, double column_bytes) {
  constexpr std::uint64_t least_entries = std::uint64_t{1} << 20;  // whose misses pay for a pass that copies x
  constexpr double least_share = 1.0 / 12;  // whose misses pay for copies to the shared memory of every block
  constexpr double bytes_of_miss = 8;       // that a spared one is worth
  const double share = static_cast<double>(hot_entries) / static_cast<double>(part.entries);
  return hot_entries >= least_entries && share >= least_share &&
         bytes_of_miss * share >= hot_column_bytes(part.cols) - column_bytes;
}

/// Chunks of a tile. Its warps wait for one another, so that two are best for many entries, and four for few. For few
/// entries, no row should lie in several tiles, or as few rows as possible: then up to eight chunks where a row is
/// longer than any tile, and more only if most multiprocessors still have a tile. docs/notebook/GPU.md, "Constants".
constexpr std::uint32_t usual_tile(std::uint64_t entries, std::uint64_t longest_row, const Device& device) {
  constexpr std::uint32_t of_many = 2, of_few = 4, of_long_row = 8;
  if (entries >= device.small_entries) return of_many;
  if (longest_row > std::uint64_t{max_tile_chunks} * chunk_entries) return of_long_row;
  std::uint32_t tile = of_few;
  while (std::uint64_t{tile} * chunk_entries < longest_row) tile *= 2;
  const std::uint64_t tiles = div_up(entries, std::uint64_t{tile} * chunk_entries);
  return tile > of_long_row && 2 * tiles < device.multiprocessors ? of_few : tile;
}

/// bitflag.turns: how often all warps of a device have a chunk, and there are more.
constexpr std::uint64_t turns(std::uint64_t entries, const Device& device) {
  constexpr std::uint64_t warps = launch_rules::bitflag::multiprocessor_threads / 32;
  return turns_of(entries, device.multiprocessors * warps * chunk_entries);
}

/// Entries that multiprocessors could take while the one with the most tiles has those: tiles are not divided, and with
/// few large ones most multiprocessors have none.
constexpr std::uint64_t idle_entries(std::uint64_t entries, std::uint64_t tiles, std::uint64_t tile,
                                     const Device& device) {
  const std::uint64_t all = div_up(tiles, device.multiprocessors) * device.multiprocessors * tile * chunk_entries;
  return all > entries ? all - entries : 0;
}

/// What a multiply goes through.
struct WorkFacts {
  std::uint64_t cols = 0, entries = 0;
  std::uint64_t table_entries = 0;             ///< whose values are looked up
  std::uint64_t raw_bytes = 0;                 ///< of values that are stored one by one
  std::uint64_t tiles = 0, tile_chunks = 0;    ///< chunks of a tile
  bool carries = false, long_carries = false;  ///< whether tiles go on with a row; whether most do
  std::uint64_t hot_columns = 0, hot_entries = 0;
  std::uint64_t segments = 1, segment_rows = 0;
  bool counts_segments = true;  ///< whether what they take beside their rows is work, too
  std::uint64_t run_entries = 0;
  std::uint64_t rows = 0, empty_rows = 0;  ///< with entries, and without
};
/// Sets what a multiply by the part does: PartPlan's work, columns and where it has x.
SPMVPACK_EXPORT void describe_multiply(PartPlan& plan, const WorkFacts& facts, const Device& device);

}  // namespace spmvpack::encoder::layouts::bitflag_plans
