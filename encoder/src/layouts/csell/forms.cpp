#include "layouts/csell/forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "layouts/csell/slice.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

static_assert(max_counted_values == ValueTable::max_distinct);

/// Sums of a row, from the number of their name.
std::optional<std::uint64_t> sums_setting(const PlanOptions& options) {
  constexpr std::array<std::string_view, 3> powers{"1", "2", "4"};
  const auto power = read_name<std::uint64_t>(options, settings[2], powers);
  return power ? std::optional{std::uint64_t{1} << *power} : std::nullopt;
}

std::optional<Source> source_setting(const PlanOptions& options) {
  const auto source = read_name<Source>(options, settings[1], source_names);
  if (source)
    check_values_setting(options, settings[1].name, source_names.at(static_cast<std::size_t>(*source)),
                         values_are(*source));
  return source;
}

[[noreturn]] void refuse(std::string what, const char* remedy) {
  throw Error(errc::unsupported, "csell: " + std::move(what), {}, remedy);
}

[[noreturn]] void refuse_values(Source wanted, std::uint32_t block) {
  const std::string_view name = source_names.at(static_cast<std::size_t>(wanted));
  if (has_mirrors(wanted))
    refuse(fmt::format("csell.values is {}, but no {} has the bits of its transposed one{}, or a row has too many",
                       name, block == 1 ? "entry" : "block", wanted == Source::skew ? " with the sign flipped" : ""),
           "use csell.values=raw, or auto");
  refuse(fmt::format("csell.values is {}, but the values do not repeat like that", name),
         "use csell.values=raw, or auto");
}

/// The largest block without fill.
std::uint32_t choose_block(const CsrView& a, const PlanOptions& options) {
  const auto wanted = read_setting(options, "csell.block", 1, max_block, "auto");
  std::uint32_t block = 1;
  for (std::uint32_t b = max_block; b > 1 && block == 1; --b)
    if ((!wanted || *wanted == b) && a.nnz() != 0 && full_blocks(a, b, options.threads)) block = b;
  if (wanted && *wanted != block)
    refuse(fmt::format("the matrix is not made of full blocks of {} by {}", *wanted, *wanted),
           "use another csell.block, or amb, whose blocks may have fill");
  return block;
}

std::uint64_t raw_bytes(const BlockRows& rows, std::uint32_t block, std::size_t value_size) {
  std::uint64_t sum = 0;
  for (std::uint64_t s = 0; s < rows.slices(); ++s) sum += round_up(rows.blocks(s) * block * block * value_size, unit);
  return sum;
}

