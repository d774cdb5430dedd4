#pragma once
// What a multiply with csell does, from counts alone.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common_work.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoding_rules/chains.hpp"
#include "spmvpack/encoding_rules/csell.hpp"
#include "spmvpack/launch_rules/columns.hpp"
#include "spmvpack/launch_rules/csell.hpp"
#include "spmvpack/launch_rules/csell_tiles.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

// clang-format off
#define SPMVPACK_CSELL_UNITS(unit)           \
  unit(csell, block_chain, gpu, fixed, 2)    \
  unit(csell, blocks, all, grows, 0)         \
  unit(csell, chain, gpu, fixed, 0)          \
  unit(csell, column_chain, gpu, fixed, 2)   \
  unit(csell, column_entries, all, grows, 2) \
  unit(csell, entries, host, grows, 0)       \
  unit(csell, few, all, grows, 0)            \
  unit(csell, few_groups, gpu, fixed, 2)     \
  unit(csell, few_idle, gpu, grows, 2)       \
  unit(csell, few_multiplies, gpu, fixed, 0) \
  unit(csell, few_offsets, all, grows, 0)    \
  unit(csell, few_raw_rounds, gpu, fixed, 2) \
  unit(csell, few_teams, gpu, fixed, 2)      \
  unit(csell, first, gpu, grows, 0)          \
  unit(csell, heavy_slots, gpu, fixed, 2)    \
  unit(csell, long_windows, gpu, grows, 2)   \
  unit(csell, mirror_blocks, all, grows, 1)  \
  unit(csell, mirrors, all, grows, 1)        \
  unit(csell, multiplies, all, fixed, 0)     \
  unit(csell, offsets, all, grows, 0)        \
  unit(csell, patterns, all, grows, 0)       \
  unit(csell, raw_entries, host, grows, 0)   \
  unit(csell, rows, all, grows, 0)           \
  unit(csell, step, all, grows, 0)           \
  unit(csell, step_chain, gpu, fixed, 2)     \
  unit(csell, table_blocks, all, grows, 0)   \
  unit(csell, table_offsets, all, grows, 0)  \
  unit(csell, table_patterns, all, grows, 0) \
  unit(csell, tables, gpu, fixed, 2)         \
  unit(csell, teams, gpu, fixed, 0)          \
  unit(csell, tile_turns, gpu, grows, 2)     \
  unit(csell, turns, gpu, fixed, 2)          \
  unit(csell, uneven, gpu, grows, 2)         \
  unit(csell, uneven_warps, gpu, grows, 2)   \
  unit(csell, unfetched, all, fixed, 0)      \
  unit(csell, window_rounds, gpu, fixed, 2)  \
  unit(csell, window_slots, all, grows, 2)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_CSELL_UNITS)

/// What is read a second time for mirrors, in sectors of 32 bytes: values side by side where references are those of
/// steps, and else each in a sector of its own.
constexpr std::uint64_t mirror_sectors(const FormFacts& f) {
  return (f.mirrors - f.mirrors_by_steps + div_up(f.mirrors_by_steps * f.value_size, unit)) * f.block * f.block;
}

/// How often all warps of a device have a slice, and more slices are left.
constexpr std::uint64_t turns(const FormFacts& f, const Device& device) {
  const std::uint64_t at_once =
      launch_rules::csell::warps(f.source == Source::table && f.tiles <= 1, f.offset_groups == 0) *
      device.multiprocessors;
  return f.slices == 0 ? 0 : (f.slices * f.sums - 1) / at_once;
}

/// The least that csell.chain is with a longest slice of so many groups.
constexpr std::uint64_t least_chain(std::uint64_t groups) {
  return chain_of(groups, max_sums * launch_rules::csell::groups_of_few);
}
/// Loads that wait for one another in the longest slice, beyond those of other turns: while a warp has that slice,
/// others have several, of average length.
constexpr std::uint64_t chain_beyond(std::uint64_t turns, const FormFacts& f) {
  const std::uint64_t longest = chain_of(f.longest, f.sums), warps = f.slices * f.sums;
  if (turns == 0) return longest;
  const std::uint64_t loads = 2 * (f.pattern_groups + f.offset_groups);
  const std::uint64_t average = std::min(longest, div_up(loads, warps)),
                      hidden = std::min(longest, loads * turns / warps);
  return std::max({longest - hidden, average, least_chain(f.longest)});
}
/// Of few slices: rounds of loads in the longest slice, four groups each; and those that are waited for. Where values
/// are stored one by one, so many bytes of other slices arrive during a round, and all take at least as long as the
/// memory needs for them.
constexpr std::uint64_t few_rounds(const FormFacts& f) {
  return div_up(f.longest, f.sums * launch_rules::csell::groups_of_few);
}
inline constexpr std::uint64_t bytes_of_round = 10'000'000;
constexpr std::uint64_t waited_rounds(const FormFacts& f) {
  const std::uint64_t rounds = few_rounds(f);
  if (f.source != Source::raw || rounds == 0) return rounds;
  return rounds - std::min(rounds - 1, f.device_bytes / bytes_of_round);
}

