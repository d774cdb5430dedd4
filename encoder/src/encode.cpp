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
  if (request.aim.columns != 1) text += fmt::format(" --columns {}", request.aim.columns);
  if (request.tuner) text += request.aim.target == Target::host ? " --tune host" : " --tune gpu";
  if (request.transpose) text += " --transpose";
  if (request.updatable) text += " --updatable";
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
  if (known == all.end() || !known->traits.aims || request.aim.optimize == Objective::bytes) return "";
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
  options.updatable = request.updatable;
  return options;
}

/// Error(errc::unsupported) if entries share values, of which a matrix that is to be updatable has none.
void check_updatable(const Plan& plan, std::string_view name) {
  if (plan.updatable()) return;
  throw Error(errc::unsupported,
              fmt::format("{}: entries have no values of their own in {}{}, and the matrix is to be updatable",
                          plan.strategy, plan.layouts(), name),
              {}, "use another layout, or leave out updatable");
}

/// The plan of `a` that `make()` makes, and which messages call `name`. Error(errc::unsupported) if it takes too much
/// room.
template <class Make>
Plan plan_of(const CsrView& a, const EncodeRequest& request, std::string_view name, Make&& make) {
  report_progress(request.progress, "plan", 0, 0);
  const MemoryScope memory(fmt::format("planning {}{}", request.strategy, name));
  Plan plan = make();
  if (request.updatable) check_updatable(plan, name);
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

// Field and symmetry are of values: see EncodeRequest::updatable.
Field field_for(const EncodeRequest& request, const CsrView& a, Field field) {
  return request.updatable ? field_of(a.value_type()) : field;
}
Symmetry symmetry_for(const EncodeRequest& request, Symmetry symmetry) {
  return request.updatable ? Symmetry::general : symmetry;
}
Symmetry found_for(const EncodeRequest& request, const CsrView& a, Symmetry symmetry) {
  return request.updatable ? Symmetry::general : found_in(a, symmetry, request.threads);
}

/// A matrix, and what its container says of it.
struct Described {
  CsrView a;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Provenance provenance = {};
  std::shared_ptr<const Share> share = {};
};

/// Plans and writes one matrix.
class MatrixEncoder {
 public:
  MatrixEncoder(const Described& matrix, const Strategy& strategy, const EncodeRequest& request)
      : m_(matrix),
        strategy_(strategy),
        request_(request),
        recorded_(recorded(request, strategy)),
        field_(field_for(request, matrix.a, matrix.field)),
        symmetry_(symmetry_for(request, matrix.symmetry)) {}

  /// `out` is a path or a ByteSink.
  template <class Output>
  EncodeResult operator()(Output& out) {
    auto start = std::chrono::steady_clock::now();
    report_progress(request_.progress, "check", 0, 0);
    m_.a.check(request_.threads);
    found_ = found_for(request_, m_.a, symmetry_);
    plan();
    plan_transpose();
    result_.plan_seconds = seconds_since(start);

    start = std::chrono::steady_clock::now();
    write(out);
    result_.write_seconds = seconds_since(start);
    return std::move(result_);
  }

 private:
  void plan() {
    result_.plan = plan_of(m_.a, request_, "", [&] { return request_.tuner ? tuned() : planned(m_.a); });
    result_.device_bytes = result_.plan.device_bytes();
    result_.csr_bytes = spmvpack::layouts::csr::device_bytes(m_.a.rows(), m_.a.nnz(), m_.a.value_type());
    result_.symmetry = symmetry_ == Symmetry::general ? found_ : symmetry_;
  }
  [[nodiscard]] Plan planned(const CsrView& a) const { return strategy_.plan(a, plan_options(request_)); }
  Plan tuned() {
    const MatrixFacts& of_matrix = facts();  // for the containers that are measured
    TunedPlan tuned = tuned_plan(m_.a, plan_options(request_), request_, [&](const Plan& plan) {
      return container_source(of_matrix, m_.provenance, {m_.a, plan}, recorded_, {}, {}, m_.share);
    });
    result_.tuning = std::move(tuned.tuning);
    return std::move(tuned.plan);
  }

  void plan_transpose() {
    if (!request_.transpose || result_.symmetry != Symmetry::general) return;
    transpose_ = transpose_of(m_.a, request_);
    result_.transpose = plan_of(transpose_, request_, " for the transpose", [&] { return planned(transpose_); });
    for (PartPlan& part : result_.transpose->parts) part.info.role = format::Role::transpose;
  }

  template <class Output>
  void write(Output& out) {
    const MatrixFacts& of_matrix = facts();
    std::optional<PlannedMatrix> transpose;
    if (result_.transpose) transpose.emplace(PlannedMatrix{transpose_, *result_.transpose});
    result_.comments_left_out =
        provenance_of(of_matrix, m_.provenance, result_.plan, recorded_, result_.tuning).comments_left_out;
    result_.file_bytes = write_container(out,
                                         container_source(of_matrix, m_.provenance, {m_.a, result_.plan}, recorded_,
                                                          transpose, result_.tuning, m_.share),
                                         write_options(request_));
  }

  /// Found once.
  const MatrixFacts& facts() {
    if (!facts_) {
      report_progress(request_.progress, "digest", 0, 0);
      facts_ = facts_of_view(m_.a, field_, symmetry_, found_, m_.share, request_.threads);
    }
    return *facts_;
  }

  const Described& m_;
  const Strategy& strategy_;
  const EncodeRequest& request_;
  EncodeRequest recorded_;  ///< what the provenance says of it
  Field field_;
  Symmetry symmetry_, found_ = Symmetry::general;
  std::optional<MatrixFacts> facts_;
  CsrMatrix transpose_;
  EncodeResult result_;
};

/// Error(errc::unsupported) if a request asks for what nothing does with complex values yet.
void check_complex(ValueType type, const EncodeRequest& request) {
  if (holds_complex(type) && request.updatable)
    throw Error(errc::unsupported,
                fmt::format("a matrix of complex values ({}) cannot be updatable yet", to_string(type)), {},
                "leave out updatable");
}

template <class Output>
EncodeResult encode_described(const Described& matrix, const Strategy& strategy, const EncodeRequest& request,
                              Output& out) {
  check_settings(request.settings, strategy);
  check_complex(matrix.a.value_type(), request);
  const MemoryScope memory(request.memory_limit, "encoding");
  return MatrixEncoder(matrix, strategy, request)(out);
}

Described described(const SourceMatrix& source) {
  return {source.matrix, source.field, source.symmetry, source.provenance, source.share};
}
/// Of a matrix in the caller's arrays.
Described described(const CsrView& a) {
  Described matrix{.a = a, .field = field_of(a.value_type())};
  matrix.provenance.entries = a.nnz();
  return matrix;
}

}  // namespace

