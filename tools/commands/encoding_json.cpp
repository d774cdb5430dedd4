#include "commands/encoding_json.hpp"

#include "json.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::tools {
namespace {

Json plan_json(const encoder::Plan& plan) {
  Json parts = Json::array();
  for (const encoder::PartPlan& part : plan.parts)
    parts.push_back({{"layout", part.info.layout},
                     {"rows", part.info.rows.count},
                     {"columns", part.info.cols.count},
                     {"nonzeros", part.info.nnz},
                     {"device_bytes", part.device_bytes()},
                     {"padding", part.padding},
                     {"counters", counters_json(part.counters)}});
  return {{"layout", plan.strategy},           {"made_with", plan.made_with},         {"reason", plan.reason},
          {"parts_reason", plan.parts_reason}, {"device_bytes", plan.device_bytes()}, {"parts", std::move(parts)}};
}

Json tuning_json(const encoder::Tuning& tuning) {
  Json layouts = Json::array();
  for (const encoder::TunedLayout& layout : tuning.layouts)
    layouts.push_back({{"layout", layout.name},
                       {"device_bytes", layout.device_bytes},
                       {"predicted_seconds", layout.predicted_seconds},
                       {"seconds", layout.times ? Json(layout.times->mean()) : Json(nullptr)},
                       {"cold_seconds", layout.times ? Json(layout.times->cold) : Json(nullptr)},
                       {"warm_seconds", layout.times ? Json(layout.times->warm) : Json(nullptr)},
                       {"refusal", layout.refusal.empty() ? Json(nullptr) : Json(layout.refusal)}});
  return {{"machine", tuning.machine}, {"chosen", tuning.chosen}, {"layouts", std::move(layouts)}};
}

Json multiply_json(const encoder::EncodeResult& result) {
  if (!result.plan.beside_csr) return nullptr;
  const encoder::BesideCsr& beside = *result.plan.beside_csr;
  return {{"seconds", beside.seconds},
          {"csr_seconds", beside.csr_seconds},
          {"measured", beside.measured},
          {"pays_after", optional_json(result.pays_after())}};
}

}  // namespace

std::string to_json(const EncodedFile& file) {
  const encoder::EncodeResult& result = file.result;
  const CsrMatrix& m = file.source.matrix;
  const encoder::Aim& aim = file.request.aim;
  Json json{
      {"schema", "spmvpack-encode-1"},
      {"version", file.version},
      {"file", file.output},
      {"matrix",
       {{"rows", m.rows}, {"columns", m.cols}, {"nonzeros", m.nnz()}, {"value_type", to_string(m.value_type())}}},
      {"optimize", aim.optimize == encoder::Objective::time ? "time" : "bytes"},
      {"target", encoder::target_name(aim)},
      {"profile", encoder::profile_of(aim).id},
      {"plan", plan_json(result.plan)},
      {"transpose", result.transpose ? plan_json(*result.transpose) : Json(nullptr)},
      {"multiply", multiply_json(result)},
      {"tuning", result.tuning ? tuning_json(*result.tuning) : Json(nullptr)},
      {"csr_bytes", result.csr_bytes},
      {"file_bytes", result.file_bytes},
      {"seconds", {{"source", file.source_seconds}, {"plan", result.plan_seconds}, {"write", result.write_seconds}}}};
  if (aim.columns != 1) json["columns"] = aim.columns;
  if (file.request.updatable) json["updatable"] = true;
  // Names that are not UTF-8 must not make the output something else than JSON.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace spmvpack::tools
