#pragma once
// csell: slices of 32 rows whose columns are steps of shared patterns, or offsets; values one by one, of tables, of
// steps, or a single one; full blocks. Mirrors are for the host.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layouts/csell/blocks.hpp"
#include "layouts/csell/columns.hpp"
#include "layouts/csell/distinct.hpp"
#include "layouts/csell/fill.hpp"
#include "layouts/csell/tables.hpp"
#include "layouts/csell/windows.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/settings.hpp"
#include "spmvpack/encoding_rules/csell.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::gpu_encoder {
namespace csell {

/// What the settings of a plan say.
struct Wanted {
  std::uint64_t block = 0;  ///< 0: the largest
  std::optional<Source> source;
  std::optional<std::uint64_t> sums;
};

[[noreturn]] inline void refuse(const std::string& what, const char* remedy) {
  throw Error(errc::unsupported, "csell: " + what, {}, remedy);
}

[[noreturn]] inline void refuse_size() { refuse("more than 128 GiB of columns or values", "use another layout"); }

inline Wanted wanted_of(const encoder::PlanOptions& options) {
  const std::span<const encoder::Setting> settings = encoder::find_layout_encoder("csell").settings;
  Wanted wanted;
  wanted.block = encoder::read_setting(options, std::string(settings[0].name), 1, max_block, "auto").value_or(0);
  wanted.source = encoder::read_name<Source>(options, settings[1], source_names);
  if (wanted.source) {
    const std::string_view name = source_names.at(static_cast<std::size_t>(*wanted.source));
    encoder::check_values_setting(options, settings[1].name, name, values_are(*wanted.source));
    if (has_mirrors(*wanted.source))
      refuse("csell.values is " + std::string(name) + ", which only the host plans",
             "encode on the host, or use csell.values=auto, raw, table, step or single");
  }
  constexpr std::array<std::string_view, 3> powers{"1", "2", "4"};
  if (const auto power = encoder::read_name<std::uint64_t>(options, settings[2], powers))
    wanted.sums = std::uint64_t{1} << *power;
  return wanted;
}

/// Plans and writes one part.
template <class Execution>
class Encoding {
 public:
  Encoding(const Execution& run, const Csr& a, const PartOptions& options)
      : run_(run),
        a_(a),
        options_(options),
        device_(encoder::device_of(options.plan)),
        wanted_(wanted_of(options.plan)),
        rows_(a, block()),
        facts_{.part = {a.nnz, 0, rows_.block, options.plan.updatable},
               .csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows, a.nnz, a.type),
               .source = wanted_.source,
               .sums = wanted_.sums} {
    count_values();
  }

  /// The plan, for PartOptions::weigh.
  encoder::PartPlan plan() {
    choose();
    if (!options_.weigh) return {};
    encoder::PartPlan plan = part_plan(info_, missing);
    rules::FormFacts form = *facts_.forms.at(static_cast<std::size_t>(decision_->source));
    form.sums = decision_->sums;
    describe_multiply(plan, form, device_);
    return plan;
  }
  EncodedPart write();

 private:
  /// The distinct values that decisions go by: not of raw values, which do not depend on them.
  void count_values() {
    facts_.part.distinct_values = rules::max_counted_values + 1;
    if (facts_.part.updatable || wanted_.source == Source::raw) return;
    const bool all = wanted_.source == Source::step || options_.plan.aim.optimize == encoder::Objective::bytes;
    const std::uint64_t limit = all ? rules::max_counted_values : rules::max_step_values;
    distinct_ = count_distinct(run_, a_, limit);
    if (distinct_.count <= limit) facts_.part.distinct_values = distinct_.count;
  }

  std::uint32_t block() const {
    const std::uint32_t block = largest_block(run_, a_, wanted_.block);
    if (wanted_.block != 0 && wanted_.block != block)
      refuse("the matrix is not made of full blocks of " + std::to_string(wanted_.block) + " by " +
                 std::to_string(wanted_.block),
             "use another csell.block, or amb, whose blocks may have fill");
    return block;
  }

