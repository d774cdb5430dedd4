#include "spmvpack/encoder/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "spmvpack/container/parallel.hpp"
#include "spmvpack/container/reader.hpp"
#include "spmvpack/encoder/matrix_market.hpp"

namespace spmvpack::encoder {
namespace {

bool is_container(const std::string& path) {
  const auto file = open_file(path);
  std::array<std::uint8_t, format::magic.size()> start{};
  if (file->size() < start.size()) return false;
  file->read(0, std::as_writable_bytes(std::span(start)));
  return start == format::magic;
}

/// The matrix with f64 values rounded to f32; the provenance says how much was lost.
void round_to_f32(SourceMatrix& source, const std::string& path, int threads) {
  CsrMatrix& m = source.matrix;
  const auto& from = std::get<Array<double>>(m.values);
  Array<float> to(from.size());
  std::mutex guard;
  Provenance& p = source.provenance;
  p.rounded = 0;
  p.max_relative_error = 0;
  p.explicit_zeros = 0;
  constexpr std::uint64_t piece = 1U << 16;
  parallel_pieces(from.size(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t rounded = 0, zeros = 0;
    double worst = 0;
    for (std::uint64_t k = begin; k < end; ++k) {
      to[k] = static_cast<float>(from[k]);
      zeros += to[k] == 0 ? 1 : 0;
      if (std::isinf(to[k]) && !std::isinf(from[k]))
        throw Error(errc::bad_input, fmt::format("the value {} of entry {} is beyond f32", from[k], k), path,
                    "use --value-type f64");
      const double kept = to[k];
      if (std::isnan(kept) || kept == from[k]) continue;
      ++rounded;
      worst = std::max(worst, std::abs((kept - from[k]) / from[k]));
    }
    const std::lock_guard lock(guard);
    p.rounded += rounded;
    p.explicit_zeros += zeros;
    p.max_relative_error = std::max(p.max_relative_error, worst);
  });
  m.values = std::move(to);
}

SourceMatrix read_container(const std::string& path, const SourceOptions& options) {
  const Container container = Container::open(path);
  LoadOptions load;
  load.threads = options.threads;
  load.memory_limit = options.memory_limit;
  load.progress = options.progress;
  SourceMatrix source{unpack(container, load), container.facts().field, container.facts().symmetry,
                      container.provenance()};
  const ValueType has = container.facts().value_type, wanted = options.value_type.value_or(has);
  if (has == ValueType::f32 && wanted == ValueType::f64)
    throw Error(errc::usage, "the container holds f32 values, and the digits that f64 needs are lost", path,
                "encode the original source, or leave out --value-type");
  if (has == ValueType::f64 && wanted == ValueType::f32) round_to_f32(source, path, options.threads);
  return source;
}

std::string options_text(const EncodeRequest& request, ValueType type) {
  std::string text = fmt::format("--layout {}", request.layout);
  for (const auto& [name, value] : request.settings) text += fmt::format(" --set {}={}", name, value);
  text += fmt::format(" --value-type {}", to_string(type));
  return text +
         (request.codec == format::Codec::none ? " --codec none" : fmt::format(" --codec zstd:{}", request.level));
}

}  // namespace

SourceMatrix read_matrix(const std::string& path, const SourceOptions& options) {
  if (is_container(path)) return read_container(path, options);
  MatrixMarketOptions text;
  text.value_type = options.value_type.value_or(ValueType::f64);
  text.threads = options.threads;
  text.memory_limit = options.memory_limit;
  text.progress = options.progress;
  return read_matrix_market(path, text);
}

ContainerSource container_source(const SourceMatrix& source, const Plan& plan, const EncodeRequest& request,
                                 int threads) {
  ContainerSource out;
  const CsrMatrix& m = source.matrix;
  out.facts = {m.rows, m.cols, m.nnz(), m.value_type(), source.field, source.symmetry, content_digest(m, threads)};
  PartSource part{plan.part, plan.sections};
  for (std::size_t i = 0; i < part.sections.size(); ++i)
    part.sections[i].fill = [&plan, i](std::uint64_t begin, std::span<std::byte> bytes) { plan.fill(i, begin, bytes); };
  out.parts.push_back(std::move(part));
  Provenance provenance = source.provenance;
  provenance.version = SPMVPACK_VERSION;
  provenance.options = options_text(request, m.value_type());
  out.file_sections.push_back(provenance_section(provenance));
  return out;
}

}  // namespace spmvpack::encoder
