#pragma once
// What sjds decides, from counts alone.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "layouts/layouts.hpp"
#include "layouts/sjds/sjds_work.hpp"
#include "spmvpack/container/layouts/sjds.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/launch_rules/sjds_kinds.hpp"

namespace spmvpack::encoder::layouts::sjds_plans {

using namespace spmvpack::layouts::sjds;  // what the bytes mean

/// Rows that are sorted together: a sixteenth, so that x and y stay near, of few rows and of many.
constexpr std::uint64_t usual_window(std::uint64_t rows) {
  return std::clamp<std::uint64_t>(rows / 16 / lanes * lanes, 256, 1024);
}

/// Whether a row is added up by all lanes: in a lane of a slice with the next rows, which have `sum` entries with it,
/// it would leave more than a fifth of the slice's time to itself.
constexpr bool is_long(std::uint64_t length, std::uint64_t sum) {
  constexpr std::uint64_t least = 32;
  return length > max_entries || (length >= least && 4 * lanes * length > 5 * sum);
}

struct PartFacts {
  std::uint64_t entries = 0, distinct_values = 0;
};

/// Whether values can have codes.
constexpr bool fit_codes(const PartFacts& part) { return part.distinct_values <= max_table; }

/// From so many entries on, codes save time, too: values are then 8 MiB, more than most second-level caches. For fewer,
/// AVX2 decodes more slowly than it loads. Codes of one value always save time, as nothing is decoded.
/// docs/notebook/HOST.md, "Constants".
inline constexpr std::uint64_t entries_for_codes = std::uint64_t{1} << 20U;

/// What an entry's value is if nothing is asked for.
constexpr Source usual_source(const PartFacts& part, Objective optimize) {
  const bool save = optimize == Objective::bytes || part.entries >= entries_for_codes || part.distinct_values == 1;
  return save && part.distinct_values != 0 && fit_codes(part) ? Source::code : Source::raw;
}

/// Slices of rows for whose kinds a host's multiply has loops, and their steps of eight lanes.
struct KindFacts {
  std::uint64_t slices = 0, plain_slices = 0;
  std::uint64_t windows = 0, steps = 0;  ///< as in WorkFacts; and both together, by kinds of slices:
  std::uint64_t plain_steps = 0, run_steps = 0, column_steps = 0, group_steps = 0;

  void add(const Slice& slice, launch_rules::sjds::Kind kind) {
    using namespace launch_rules::sjds;
    if (kind == any) return;
    ++slices;
    plain_slices += kind == plain ? 1 : 0;
    windows += slice.windows();
    steps += slice.steps();
    (kind == plain        ? plain_steps
     : has_runs(kind)     ? run_steps
     : kind == one_column ? column_steps
                          : group_steps) += slice.full();
  }
  void add(const KindFacts& more) {
    slices += more.slices;
    plain_slices += more.plain_slices;
    windows += more.windows;
    steps += more.steps;
    plain_steps += more.plain_steps;
    run_steps += more.run_steps;
    column_steps += more.column_steps;
    group_steps += more.group_steps;
  }
};

/// What a multiply goes through.
struct WorkFacts {
  std::uint64_t slices = 0, pieces = 0;
  std::uint64_t windows = 0, steps = 0, tail = 0;  ///< steps of each kind
  std::uint64_t listed = 0;                        ///< rows in lists
  std::uint64_t scaled_rows = 0;                   ///< of windows with rows in no slice
  KindFacts kinds{};                               ///< slices of these, and their steps, are among those above
  bool decodes = false;                            ///< codes of several values
};
/// PartPlan::work, on a host. Plain slices are no `sjds.slices`: a unit of their own was fitted to take no time.
inline std::vector<Counter> work_of(const WorkFacts& f) {
  std::vector<Counter> work{{Work::multiplies, 1},
                            {Work::slices, f.slices - f.kinds.plain_slices},
                            {Work::windows, f.windows - f.kinds.windows},
                            {Work::steps, f.steps - f.kinds.steps},
                            {Work::plain_steps, f.kinds.plain_steps},
                            {Work::run_steps, f.kinds.run_steps},
                            {Work::column_steps, f.kinds.column_steps},
                            {Work::group_steps, f.kinds.group_steps},
                            {Work::tail, f.tail},
                            {Work::listed, f.listed},
                            {Work::scaled_rows, f.scaled_rows},
                            {Work::pieces, f.pieces}};
  if (f.decodes) work.emplace_back(Work::codes, f.windows + f.steps + f.tail);
  return work;
}

}  // namespace spmvpack::encoder::layouts::sjds_plans
