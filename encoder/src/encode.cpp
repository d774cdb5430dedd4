#include "spmvpack/encoder/encode.hpp"

#include <fmt/format.h>

#include <chrono>

#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/text.hpp"

namespace spmvpack::encoder {
namespace {

std::string options_text(const EncodeRequest& request, ValueType type) {
  std::string text = fmt::format("--layout {}", request.strategy);
  for (const auto& [name, value] : request.settings) text += fmt::format(" --set {}={}", name, value);
  if (request.aim.optimize == Objective::bytes) text += " --optimize bytes";
  if (request.aim.target == Target::host) text += " --target host";
  text += fmt::format(" --value-type {}", to_string(type));
  return text +
         (request.codec == format::Codec::none ? " --codec none" : fmt::format(" --codec zstd:{}", request.level));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

MatrixFacts facts_of_view(const CsrView& a, Field field, Symmetry symmetry, int threads) {
  return {a.rows(), a.cols(), a.nnz(), a.value_type(), field, symmetry, content_digest(a, threads)};
}

/// `out` is a path or a ByteSink.
template <class Output>
EncodeResult encode_view(const CsrView& a, Field field, Symmetry symmetry, const Provenance& provenance,
                         const Strategy& strategy, const EncodeRequest& request, Output& out) {
  check_settings(request.settings, strategy);
  if (!strategy.chooses && request.aim != Aim{})
    throw Error(errc::usage, fmt::format("the layout {} has no aim", request.strategy), {},
                "omit it, or use the layout auto");
  auto start = std::chrono::steady_clock::now();
  report_progress(request.progress, "check", 0, 0);
  a.check(request.threads);
  report_progress(request.progress, "plan", 0, 0);
  EncodeResult result;
  PlanOptions plan;
  plan.threads = request.threads;
  plan.settings = request.settings;
  plan.progress = request.progress;
  plan.aim = request.aim;
  result.plan = strategy.plan(a, plan);
  result.device_bytes = result.plan.device_bytes();
  result.csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  if (!request.force_size && too_large(result.device_bytes, result.csr_bytes))
    throw Error(errc::unsupported,
                fmt::format("{} takes {} bytes, {} times the {} of csr", request.strategy, grouped(result.device_bytes),
                            grouped(result.device_bytes / result.csr_bytes), grouped(result.csr_bytes)),
                {}, "choose another layout, or force the size");
  result.plan_seconds = seconds_since(start);

  start = std::chrono::steady_clock::now();
  report_progress(request.progress, "digest", 0, 0);
  const MatrixFacts facts = facts_of_view(a, field, symmetry, request.threads);
  WriteOptions write;
  write.codec = request.codec;
  write.level = request.level;
  write.threads = request.threads;
  write.overwrite = request.overwrite;
  write.progress = request.progress;
  result.file_bytes = write_container(out, container_source(facts, provenance, result.plan, request), write);
  result.write_seconds = seconds_since(start);
  return result;
}

/// Of a matrix in the caller's arrays.
Provenance provenance_of(const CsrView& a) {
  Provenance provenance;
  provenance.entries = a.nnz();
  return provenance;
}

}  // namespace

MatrixFacts facts_of(const SourceMatrix& source, int threads) {
  return facts_of_view(source.matrix, source.field, source.symmetry, threads);
}

MatrixFacts facts_of(const CsrView& matrix, int threads) {
  return facts_of_view(matrix, Field::real, Symmetry::general, threads);
}

ContainerSource container_source(const MatrixFacts& facts, const Provenance& source, const Plan& plan,
                                 const EncodeRequest& request) {
  ContainerSource out;
  out.facts = facts;
  for (const PartPlan& part : plan.parts) out.parts.push_back({part.info, part.sections});
  Provenance provenance = source;
  provenance.version = SPMVPACK_VERSION;
  provenance.options = options_text(request, facts.value_type);
  provenance.parts = plan.parts.size() > 1 ? plan.layouts() : "";
  out.file_sections.push_back(provenance_section(provenance));
  return out;
}

EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, const std::string& path) {
  return encode(source, find_strategy(request.strategy), request, path);
}

EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                    const std::string& path) {
  return encode_view(source.matrix, source.field, source.symmetry, source.provenance, strategy, request, path);
}

EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, ByteSink& sink) {
  return encode_view(source.matrix, source.field, source.symmetry, source.provenance, find_strategy(request.strategy),
                     request, sink);
}

EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, const std::string& path) {
  return encode_view(matrix, Field::real, Symmetry::general, provenance_of(matrix), find_strategy(request.strategy),
                     request, path);
}

EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, ByteSink& sink) {
  return encode_view(matrix, Field::real, Symmetry::general, provenance_of(matrix), find_strategy(request.strategy),
                     request, sink);
}

}  // namespace spmvpack::encoder
