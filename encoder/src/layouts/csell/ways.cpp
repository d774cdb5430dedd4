#include "layouts/csell/ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "decide.hpp"
#include "layouts/csell/slice.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

/// Sums of a row, from the number of their name.
std::optional<std::uint64_t> sums_setting(const PlanOptions& options) {
  constexpr std::array<std::string_view, 3> powers{"1", "2", "4"};
  const auto power = read_name<std::uint64_t>(options, settings[2], powers);
  return power ? std::optional{std::uint64_t{1} << *power} : std::nullopt;
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

/// Keeps the best of the ways that it is offered: the least for the aim, of equals the first.
class BestWay {
 public:
  BestWay(const CsrView& a, const PlanOptions& options)
      : aim_(options.aim),
        device_(device_of(options)),
        sums_(sums_setting(options)),
        csr_bytes_(spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type())) {}

  [[nodiscard]] bool would_take(const WayFacts& facts) const { return !rank_ || ranked(facts).second < *rank_; }
  void offer(Way way) {
    considered_.push_back({fmt::format("{}.device_bytes", source_names.at(static_cast<std::size_t>(way.facts.source))),
                           way.facts.device_bytes});
    const auto [sums, rank] = ranked(way.facts);
    if (rank_ && !(rank < *rank_)) return;
    rank_ = rank;
    best_ = std::move(way);
    best_.facts.sums = sums;
  }
  [[nodiscard]] bool has_one() const { return rank_.has_value(); }
  [[nodiscard]] Source source() const { return best_.facts.source; }
  ChosenWay take(ColumnsPlan columns) { return {std::move(best_), std::move(columns), std::move(considered_)}; }

 private:
  /// With the number of sums that the way takes.
  [[nodiscard]] std::pair<std::uint64_t, Rank> ranked(WayFacts f) const {
    f.sums = sums_ ? *sums_ : sums_of(f, device_);
    return {f.sums, rank_of({f.device_bytes, work_of(f, device_)}, csr_bytes_, aim_)};
  }
  const Aim& aim_;
  const Device& device_;
  std::optional<std::uint64_t> sums_;
  std::uint64_t csr_bytes_;
  std::optional<Rank> rank_;
  Way best_;
  std::vector<Counter> considered_;
};

class WayPlanner {
 public:
  WayPlanner(const CsrView& a, const ValueTable& values, const PlanOptions& options)
      : a_(a),
        values_(values),
        options_(options),
        device_(device_of(options)),
        wanted_(read_name<Source>(options, settings[1], source_names)),
        block_(choose_block(a, options)),
        rows_(a, block_) {}

  ChosenWay choose() const {
    BestWay best(a_, options_);
    std::optional<ColumnsPlan> plain, in_steps;
    for (const Source source : sources_to_plan({a_.nnz(), values_.distinct(), block_}, wanted_)) {
      std::optional<ColumnsPlan>& columns = source == Source::step ? in_steps : plain;
      if (!columns) columns = plan_columns(rows_, source == Source::step, options_.threads);
      if (!columns) continue;
      if (auto way = plan(source, *columns, best)) best.offer(std::move(*way));
    }
    if (!best.has_one()) refuse_values(*wanted_, block_);
    return best.take(std::move(best.source() == Source::step ? *in_steps : *plain));
  }

 private:
  /// None if the values are not like that, or other ways are better in any case.
  [[nodiscard]] std::optional<Way> plan(Source source, const ColumnsPlan& columns, const BestWay& best) const {
    const std::size_t size = size_of(a_.value_type());
    switch (source) {
      case Source::step:
        return Way{facts_of(source, columns, columns.bytes()), {}, {}};
      case Source::single:
        return Way{facts_of(source, columns, columns.bytes() + size), {}, {}};
      case Source::raw:
        return Way{facts_of(source, columns, columns.bytes() + raw_bytes(rows_, block_, size)), {}, {}};
      case Source::table:
        return with_tables(columns);
      default:
        if (!wanted_ && !may_have_mirrors(source, columns, best)) return {};
        return mirrored(source, columns);
    }
  }

  [[nodiscard]] std::optional<Way> with_tables(const ColumnsPlan& columns) const {
    const TableLimits limits{.least_entries = device_.small_entries,
                             .asked_for = wanted_.has_value(),
                             .fewest_bytes = options_.aim.optimize == Objective::bytes,
                             .staged_values = device_.table_values,
                             .least_tiles = block_ == 1 ? device_.multiprocessors : 1,
                             .staging_bytes = device_.staging_bytes};
    auto tables = plan_tables(rows_, values_, columns.groups, limits, options_.threads);
    if (!tables) return {};
    const std::uint64_t bytes = tables->bytes(columns.groups, size_of(a_.value_type()));
    Way way{facts_of(Source::table, columns, columns.bytes() + bytes), std::move(*tables), {}};
    way.facts.tiles = way.tables.values.size();
    way.facts.tile_slices = way.tables.slices;
    for (const auto& values : way.tables.values)
      way.facts.largest_table = std::max<std::uint64_t>(way.facts.largest_table, values.size());
    return way;
  }

  /// Whether mirrors may be best if half of all blocks have one, and if as many have as in a sample.
  [[nodiscard]] bool may_have_mirrors(Source source, const ColumnsPlan& columns, const BestWay& best) const {
    const WayFacts without = facts_of(Source::raw, columns, 0);
    const auto is_best_with = [&](std::uint64_t mirrors) {
      return best.would_take(with_mirrors(without, source, mirrors, columns.bytes()));
    };
    const std::uint64_t blocks = a_.nnz() / block_ / block_;
    if (!is_best_with(blocks / 2)) return false;
    const MirrorSample sample = sample_mirrors(rows_, source);
    if (!are_many_mirrors(sample.mirrors, sample.blocks)) return false;
    return options_.aim.optimize == Objective::bytes ||
           is_best_with(std::min(blocks / 2, blocks * sample.mirrors / sample.blocks));
  }

  [[nodiscard]] std::optional<Way> mirrored(Source source, const ColumnsPlan& columns) const {
    auto mirrors = plan_mirrors(rows_, source, columns.slices, columns.groups, columns.patterns, options_.threads);
    if (!mirrors) return {};
    const std::uint64_t bytes = mirrors->bytes(columns.groups, block_, size_of(a_.value_type()));
    WayFacts facts = facts_of(source, columns, bytes);
    facts.mirrors = mirrors->mirrored;
    facts.mirrors_by_steps = mirrors->by_steps;
    return Way{facts, {}, std::move(mirrors)};
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
               .uneven_steps = columns.uneven_steps,
               .device_bytes = bytes};
    if (options_.aim.target == Target::gpu && shares_values(f) && f.block == 1 && f.offset_groups == 0 &&
        launch_rules::csell::worth_windows(f.slices, device_.multiprocessors))
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
  std::optional<Source> wanted_;
  std::uint32_t block_;
  BlockRows rows_;
};

}  // namespace

ChosenWay choose_way(const CsrView& a, const ValueTable& values, const PlanOptions& options) {
  return WayPlanner(a, values, options).choose();
}

}  // namespace spmvpack::encoder::layouts::csell_plans
