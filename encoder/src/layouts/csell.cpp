#include "spmvpack/container/layouts/csell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "layouts/csell_columns.hpp"
#include "layouts/csell_mirrors.hpp"
#include "layouts/csell_rules.hpp"
#include "layouts/csell_slice.hpp"
#include "layouts/csell_tables.hpp"
#include "layouts/csell_writer.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/csell.hpp"

namespace spmvpack::encoder::layouts {
namespace csell_plans {
namespace {

constexpr std::array<Setting, 3> settings{
    Setting{"csell.block", "auto, or 1 to 4", "rows and columns of a block; auto takes the largest that has no fill"},
    Setting{"csell.values", "auto, raw, table, step, single, mirror or skew",
            "where values are; auto minimises device bytes"},
    Setting{"csell.sums", "auto, 1, 2 or 4", "sums of a row, each by a warp; auto takes several if rows are few"}};

class CsellPlanner {
 public:
  CsellPlanner(const PartMatrix& part, const PlanOptions& options) : a_(part.a) {
    const auto values = part.values ? part.values : ValueTable::count(part.a, options.threads, false);
    choose(*values, options);
    choose_sums(options);
    place();
  }

  void describe(PartPlan& plan) const {
    auto& p = plan.info.params;
    p[param_source] = static_cast<std::uint64_t>(out_.source);
    p[param_block] = out_.columns.block;
    p[param_sums] = sums_;
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
    std::array<std::uint64_t, 4> groups{};
    for (const SliceGroups& g : out_.columns.groups)
      for (std::size_t kind = 0; kind < 4; ++kind) groups.at(kind) += g.of[kind];
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
    std::uint64_t longest = 0;
    for (const SliceGroups& g : out_.columns.groups) longest = std::max(longest, g.total());
    // Where a GPU's warps are all busy at once, each loads four groups together.
    const bool few =
        launch_rules::csell::are_few(out_.columns.slices.size(), sums_, launch_rules::planned_multiprocessors) &&
        out_.columns.block == 1 && out_.tiles.size() <= 1 && !out_.mirrors;
    plan.work = work_of_groups(groups[0], groups[1] + groups[2] + groups[3], few);
    plan.work.push_back({"csell.chain", chain_of(longest, sums_ * (few ? launch_rules::csell::groups_of_few : 1))});
    plan.work.push_back({"csell.entries", a_.nnz()});
    if (out_.source == Source::raw) plan.work.push_back({"csell.raw_entries", a_.nnz()});
    if (out_.mirrors) plan.work.push_back({"x.sectors", mirror_sectors()});  // which come from the same cache
    plan.counters = {{"block", out_.columns.block},
                     {"sums", sums_},
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
  /// Slots of blocks, or else of the kernels that a GPU has for few slices, for patterns alone and for any columns.
  [[nodiscard]] std::vector<Counter> work_of_groups(std::uint64_t patterns, std::uint64_t offsets, bool few) const {
    const std::uint64_t slots = group_steps * lanes * out_.columns.block * out_.columns.block;
    const bool table = out_.source == Source::table;
    const char* const unit = out_.columns.block > 1        ? table ? "csell.table_blocks" : "csell.blocks"
                             : few                         ? "csell.few"
                             : out_.source == Source::step ? "csell.step"
                             : offsets == 0                ? table ? "csell.table_patterns" : "csell.patterns"
                             : table                       ? "csell.table_offsets"
                                                           : "csell.offsets";
    std::vector<Counter> work{{"csell.multiplies", 1}, {unit, slots * (patterns + offsets)}, {"csell.rows", a_.rows()}};
    if (!few && sums_ > 1) work.push_back({"csell.teams", 1});  // warps that wait for one another, in few blocks
    if (few && offsets != 0) {
      work.push_back({"csell.few_multiplies", 1});
      work.push_back({"csell.few_offsets", slots * offsets});
    }
    return work;
  }
  void choose(const ValueTable& values, const PlanOptions& options);
  void choose_sums(const PlanOptions& options);
  void place();
  /// What a multiply reads a second time, in sectors of 32 bytes: values side by side where references are those of
  /// steps, and else each in a sector of its own.
  [[nodiscard]] std::uint64_t mirror_sectors() const {
    const std::uint64_t alone = out_.mirrors->mirrored - out_.mirrors->by_steps;
    return (alone + div_up(out_.mirrors->by_steps * size_of(a_.value_type()), unit)) * out_.columns.block *
           out_.columns.block;
  }
  [[nodiscard]] std::uint64_t raw_bytes(const ColumnsPlan& columns) const {
    const std::size_t size = size_of(a_.value_type());
    const BlockRows rows(a_, columns.block);
    std::uint64_t sum = 0;
    for (std::uint64_t s = 0; s < rows.slices(); ++s)
      sum += round_up(rows.blocks(s) * columns.block * columns.block * size, unit);
    return sum;
  }
  CsrView a_;
  Slices out_;
  std::uint64_t sums_ = 1, stream_units_ = 0, value_count_ = 0;
  std::vector<Counter> considered_;
};

std::optional<Source> source_setting(const PlanOptions& options) {
  const auto found = options.settings.find("csell.values");
  if (found == options.settings.end() || found->second == "auto") return {};
  const auto name = std::find(source_names.begin(), source_names.end(), found->second);
  if (name == source_names.end()) refuse_setting("csell.values", found->second, settings[1].values);
  return static_cast<Source>(name - source_names.begin());
}

std::optional<std::uint64_t> sums_setting(const PlanOptions& options) {
  const auto found = options.settings.find("csell.sums");
  if (found == options.settings.end() || found->second == "auto") return {};
  for (const std::uint64_t sums : {1U, 2U, 4U})
    if (found->second == std::to_string(sums)) return sums;
  refuse_setting("csell.sums", found->second, settings[2].values);
}

void CsellPlanner::choose(const ValueTable& values, const PlanOptions& options) {
  const std::optional<Source> wanted = source_setting(options);
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

  // Every way with its device bytes; the fewest win, ties go to the first.
  std::uint64_t best = ~std::uint64_t{0};
  const auto consider = [&](Source source, std::uint64_t bytes) {
    considered_.push_back({fmt::format("{}.device_bytes", source_names.at(static_cast<std::size_t>(source))), bytes});
    if (bytes >= best) return false;
    best = bytes;
    out_.source = source;
    out_.tables = {};
    return true;
  };
  for (const Source source : sources_to_plan({a_.nnz(), values.distinct(), block}, wanted, options.aim)) {
    if (source == Source::step) {
      in_steps = plan_columns(rows, true, options.threads);
      if (in_steps) consider(source, in_steps->bytes());
      continue;
    }
    if (!plain) plain = plan_columns(rows, false, options.threads);
    if (source == Source::single) {
      out_.single = {values.most_frequent()[0].bits};
      consider(source, plain->bytes() + size);
    } else if (source == Source::table) {
      const TableLimits limits{small_entries, wanted.has_value(), options.aim.optimize == Objective::bytes};
      auto tables = plan_tables(rows, values, plain->groups, limits, options.threads);
      if (tables && consider(source, plain->bytes() + tables->bytes(plain->groups, size)))
        out_.tables = std::move(*tables);
    } else if (source == Source::raw) {
      consider(source, plain->bytes() + raw_bytes(*plain));
    } else if (wanted ||
               (may_be_smaller_with_mirrors(plain->bytes(), a_.nnz(), size, best) && worth_mirrors(rows, source))) {
      auto mirrors = plan_mirrors(rows, source, plain->slices, plain->groups, plain->patterns, options.threads);
      if (mirrors && consider(source, mirrors->bytes(plain->groups, block, size))) out_.mirrors = std::move(mirrors);
    }
  }
  if (best == ~std::uint64_t{0} && has_mirrors(*wanted))
    refuse(fmt::format("csell.values is {}, but no {} has the bits of its transposed one{}, or a row has too many",
                       source_names.at(static_cast<std::size_t>(*wanted)), block == 1 ? "entry" : "block",
                       *wanted == Source::skew ? " with the sign flipped" : ""),
           "use csell.values=raw, or auto");
  if (best == ~std::uint64_t{0})
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

void CsellPlanner::choose_sums(const PlanOptions& options) {
  const std::optional<std::uint64_t> wanted = sums_setting(options);
  const std::uint64_t mirror_bytes =
      out_.mirrors ? out_.mirrors->bytes(out_.columns.groups, out_.columns.block, size_of(a_.value_type())) : 0;
  sums_ = wanted ? *wanted : sums_of({out_.columns.slices.size(), out_.columns.total_groups(), mirror_bytes});
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
  return {0,
          false,
          {{"csell.multiplies", 1}, {"csell.chain", chain_of(groups, max_sums * launch_rules::csell::groups_of_few)}}};
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
