#pragma once
// What csell decides, from counts alone. Here are no loops over a matrix, and there no rules.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/encoder/aim.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/launch_rules/csell.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

using namespace spmvpack::layouts::csell;  // what the bytes mean
using spmvpack::layouts::ValuesAre;

/// More distinct values than this do not stand in patterns.
inline constexpr std::uint64_t max_step_values = 4096;
/// The most distinct values that are counted: ValueTable::max_distinct.
inline constexpr std::uint64_t max_counted_values = std::uint64_t{1} << 20;
/// With fewer slices than this, several warps share one: the warps that are on a device together.
constexpr std::uint64_t few_slices(const Device& device) { return device.multiprocessors * 32; }

struct PartFacts {
  std::uint64_t entries = 0, distinct_values = 0;
  std::uint32_t block = 1;
  bool updatable = false;  ///< every entry is to have a value of its own
};

/// Where values may be, in the order in which ties go to the first.
inline constexpr std::array<Source, 6> sources{Source::single, Source::step,   Source::table,
                                               Source::raw,    Source::mirror, Source::skew};
/// Whether a form with this source is planned. `wanted`, if it is possible, is the only one; if nothing is wanted, so
/// is `single`.
constexpr bool is_planned(Source source, const PartFacts& part, std::optional<Source> wanted) {
  if (wanted && *wanted != source) return false;
  if (part.updatable && values_are(source) != ValuesAre::own) return false;
  if (source == Source::single) return part.distinct_values == 1;
  if (!wanted && !part.updatable && part.distinct_values == 1) return false;
  return source != Source::step || part.distinct_values <= (wanted ? max_counted_values : max_step_values);
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

/// Facts of neighbouring slices whose steps have values.
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

/// A sample of a part's blocks.
struct MirrorSample {
  std::uint64_t mirrors = 0, blocks = 0;
};
/// Whether so many mirrors are worth a plan: most blocks of a (skew-)symmetric matrix come in pairs.
constexpr bool are_many_mirrors(const MirrorSample& f) { return f.mirrors != 0 && 4 * f.mirrors >= f.blocks; }
/// Whether all blocks of a step have one slot, which slices with the same pattern can then name by steps, rather than
/// each the next of its row. `reference_bytes`: what the references of all lanes would take. Twice that may be spent on
/// slots, as other slices' mirrors are of these slots.
constexpr bool slots_by_steps(std::uint64_t slots, std::uint64_t more_bytes, std::uint64_t reference_bytes) {
  return slots <= max_slots && more_bytes <= 2 * reference_bytes;
}

struct SumFacts {
  std::uint64_t slices = 0, groups = 0;
  std::uint64_t mirror_bytes = 0;  ///< of everything if there are mirrors
  std::uint32_t block = 1;
};
/// Sums of a row, each by a warp, if slices are so few that all warps fit. Single entries without mirrors have a kernel
/// for few slices, which loads four groups together: more sums than it has room for are slower than one.
/// docs/notebook/GPU.md, "Constants".
constexpr std::uint64_t sums_of(const SumFacts& f, const Device& device) {
  std::uint64_t sums = 1;
  if (f.slices == 0) return sums;
  const std::uint64_t few = few_slices(device);
  const auto has_room_for_twice = [&] {
    return f.block == 1 && f.mirror_bytes == 0
               ? launch_rules::csell::are_few(f.slices, 2 * sums, device.multiprocessors)
               : f.slices * sums < few;
  };
  while (sums < max_sums && has_room_for_twice() && f.groups >= 4 * sums * f.slices) sums *= 2;
  const std::uint64_t slice_bytes = div_up(f.mirror_bytes, f.slices);
  while (sums < max_sums && few / sums * slice_bytes > device.in_flight_bytes && f.groups >= sums * 2 * f.slices)
    sums *= 2;
  return sums;
}

/// The slices that a multiprocessor of a GPU has at once.
inline constexpr std::uint64_t neighbouring_slices = 32;
/// A form to store a part.
struct FormFacts {
  Source source = Source::raw;
  std::uint32_t block = 1;
  std::uint64_t rows = 0, entries = 0, value_size = 8;
  std::uint64_t slices = 0, pattern_groups = 0, offset_groups = 0;
  std::uint64_t longest = 0;           ///< groups of a slice
  std::uint64_t heaviest_offsets = 0;  ///< groups with offsets that neighbouring_slices have together, at most
  std::uint64_t uneven_steps = 0;      ///< steps that some lanes lack
  std::uint64_t tiles = 0, tile_slices = 0, largest_table = 0;  ///< values of the largest table
  std::uint64_t mirrors = 0, mirrors_by_steps = 0;  ///< blocks; those of them in slices that refer step by step
  std::uint64_t sums = 1;
  std::uint64_t windows = 0;  ///< of x that a program has, with one sum; 0: the part has none
  std::uint64_t pairs = 1;    ///< of slices that a program is for
  std::uint64_t device_bytes = 0;
};
constexpr bool has_mirrors_of(const FormFacts& f) { return f.source == Source::mirror || f.source == Source::skew; }
/// Whether slices share their values, which then come from caches: values stand in patterns, or are one.
constexpr bool shares_values(const FormFacts& f) { return f.source == Source::step || f.source == Source::single; }
constexpr std::uint64_t sums_of(const FormFacts& f, const Device& device) {
  return sums_of({f.slices, f.pattern_groups + f.offset_groups, has_mirrors_of(f) ? f.device_bytes : 0, f.block},
                 device);
}

/// Whether a form may have windows of x: for how many pairs of slices a program has them is then counted.
constexpr bool may_have_windows(const FormFacts& f, Target target, const Device& device) {
  return target == Target::gpu && shares_values(f) && f.block == 1 && f.offset_groups == 0 &&
         launch_rules::csell::worth_windows(f.slices, device.multiprocessors);
}

/// What is counted of a part before it is decided how it is stored.
struct CsellFacts {
  PartFacts part = {};
  std::uint64_t csr_bytes = 0;             ///< of the part in csr
  std::optional<Source> source = {};       ///< what is asked for
  std::optional<std::uint64_t> sums = {};  ///< likewise
  /// By Source: those that have been planned.
  std::array<std::optional<FormFacts>, sources.size()> forms = {};

  constexpr void add(const FormFacts& form) { forms.at(static_cast<std::size_t>(form.source)) = form; }
};
struct CsellDecision {
  Source source = Source::raw;
  std::uint64_t sums = 1;
};
static_assert(std::is_trivially_copyable_v<CsellFacts> && std::is_trivially_copyable_v<CsellDecision>);

/// The form that is best for the aim; of equals the first of `sources`. None if no form has been planned.
SPMVPACK_EXPORT std::optional<CsellDecision> decide(const CsellFacts& facts, const Aim& aim);

/// Sets what a multiply by the part does: PartPlan's work and columns.
SPMVPACK_EXPORT void describe_multiply(PartPlan& plan, const FormFacts& form, const Device& device);

/// Whether a form with these facts would be taken instead of those that have been planned.
inline bool would_take(CsellFacts facts, const FormFacts& form, const Aim& aim) {
  facts.add(form);
  return decide(facts, aim)->source == form.source;
}

/// A part before mirrors are looked for.
struct MirrorFacts {
  FormFacts without;
  Source source = Source::mirror;
  std::uint64_t column_bytes = 0;

  [[nodiscard]] constexpr std::uint64_t blocks() const { return without.entries / without.block / without.block; }
};
/// The least that a form takes if so many blocks have a mirror: of two opposite entries one is stored, with the columns
/// of both, which is known already of a form without them.
constexpr FormFacts with_mirrors(const MirrorFacts& f, std::uint64_t mirrors) {
  const std::uint64_t in_block = std::uint64_t{f.without.block} * f.without.block;
  FormFacts form = f.without;
  form.source = f.source;
  form.tiles = 0;
  form.mirrors = mirrors;
  form.mirrors_by_steps = form.pattern_groups != 0 ? mirrors : 0;
  form.device_bytes = f.column_bytes + (form.entries - mirrors * in_block) * form.value_size;
  return form;
}
/// Whether mirrors may be best if half of all blocks have one: only then a sample is worth its time. With two columns,
/// one by one, they already take longer than they save. docs/notebook/GPU.md, "Constants".
inline bool worth_a_sample(const CsellFacts& facts, const MirrorFacts& f, const Aim& aim) {
  return !several_columns(aim) && would_take(facts, with_mirrors(f, f.blocks() / 2), aim);
}
/// Whether they may be if as many have one as in the sample: only then all are looked for.
inline bool worth_mirrors(const CsellFacts& facts, const MirrorFacts& f, const MirrorSample& sample, const Aim& aim) {
  if (!are_many_mirrors(sample)) return false;
  const std::uint64_t blocks = f.blocks(), expected = std::min(blocks / 2, blocks * sample.mirrors / sample.blocks);
  return aim.optimize == Objective::bytes || would_take(facts, with_mirrors(f, expected), aim);
}

/// The purpose of several tables, which limits them.
struct TableLimits {
  std::uint64_t least_entries;  ///< of the matrix, unless one of the next is set
  bool asked_for;               ///< whatever they cost; even the smallest tiles may have more values than are staged
  bool fewest_bytes;            ///< only bytes count: any tile may, and have any number of slices
  std::uint64_t staged_values;  ///< of a tile at most, unless one of these is set
  std::uint64_t least_tiles;    ///< unless one of these is set: fewer leave multiprocessors without any
  std::uint64_t staging_bytes;  ///< what a table costs besides

  [[nodiscard]] constexpr bool time_counts() const { return !asked_for && !fewest_bytes; }
};
constexpr TableLimits table_limits(const CsellFacts& f, Objective optimize, const Device& device) {
  const bool entries = f.part.block == 1;
  return {.least_entries = device.small_entries,
          .asked_for = f.source.has_value(),
          .fewest_bytes = optimize == Objective::bytes,
          .staged_values = device.table_values,
          .least_tiles = entries ? device.multiprocessors : 1,
          // Blocks of several rows are so many entries that the warps of small tiles would be few.
          .staging_bytes = entries ? device.staging_bytes : 2 * device.staging_bytes};
}
/// So many distinct values have one table, whose ids have 8 bits.
inline constexpr std::uint64_t max_one_table = 256;
/// Slices of the smallest tile and of the largest.
constexpr std::uint64_t smallest_tile(std::uint32_t block) { return block == 1 ? 16 : block == 2 ? 8 : 4; }
inline constexpr std::uint64_t largest_tile = 128;
/// Entries, and the distinct values of each tile that they are in.
struct RepetitionFacts {
  std::uint64_t distinct = 0, entries = 0;
};
constexpr bool hardly_any_repeated(const RepetitionFacts& f) { return f.distinct * 4 > f.entries * 3; }
/// Whether several tables are looked for: first in a sample of the tiles, then in all. Where few tiles here and there
/// have hardly any repeated value, the others are not looked at.
constexpr bool worth_sampling_tables(std::uint64_t entries, const TableLimits& limits) {
  return !limits.time_counts() || entries >= limits.least_entries;
}
constexpr bool worth_tables(const RepetitionFacts& sample, const RepetitionFacts& all, const TableLimits& limits) {
  const bool anywhere = all.distinct <= max_counted_values && !hardly_any_repeated(all);
  return limits.asked_for || (limits.fewest_bytes && anywhere) || !hardly_any_repeated(sample);
}
/// Values of a smallest tile at most, and of a wider one.
constexpr std::uint64_t most_values_of_smallest(const TableLimits& limits) {
  return limits.time_counts() ? limits.staged_values : max_table;
}
constexpr std::uint64_t most_values(const TableLimits& limits) {
  return limits.fewest_bytes ? max_table : limits.staged_values;
}
/// Whether two neighbouring tiles, of so many slices each, may become one.
constexpr bool may_widen(std::uint64_t tiles, std::uint64_t slices, const TableLimits& limits) {
  return tiles > 1 && (limits.fewest_bytes || slices < largest_tile) &&
         (!limits.time_counts() || div_up(tiles, 2) >= limits.least_tiles);
}
/// The cost of tables of so many device bytes, including their staging.
constexpr std::uint64_t table_cost(std::uint64_t bytes, std::uint64_t tiles, const TableLimits& limits) {
  return bytes + (limits.fewest_bytes ? 0 : tiles * limits.staging_bytes);
}

}  // namespace spmvpack::encoder::layouts::csell_plans
