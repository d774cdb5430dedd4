#include "spmvpack/encoder/encode.hpp"

#include <fmt/format.h>

#include <string>

namespace spmvpack::encoder {
namespace {

std::string options_text(const EncodeRequest& request, ValueType type) {
  std::string text = fmt::format("--layout {}", request.layout);
  for (const auto& [name, value] : request.settings) text += fmt::format(" --set {}={}", name, value);
  text += fmt::format(" --value-type {}", to_string(type));
  return text +
         (request.codec == format::Codec::none ? " --codec none" : fmt::format(" --codec zstd:{}", request.level));
}

}  // namespace

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