  /// Of the plans only the best so far is kept.
  void choose() {
    std::optional<ColumnsPlan> plain, in_steps;
    for (const Source source : rules::sources) {
      if (has_mirrors(source) || !rules::is_planned(source, facts_.part, wanted_.source)) continue;
      std::optional<ColumnsPlan>& columns = source == Source::step ? in_steps : plain;
      if (!columns) columns = plan_columns(run_, rows_, source == Source::step);
      if (!columns) continue;
      const std::optional<rules::FormFacts> form = plan(source, *columns);
      if (!form) continue;
      facts_.add(*form);
      decision_ = decide(facts_, options_.plan.aim);
    }
    if (!decision_)
      refuse("csell.values is " + std::string(source_names.at(static_cast<std::size_t>(*wanted_.source))) +
                 ", but the values do not repeat like that",
             "use csell.values=raw, or auto");
    columns_ = std::move(decision_->source == Source::step ? *in_steps : *plain);
    if (decision_->source != Source::table) tables_.reset();
    place();
  }
  [[nodiscard]] Tables tables() const {
    if (!tables_) return {};
    const TileTables& t = tables_->tables;
    return {tiles_.data(), {t.values.data(), sizeof(std::uint64_t)}, t.tile_slices};
  }

  /// None if the values are not like that.
  std::optional<rules::FormFacts> plan(Source source, const ColumnsPlan& columns) {
    const std::uint64_t size = size_of(a_.type);
    switch (source) {
      case Source::step:
        return facts_of(source, columns, columns.bytes());
      case Source::single:
        return facts_of(source, columns, columns.bytes() + size);
      case Source::raw:
        return facts_of(source, columns, columns.bytes() + columns.sums.raw_units * unit);
      default:
        return with_tables(columns);
    }
  }

  std::optional<rules::FormFacts> with_tables(const ColumnsPlan& columns) {
    if (a_.nnz == 0 || columns.slices == 0) return {};
    if (facts_.part.distinct_values <= rules::max_one_table)
      tables_ = one_table(run_, rows_, columns, distinct_.sorted(run_));
    else
      tables_ = plan_tables(run_, rows_, columns, facts_.part.distinct_values,
                            rules::table_limits(facts_, options_.plan.aim.optimize, device_));
    if (!tables_) return {};
    rules::FormFacts form = facts_of(Source::table, columns, columns.bytes() + tables_->bytes);
    form.tiles = tables_->tables.tiles;
    form.tile_slices = tables_->tables.tile_slices;
    form.largest_table = tables_->tables.largest;
    return form;
  }

  /// Of these columns, in a form that takes so many bytes.
  rules::FormFacts facts_of(Source source, const ColumnsPlan& columns, std::uint64_t bytes) const {
    rules::FormFacts f{.source = source,
                       .block = rows_.block,
                       .rows = a_.rows,
                       .entries = a_.nnz,
                       .value_size = size_of(a_.type),
                       .slices = columns.slices,
                       .pattern_groups = columns.sums.groups[0],
                       .offset_groups = columns.offset_groups(),
                       .longest = columns.sums.longest,
                       .heaviest_offsets = columns.sums.heaviest_offsets,
                       .uneven_steps = columns.sums.uneven_steps,
                       .device_bytes = bytes};
    // Where one form alone is planned, nothing is decided by its windows.
    const bool decides = !wanted_.source && source == Source::step;
    if ((decides || options_.weigh) && may_have_windows(f, options_.plan.aim.target, device_))
      for (const std::uint32_t pairs : launch_rules::csell::pairs_by_preference) {
        f.pairs = pairs;
        f.windows = count_windows(run_, rows_, columns, device_.multiprocessors, pairs);
        if (f.windows != 0) break;
      }
    return f;
  }

  void place();

  /// A section for mirrors.
  static constexpr std::array missing{sections[section_references].name};

  const Execution& run_;
  const Csr& a_;
  const PartOptions& options_;
  const encoder::Device& device_;
  Wanted wanted_;
  Rows rows_;
  Distinct distinct_;
  rules::CsellFacts facts_;
  std::optional<rules::CsellDecision> decision_;
  ColumnsPlan columns_;
  std::optional<PlannedTables> tables_;
  Buffer<Tile> tiles_;
  Buffer<std::uint64_t> in_stream_;  ///< where each slice's ids are, and the end
  PartInfo info_;
};

