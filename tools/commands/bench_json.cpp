#include <cmath>

#include "bench/summary.hpp"
#include "commands/bench_output.hpp"
#include "spmvpack/json/json.hpp"

namespace spmvpack::tools {

using namespace bench;  // what was measured

namespace {

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json sample_json(const Sample& s) {
  constexpr double us = 1e6;
  return {{"median", s.median * us}, {"min", s.min * us}, {"max", s.max * us}};
}

Json ratios_json(const Ratios& r) {
  return {{"over_csr_alg2", number(r.over_csr_alg2)},
          {"over_faster_csr", number(r.over_faster_csr)},
          {"over_csr_bsr", number(r.over_csr_bsr)},
          {"over_sell", number(r.over_sell)},
          {"over_best", number(r.over_best)}};
}

Json result_json(const MatrixResult& m, const Result& r, const Speeds& s) {
  Json json{{"by", r.by}, {"layout", r.layout}, {"kernel", r.kernel}};
  json["determinism"] = r.bitwise ? Json(*r.bitwise ? "bitwise" : "not_guaranteed") : Json(nullptr);
  json["skipped"] = r.ran() ? Json(nullptr) : Json(r.skipped);
  if (!r.ran()) return json;
  const double speed = static_cast<double>(r.moved_bytes) / r.cold.median;
  json["device_bytes"] = r.device_bytes;
  json["workspace_bytes"] = r.workspace_bytes;
  json["moved_bytes"] = r.moved_bytes;
  json["cold"] = sample_json(r.cold);
  json["warm"] = sample_json(r.warm);
  if (r.host_vectors.median != 0) {
    json["host_vectors"] = sample_json(r.host_vectors);
    json["host_vectors_predicted"] = 1e6 * with_copies(m, r, s);
  }
  json["gflops"] = 1e-9 * m.flops() / r.cold.median;
  json["gbytes_per_second"] = 1e-9 * speed;
  json["share_of_copy"] = speed / s.copy_speed();
  json["share_of_floor"] = r.floor / r.cold.median;
  json["correct"] = r.correct();
  json["worst_error_over_bound"] = number(r.worst_error);
  json["repeats_bitwise"] = r.repeats;
  json["ratios"] = r.by == "spmvpack" ? ratios_json(ratios(m, r)) : Json(nullptr);
  return json;
}

Json matrix_json(const MatrixResult& m, const Speeds& s) {
  Json results = Json::array();
  for (const Result& r : m.results) results.push_back(result_json(m, r, s));
  const Result* const best = best_peer(m);
  const bool floors = m.right_hand_sides == 1;
  return {{"name", m.name},
          {"group", m.group.empty() ? Json(nullptr) : Json(m.group)},
          {"added", m.added},
          {"l2_resident", m.l2_resident()},
          {"source", m.source},
          {"rows", m.rows},
          {"columns", m.cols},
          {"nonzeros", m.nnz},
          {"value_type", to_string(m.value_type)},
          {"vector_type", to_string(m.vector_type)},
          {"csr_bytes", m.csr_bytes},
          {"x_sectors", m.x_sectors},
          {"x_lines", m.x_lines},
          {"l2_floor", s.l2_bytes == 0 || !floors ? Json(nullptr) : Json(m.x_floors.l2 * 1e6)},
          {"gather_floor", s.gathers == 0 || !floors ? Json(nullptr) : Json(m.x_floors.gathers * 1e6)},
          {"seconds", {{"make", m.make_seconds}, {"total", m.total_seconds}}},
          {"best_peer", best == nullptr ? Json(nullptr) : Json(best->layout)},
          {"results", results}};
}

Json summary_json(std::span<const MatrixResult> matrices) {
  Json json = Json::array();
  for (const KernelSummary& kernel : summarise_suite(matrices)) {
    Json sets = Json::array();
    for (const Means& m : kernel.sets)
      sets.push_back({{"set", m.set},
                      {"members", m.members},
                      {"geometric_mean", ratios_json(m.mean)},
                      {"least", ratios_json(m.least)}});
    json.push_back({{"layout", kernel.layout}, {"kernel", kernel.kernel}, {"sets", sets}});
  }
  return json;
}

}  // namespace

std::string to_json(const BenchRun& run) {
  const Speeds& s = run.speeds;
  Json details = Json::object(), matrices = Json::array();
  for (const auto& [what, value] : run.machine.details) details[what] = value;
  for (const MatrixResult& m : run.matrices) matrices.push_back(matrix_json(m, s));
  const bool l2 = s.l2_bytes != 0, gathers = s.gathers != 0;
  const auto link_json = [&](const Sample& sample, double speed) {
    return Json{{"bytes", s.link_bytes}, {"microseconds", sample_json(sample)}, {"gbytes_per_second", 1e-9 * speed}};
  };
  Json json{
      {"schema", "spmvpack-bench-3"},
      {"version", run.version},
      {"machine", {{"kind", run.machine.kind}, {"name", run.machine.name}, {"details", details}}},
      {"copy",
       {{"bytes", s.copy_bytes}, {"microseconds", sample_json(s.copy)}, {"gbytes_per_second", 1e-9 * s.copy_speed()}}},
      {"l2",
       l2 ? Json{{"bytes", s.l2_bytes}, {"microseconds", sample_json(s.l2)}, {"gbytes_per_second", 1e-9 * s.l2_speed()}}
          : Json(nullptr)},
      {"gathers", gathers ? Json{{"count", s.gathers},
                                 {"microseconds", sample_json(s.gather)},
                                 {"gelements_per_second", 1e-9 * s.gather_speed()}}
                          : Json(nullptr)},
      {"runs", run.runs},
      {"seed", run.seed},
      {"target", run.target},
      {"seconds", run.seconds},
      {"matrices", matrices},
      {"summary", run.suite ? summary_json(run.matrices) : Json(nullptr)}};
  if (run.columns != 1) json["columns"] = run.columns;
  if (run.updatable) json["updatable"] = true;
  if (s.link_bytes != 0)
    json["link"] = {{"to_device", link_json(s.to_device, s.to_device_speed())},
                    {"from_device", link_json(s.from_device, s.from_device_speed())}};
  // Names that are not UTF-8 must not make the output something else than JSON.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace spmvpack::tools
