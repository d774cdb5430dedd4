#include "spmvpack/container/layouts/csell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "decide.hpp"
#include "layouts/csell_columns.hpp"
#include "layouts/csell_mirrors.hpp"
#include "layouts/csell_rules.hpp"
#include "layouts/csell_slice.hpp"
#include "layouts/csell_tables.hpp"
#include "layouts/csell_writer.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::encoder::layouts {
namespace csell_plans {
namespace {

constexpr std::array<Setting, 3> settings{
    Setting{"csell.block", "auto, or 1 to 4", "rows and columns of a block; auto takes the largest that has no fill"},
    Setting{"csell.values", "auto, raw, table, step, single, mirror or skew",
            "where values are; auto takes what is predicted fastest, or smallest"},
    Setting{"csell.sums", "auto, 1, 2 or 4", "sums of a row, each by a warp; auto takes several if rows are few"}};

class CsellPlanner {
 public:
  CsellPlanner(const PartMatrix& part, const PlanOptions& options) : a_(part.a), device_(device_of(options)) {
    const auto values = part.values ? part.values : ValueTable::count(part.a, options.threads, false);
    choose(*values, options);
    place();
  }

  void describe(PartPlan& plan) const {
    auto& p = plan.info.params;
    p[param_source] = static_cast<std::uint64_t>(out_.source);
    p[param_block] = out_.columns.block;
    p[param_sums] = facts_.sums;
    p[param_tile_slices] = out_.tables.slices;
    for (const Tile& tile : out_.tiles)
      p[param_largest_tile] = std::max<std::uint64_t>(p[param_largest_tile], tile.count);
    p[param_patterns_only] = std::all_of(out_.columns.slices.begin(), out_.columns.slices.end(),
                                         [](const Slice& slice) { return slice.is_pattern(); })
                                 ? 1
                                 : 0;
    plan.info.counts[section_patterns] = out_.columns.patterns.size() * (sizeof(Group) / sizeof(std::uint32_t));
    plan.info.counts[section_stream] = stream_units_ * (unit / sizeof(std::uint32_t));
    plan.info.counts[section_values] = value_count_;
    // Slots without an entry are in offsets and ids, and with mirrors among the values.
    const BlockRows rows(a_, out_.columns.block);
    for (std::uint64_t i = 0; i < out_.columns.groups.size(); ++i) {
      const SliceGroups& g = out_.columns.groups[i];
      if (out_.entry_id_bytes(i) == 0 && g.of[0] != 0) continue;
      plan.padding += (g.total() * group_steps * lanes - rows.blocks(i)) * out_.columns.block * out_.columns.block;
    }
    if (out_.mirrors) {
      const std::uint64_t mirrored = out_.mirrors->mirrored * out_.columns.block * out_.columns.block;
      plan.padding += value_count_ - (a_.nnz() - mirrored);
    }
    plan.work = work_of(facts_, device_);
    const std::array<std::uint64_t, 4> groups = out_.columns.group_sums().of;
    plan.counters = {{"block", out_.columns.block},
                     {"sums", facts_.sums},
                     {"slices", out_.columns.slices.size()},
                     {"slices.pattern", out_.columns.slices_in_patterns},
                     {"patterns", out_.columns.lists},
                     {"groups.pattern", groups[0]},
                     {"groups.offsets_8", groups[1]},
                     {"groups.offsets_16", groups[2]},
                     {"groups.offsets_32", groups[3]},
                     {"tile_slices", out_.tables.slices},
                     {"tables.values", out_.source == Source::table ? value_count_ : 0}};
    if (out_.mirrors) {
      plan.counters.push_back({"mirrors", out_.mirrors->mirrored * out_.columns.block * out_.columns.block});
      plan.counters.push_back({"mirrors.by_steps", out_.mirrors->by_steps * out_.columns.block * out_.columns.block});
    }
    plan.counters.insert(plan.counters.end(), considered_.begin(), considered_.end());
  }

  /// Once it is described.
  Slices take() { return std::move(out_); }

