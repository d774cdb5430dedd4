#include "spmvpack/encoder/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/payback.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "tuning.hpp"

namespace spmvpack::encoder {
namespace {

std::string options_text(const EncodeRequest& request, ValueType type) {
  std::string text = fmt::format("--layout {}", request.strategy);
  for (const auto& [name, value] : request.settings) text += fmt::format(" --set {}={}", name, value);
  if (request.aim.optimize == Objective::bytes) text += " --optimize bytes";
  if (const std::string_view target = target_name(request.aim); target != "gpu")
    text += fmt::format(" --target {}", target);
  if (request.tuner) text += request.aim.target == Target::host ? " --tune host" : " --tune gpu";
  if (request.transpose) text += " --transpose";
  text += fmt::format(" --value-type {}", to_string(type));
  return text +
         (request.codec == format::Codec::none ? " --codec none" : fmt::format(" --codec zstd:{}", request.level));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What is found in a matrix whose source has the symmetry `said`.
Symmetry found_in(const CsrView& a, Symmetry said, int threads) {
  return said == Symmetry::general ? symmetry_of(a, threads) : Symmetry::general;
}

MatrixFacts facts_of_view(const CsrView& a, Field field, Symmetry symmetry, Symmetry found,
                          const std::shared_ptr<const Share>& share, int threads) {
  return {a.rows(),
          a.cols(),
          a.nnz(),
          a.value_type(),
          field,
          symmetry,
          content_digest(a, threads),
          found,
          share ? std::optional(share->facts) : std::nullopt};
}

/// The target, if plans depend on it: with one of our strategies that aims, for the least time. Empty otherwise.
std::string target_text(const EncodeRequest& request) {
  const std::span<const Strategy> all = strategies();
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Strategy& s) { return s.name == request.strategy; });
  if (known == all.end() || !known->aims || request.aim.optimize == Objective::bytes) return "";
  return std::string(target_name(request.aim));
}

/// What the container says of where the matrix came from.
Provenance provenance_of(const MatrixFacts& facts, const Provenance& source, const Plan& plan,
                         const EncodeRequest& request, const std::optional<Tuning>& tuning) {
  Provenance provenance = source;
  provenance.version = SPMVPACK_VERSION;
  provenance.options = options_text(request, facts.value_type);
  provenance.target = target_text(request);
  provenance.parts = plan.parts.size() > 1 ? plan.layouts() : "";
  provenance.measured_on = !request.tuner ? "" : request.tuner->machine.empty() ? "unnamed" : request.tuner->machine;
  provenance.measured = tuning ? measured_layouts(*tuning) : std::vector<MeasuredLayout>{};
  fit_comments(provenance);
  return provenance;
}

PlanOptions plan_options(const EncodeRequest& request) {
  PlanOptions options;
  options.threads = request.threads;
  options.settings = request.settings;
  options.progress = request.progress;
  options.aim = request.aim;
  return options;
}

/// The plan of `a` that `make()` makes, and which messages call `name`. Error(errc::unsupported) if it takes too much
/// room.
template <class Make>
Plan plan_of(const CsrView& a, const EncodeRequest& request, std::string_view name, Make&& make) {
  report_progress(request.progress, "plan", 0, 0);
  const MemoryScope memory(fmt::format("planning {}{}", request.strategy, name));
  Plan plan = make();
  const std::uint64_t bytes = plan.device_bytes();
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  if (!request.force_size && too_large(bytes, csr_bytes))
    throw Error(errc::unsupported,
                fmt::format("{} takes {} bytes{}, {} times the {} of csr", request.strategy, grouped(bytes), name,
                            grouped(bytes / csr_bytes), grouped(csr_bytes)),
                {}, "choose another layout, or allow it with --force-size (in C++ and C, force_size)");
  return plan;
}

CsrMatrix transpose_of(const CsrView& a, const EncodeRequest& request) {
  report_progress(request.progress, "transpose", 0, 0);
  const MemoryScope memory("the transpose");
  return transposed(a, request.threads);
}

/// `out` is a path or a ByteSink.
template <class Output>
EncodeResult encode_view(const CsrView& a, Field field, Symmetry symmetry, const Provenance& provenance,
                         const std::shared_ptr<const Share>& share, const Strategy& strategy,
                         const EncodeRequest& request, Output& out) {
  check_settings(request.settings, strategy);
  const MemoryScope memory(request.memory_limit, "encoding");
  auto start = std::chrono::steady_clock::now();
  report_progress(request.progress, "check", 0, 0);
  a.check(request.threads);
  const EncodeRequest told = recorded(request, strategy);
  EncodeResult result;
  const Symmetry found = found_in(a, symmetry, request.threads);
  std::optional<MatrixFacts> facts;
  const auto find_facts = [&] {
    if (facts) return;
    report_progress(request.progress, "digest", 0, 0);
    facts = facts_of_view(a, field, symmetry, found, share, request.threads);
  };
  result.plan = plan_of(a, request, "", [&] {
    if (!request.tuner) return strategy.plan(a, plan_options(request));
    find_facts();  // for the containers that are measured
    TunedPlan tuned = tuned_plan(a, plan_options(request), request, [&](const Plan& plan) {
      return container_source(*facts, provenance, {a, plan}, told, {}, {}, share);
    });
    result.tuning = std::move(tuned.tuning);
    return std::move(tuned.plan);
  });
  result.device_bytes = result.plan.device_bytes();
  result.csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  result.symmetry = symmetry == Symmetry::general ? found : symmetry;
  CsrMatrix transpose;
  std::optional<PlannedMatrix> planned_transpose;
  if (request.transpose && result.symmetry == Symmetry::general) {
    transpose = transpose_of(a, request);
    result.transpose = plan_of(transpose, request, " for the transpose",
                               [&] { return strategy.plan(transpose, plan_options(request)); });
    for (PartPlan& part : result.transpose->parts) part.info.role = format::Role::transpose;
    planned_transpose.emplace(PlannedMatrix{transpose, *result.transpose});
  }
  result.plan_seconds = seconds_since(start);

  start = std::chrono::steady_clock::now();
  find_facts();
  WriteOptions write;
  write.codec = request.codec;
  write.level = request.level;
  write.threads = request.threads;
  write.overwrite = request.overwrite;
  write.progress = request.progress;
  result.comments_left_out = provenance_of(*facts, provenance, result.plan, told, result.tuning).comments_left_out;
  result.file_bytes = write_container(
      out, container_source(*facts, provenance, {a, result.plan}, told, planned_transpose, result.tuning, share),
      write);
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

std::optional<std::uint64_t> EncodeResult::pays_after() const {
  if (!plan.beside_csr) return {};
  return encoder::pays_after(plan_seconds + write_seconds, *plan.beside_csr);
}

EncodeRequest recorded(const EncodeRequest& request, const Strategy& strategy) {
  EncodeRequest own = request;
  own.settings = settings_of(strategy, request.settings);
  if (!strategy.aims) own.aim = {};
  return own;
}

MatrixFacts facts_of(const SourceMatrix& source, int threads) {
  return facts_of_view(source.matrix, source.field, source.symmetry, found_in(source.matrix, source.symmetry, threads),
                       source.share, threads);
}

MatrixFacts facts_of(const CsrView& matrix, int threads) {
  return facts_of_view(matrix, Field::real, Symmetry::general, found_in(matrix, Symmetry::general, threads), {},
                       threads);
}

PartSource part_source(const PartPlan& plan, const CsrView& whole) {
  PartSource part{plan.info, {}};
  for (std::size_t i = 0; i < plan.sections.size(); ++i)
    part.sections.push_back({plan.sections[i], [&plan, whole, i](std::uint64_t begin, std::span<std::byte> out) {
                               fill_section(plan, whole, i, begin, out);
                             }});
  return part;
}

ContainerSource container_source(const MatrixFacts& facts, const Provenance& source, const PlannedMatrix& matrix,
                                 const EncodeRequest& request, const std::optional<PlannedMatrix>& transpose,
                                 const std::optional<Tuning>& tuning, const std::shared_ptr<const Share>& share) {
  ContainerSource out;
  out.facts = facts;
  for (const PartPlan& part : matrix.plan.parts) out.parts.push_back(part_source(part, matrix.a));
  if (transpose)
    for (const PartPlan& part : transpose->plan.parts) out.parts.push_back(part_source(part, transpose->a));
  out.file_sections = share_sections(share);
  out.file_sections.push_back(provenance_section(provenance_of(facts, source, matrix.plan, request, tuning)));
  return out;
}

EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, const std::string& path) {
  return encode(source, find_strategy(request.strategy), request, path);
}

EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                    const std::string& path) {
  return encode_view(source.matrix, source.field, source.symmetry, source.provenance, source.share, strategy, request,
                     path);
}

EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, ByteSink& sink) {
  return encode(source, find_strategy(request.strategy), request, sink);
}

EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                    ByteSink& sink) {
  return encode_view(source.matrix, source.field, source.symmetry, source.provenance, source.share, strategy, request,
                     sink);
}

EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, const std::string& path) {
  return encode_view(matrix, Field::real, Symmetry::general, provenance_of(matrix), {}, find_strategy(request.strategy),
                     request, path);
}

EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, ByteSink& sink) {
  return encode_view(matrix, Field::real, Symmetry::general, provenance_of(matrix), {}, find_strategy(request.strategy),
                     request, sink);
}

}  // namespace spmvpack::encoder
