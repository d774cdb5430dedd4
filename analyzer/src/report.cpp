#include "spmvpack/analyzer/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/payback.hpp"

namespace spmvpack::analyzer {
namespace {

void append(std::vector<encoder::Counter>& to, const std::vector<encoder::Counter>& counters,
            const std::string& prefix) {
  for (const encoder::Counter& c : counters) to.push_back({prefix + c.name, c.value});
}

LayoutCost cost_of(const encoder::Plan& plan, std::uint64_t rows, const encoder::XSectors& x,
                   const ReportOptions& options) {
  LayoutCost cost;
  cost.device_bytes = plan.device_bytes();
  cost.fill_reads_x = plan.fill_reads_x();
  cost.parts_reason = plan.parts_reason;
  cost.work = encoder::work_of(plan, rows, x);
  cost.predicted_seconds = encoder::predicted_seconds(cost.work, encoder::profile_of(options.aim));
  for (const encoder::PartPlan& part : plan.parts) {
    const std::string prefix = plan.parts.size() > 1 ? fmt::format("part{}.", cost.parts.size()) : "";
    append(cost.byte_shares, part.byte_shares, prefix);
    append(cost.counters, part.counters, prefix);
    cost.padding += part.padding;
    PartCost of_part{part.info, part.device_bytes(), {}};
    if (options.workspace) {
      of_part.workspace_bytes = options.workspace(part.info);
      // Parts are multiplied one after the other.
      cost.workspace_bytes = std::max(cost.workspace_bytes.value_or(0), *of_part.workspace_bytes);
    }
    cost.parts.push_back(std::move(of_part));
  }
  return cost;
}

/// What a cost says relative to others.
void relate(LayoutCost& cost, std::uint64_t nnz, std::uint64_t csr_bytes) {
  if (nnz != 0) cost.bytes_per_nonzero = static_cast<double>(cost.device_bytes) / static_cast<double>(nnz);
  if (const std::uint64_t slots = nnz + cost.padding; slots != 0)
    cost.padding_percent = 100 * static_cast<double>(cost.padding) / static_cast<double>(slots);
  if (const auto published = std::find_if(cost.counters.begin(), cost.counters.end(),
                                          [](const encoder::Counter& c) { return c.name == "published.bytes"; });
      published != cost.counters.end()) {
    cost.published_bytes = published->value;
    cost.published_reduction_percent =
        100 * (1 - static_cast<double>(published->value) / static_cast<double>(csr_bytes));
  }
  cost.too_large = encoder::too_large(cost.device_bytes, csr_bytes);
  cost.bytes_of_csr = static_cast<double>(cost.device_bytes) / static_cast<double>(csr_bytes);
  cost.overhead_percent = (cost.bytes_of_csr - 1) * 100;
}

/// What auto weighs instead of a plan whose fill reads x.
struct Harmless {
  LayoutCost cost;
  std::string made_with;  ///< encoder::Plan::made_with_text()
};

/// What encoding this takes if asked for `strategy`.
std::optional<double> encode_seconds(const Report& report, std::string_view strategy, const LayoutCost& cost) {
  return encoder::predicted_encode_seconds(
      strategy, report.aim,
      {report.facts.rows, report.facts.nnz, report.facts.found != Symmetry::general, report.x_sectors.from_l2,
       cost.device_bytes});
}

/// Times relative to csr's, after how many multiplies encoding pays, and what auto chooses. A layout that it takes
/// without fill is shown as it takes it.
void recommend(const CsrView& a, Report& report, std::uint64_t csr_bytes,
               std::vector<std::optional<Harmless>>& harmless) {
  const auto csr = std::find_if(report.layouts.begin(), report.layouts.end(),
                                [](const LayoutCost& cost) { return cost.name == "csr"; });
  const bool has_csr = csr != report.layouts.end() && csr->predicted_seconds > 0;
  const auto pays_after = [&](const std::optional<double>& encoding, const LayoutCost& cost) {
    return encoding && cost.time_of_csr
               ? encoder::pays_after(*encoding, {cost.predicted_seconds, csr->predicted_seconds})
               : std::nullopt;
  };
  const auto compare = [&](LayoutCost& cost) {
    if (has_csr) cost.time_of_csr = cost.predicted_seconds / csr->predicted_seconds;
    cost.encode_seconds = encode_seconds(report, cost.name, cost);
    cost.pays_after = pays_after(cost.encode_seconds, cost);
  };
  for (LayoutCost& cost : report.layouts) compare(cost);
  std::vector<encoder::Candidate> candidates;
  for (std::size_t i = 0; i < report.layouts.size(); ++i) {
    const LayoutCost& cost = harmless[i] ? harmless[i]->cost : report.layouts[i];
    candidates.push_back(
        {report.layouts[i].name, cost.device_bytes, cost.predicted_seconds, cost.fill_reads_x || cost.by_name_only});
  }
  encoder::Choice choice = encoder::choose(candidates, csr_bytes, report.aim.optimize);
  report.recommended = choice.index;
  report.reason = std::move(choice.reason);
  if (std::optional<Harmless>& taken = harmless[choice.index]; taken) {
    report.reason += taken->made_with;
    compare(taken->cost);
    report.layouts[choice.index] = std::move(taken->cost);
  }
  report.reason += encoder::weighing_text(a);
  const LayoutCost& best = report.layouts[report.recommended];
  report.recommended_encode_seconds = encode_seconds(report, "auto", best);
  report.recommended_pays_after = pays_after(report.recommended_encode_seconds, best);
}

/// `symmetry` is that of the entries, bit for bit.
TransposeCost transpose_cost(const CsrView& a, Symmetry symmetry, const ReportOptions& options) {
  TransposeCost cost;
  cost.symmetry = symmetry;
  if (cost.symmetry != Symmetry::general) return cost;
  const MemoryScope memory("the transpose");
  const CsrMatrix t = transposed(a, options.threads);
  encoder::PlanOptions plan_options;
  plan_options.threads = options.threads;
  plan_options.settings = options.settings;
  plan_options.aim = options.aim;
  const encoder::Plan best = encoder::find_strategy("auto").plan(t, plan_options);
  cost.layout = best.strategy;
  cost.reason = best.reason;
  cost.device_bytes = best.device_bytes();
  if (a.nnz() != 0) cost.bytes_per_nonzero = static_cast<double>(cost.device_bytes) / static_cast<double>(a.nnz());
  const encoder::Profile& profile = encoder::profile_of(options.aim);
  const encoder::XSectors x = encoder::x_sectors(t, options.threads, profile.x_caches);
  cost.predicted_seconds = encoder::predicted_seconds(encoder::work_of(best, t.rows, x), profile);
  return cost;
}

/// The report of `a`, whose facts `facts()` finds once `a` is checked.
template <class Facts>
Report report_of(const CsrView& a, const Provenance& provenance, const std::shared_ptr<const Share>& share,
                 const ReportOptions& options, Facts&& facts) {
  encoder::check_settings(options.settings);
  const bool alone = current_budget() == nullptr;
  const MemoryScope memory(options.memory_limit, "the report");
  const MemoryReservation matrix(alone && options.memory_limit != 0 ? a.bytes() : 0);
  const std::span<const encoder::Strategy> strategies =
      options.strategies.empty() ? encoder::strategies() : options.strategies;
  const std::uint64_t steps = 1 + strategies.size();
  Report report;
  report.name = options.name.empty() ? provenance.source : options.name;
  report.provenance = provenance;
  report_progress(options.progress, "analyze", 0, steps);
  a.check(options.threads);
  report.facts = facts();
  report.structure = analyze(a, options.threads, nullptr, options.memory_limit);
  report.aim = options.aim;
  report.x_sectors = encoder::x_sectors(a, options.threads, encoder::profile_of(options.aim).x_caches);
  report.balance = balance_of(a, report.x_sectors.from_memory, options.speeds);

  const std::uint64_t csr_bytes = layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  encoder::PlanOptions plan_options;
  plan_options.threads = options.threads;
  plan_options.settings = options.settings;
  plan_options.aim = options.aim;  // as auto plans them, which it recommends
  plan_options.values = report.structure.values;
  plan_options.for_report = true;
  plan_options.progress = options.progress;
  std::vector<std::uint64_t> as_auto;  // file bytes of each layout if it is not asked for, but chosen
  std::vector<std::optional<Harmless>> harmless;
  const auto file_bytes_as = [&](const encoder::Plan& plan, const encoder::Strategy& asked) {
    encoder::EncodeRequest request;
    request.strategy = asked.name;
    request.settings = options.settings;
    request.aim = options.aim;
    return file_bytes_uncompressed(encoder::container_source(report.facts, provenance, {a, plan},
                                                             encoder::recorded(request, asked), {}, {}, share));
  };
  const auto cost_with = [&](const encoder::Strategy& strategy, const encoder::Plan& plan) {
    LayoutCost cost = cost_of(plan, a.rows(), report.x_sectors, options);
    cost.name = strategy.name;
    cost.reproduction = strategy.reproduction;
    cost.by_name_only = !encoder::is_weighed(strategy, a, options.aim);
    cost.file_bytes = file_bytes_as(plan, strategy);
    relate(cost, a.nnz(), csr_bytes);
    return cost;
  };
  for (const encoder::Strategy& strategy : strategies) {
    if (strategy.chooses) continue;
    report_progress(options.progress, "analyze", 1 + report.layouts.size(), steps);
    if (!strategy.suits_target(options.aim.target)) {
      report.refused.push_back({strategy.name, "it is made for CPUs; the report for --target host has it", true});
      continue;
    }
    const bool is_asked_for = options.by_name_only || !encoder::settings_of(strategy, options.settings).empty();
    if (!is_asked_for && strategy.name != "csr" && !encoder::is_weighed(strategy, a, options.aim)) {
      report.refused.push_back({strategy.name,
                                fmt::format("auto never takes it{}; spmvpack report --details has it",
                                            strategy.by_name_only ? "" : encoder::weighing_text(a)),
                                strategy.reproduction, true});
      continue;
    }
    const MemoryScope planning("planning " + strategy.name);
    try {
      const encoder::Plan plan = strategy.plan(a, plan_options);
      LayoutCost cost = cost_with(strategy, plan);
      std::optional<Harmless> instead;
      as_auto.push_back(file_bytes_as(plan, encoder::find_strategy("auto")));
      if (const auto other = encoder::plan_without_fill(strategy, plan, a, plan_options)) {
        instead = {cost_with(strategy, *other), other->made_with_text()};
        as_auto.back() = file_bytes_as(*other, encoder::find_strategy("auto"));
      }
      harmless.push_back(std::move(instead));
      report.layouts.push_back(std::move(cost));
    } catch (const Error& e) {
      if (!encoder::is_refusal(e)) throw;
      as_auto.resize(report.layouts.size());
      report.refused.push_back({strategy.name, e.message(), strategy.reproduction});
    }
  }
  recommend(a, report, csr_bytes, harmless);
  report.recommended_file_bytes = as_auto[report.recommended];
  if (options.transpose) report.transpose = transpose_cost(a, report.facts.bitwise_symmetry(), options);
  report.data_reduction_pjds = pjds_data_reduction(report.layouts, a.nnz());
  report_progress(options.progress, "analyze", steps, steps);
  return report;
}

}  // namespace

std::optional<double> pjds_data_reduction(std::span<const LayoutCost> layouts, std::uint64_t nnz) {
  const auto slots = [&](std::string_view name) -> std::optional<double> {
    for (const LayoutCost& cost : layouts)
      if (cost.name == name) return static_cast<double>(cost.padding + nnz);
    return {};
  };
  const std::optional<double> pjds = slots("pjds"), ell = slots("ell");
  if (!pjds || !ell || *ell == 0) return {};
  return 1 - *pjds / *ell;
}

Report make_report(const SourceMatrix& source, const ReportOptions& options) {
  return report_of(source.matrix, source.provenance, source.share, options,
                   [&] { return encoder::facts_of(source, options.threads); });
}

Report make_report(const CsrView& matrix, const ReportOptions& options) {
  Provenance provenance;
  provenance.entries = matrix.nnz();
  return report_of(matrix, provenance, {}, options, [&] { return encoder::facts_of(matrix, options.threads); });
}

}  // namespace spmvpack::analyzer