 private:
  void choose(const ValueTable& values, const PlanOptions& options);
  void place();
  [[nodiscard]] std::uint64_t raw_bytes(const ColumnsPlan& columns) const {
    const std::size_t size = size_of(a_.value_type());
    const BlockRows rows(a_, columns.block);
    std::uint64_t sum = 0;
    for (std::uint64_t s = 0; s < rows.slices(); ++s)
      sum += round_up(rows.blocks(s) * columns.block * columns.block * size, unit);
    return sum;
  }
  /// Of these columns, in a way that takes so many bytes.
  [[nodiscard]] WayFacts facts_of(Source source, const ColumnsPlan& columns, std::uint64_t bytes) const {
    const ColumnsPlan::GroupSums groups = columns.group_sums();
    WayFacts f{.source = source,
               .block = columns.block,
               .rows = a_.rows(),
               .entries = a_.nnz(),
               .value_size = size_of(a_.value_type()),
               .slices = columns.slices.size(),
               .pattern_groups = groups.of[0],
               .offset_groups = groups.of[1] + groups.of[2] + groups.of[3],
               .longest = groups.longest,
               .device_bytes = bytes};
    if ((source == Source::step || source == Source::single) && f.block == 1 && f.offset_groups == 0)
      f.windows = columns.windows(a_.cols());
    return f;
  }
  CsrView a_;
  const Device& device_;
  Slices out_;
  WayFacts facts_;  ///< of what is chosen
  std::uint64_t stream_units_ = 0, value_count_ = 0;
  std::vector<Counter> considered_;
};

void CsellPlanner::choose(const ValueTable& values, const PlanOptions& options) {
  const auto wanted = read_name<Source>(options, settings[1], source_names);
  const auto wanted_block = read_setting(options, "csell.block", 1, max_block, "auto");
  const auto refuse = [](std::string what, const char* remedy) {
    throw Error(errc::unsupported, "csell: " + std::move(what), {}, remedy);
  };
  std::uint32_t block = 1;
  for (std::uint32_t b = max_block; b > 1 && block == 1; --b)
    if ((!wanted_block || *wanted_block == b) && a_.nnz() != 0 && full_blocks(a_, b, options.threads)) block = b;
  if (wanted_block && *wanted_block != block)
    refuse(fmt::format("the matrix is not made of full blocks of {} by {}", *wanted_block, *wanted_block),
           "use another csell.block, or amb, whose blocks may have fill");
  const std::size_t size = size_of(a_.value_type());
  const BlockRows rows(a_, block);
  std::optional<ColumnsPlan> plain, in_steps;

  // Every way with its bytes and its work; the least for the aim wins, of equals the first.
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(a_.rows(), a_.nnz(), a_.value_type());
  constexpr std::array<std::string_view, 3> powers{"1", "2", "4"};
  const auto sums = read_name<std::uint64_t>(options, settings[2], powers);
  std::optional<Rank> best;
  const auto rank = [&](WayFacts& f) {
    f.sums = sums ? std::uint64_t{1} << *sums : sums_of(f, device_);
    return rank_of({f.device_bytes, work_of(f, device_)}, csr_bytes, options.aim);
  };
  const auto is_best = [&](const Rank& of) { return !best || of < *best; };
  const auto consider = [&](WayFacts f) {
    considered_.push_back(
        {fmt::format("{}.device_bytes", source_names.at(static_cast<std::size_t>(f.source))), f.device_bytes});
    const Rank of = rank(f);
    if (!is_best(of)) return false;
    best = of;
    out_.source = f.source;
    out_.tables = {};
    out_.mirrors.reset();
    facts_ = f;
    return true;
  };
  /// Whether mirrors may be best if half of all blocks have one, and if as many have as in a sample.
  const auto may_have_mirrors = [&](Source source) {
    const WayFacts without = facts_of(Source::raw, *plain, 0);
    const auto is_best_with = [&](std::uint64_t mirrors) {
      WayFacts f = with_mirrors(without, source, mirrors, plain->bytes());
      return is_best(rank(f));
    };
    const std::uint64_t blocks = a_.nnz() / block / block;
    if (!is_best_with(blocks / 2)) return false;
    const MirrorSample sample = sample_mirrors(rows, source);
    if (!are_many_mirrors(sample.mirrors, sample.blocks)) return false;
    return options.aim.optimize == Objective::bytes ||
           is_best_with(std::min(blocks / 2, blocks * sample.mirrors / sample.blocks));
  };
  for (const Source source : sources_to_plan({a_.nnz(), values.distinct(), block}, wanted)) {
    if (source == Source::step) {
      in_steps = plan_columns(rows, true, options.threads);
      if (in_steps) consider(facts_of(source, *in_steps, in_steps->bytes()));
      continue;
    }
    if (!plain) plain = plan_columns(rows, false, options.threads);
    if (source == Source::single) {
      out_.single = {values.most_frequent()[0].bits};
      consider(facts_of(source, *plain, plain->bytes() + size));
    } else if (source == Source::table) {
      const TableLimits limits{.least_entries = device_.small_entries,
                               .asked_for = wanted.has_value(),
                               .fewest_bytes = options.aim.optimize == Objective::bytes,
                               .staged_values = device_.table_values,
                               .least_tiles = block == 1 ? device_.multiprocessors : 1,
                               .staging_bytes = device_.staging_bytes};
      auto tables = plan_tables(rows, values, plain->groups, limits, options.threads);
      if (!tables) continue;
      WayFacts f = facts_of(source, *plain, plain->bytes() + tables->bytes(plain->groups, size));
      f.tiles = tables->values.size();
      if (consider(f)) out_.tables = std::move(*tables);
    } else if (source == Source::raw) {
      consider(facts_of(source, *plain, plain->bytes() + raw_bytes(*plain)));
    } else if (wanted || may_have_mirrors(source)) {
      auto mirrors = plan_mirrors(rows, source, plain->slices, plain->groups, plain->patterns, options.threads);
      if (!mirrors) continue;
      WayFacts f = facts_of(source, *plain, mirrors->bytes(plain->groups, block, size));
      f.mirrors = mirrors->mirrored;
      f.mirrors_by_steps = mirrors->by_steps;
      if (consider(f)) out_.mirrors = std::move(mirrors);
    }
  }
  if (!best && has_mirrors(*wanted))
    refuse(fmt::format("csell.values is {}, but no {} has the bits of its transposed one{}, or a row has too many",
                       source_names.at(static_cast<std::size_t>(*wanted)), block == 1 ? "entry" : "block",
                       *wanted == Source::skew ? " with the sign flipped" : ""),
           "use csell.values=raw, or auto");
  if (!best)
    refuse(fmt::format("csell.values is {}, but the values do not repeat like that",
                       source_names.at(static_cast<std::size_t>(*wanted))),
           "use csell.values=raw, or auto");
  out_.columns = std::move(out_.source == Source::step ? *in_steps : *plain);
  if (!out_.mirrors) return;
  out_.columns.patterns = std::move(out_.mirrors->patterns);
  out_.columns.lists = out_.mirrors->lists;
  for (std::uint64_t s = 0; s < out_.columns.slices.size(); ++s)
    out_.columns.slices[s].pattern = out_.mirrors->place[s] | std::uint32_t{out_.mirrors->reference_bytes[s]} << 30U;
}

/// Where each slice's pieces are, now that all choices are made.
void CsellPlanner::place() {
  const std::size_t size = size_of(a_.value_type());
  for (const auto& values : out_.tables.values) {
    out_.tiles.push_back({static_cast<std::uint32_t>(value_count_), static_cast<std::uint32_t>(values.size())});
    value_count_ += values.size();
  }
  if (out_.source == Source::single) value_count_ = 1;
  if (out_.source == Source::step) value_count_ = out_.columns.step_values.size() / size;
  const BlockRows rows(a_, out_.columns.block);
  std::uint64_t value_units = 0;
  for (std::uint64_t s = 0; s < out_.columns.slices.size(); ++s) {
    Slice& slice = out_.columns.slices[s];
    slice.stream = static_cast<std::uint32_t>(stream_units_);
    stream_units_ += stream_layout(out_.columns.groups[s], out_.entry_id_bytes(s)).end;
    if (out_.source != Source::raw && !out_.mirrors) continue;
    slice.values = static_cast<std::uint32_t>(value_units);
    const std::uint64_t block_bytes = std::uint64_t{out_.columns.block} * out_.columns.block * size;
    value_units +=
        div_up((out_.mirrors ? std::uint64_t{out_.mirrors->slots[s]} * lanes : rows.blocks(s)) * block_bytes, unit);
  }
  if (out_.source == Source::raw || out_.mirrors) value_count_ = value_units * (unit / size);
  if (stream_units_ > 0xFFFFFFFF || value_units > 0xFFFFFFFF || (!out_.tiles.empty() && value_count_ > 0xFFFFFFFF))
    throw Error(errc::unsupported, "csell: more than 128 GiB of columns or values", {}, "use another layout");
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  CsellPlanner planner(part, options);
  PartPlan plan = begin_plan(layout, part);
  planner.describe(plan);
  const auto slices = std::make_shared<const Slices>(planner.take());
  add_sections(plan, std::span(sections).first(slices->mirrors ? 6 : 5));
  share_by_section(plan);
  plan.choices = slices;
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  fill_section(choices_of<Slices>(plan), a, section, begin, out);
}

Least least(const Survey& s) {
  const std::uint64_t groups = div_up(s.longest_row, max_block * group_steps);
  std::vector<Counter> work{{"csell.multiplies", 1}};
  // A part of few values and short rows may have windows instead.
  const std::uint64_t in_windows = 3 * launch_rules::csell::most_windows(div_up(s.a.rows(), lanes));
  if (s.longest_row > in_windows || s.values->distinct() > max_step_values)
    work.push_back({"csell.chain", least_chain(groups)});
  return {0, false, std::move(work)};
}

}  // namespace
}  // namespace csell_plans

extern const LayoutEncoder csell{"csell",
                                 "SELL with shared patterns, 8/16/32-bit columns, value tables, full blocks",
                                 "meshes, grids and stencils: rows of the same pattern",
                                 csell_plans::settings,
                                 csell_plans::plan,
                                 csell_plans::fill,
                                 csell_plans::least,
                                 /*aims=*/true};

}  // namespace spmvpack::encoder::layouts
