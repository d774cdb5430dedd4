#pragma once
// What csell decides, from counts alone. Here are no loops over a matrix, and there no rules.

#include <cstdint>
#include <optional>
#include <vector>

#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// More distinct values than this do not stand in patterns.
inline constexpr std::uint64_t max_step_values = 4096;
/// Smaller parts are bound by latency: a table for each tile makes them slower, whatever it saves (xenon1, 1.2 M
/// nonzeros: 52 us, raw 14; H200).
inline constexpr std::uint64_t small_entries = std::uint64_t{1} << 21;
/// Mirrors are read while the slices that they are in are still in the L2 cache of a GPU: several warps share a slice
/// if those that are in flight together are more bytes than this, so that fewer are (elasticity: 521 MB from memory
/// with a warp a slice, 306 with four; H200).
inline constexpr std::uint64_t in_flight_bytes = 40'000'000;
/// With fewer slices than this, several warps share one (the multiprocessors of an H200, and the warps of one).
inline constexpr std::uint64_t few_slices = launch_rules::planned_multiprocessors * 32;

struct PartFacts {
  std::uint64_t entries = 0, distinct_values = 0;
  std::uint32_t block = 1;
};

/// Whether a multiply with mirrors takes less time than with raw values: the only rule by which a plan that aims at
/// time takes mirrors without being asked for them. Measured on one H200: 3 x 3 blocks take 100 us instead of 134 (62 M
/// nonzeros) and 13.0 instead of 15.3 (3 M), where single entries lose, 27 points 107 instead of 104, others more.
constexpr bool mirrors_save_time(const PartFacts& part, Target target) {
  return target == Target::gpu && part.block >= 3 && part.entries >= small_entries;
}

/// Where values may be, in the order in which ties go to the first. `wanted` is the only one if it can be.
inline std::vector<Source> sources_to_plan(const PartFacts& part, std::optional<Source> wanted, const Aim& aim) {
  const auto tried = [&](Source source) { return !wanted || *wanted == source; };
  if (tried(Source::single) && part.distinct_values == 1) return {Source::single};
  std::vector<Source> sources;
  if (tried(Source::step) && part.distinct_values <= (wanted ? ValueTable::max_distinct : max_step_values))
    sources.push_back(Source::step);
  for (const Source source : {Source::table, Source::raw})
    if (tried(source)) sources.push_back(source);
  if (wanted || aim.optimize == Objective::bytes || mirrors_save_time(part, aim.target))
    for (const Source source : {Source::mirror, Source::skew})
      if (tried(source)) sources.push_back(source);
  return sources;
}

/// A pattern may have so many steps, for a slice of so many entries or blocks.
///
/// Without values, a pattern of a slice alone then takes fewer bytes than its offsets would: 32 for four steps, and 160
/// for the four entries of each row that offsets of 8 bits have in as many. With values a step has the lanes of one
/// value alone, which are to be at least eight of 32 on average.
constexpr std::uint64_t most_pattern_steps(std::uint64_t blocks, bool by_value) {
  constexpr std::uint64_t least_steps_by_value = 32;
  const std::uint64_t of_row = div_up(blocks, lanes);
  return by_value ? lanes / 8 * of_row + least_steps_by_value : of_row + of_row / 2 + group_steps;
}

/// Of neighbouring slices whose steps have values.
struct StepFacts {
  std::uint64_t blocks = 0, block_bytes = 0;  ///< bytes: of the values of one
  std::uint64_t steps = 0;
  std::uint64_t width = 0;       ///< of each slice the longest row's blocks: no steps are fewer
  std::uint64_t list_bytes = 0;  ///< of different slices' steps, each once
};
/// Whether patterns with values are worth going on: they have not many more steps than the rows' lengths suggest, and
/// slices share them, so that they take less than half the bytes of raw values. A few slices prove nothing.
constexpr bool worth_values_in_steps(const StepFacts& f) {
  constexpr std::uint64_t few_steps = 64, few_bytes = 4096;
  return f.steps <= 2 * f.width + few_steps && f.list_bytes <= f.blocks * f.block_bytes / 2 + few_bytes;
}

/// Whether mirrors are worth a look at the matrix: of two opposite entries one is stored, with the columns of both.
constexpr bool may_be_smaller_with_mirrors(std::uint64_t column_bytes, std::uint64_t entries, std::uint64_t value_size,
                                           std::uint64_t best) {
  return column_bytes + entries / 2 * value_size < best;
}
/// Whether so many mirrors in a sample of blocks are worth a plan: most blocks of a (skew-)symmetric matrix come in
/// pairs.
constexpr bool are_many_mirrors(std::uint64_t mirrors, std::uint64_t blocks) {
  return mirrors != 0 && 4 * mirrors >= blocks;
}
/// Whether all blocks of a step have one slot, which slices with the same pattern can then name by steps, rather than
/// each the next of its row. `reference_bytes`: what the references of all lanes would take. Twice that may be spent on
/// slots, as other slices' mirrors are of these slots.
constexpr bool slots_by_steps(std::uint64_t slots, std::uint64_t more_bytes, std::uint64_t reference_bytes) {
  return slots <= max_slots && more_bytes <= 2 * reference_bytes;
}

struct SumFacts {
  std::uint64_t slices = 0, groups = 0;
  std::uint64_t mirror_bytes = 0;  ///< of everything if there are mirrors
};
/// Sums of a row, each by a warp.
constexpr std::uint64_t sums_of(const SumFacts& f) {
  std::uint64_t sums = 1;
  if (f.slices == 0) return sums;
  while (sums < max_sums && f.slices * sums < few_slices && f.groups >= 4 * sums * f.slices) sums *= 2;
  const std::uint64_t slice_bytes = div_up(f.mirror_bytes, f.slices);
  while (sums < max_sums && few_slices / sums * slice_bytes > in_flight_bytes && f.groups >= sums * 2 * f.slices)
    sums *= 2;
  return sums;
}

}  // namespace spmvpack::encoder::layouts::csell_plans