class FormPlanner {
 public:
  FormPlanner(const CsrView& a, const ValueTable& values, const PlanOptions& options)
      : a_(a),
        values_(values),
        options_(options),
        device_(device_of(options)),
        rows_(a, choose_block(a, options)),
        facts_{.part = {a.nnz(), values.distinct(), rows_.block(), options.updatable},
               .csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type()),
               .source = source_setting(options),
               .sums = sums_setting(options)} {}

  /// Of the plans only the best so far is kept.
  ChosenForm choose() {
    ChosenForm best;
    std::optional<CsellDecision> decision;
    std::optional<ColumnsPlan> plain, in_steps;
    for (const Source source : sources) {
      if (!is_planned(source, facts_.part, facts_.source)) continue;
      std::optional<ColumnsPlan>& columns = source == Source::step ? in_steps : plain;
      if (!columns) columns = plan_columns(rows_, source == Source::step, options_.threads);
      if (!columns) continue;
      std::optional<Form> form = plan(source, *columns);
      if (!form) continue;
      best.considered.emplace_back(fmt::format("{}.device_bytes", source_names.at(static_cast<std::size_t>(source))),
                                   form->facts.device_bytes);
      facts_.add(form->facts);
      decision = decide(facts_, options_.aim);
      if (decision->source == source) best.form = std::move(*form);
    }
    if (!decision) refuse_values(*facts_.source, rows_.block());
    best.form.facts.sums = decision->sums;
    best.columns = std::move(decision->source == Source::step ? *in_steps : *plain);
    return best;
  }

 private:
  /// None if the values are not like that, or other forms are better in any case.
  [[nodiscard]] std::optional<Form> plan(Source source, const ColumnsPlan& columns) const {
    const std::size_t size = size_of(a_.value_type());
    switch (source) {
      case Source::step:
        return Form{facts_of(source, columns, columns.bytes()), {}, {}};
      case Source::single:
        return Form{facts_of(source, columns, columns.bytes() + size), {}, {}};
      case Source::raw:
        return Form{facts_of(source, columns, columns.bytes() + raw_bytes(rows_, rows_.block(), size)), {}, {}};
      case Source::table:
        return with_tables(columns);
      default:
        if (!facts_.source && !may_have_mirrors(source, columns)) return {};
        return mirrored(source, columns);
    }
  }

  [[nodiscard]] std::optional<Form> with_tables(const ColumnsPlan& columns) const {
    const TableLimits limits = table_limits(facts_, options_.aim.optimize, device_);
    auto tables = plan_tables(rows_, values_, columns.groups, limits, options_.threads);
    if (!tables) return {};
    const std::uint64_t bytes = tables->bytes(columns.groups, size_of(a_.value_type()));
    Form form{facts_of(Source::table, columns, columns.bytes() + bytes), std::move(*tables), {}};
    form.facts.tiles = form.tables.values.size();
    form.facts.tile_slices = form.tables.slices;
    for (const auto& values : form.tables.values)
      form.facts.largest_table = std::max<std::uint64_t>(form.facts.largest_table, values.size());
    return form;
  }

  [[nodiscard]] bool may_have_mirrors(Source source, const ColumnsPlan& columns) const {
    const MirrorFacts f{facts_of(Source::raw, columns, 0), source, columns.bytes()};
    return worth_a_sample(facts_, f, options_.aim) &&
           worth_mirrors(facts_, f, sample_mirrors(rows_, source), options_.aim);
  }

  [[nodiscard]] std::optional<Form> mirrored(Source source, const ColumnsPlan& columns) const {
    auto mirrors = plan_mirrors(rows_, source, columns.slices, columns.groups, columns.patterns, options_.threads);
    if (!mirrors) return {};
    const std::uint64_t bytes = mirrors->bytes(columns.groups, rows_.block(), size_of(a_.value_type()));
    FormFacts facts = facts_of(source, columns, bytes);
    facts.mirrors = mirrors->mirrored;
    facts.mirrors_by_steps = mirrors->by_steps;
    return Form{facts, {}, std::move(mirrors)};
  }

  /// Of these columns, in a form that takes so many bytes.
  [[nodiscard]] FormFacts facts_of(Source source, const ColumnsPlan& columns, std::uint64_t bytes) const {
    const ColumnsPlan::GroupSums groups = columns.group_sums();
    FormFacts f{.source = source,
                .block = columns.block,
                .rows = a_.rows(),
                .entries = a_.nnz(),
                .value_size = size_of(a_.value_type()),
                .slices = columns.slices.size(),
                .pattern_groups = groups.of[0],
                .offset_groups = groups.of[1] + groups.of[2] + groups.of[3],
                .longest = groups.longest,
                .heaviest_offsets = groups.heaviest_offsets,
                .uneven_steps = columns.uneven_steps,
                .device_bytes = bytes};
    if (may_have_windows(f, options_.aim.target, device_))
      for (const std::uint32_t pairs : launch_rules::csell::pairs_by_preference) {
        f.pairs = pairs;
        f.windows = columns.windows(a_.cols(), device_.multiprocessors, pairs);
        if (f.windows != 0) break;
      }
    return f;
  }

  CsrView a_;
  const ValueTable& values_;
  const PlanOptions& options_;
  const Device& device_;
  BlockRows rows_;
  CsellFacts facts_;
};

}  // namespace

ChosenForm choose_form(const CsrView& a, const ValueTable& values, const PlanOptions& options) {
  return FormPlanner(a, values, options).choose();
}

}  // namespace spmvpack::encoder::layouts::csell_plans
