// Rows by their length: short ones in a csell or sell part, where a lane has a row, long ones in a bitflag part, where
// a row has lanes. hyb cuts every long row in two; here a row is in one part.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "layouts/layouts.hpp"
#include "spmvpack/container/text.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "strategies/lazy_part.hpp"
#include "strategies/split_costs.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {
namespace {

constexpr std::array<std::string_view, 2> short_layouts{"csell", "sell"};

constexpr std::array<Setting, 2> settings{
    Setting{"split.length", "auto, or 1 and more", "entries of the longest of the short rows; auto: what costs least"},
    Setting{"split.short", "auto, csell or sell", "layout of the short rows; auto: what costs least"}};

/// Rows are alike if none is so many times as long as the average of those with entries: a lane for each then loses
/// little.
constexpr std::uint64_t long_row = 8;

/// Rows of a slice of sell. With 32, slices of sorted windows of 256 rows have a tenth of padding where rows have 2 to
/// 12 entries; eight columns are a sector.
constexpr std::uint64_t sell_rows = 8;

/// What two parts must be predicted to cost less than, of one part: predictions are no better than that. On a GPU what
/// follows another part takes longer than its price: circuit, cut at 6 to 64 entries, takes 125 to 127 us where its
/// parts are timed alone, and 114 predicted; whole 108 (H200).
double worth(const Aim& aim) { return aim.optimize == Objective::time && aim.target == Target::gpu ? 0.9 : 0.98; }

bool rows_are_alike(std::uint64_t longest, std::uint64_t filled_rows, std::uint64_t nnz) {
  return longest * filled_rows <= long_row * nnz;
}

/// The layout of the short rows, and which these are: none, some or all.
struct RowCut {
  std::string_view layout;
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
  if (choice.layout == "sell") return plan_part("sell", std::move(part), a.value_type(), options);
  return find_layout_encoder(choice.layout).plan(copied_part(a, std::move(part), options.threads), options);
}

std::optional<std::string_view> layout_setting(const PlanOptions& options) {
  const auto found = options.settings.find("split.short");
  if (found == options.settings.end() || found->second == "auto") return {};
  const auto* const layout = std::find(short_layouts.begin(), short_layouts.end(), found->second);
  if (layout == short_layouts.end()) layouts::refuse_setting("split.short", found->second, settings[1].values);
  return *layout;
}

/// The cheapest of `rows` in a layout, with the longer rows in bitflag.
RowCut cheapest(const SplitCosts& costs, std::span<const ShortRows> rows, std::string_view layout,
                const ShortRows& all) {
  RowCut best;
  for (const ShortRows& s : rows) {
    double cost = costs.of_short(layout, s) + costs.far_gathers(s);
    if (s.rows != all.rows) cost += costs.of_long(s, all.longest);
    if (cost < best.cost) best = {layout, s, cost};
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
  for (const char* const layout : {"csell", "sell", "bitflag"}) {
    try {
      (void)find_layout_encoder(layout).plan(PartMatrix::whole(none, {}), options);
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;  // of this matrix
    }
  }
}

[[noreturn]] void refuse_one_part() {
  throw Error(errc::unsupported, "split: no cut of the rows costs less than one part", {}, "use one layout");
}

/// All rows in one part, as another strategy has it.
Plan plan_one(const CsrView& a, std::string_view layout, std::string reason, const PlanOptions& options) {
  Plan plan;
  plan.strategy = "split";
  plan.parts.push_back(find_layout_encoder(layout).plan(PartMatrix::whole(a, options), options));
  plan.parts_reason = fmt::format("all rows in {}: {}", layout, reason);
  return plan;
}

Plan plan_split(const CsrView& a, const PlanOptions& given) {
  const auto length = layouts::read_setting(given, "split.length", 1, ~std::uint64_t{0}, "auto");
  const std::optional<std::string_view> layout = layout_setting(given);
  const PlanOptions options = with_defaults(given);
  if (!given.settings.empty()) check_layout_settings(options);
  const auto slice_rows = [](const PlanOptions& of) {
    return layouts::read_setting(of, "sell.c", 1, max_dimension, {}).value_or(layouts::default_slice_rows);
  };
  const std::uint64_t longest = a.longest_row(options.threads);
  const bool alike = !length && rows_are_alike(longest, filled_rows(a, options.threads), a.nnz());
  if (alike && options.only_own) refuse_one_part();
  const std::vector<std::uint64_t> lengths = !length             ? lengths_to_try(longest)
                                             : *length < longest ? std::vector{*length, longest}
                                                                 : std::vector{longest};
  const std::vector<ShortRows> counts = count_short_rows(a, lengths, slice_rows(options), options.threads);
  const ShortRows all =
      count_short_rows(a, {{longest}}, slice_rows(given), options.threads).back();  // as sell has them
  std::vector<ShortRows> some;
  for (const ShortRows& s : counts)
    if (!alike && s.entries != 0 && s.entries != a.nnz()) some.push_back(s);

  SplitCosts costs(a, options);
  if (!length) costs.look_at_segments(some);
  const auto best_cut = [&](std::span<const ShortRows> rows, RowCut best) {
    RowCut next = cheapest(costs, rows, "sell", all);
    if (layout != "csell" && next.cost < best.cost) best = next;
    // What csell takes is known for the length that it is sampled at: that of sell's cut, then those that look best.
    constexpr int most_samples = 3;
    for (int i = 0; i < most_samples && layout != "sell" && !next.layout.empty(); ++i) {
      if (costs.least_of_csell(next.rows) >= best.cost) break;
      costs.sample_csell(next.rows);
      if (const RowCut here = cheapest(costs, std::span(&next.rows, 1), "csell", all); here.cost < best.cost)
        best = here;
      const std::uint64_t sampled = next.rows.length;
      next = cheapest(costs, rows, "csell", all);
      if (next.rows.length == sampled || next.cost >= best.cost) break;
    }
    return best;
  };
  const RowCut two = best_cut(some, {});
  const RowCut one = best_cut(std::span(&all, 1), {"bitflag", {}, costs.of_long({}, longest) + costs.far_gathers({})});
  const char* const but_for = options.aim.optimize == Objective::time ? " but for x" : "";
  const auto text = [&](const RowCut& cut) {
    return options.aim.optimize == Objective::time ? time_text(cut.cost)
                                                   : grouped(static_cast<std::uint64_t>(cut.cost)) + " bytes";
  };
  if (some.empty() || (!length && two.cost >= worth(options.aim) * one.cost)) {
    if (options.only_own) refuse_one_part();
    const std::string reason = alike ? fmt::format("none is more than {} times as long as the average", long_row)
                               : some.empty() ? "all are short, or all long"
                                              : fmt::format("{}{}, {} in two parts", text(one), but_for, text(two));
    return plan_one(a, one.layout, reason, given);
  }
  Plan plan;
  plan.strategy = "split";
  plan.parts.push_back(plan_short(a, two, options));
  plan.parts.push_back(find_layout_encoder("bitflag").plan(longer_rows(a, two.rows.length, options.threads), options));
  plan.parts_reason = fmt::format("{} of up to {} in {}, {} in bitflag: {}{}, {} for {} alone",
                                  counted(two.rows.rows, "row"), counted(two.rows.length, "nonzero"), two.layout,
                                  grouped(a.rows() - two.rows.rows), text(two), but_for, text(one), one.layout);
  return plan;
}

/// Of two parts: a plan of one is another strategy's. What csell takes of a row of few values is next to nothing.
Least least(const Survey& s) {
  return {.near = true,
          .work = {{"bitflag.multiplies", 1}, {"sell.multiplies", 1}, {"bitflag.entries", s.longest_row}}};
}

/// Those of the layouts, too, for their parts.
std::vector<Setting> all_settings() {
  std::vector<Setting> all(settings.begin(), settings.end());
  for (const char* const layout : {"csell", "sell", "bitflag"}) {
    const auto more = find_layout_encoder(layout).settings;
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

Strategy split() {
  return {.name = "split",
          .summary = "short rows in csell, or sell of slices of 8; long ones in bitflag",
          .suits = "short rows and a few very long ones",
          .settings = all_settings(),
          .least = least,
          .plan = plan_split,
          .aims = true};
}

}  // namespace spmvpack::encoder::strategy
