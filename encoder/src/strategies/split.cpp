// Rows by their length: short ones in a csell or sell part, where a lane has a row, long ones in a bitflag part, where
// a row has lanes. hyb cuts every long row in two; here a row is in one part.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "layouts/bitflag/bitflag_work.hpp"
#include "layouts/layouts.hpp"
#include "layouts/sell_work.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoding_rules/sell.hpp"
#include "spmvpack/launch_rules/columns.hpp"
#include "strategies/lazy_part.hpp"
#include "strategies/split_costs.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {
namespace {

constexpr std::array<const LayoutEncoder*, 2> short_layouts{&layouts::csell, &layouts::sell};
constexpr std::array<const LayoutEncoder*, 3> part_layouts{&layouts::csell, &layouts::sell, &layouts::bitflag};

constexpr std::array<Setting, 2> settings{
    Setting{"split.length", "auto, or 1 and more", "entries of the longest short row; auto: whatever costs least"},
    Setting{"split.short", "auto, csell or sell", "layout of the short rows; auto: whatever costs least"}};

/// Rows are alike if none is so many times as long as the average of those with entries: a lane for each then loses
/// little.
constexpr std::uint64_t long_row = 8;

/// Rows of a slice of sell. With 32, slices of sorted windows of 256 rows have a tenth of padding where rows have 2 to
/// 12 entries; eight columns are a sector.
constexpr std::uint64_t sell_rows = 8;

/// Two parts must be predicted to cost less than this share of one part, as predictions are no better than that. On a
/// GPU, what follows another part takes longer than its price. docs/notebook/GPU.md, "Constants".
double worth(const Aim& aim) { return aim.optimize == Objective::time && aim.target == Target::gpu ? 0.9 : 0.98; }

bool rows_are_alike(std::uint64_t longest, std::uint64_t filled_rows, std::uint64_t nnz) {
  return longest * filled_rows <= long_row * nnz;
}

/// The layout of the short rows, and which these are: none, some or all.
struct RowCut {
  const LayoutEncoder* layout = nullptr;
  ShortRows rows;
  double cost = std::numeric_limits<double>::infinity();
};

/// The short rows; longer ones are empty in this part, so that columns keep their distance to rows, and no list of rows
/// is needed.
PartPlan plan_short(const CsrView& a, const RowCut& choice, const PlanOptions& options) {
  Cut part{PartIndices::all(a.rows()), PartIndices::all(a.cols()), Array<std::uint64_t>(a.rows() + 1)};
  part.row_ptr[0] = 0;
  for (std::uint64_t r = 0; r < a.rows(); ++r)
    part.row_ptr[r + 1] = part.row_ptr[r] + (a.row_length(r) <= choice.rows.length ? a.row_length(r) : 0);
  if (choice.layout == &layouts::sell) return plan_part(layouts::sell, std::move(part), a.value_type(), options);
  return choice.layout->plan(copied_part(a, std::move(part), options.threads), options);
}

/// Null: either.
const LayoutEncoder* layout_setting(const PlanOptions& options) {
  const std::array<std::string_view, 2> names{short_layouts[0]->name, short_layouts[1]->name};
  const auto place = layouts::read_name<std::size_t>(options, settings[1], names);
  return place ? short_layouts.at(*place) : nullptr;
}

/// The cheapest of `rows` in a layout, with the longer rows in bitflag.
RowCut cheapest(const SplitCosts& costs, std::span<const ShortRows> rows, const LayoutEncoder& layout,
                const ShortRows& all) {
  RowCut best;
  for (const ShortRows& s : rows) {
    double cost = costs.of_short(layout, s) + costs.far_gathers(s);
    if (s.rows != all.rows) cost += costs.of_long(s, all.longest);
    if (cost < best.cost) best = {&layout, s, cost};
  }
  return best;
}

/// The layouts' settings with what split has instead of their defaults.
PlanOptions with_defaults(const PlanOptions& options) {
  PlanOptions all = options;
  all.settings.emplace("sell.c", std::to_string(sell_rows));
  return all;
}

/// Throws what the layouts say of wrong settings, also where none of its parts has that layout.
void check_layout_settings(const PlanOptions& options) {
  CsrMatrix none = allocate_csr(0, 0, 0, ValueType::f64);
  none.row_ptr[0] = 0;
  for (const LayoutEncoder* const layout : part_layouts) {
    try {
      (void)layout->plan(PartMatrix::whole(none, {}), options);
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;  // of this matrix
    }
  }
}

/// The cheapest of `rows`, or `best` if that costs less. What csell takes is known for the length that it is sampled
/// at: that of sell's cut, then those that look best.
RowCut search(SplitCosts& costs, std::span<const ShortRows> rows, const LayoutEncoder* layout, const ShortRows& all,
              RowCut best) {
  constexpr int most_samples = 3;
  RowCut next = cheapest(costs, rows, layouts::sell, all);
  if (layout != &layouts::csell && next.cost < best.cost) best = next;
  for (int i = 0; i < most_samples && layout != &layouts::sell && next.layout != nullptr; ++i) {
    if (costs.least_of_csell(next.rows) >= best.cost) break;
    costs.sample_csell(next.rows);
    if (const RowCut here = cheapest(costs, std::span(&next.rows, 1), layouts::csell, all); here.cost < best.cost)
      best = here;
    const std::uint64_t sampled = next.rows.length;
    next = cheapest(costs, rows, layouts::csell, all);
    if (next.rows.length == sampled || next.cost >= best.cost) break;
  }
  return best;
}

/// What the search has found: the cheapest of one part, and of two.
struct Found {
  bool fixed = false;    ///< where rows are cut is asked for
  bool alike = false;    ///< rows_are_alike(), so that no cut was looked for
  bool can_cut = false;  ///< some rows may be in another part than the others
  RowCut one, two;
};

bool takes_two(const Found& f, const Aim& aim) {
  return f.can_cut && (f.fixed || f.two.cost < worth(aim) * f.one.cost);
}

std::string cost_text(const RowCut& cut, const Aim& aim) {
  return aim.optimize == Objective::time ? time_text(cut.cost)
                                         : grouped(static_cast<std::uint64_t>(cut.cost)) + " bytes";
}
std::string_view but_for(const Aim& aim) { return aim.optimize == Objective::time ? " but for x" : ""; }

std::string reason_for_one(const Found& f, const Aim& aim) {
  const std::string why =
      f.alike      ? fmt::format("none is more than {} times as long as the average", long_row)
      : !f.can_cut ? "all are short, or all long"
                   : fmt::format("{}{}, {} in two parts", cost_text(f.one, aim), but_for(aim), cost_text(f.two, aim));
  return fmt::format("all rows in {}: {}", f.one.layout->name, why);
}

std::string reason_for_two(const Found& f, std::uint64_t rows, const Aim& aim) {
  const ShortRows& of = f.two.rows;
  return fmt::format("{} of up to {} in {}, {} in bitflag: {}{}, {} for {} alone", counted(of.rows, "row"),
                     counted(of.length, "nonzero"), f.two.layout->name, grouped(rows - of.rows), cost_text(f.two, aim),
                     but_for(aim), cost_text(f.one, aim), f.one.layout->name);
}

/// `given`: the options without split's defaults.
Found find_cuts(const CsrView& a, std::optional<std::uint64_t> length, const LayoutEncoder* layout,
                const PlanOptions& options, const PlanOptions& given) {
  const auto slice_rows = [](const PlanOptions& of) {
    return layouts::read_setting(of, "sell.c", 1, max_dimension, {}).value_or(layouts::sell_plans::default_slice_rows);
  };
  const std::uint64_t longest = a.longest_row(options.threads);
  Found found;
  found.fixed = length.has_value();
  found.alike = !length && rows_are_alike(longest, layouts::filled_rows(a, options.threads), a.nnz());
  if (found.alike && options.only_own) return found;
  const std::vector<std::uint64_t> lengths = !length             ? lengths_to_try(longest)
                                             : *length < longest ? std::vector{*length, longest}
                                                                 : std::vector{longest};
  const std::vector<ShortRows> counts = count_short_rows(a, lengths, slice_rows(options), options.threads);
  const ShortRows all =
      count_short_rows(a, {{longest}}, slice_rows(given), options.threads).back();  // as sell has them
  std::vector<ShortRows> some;
  for (const ShortRows& s : counts)
    if (!found.alike && s.entries != 0 && s.entries != a.nnz()) some.push_back(s);
  found.can_cut = !some.empty();

  SplitCosts costs(a, options);
  if (!length) costs.look_at_segments(some);
  found.two = search(costs, some, layout, all, {});
  found.one = search(costs, std::span(&all, 1), layout, all,
                     {&layouts::bitflag, {}, costs.of_long({}, longest) + costs.far_gathers({})});
  return found;
}

Plan plan_split(const CsrView& a, const PlanOptions& given) {
  const auto length = layouts::read_setting(given, "split.length", 1, ~std::uint64_t{0}, "auto");
  const LayoutEncoder* const layout = layout_setting(given);
  const PlanOptions options = with_defaults(given);
  if (!given.settings.empty()) check_layout_settings(options);
  const Found found = find_cuts(a, length, layout, options, given);
  Plan plan;
  plan.strategy = "split";
  if (takes_two(found, options.aim)) {
    plan.parts.push_back(plan_short(a, found.two, options));
    const PartMatrix longer = longer_rows(a, found.two.rows.length, options.threads);
    plan.parts.push_back(layouts::bitflag.plan(longer, options));
    plan.parts_reason = reason_for_two(found, a.rows(), options.aim);
    return plan;
  }
  if (options.only_own)
    throw Error(errc::unsupported, "split: no cut of the rows costs less than one part", {}, "use one layout");
  // As another strategy has it.
  plan.parts.push_back(found.one.layout->plan(PartMatrix::whole(a, given), given));
  plan.parts_reason = reason_for_one(found, options.aim);
  return plan;
}

/// Of two parts: a plan of one is another strategy's. What csell takes of a row of few values is next to nothing.
Least least(const Survey& s) {
  using BitflagWork = layouts::bitflag_plans::Work;
  return {.near = true,
          .work = {{BitflagWork::multiplies, 1},
                   {layouts::sell_plans::Work::multiplies, 1},
                   {BitflagWork::entries, s.longest_row}},
          .columns = {launch_rules::columns::of_bitflag}};
}

/// Those of the layouts, too, for their parts.
std::vector<Setting> all_settings() {
  std::vector<Setting> all(settings.begin(), settings.end());
  for (const LayoutEncoder* const layout : part_layouts)
    all.insert(all.end(), layout->settings.begin(), layout->settings.end());
  return all;
}

}  // namespace

Strategy split() {
  return {.name = "split",
          .summary = "short rows in csell, or sell of slices of 8; long ones in bitflag",
          .suits = "short rows and a few very long ones",
          .settings = all_settings(),
          .plan = plan_split,
          .traits = {.least = least, .aims = true}};
}

}  // namespace spmvpack::encoder::strategy
