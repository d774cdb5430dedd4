#include "spmvpack/analyzer/report.hpp"

#include <algorithm>
#include <string>

#include "spmvpack/container/writer.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::analyzer {
namespace {

LayoutCost cost_of(const encoder::Plan& plan, const ContainerSource& container) {
  LayoutCost cost;
  cost.name = plan.part.layout;
  cost.device_bytes = plan.device_bytes();
  cost.file_bytes = file_bytes_uncompressed(container);
  cost.workspace_bytes = plan.part.workspace_bytes;
  cost.padding = plan.padding;
  if (plan.part.nnz != 0)
    cost.bytes_per_nonzero = static_cast<double>(cost.device_bytes) / static_cast<double>(plan.part.nnz);
  cost.byte_shares = plan.byte_shares;
  cost.counters = plan.counters;
  return cost;
}

}  // namespace

Report make_report(const SourceMatrix& source, const ReportOptions& options) {
  encoder::check_settings(options.settings);
  const std::span<const encoder::LayoutEncoder> encoders = encoder::layout_encoders();
  const std::uint64_t steps = 1 + encoders.size();
  const CsrView a = source.matrix.view();
  Report report;
  report.provenance = source.provenance;
  report_progress(options.progress, "analyze", 0, steps);
  report.structure = analyze(a, options.threads);

  encoder::PlanOptions plan_options;
  plan_options.threads = options.threads;
  plan_options.settings = options.settings;
  plan_options.values = report.structure.values;
  for (const encoder::LayoutEncoder& layout : encoders) {
    report_progress(options.progress, "analyze", 1 + report.layouts.size(), steps);
    const auto plan = layout.plan(a, plan_options);
    encoder::EncodeRequest request;
    request.layout = layout.name;
    for (const encoder::Setting& setting : layout.settings)
      if (const auto given = options.settings.find(std::string(setting.name)); given != options.settings.end())
        request.settings.insert(*given);
    const ContainerSource container = encoder::container_source(source, *plan, request, options.threads);
    report.facts = container.facts;
    report.layouts.push_back(cost_of(*plan, container));
  }
  const auto csr = std::find_if(report.layouts.begin(), report.layouts.end(),
                                [](const LayoutCost& cost) { return cost.name == "csr"; });
  if (csr == report.layouts.end()) throw Error(errc::internal, "csr, which layouts are compared with, is not planned");
  for (LayoutCost& cost : report.layouts)
    cost.overhead_percent = (static_cast<double>(cost.device_bytes) / static_cast<double>(csr->device_bytes) - 1) * 100;
  report_progress(options.progress, "analyze", steps, steps);
  return report;
}

}  // namespace spmvpack::analyzer