/// csell.chain: with so few slices that they have a kernel of their own or not, and so many other turns.
constexpr std::uint64_t chain(const FormFacts& f, bool few, std::uint64_t turns) {
  // If all slices are patterns, with their values or one value, these are few and come from caches: as if four groups
  // were loaded together. docs/notebook/GPU.md, "Constants".
  const bool shared = turns == 0 && f.block == 1 && f.offset_groups == 0 && shares_values(f);
  if (few || shared) return 2 * waited_rounds(f);  // what is shared has no raw values
  const std::uint64_t loads = chain_beyond(turns, f);
  // Where a mirror's slot begins is loaded after the group that names it, and before its value.
  return has_mirrors_of(f) && f.block == 1 ? loads / 2 * 3 : loads;
}

/// How often a warp waits for values of blocks in the longest slice, where those of a group's steps are loaded in
/// several batches, or for their elements of x alone. csell.block_chain: values that are stored one by one.
/// csell.step_chain: in patterns, or one for all.
constexpr std::uint64_t block_chain(const FormFacts& f, bool few) {
  if (f.block == 1 || f.source == Source::table) return 0;
  const int steps = has_mirrors_of(f) ? launch_rules::csell::steps_of_mirrors(f.block)
                                      : launch_rules::csell::steps_of_blocks(f.block, few);
  return div_up(f.longest, f.sums) * (group_steps / static_cast<std::uint64_t>(steps));
}
/// csell.few_groups: groups with offsets, which name scattered elements of x, that a warp has in the longest slice
/// after the first.
constexpr std::uint64_t few_groups(const FormFacts& f) {
  const std::uint64_t groups = f.pattern_groups + f.offset_groups;
  if (f.offset_groups == 0) return 0;
  const std::uint64_t of_warp = div_up(f.longest * f.offset_groups / groups, f.sums);
  return of_warp == 0 ? 0 : of_warp - 1;
}

/// Of few slices with several sums: the groups that multiprocessors could take while the one with the most slices has
/// those. Warps that share a slice are in one block.
constexpr std::uint64_t idle_groups(const FormFacts& f, const Device& device) {
  if (f.sums == 1 || f.slices == 0) return 0;
  const std::uint64_t idle = div_up(f.slices, device.multiprocessors) * device.multiprocessors - f.slices;
  return (f.pattern_groups + f.offset_groups) * idle / f.slices;
}

/// Groups with offsets that one multiprocessor has beyond three times its share, because long slices are neighbours: it
/// gathers from as many places as it has lanes, while others have nothing left. Up to twice its share is hidden by the
/// turns of others. docs/notebook/GPU.md, "Constants".
constexpr std::uint64_t heavy_groups(const FormFacts& f) {
  const std::uint64_t at_once = std::min<std::uint64_t>(neighbouring_slices, f.slices),
                      share = f.slices == 0 ? 0 : div_up(f.offset_groups * at_once, f.slices);
  return f.heaviest_offsets - std::min(f.heaviest_offsets, 3 * share);
}

/// Whether blocks have the tables in shared memory.
constexpr bool are_staged(const FormFacts& f) {
  return launch_rules::csell::staged_bytes(f.largest_table, f.value_size) != 0;
}
/// How blocks take the slices of several tables, but for the sums of teams, which take shared memory, too, and for
/// blocks of entries that have a kernel with more registers.
constexpr launch_rules::csell::TilePieces pieces_of(const FormFacts& f, const Device& device) {
  using namespace launch_rules::csell;
  constexpr std::uint64_t most_of_block = 227U << 10U;  // of an H100 or H200
  const unsigned threads = f.offset_groups == 0 && f.block == 1 ? 2048 : 1024;
  return launch_rules::csell::pieces_of(
      {f.slices, f.entries, f.sums, f.tiles, f.tile_slices, are_staged(f)},
      {threads, blocks_by_shared(staged_bytes(f.largest_table, f.value_size), most_of_block), device.multiprocessors});
}