std::optional<std::uint64_t> EncodeResult::pays_after() const {
  if (!plan.beside_csr) return {};
  return encoder::pays_after(plan_seconds + write_seconds, *plan.beside_csr);
}

EncodeRequest recorded(const EncodeRequest& request, const Strategy& strategy) {
  EncodeRequest own = request;
  own.settings = settings_of(strategy, request.settings);
  if (!strategy.traits.aims) own.aim = {};
  return own;
}

MatrixFacts facts_of(const SourceMatrix& source, int threads) {
  return facts_of_view(source.matrix, source.field, source.symmetry, found_in(source.matrix, source.symmetry, threads),
                       source.share, threads);
}

MatrixFacts facts_of(const SourceMatrix& source, const EncodeRequest& request) {
  const CsrView a = source.matrix;
  const Symmetry symmetry = symmetry_for(request, source.symmetry);
  return facts_of_view(a, field_for(request, a, source.field), symmetry, found_for(request, a, symmetry), source.share,
                       request.threads);
}

WriteOptions write_options(const EncodeRequest& request) {
  WriteOptions options;
  options.codec = request.codec;
  options.level = request.level;
  options.threads = request.threads;
  options.overwrite = request.overwrite;
  options.progress = request.progress;
  return options;
}

MatrixFacts facts_of(const CsrView& matrix, int threads) {
  return facts_of_view(matrix, field_of(matrix.value_type()), Symmetry::general,
                       found_in(matrix, Symmetry::general, threads), {}, threads);
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
  return encode_described(described(source), strategy, request, path);
}

EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, ByteSink& sink) {
  return encode(source, find_strategy(request.strategy), request, sink);
}

EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                    ByteSink& sink) {
  return encode_described(described(source), strategy, request, sink);
}

EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, const std::string& path) {
  return encode_described(described(matrix), find_strategy(request.strategy), request, path);
}

EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, ByteSink& sink) {
  return encode_described(described(matrix), find_strategy(request.strategy), request, sink);
}

}  // namespace spmvpack::encoder
