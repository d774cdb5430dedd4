#include "spmvpack/container/layouts/csell.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "layouts/csell/csell_work.hpp"
#include "layouts/csell/forms.hpp"
#include "layouts/csell/slice.hpp"
#include "layouts/csell/writer.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::encoder::layouts {
namespace csell_plans {
namespace {

Slices chosen_slices(ChosenForm chosen, const ValueTable& values) {
  Slices out{.source = chosen.form.facts.source,
             .columns = std::move(chosen.columns),
             .tables = std::move(chosen.form.tables),
             .tiles = {},
             .mirrors = std::move(chosen.form.mirrors),
             .single = {}};
  if (out.source == Source::single) out.single = {static_cast<ValueKey>(values.most_frequent()[0].bits)};
  if (!out.mirrors) return out;
  out.columns.patterns = std::move(out.mirrors->patterns);
  out.columns.lists = out.mirrors->lists;
  for (std::uint64_t s = 0; s < out.columns.slices.size(); ++s)
    out.columns.slices[s].pattern = out.mirrors->place[s] | std::uint32_t{out.mirrors->reference_bytes[s]} << 30U;
  return out;
}

class CsellPlanner {
 public:
  CsellPlanner(const PartMatrix& part, const PlanOptions& options) : a_(part.a), device_(device_of(options)) {
    const auto values = values_of(part.a, part.values, options);
    ChosenForm chosen = choose_form(a_, *values, options);
    facts_ = chosen.form.facts;
    considered_ = std::move(chosen.considered);
    out_ = chosen_slices(std::move(chosen), *values);
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
    describe_multiply(plan, facts_, device_);
    const std::array<std::uint64_t, 4> groups = out_.columns.group_sums().of;
    plan.counters = {main_choice("block", out_.columns.block),
                     main_choice("sums", facts_.sums),
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
      plan.counters.emplace_back("mirrors", out_.mirrors->mirrored * out_.columns.block * out_.columns.block);
      plan.counters.emplace_back("mirrors.by_steps", out_.mirrors->by_steps * out_.columns.block * out_.columns.block);
    }
    plan.counters.insert(plan.counters.end(), considered_.begin(), considered_.end());
  }

  /// Once it is described.
  Slices take() { return std::move(out_); }

 private:
  void place();
  CsrView a_;
  const Device& device_;
  Slices out_;
  FormFacts facts_;  ///< of what is chosen
  std::uint64_t stream_units_ = 0, value_count_ = 0;
  std::vector<Counter> considered_;
};

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
  keep_choices(plan, slices);
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  fill_section(choices_of<Slices>(plan), a, section, begin, out);
}

Least least(const Survey& s) {
  const std::uint64_t groups = div_up(s.longest_row, max_block * group_steps);
  std::vector<Counter> work{{Work::multiplies, 1}};
  // A part of few values and short rows may have windows instead.
  const std::uint64_t in_windows = 3 * launch_rules::csell::most_windows(div_up(s.a.rows(), lanes));
  if (s.longest_row > in_windows || s.values->distinct() > max_step_values) {
    // Less what bytes hide (waited_rounds()), with so many bytes for an entry. Where padding takes more, the bytes cost
    // more than they hide.
    constexpr std::uint64_t most_bytes = 16;
    const std::uint64_t chain = least_chain(groups), hidden = 2 * (s.a.nnz() * most_bytes / bytes_of_round);
    work.emplace_back(Work::chain, chain - std::min(chain, hidden));
  }
  // Values that neither are few nor stand in steps take a byte each at least: the id in a table. Their slots are those
  // of sell, in one of the kernels: of blocks only where half of all entries are next to the one before.
  std::vector<Counter> slots;
  std::uint64_t bytes = 0;
  if (s.values->distinct() > max_step_values) {
    static_assert(lanes == Survey::slice_rows);
    bytes = s.a.nnz();
    for (const Work kernel : {Work::patterns, Work::offsets, Work::few, Work::table_patterns, Work::table_offsets})
      slots.emplace_back(kernel, s.slice_slots);
    if (2 * s.far_apart <= s.a.nnz())
      for (const Work kernel : {Work::blocks, Work::table_blocks}) slots.emplace_back(kernel, s.slice_slots);
  }
  return {bytes,
          false,
          std::move(work),
          std::move(slots),
          {launch_rules::columns::most, {{Work::column_entries, s.a.nnz() / 3}}}};
}

}  // namespace

void describe_multiply(PartPlan& plan, const FormFacts& form, const Device& device) {
  plan.fetch_limit = launch_rules::prefetch::usual_limit;
  plan.work = work_of(form, device);
  plan.columns = columns_of(form);
}

}  // namespace csell_plans

extern const LayoutEncoder csell{"csell",
                                 "SELL with shared patterns, 8/16/32-bit columns, value tables, full blocks",
                                 "meshes, grids and stencils: rows of the same pattern",
                                 csell_plans::settings,
                                 csell_plans::plan,
                                 csell_plans::fill,
                                 {.least = csell_plans::least, .aims = true, .update_multiplies = 2}};

}  // namespace spmvpack::encoder::layouts
