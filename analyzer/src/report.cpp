#include "spmvpack/analyzer/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/ell.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/payback.hpp"
#include "spmvpack/encoder/weigh.hpp"

namespace spmvpack::analyzer {
namespace {

void append(std::vector<encoder::Counter>& to, const std::vector<encoder::Counter>& counters,
            const std::string& prefix) {
  for (const encoder::Counter& c : counters) to.emplace_back(prefix + c.name, c.value);
}

LayoutCost cost_of(const encoder::PricedPlan& priced, const ReportOptions& options) {
  const encoder::Plan& plan = priced.plan;
  LayoutCost cost;
  cost.device_bytes = plan.device_bytes();
  cost.fill_reads_x = plan.fill_reads_x();
  cost.updatable = plan.updatable();
  cost.holds_by_bits = plan.holds_by_bits();
  cost.parts_reason = plan.parts_reason;
  cost.work = priced.work;
  cost.predicted_seconds = priced.seconds;
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

/// Why a report says nothing of a strategy that it does not even plan.
std::optional<Refusal> left_out(const encoder::Strategy& strategy, const CsrView& a, const ReportOptions& options) {
  if (holds_complex(a.value_type()) && !strategy.traits.takes_complex) return {};  // its plan says why
  if (!strategy.traits.suits_target(options.aim.target))
    return Refusal{strategy.name, "it is made for CPUs; the report for --target host has it", true};
  if (options.by_name_only || !encoder::settings_of(strategy, options.settings).empty() ||
      strategy.name == layouts::csr::layout.name || encoder::is_weighed(strategy, a, options.aim))
    return {};
  return Refusal{strategy.name,
                 fmt::format("auto never takes it{}; spmvpack report --details has it",
                             strategy.traits.by_name_only ? "" : encoder::weighing_text(a)),
                 strategy.traits.reproduction, true};
}

/// Puts what encoder::weigh() finds into a report, which has all else.
class Projection {
 public:
  /// All of these must outlive it.
  Projection(const CsrView& a, const std::shared_ptr<const Share>& share, const ReportOptions& options, Report& report)
      : a_(a),
        share_(share),
        options_(options),
        report_(report),
        csr_bytes_(layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type())) {}

  /// A line for each strategy that takes the matrix, and which of them `auto` takes.
  void add(std::span<const encoder::Strategy> strategies) {
    const encoder::PlanOptions plan_options = {.threads = options_.threads,
                                               .settings = options_.settings,
                                               .values = report_.structure.values,
                                               .progress = options_.progress,
                                               .aim = options_.aim,
                                               .for_report = true,
                                               .updatable = options_.updatable};
    std::vector<encoder::Candidate> candidates;
    encoder::Choice choice;
    encoder::Weighed best;  // no other is kept: plans may hold much memory
    for (const encoder::Strategy& strategy : strategies) {
      if (strategy.chooses) continue;
      report_progress(options_.progress, "analyze", 1 + report_.layouts.size(), 1 + strategies.size());
      if (std::optional<Refusal> why = left_out(strategy, a_, options_)) {
        report_.refused.push_back(std::move(*why));
        continue;
      }
      try {
        encoder::Weighed weighed = encoder::weigh(strategy, a_, plan_options, report_.x_sectors);
        report_.layouts.push_back(line_of(strategy, weighed.asked_for));
        candidates.push_back(weighed.candidate);
        choice = encoder::choose(candidates, csr_bytes_, options_.aim.optimize);
        if (choice.index + 1 != candidates.size()) continue;
        best = std::move(weighed);
        if (best.without_fill) best.asked_for = {};
      } catch (const Error& e) {
        if (!encoder::is_refusal(e)) throw;
        report_.refused.push_back({strategy.name, e.message(), strategy.traits.reproduction});
      }
    }
    if (candidates.empty()) throw Error(errc::unsupported, "no layout takes the matrix");
    recommend(choice, best);
  }

 private:
  [[nodiscard]] LayoutCost line_of(const encoder::Strategy& strategy, const encoder::PricedPlan& priced) const {
    LayoutCost cost = cost_of(priced, options_);
    cost.name = strategy.name;
    cost.reproduction = strategy.traits.reproduction;
    cost.by_name_only = !encoder::is_weighed(strategy, a_, options_.aim);
    cost.file_bytes = file_bytes(priced.plan, strategy);
    relate(cost, a_.nnz(), csr_bytes_);
    return cost;
  }

  /// Of the file that encode() writes if `asked` is asked for, and makes this plan.
  [[nodiscard]] std::uint64_t file_bytes(const encoder::Plan& plan, const encoder::Strategy& asked) const {
    encoder::EncodeRequest request;
    request.strategy = asked.name;
    request.settings = options_.settings;
    request.aim = options_.aim;
    request.updatable = options_.updatable;
    return file_bytes_uncompressed(encoder::container_source(report_.facts, report_.provenance, {a_, plan},
                                                             encoder::recorded(request, asked), {}, {}, share_));
  }

  /// What encoding takes if asked for `strategy`.
  [[nodiscard]] std::optional<double> encode_seconds(std::string_view strategy, const LayoutCost& cost) const {
    return encoder::predicted_encode_seconds(
        strategy, report_.aim,
        {report_.facts.rows, report_.facts.nnz, report_.facts.found != Symmetry::general, report_.x_sectors.from_l2,
         cost.device_bytes});
  }

  /// Times relative to csr's, after how many multiplies encoding pays, and what auto chooses. A layout that it takes
  /// without fill is shown as it takes it.
  void recommend(const encoder::Choice& choice, const encoder::Weighed& best) {
    LayoutCost& taken = report_.layouts[choice.index];
    if (best.without_fill) taken = line_of(*best.strategy, *best.without_fill);
    const auto csr = std::find_if(report_.layouts.begin(), report_.layouts.end(),
                                  [](const LayoutCost& cost) { return cost.name == layouts::csr::layout.name; });
    const bool has_csr = csr != report_.layouts.end() && csr->predicted_seconds > 0;
    const auto pays_after = [&](const std::optional<double>& encoding, const LayoutCost& cost) {
      return encoding && has_csr ? encoder::pays_after(*encoding, {cost.predicted_seconds, csr->predicted_seconds})
                                 : std::nullopt;
    };
    for (LayoutCost& cost : report_.layouts) {
      if (has_csr) cost.time_of_csr = cost.predicted_seconds / csr->predicted_seconds;
      cost.encode_seconds = encode_seconds(cost.name, cost);
      cost.pays_after = pays_after(cost.encode_seconds, cost);
    }
    const encoder::Strategy& chooser = encoder::find_strategy("auto");
    report_.recommended = choice.index;
    report_.reason = encoder::reason_text(choice, best.taken().plan, a_);
    report_.recommended_file_bytes = file_bytes(best.taken().plan, chooser);
    report_.recommended_encode_seconds = encode_seconds(chooser.name, taken);
    report_.recommended_pays_after = pays_after(report_.recommended_encode_seconds, taken);
  }

  const CsrView& a_;
  const std::shared_ptr<const Share>& share_;
  const ReportOptions& options_;
  Report& report_;
  std::uint64_t csr_bytes_;
};

/// What `auto` chooses for the matrix.
ChosenCost chosen_cost(const CsrView& a, const ReportOptions& options, bool updatable) {
  const encoder::PlanOptions plan_options = {
      .threads = options.threads, .settings = options.settings, .aim = options.aim, .updatable = updatable};
  encoder::Plan best = encoder::find_strategy("auto").plan(a, plan_options);
  ChosenCost cost{best.strategy, best.reason, best.device_bytes(), {}, 0};
  if (a.nnz() != 0) cost.bytes_per_nonzero = static_cast<double>(cost.device_bytes) / static_cast<double>(a.nnz());
  const encoder::XSectors x = encoder::x_sectors(a, options.threads, encoder::profile_of(options.aim).x_caches);
  cost.predicted_seconds = encoder::price(std::move(best), a.rows(), x, options.aim).seconds;
  return cost;
}

/// `symmetry` is that of the entries, bit for bit.
TransposeCost transpose_cost(const CsrView& a, Symmetry symmetry, const ReportOptions& options) {
  if (symmetry != Symmetry::general && !options.updatable) return {{}, symmetry};
  const MemoryScope memory("the transpose");
  return {chosen_cost(transposed(a, options.threads), options, options.updatable), Symmetry::general};
}

/// The same matrix with values that all differ, as scaling makes them by factors that have nothing in common.
CsrMatrix with_scaled_values(const CsrView& a, int threads) {
  CsrMatrix b = allocate_csr(a.rows(), a.cols(), a.nnz(), a.value_type());
  const auto factor = [](std::uint64_t i) {
    return 1 + std::ldexp(static_cast<double>((i + 1) * 0x9E3779B97F4A7C15U >> 11U), -53);
  };
  b.row_ptr[a.rows()] = a.nnz();
  dispatch(a.value_type(), [&]<class T>(T) {
    auto& values = std::get<Array<T>>(b.values);
    parallel_pieces(a.rows(), 1024, threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t r = begin; r < end; ++r) {
        b.row_ptr[r] = a.row_ptr(r);
        for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) {
          const std::uint32_t c = b.col_idx[k] = a.col_idx()[k];
          values[k] = static_cast<T>(factor(r) * static_cast<double>(a.values<T>()[k]) * factor(~std::uint64_t{c}));
        }
      }
    });
  });
  return b;
}

ScaledCost scaled_cost(const CsrView& a, const LayoutCost& best, const ReportOptions& options) {
  const MemoryScope memory("the scaled values");
  std::vector<encoder::Counter> work = best.work;
  ScaledCost cost;
  for (const encoder::Counter& c : encoder::work_of_factors(a.rows(), a.cols(), a.value_type(), options.aim)) {
    if (c.name == "bytes") cost.vector_bytes = c.value;
    work.push_back(c);
  }
  cost.factors_seconds = encoder::predicted_seconds(work, encoder::profile_of(options.aim));
  cost.values = chosen_cost(with_scaled_values(a, options.threads), options, options.updatable);
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
  Projection(a, share, options, report).add(strategies);
  if (options.density) report.density = density_of(a, Density::picture, Density::picture, options.threads);
  if (options.transpose) report.transpose = transpose_cost(a, report.facts.bitwise_symmetry(), options);
  if (options.updatable) report.not_updatable = chosen_cost(a, options, false);
  if (options.scaled) report.scaled = scaled_cost(a, report.layouts[report.recommended], options);
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
  const std::optional<double> pjds = slots(layouts::pjds::layout.name), ell = slots(layouts::ell::layout.name);
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