/// The sizes of all sections.
template <class Execution>
void Encoding<Execution>::place() {
  const std::uint64_t slices = columns_.slices, size = size_of(a_.type);
  const Source source = decision_->source;
  if (tables_) {
    const TileTables& t = tables_->tables;
    if (t.count > 0xFFFFFFFF) refuse_size();
    tiles_ = run_.template allocate<Tile>(t.tiles);
    run_.each(t.tiles, WriteTiles{t.begin.data(), tiles_.data()});
  }
  std::uint64_t stream_units = columns_.sums.units;
  if (stream_units != 0 || tables_) {
    in_stream_ = run_.template allocate<std::uint64_t>(slices + 1);
    run_.each(slices + 1, StreamUnits{columns_.plans(), tables(), rows_.block_values(), slices, in_stream_.data()});
    run_.sum_before(in_stream_.data(), in_stream_.data(), slices + 1);
    if (tables_) stream_units = run_.read(in_stream_.data() + slices);
  }
  const std::uint64_t value_units = source == Source::raw ? columns_.sums.raw_units : 0;
  if (stream_units > 0xFFFFFFFF || value_units > 0xFFFFFFFF) refuse_size();
  info_ = part_info(layout, a_);
  auto& p = info_.params;
  p[param_source] = static_cast<std::uint64_t>(source);
  p[param_block] = rows_.block;
  p[param_sums] = decision_->sums;
  p[param_tile_slices] = tables_ ? tables_->tables.tile_slices : 0;
  p[param_largest_tile] = tables_ ? tables_->tables.largest : 0;
  p[param_patterns_only] = columns_.sums.not_patterns == 0 ? 1 : 0;
  info_.counts[section_patterns] = columns_.sums.dictionary_groups * (sizeof(Group) / sizeof(std::uint32_t));
  info_.counts[section_stream] = stream_units * (unit / sizeof(std::uint32_t));
  info_.counts[section_values] = source == Source::table  ? tables_->tables.count
                                 : source == Source::raw  ? value_units * (unit / size)
                                 : source == Source::step ? columns_.step_value_bytes / size
                                                          : 1;
}

template <class Execution>
EncodedPart Encoding<Execution>::write() {
  const std::uint64_t slices = columns_.slices, size = size_of(a_.type);
  const Source source = decision_->source;
  const SlicePlans plans = columns_.plans();
  const std::uint64_t stream_units = info_.counts[section_stream] / (unit / sizeof(std::uint32_t));
  const std::uint64_t value_units = source == Source::raw ? columns_.sums.raw_units : 0;
  Buffer<std::uint64_t> in_values;
  if (value_units != 0) {
    in_values = run_.template allocate<std::uint64_t>(slices);
    run_.each(slices, ValueUnits{rows_, in_values.data()});
    run_.sum_before(in_values.data(), in_values.data(), slices);
  }
  PartMaker part(run_.memory(), info_, options_, {missing.begin(), missing.end()});
  const auto words = [&](Section section) {
    return static_cast<void*>(part.template section<std::uint32_t>(sections.at(section).name));
  };
  auto* const to_slices = static_cast<Slice*>(words(section_slices));
  auto* const patterns = static_cast<Group*>(words(section_patterns));
  auto* const stream = static_cast<std::byte*>(words(section_stream));
  void* const values = size == sizeof(std::uint32_t)
                           ? words(section_values)
                           : part.template section<std::uint64_t>(sections[section_values].name);
  write_patterns(run_, rows_, columns_, patterns, source == Source::step ? values : nullptr);
  if (source == Source::single) run_.copy(values, a_.value_bits, size);
  if (tables_) {
    run_.each(tables_->tables.count,
              WriteValues{tables_->tables.values.data(), static_cast<std::uint32_t>(size), values});
    run_.copy(words(section_tiles), tiles_.data(), tiles_.bytes());
  }
  run_.each(slices, WriteSlices{plans, in_stream_.data(), in_values.data(), to_slices});
  run_.zero(stream, stream_units * unit);
  if (stream_units != 0 || value_units != 0)
    fill_slices(run_, columns_,
                {rows_, plans, tables(), to_slices, patterns, stream, value_units != 0 ? values : nullptr});
  return part.finish();
}

}  // namespace csell

template <class Execution>
PlannedPart plan_csell(const Execution& run, const Csr& a, const PartOptions& options) {
  const auto encoding = std::make_shared<csell::Encoding<Execution>>(run, a, options);
  PlannedPart planned;
  planned.plan = encoding->plan();
  planned.write = [encoding] { return encoding->write(); };
  return planned;
}

}  // namespace spmvpack::gpu_encoder
