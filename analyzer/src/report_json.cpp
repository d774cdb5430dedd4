#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/base/value_text.hpp"
#include "spmvpack/json/json.hpp"

namespace spmvpack::analyzer {
namespace {

Json row_lengths_json(const RowLengths& lengths) {
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < lengths.percentiles.size(); ++i)
    percentiles[fmt::to_string(RowLengths::ranks.at(i))] = lengths.percentiles.at(i);
  Json histogram = Json::array();
  for (std::size_t bin = 0; bin < lengths.histogram.size(); ++bin) {
    const std::uint64_t from = bin == 0 ? 0 : std::uint64_t{1} << (bin - 1);
    histogram.push_back({{"from", from}, {"to", bin == 0 ? 0 : 2 * from - 1}, {"rows", lengths.histogram[bin]}});
  }
  return {{"min", lengths.min},         {"max", lengths.max},     {"mean", lengths.mean},
          {"percentiles", percentiles}, {"histogram", histogram}, {"relative", lengths.relative}};
}

Json symmetry_json(const Structure& s) {
  const std::optional<SymmetryCounts>& symmetry = s.symmetry;
  if (!symmetry) return nullptr;
  Json json{{"pattern_symmetric", symmetry->pattern_symmetric()},
            {"symmetric", symmetry->symmetric()},
            {"skew_symmetric", symmetry->skew_symmetric()},
            {"off_diagonal", symmetry->off_diagonal},
            {"mirrored", symmetry->mirrored},
            {"equal", symmetry->equal},
            {"negated", symmetry->negated}};
  if (holds_complex(s.value_type))
    json.update({{"hermitian", symmetry->hermitian()}, {"conjugated", symmetry->conjugated}});
  return json;
}

Json values_json(const Structure& s) {
  const encoder::ValueTable& values = *s.values;
  constexpr std::size_t listed = 8;
  Json frequent = Json::array();
  for (const encoder::ValueCount& v : values.most_frequent().first(std::min(listed, values.most_frequent().size())))
    // As text: JSON has no NaN, and its readers may round.
    frequent.push_back(
        {{"value",
          dispatch_any(s.value_type, [&]<class T>(T) { return value_text(encoder::value_of_bits<T>(v.bits)); })},
         {"entries", v.count}});
  return {{"distinct", values.exceeds() ? Json(nullptr) : Json(values.distinct())},
          {"distinct_exceeds", values.exceeds() ? Json(encoder::ValueTable::max_distinct) : Json(nullptr)},
          {"covered_by_256", values.covered(encoder::ValueTable::max_frequent)},
          {"most_frequent", frequent},
          {"explicit_zeros", s.explicit_zeros},
          {"not_finite", s.not_finite}};
}

Json structure_json(const Structure& s) {
  return {{"density", optional_json(s.density)},
          {"row_lengths", row_lengths_json(s.row_lengths)},
          {"empty_rows", s.empty_rows},
          {"empty_columns", s.empty_cols},
          {"lower_bandwidth", s.lower_bandwidth},
          {"upper_bandwidth", s.upper_bandwidth},
          {"diagonal_entries", s.diagonal_entries},
          {"symmetry", symmetry_json(s)},
          {"values", values_json(s)}};
}

Json map_json(const IndexMap& map) {
  constexpr std::array<std::string_view, 3> names{"all", "range", "list"};
  return {{"map", names.at(static_cast<std::size_t>(map.kind))}, {"begin", map.begin}, {"count", map.count}};
}

Json parts_json(const LayoutCost& cost) {
  Json parts = Json::array();
  for (const PartCost& part : cost.parts)
    parts.push_back({{"layout", part.info.layout},
                     {"rows", map_json(part.info.rows)},
                     {"columns", map_json(part.info.cols)},
                     {"nonzeros", part.info.nnz},
                     {"device_bytes", part.device_bytes},
                     {"workspace_bytes", optional_json(part.workspace_bytes)}});
  return parts;
}

Json bound_json(const std::optional<BalanceBound>& bound) {
  if (!bound) return nullptr;
  return {{"alpha", bound->alpha},
          {"bytes_per_flop", bound->bytes_per_flop},
          {"multiply_seconds", bound->multiply_seconds},
          {"gflops", bound->gflops},
          {"gflops_with_copies", bound->gflops_with_copies},
          {"copies_dominate_below", bound->dominated_below},
          {"copies_within_tenth_from", bound->tenth_from}};
}

Json balance_json(const Balance& b) {
  return {{"memory_bytes_per_second", b.speeds.memory},
          {"pcie_bytes_per_second", b.speeds.pcie},
          {"x_cache_bytes", balance_cache_bytes},
          {"x_line_bytes", balance_line_bytes},
          {"x_lines", b.x_lines},
          {"alpha", optional_json(b.alpha)},
          {"bytes_per_flop", optional_json(b.bytes_per_flop)},
          {"multiply_seconds", b.multiply_seconds},
          {"copy_seconds", b.copy_seconds},
          {"copies_dominate", b.copies_dominate()},
          {"copies_dominate_below", optional_json(b.dominated_below)},
          {"copies_within_tenth_from", optional_json(b.tenth_from)},
          {"worst", bound_json(b.worst)},
          {"best", bound_json(b.best)}};
}

Json time_model_json(const Report& report) {
  Json prices = Json::object();
  const encoder::Profile& profile = encoder::profile_of(report.aim);
  for (const std::string_view unit : encoder::units()) prices[std::string(unit)] = profile.price(unit);
  Json json{{"optimize", report.aim.optimize == encoder::Objective::time ? "time" : "bytes"},
            {"target", report.aim.target == encoder::Target::gpu ? "gpu" : "host"},
            {"profile", profile.id},
            {"machine", profile.machine},
            {"x_caches",
             {{"device_bytes", profile.x_caches.device_bytes},
              {"block_bytes", profile.x_caches.block_bytes},
              {"chunk_bytes", profile.x_caches.chunk_bytes}}},
            {"x_sectors_from_memory", report.x_sectors.from_memory},
            {"x_sectors_from_l2", report.x_sectors.from_l2},
            {"x_sectors_of_chunks", report.x_sectors.of_chunks},
            {"x_sectors_of_warps", report.x_sectors.of_warps},
            {"picoseconds", std::move(prices)}};
  if (report.aim.columns != 1) json["columns"] = report.aim.columns;
  return json;
}

Json chosen_json(const ChosenCost& cost, bool stored = true) {
  return {{"layout", stored ? Json(cost.layout) : Json(nullptr)},
          {"reason", stored ? Json(cost.reason) : Json(nullptr)},
          {"device_bytes", cost.device_bytes},
          {"bytes_per_nonzero", optional_json(cost.bytes_per_nonzero)},
          {"predicted_us", stored ? Json(1e6 * cost.predicted_seconds) : Json(nullptr)}};
}

Json transpose_json(const TransposeCost& cost) {
  Json json{{"symmetry", to_string(cost.symmetry)}};
  json.update(chosen_json(cost, cost.symmetry == Symmetry::general));
  return json;
}

Json facts_json(const MatrixFacts& f) {
  return {{"rows", f.rows},
          {"columns", f.cols},
          {"nonzeros", f.nnz},
          {"value_type", to_string(f.value_type)},
          {"field", to_string(f.field)},
          {"symmetry", to_string(f.symmetry)},
          {"digest", f.digest.to_string()}};
}

}  // namespace