/// PartPlan::work. Slots are those of blocks, or else of the kernels that a GPU has for few slices, for patterns alone
/// and for any columns.
inline std::vector<Counter> work_of(const FormFacts& f, const Device& device) {
  const std::uint64_t groups = f.pattern_groups + f.offset_groups, in_block = std::uint64_t{f.block} * f.block;
  const std::uint64_t slots = group_steps * lanes * in_block;
  // Where a GPU's warps are all busy at once, each loads four groups together.
  const bool table = f.source == Source::table;
  const bool are_few = launch_rules::csell::are_few(f.slices, f.sums, device.multiprocessors) && f.tiles <= 1 &&
                       !has_mirrors_of(f) && (!table || f.block == 1);
  const bool few = are_few && f.block == 1;
  const std::uint64_t windows = f.sums > 1 ? 0 : f.windows;
  const Work unit_of_slots = f.block > 1                ? table ? Work::table_blocks : Work::blocks
                             : few                      ? Work::few
                             : windows != 0             ? Work::window_slots
                             : f.source == Source::step ? Work::step
                             : f.offset_groups == 0     ? table ? Work::table_patterns : Work::patterns
                             : table                    ? Work::table_offsets
                                                        : Work::offsets;
  std::vector<Counter> work{{Work::multiplies, 1}, {unit_of_slots, slots * groups}, {Work::rows, f.rows}};
  if (windows == 0) work.emplace_back(Work::uneven, f.uneven_steps * lanes * in_block);
  if (!few && f.sums > 1) work.emplace_back(Work::teams, 1);  // warps that wait for one another, in few blocks
  if (few && f.offset_groups != 0) {
    work.emplace_back(Work::few_multiplies, 1);
    work.emplace_back(Work::few_offsets, slots * f.offset_groups);
    work.emplace_back(Work::few_groups, few_groups(f));
  }
  if (table) work.emplace_back(Work::tables, 1);
  if (table && f.tiles > 1 && are_staged(f)) work.emplace_back(Work::tile_turns, pieces_of(f, device).turns);
  if (few && f.source == Source::raw) work.emplace_back(Work::few_raw_rounds, waited_rounds(f));
  if (few && f.sums > 1) {
    work.emplace_back(Work::few_teams, 1);
    work.emplace_back(Work::few_idle, slots * idle_groups(f, device));
  }
  const std::uint64_t more_turns = few || f.block > 1 || windows != 0 ? 0 : turns(f, device);
  work.emplace_back(Work::turns, more_turns);
  if (more_turns != 0 && f.offset_groups != 0 && !table)
    work.emplace_back(Work::uneven_warps, std::min<std::uint64_t>(lanes, lanes * f.uneven_steps / f.slices));
  if (windows != 0) {
    work.emplace_back(Work::window_rounds, div_up(windows, launch_rules::csell::window_batch));
    // Of stencils that need more than two batches most windows have three steps, whose elements lanes have from others.
    const bool is_long = windows > 2 * launch_rules::csell::window_batch;
    if (is_long) work.emplace_back(Work::long_windows, windows * div_up(f.slices, 2 * f.pairs) * lanes);
  } else {
    work.emplace_back(Work::chain, chain(f, few, more_turns));
  }
  if (!few) work.emplace_back(Work::heavy_slots, slots * heavy_groups(f));
  work.emplace_back(shares_values(f) ? Work::step_chain : Work::block_chain, block_chain(f, are_few));
  work.emplace_back(Work::entries, f.entries);
  if (f.source == Source::raw) work.emplace_back(Work::raw_entries, f.entries);
  if (has_mirrors_of(f)) {
    work.emplace_back(CommonWork::x_sectors, mirror_sectors(f));  // which come from the same cache
    work.emplace_back(f.block > 1 ? Work::mirror_blocks : Work::mirrors, slots * groups);
  }
  return work;
}

/// csell.column_chain: a lane takes the steps of its row in turn, few of them at once, however long the slice is. With
/// more slices than a device has at once, other slices are taken meanwhile.
constexpr std::uint64_t column_chain(const FormFacts& f) {
  constexpr std::uint64_t few_slices = 2048, hidden = 64, group_steps = 4;
  const std::uint64_t groups = f.pattern_groups + f.offset_groups,
                      average = f.slices <= few_slices ? 0 : groups / f.slices, longest = group_steps * f.longest;
  return longest - std::min(longest, group_steps * average + hidden);
}

/// PartPlan::columns. A row of X serves all rows of a block, of up to three rows in the same registers. Where values
/// are shared, a step is half the work. docs/notebook/GPU.md, "Constants".
inline ColumnsWork columns_of(const FormFacts& f) {
  if (has_mirrors_of(f)) return {};
  const std::uint64_t shared = f.block > 1 ? std::min<std::uint64_t>(f.block, 3) : shares_values(f) ? 2 : 1;
  return {launch_rules::columns::most,
          {{Work::column_entries, div_up(f.entries, shared)}},
          {{Work::column_chain, column_chain(f)}}};
}

}  // namespace spmvpack::encoder::layouts::csell_plans