std::string to_json(const Report& report) {
  const Provenance& p = report.provenance;
  Json refused = Json::array();
  for (const Refusal& refusal : report.refused) refused.push_back({{"name", refusal.name}, {"reason", refusal.reason}});
  Json layouts = Json::array();
  for (const LayoutCost& cost : report.layouts)
    layouts.push_back({{"name", cost.name},
                       {"device_bytes", cost.device_bytes},
                       {"bytes_per_nonzero", optional_json(cost.bytes_per_nonzero)},
                       {"bytes_percent_of_csr", 100 * cost.bytes_of_csr},
                       {"overhead_percent", cost.overhead_percent},
                       {"file_bytes", cost.file_bytes},
                       {"workspace_bytes", optional_json(cost.workspace_bytes)},
                       {"published_bytes", optional_json(cost.published_bytes)},
                       {"published_reduction_percent", optional_json(cost.published_reduction_percent)},
                       {"padding_slots", cost.padding},
                       {"padding_percent", optional_json(cost.padding_percent)},
                       {"too_large", cost.too_large},
                       {"fill_reads_x", cost.fill_reads_x},
                       {"updatable", cost.updatable},
                       {"update_keeps_zeros", cost.holds_by_bits},
                       {"predicted_us", 1e6 * cost.predicted_seconds},
                       {"time_percent_of_csr", cost.time_of_csr ? Json(100 * *cost.time_of_csr) : Json(nullptr)},
                       {"encode_seconds", optional_json(cost.encode_seconds)},
                       {"pays_after_multiplies", optional_json(cost.pays_after)},
                       {"work", counters_json(cost.work)},
                       {"byte_shares", counters_json(cost.byte_shares)},
                       {"counters", counters_json(cost.counters)},
                       {"parts", parts_json(cost)},
                       {"parts_reason", cost.parts_reason.empty() ? Json(nullptr) : Json(cost.parts_reason)}});
  Json json{{"schema", "spmvpack-report-1"},
            {"name", report.name},
            {"matrix", facts_json(report.facts)},
            {"source",
             {{"name", p.source},
              {"entries", p.entries},
              {"duplicates", p.duplicates},
              {"rounded", p.rounded},
              {"max_relative_error", p.max_relative_error}}},
            {"structure", structure_json(report.structure)},
            {"recommended",
             {{"layout", report.layouts[report.recommended].name},
              {"reason", report.reason},
              {"file_bytes", report.recommended_file_bytes},
              {"encode_seconds", optional_json(report.recommended_encode_seconds)},
              {"pays_after_multiplies", optional_json(report.recommended_pays_after)}}},
            {"time_model", time_model_json(report)},
            {"layouts", layouts},
            {"refused", refused},
            {"data_reduction_pjds", optional_json(report.data_reduction_pjds)},
            {"code_balance", balance_json(report.balance)}};
  if (report.transpose) json["transpose"] = transpose_json(*report.transpose);
  if (report.not_updatable) json["not_updatable"] = chosen_json(*report.not_updatable);
  if (report.scaled)
    json["scaled"] = {
        {"factors_pay", report.scaled->factors_pay()},
        {"factors",
         {{"vector_bytes", report.scaled->vector_bytes}, {"predicted_us", 1e6 * report.scaled->factors_seconds}}},
        {"values", chosen_json(report.scaled->values)}};
  // Text from the source that is not UTF-8 must not make the output invalid JSON.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace spmvpack::analyzer
