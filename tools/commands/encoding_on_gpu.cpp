#include "commands/encoding_on_gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <optional>

#include "commands/encoding.hpp"
#include "commands/tuning.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

/// What is known of a plan that was made elsewhere: its parts and the sizes of their sections.
encoder::Plan plan_of(const encoder::EncodeRequest& request, const std::vector<PartSource>& parts, format::Role role) {
  encoder::Plan plan;
  plan.strategy = request.strategy;
  for (const PartSource& part : parts) {
    if (part.info.role != role) continue;
    encoder::PartPlan& planned = plan.parts.emplace_back();
    planned.info = part.info;
    planned.sections.assign(part.sections.begin(), part.sections.end());
  }
  return plan;
}

}  // namespace

void add_device_option(po::options_description& options) {
  options.add_options()("device", po::value<std::string>()->default_value("host"));
}

bool read_device(const Invocation& invocation, const encoder::EncodeRequest& request) {
  if (read_machine("--device", invocation.text("device")) == encoder::Target::host) return false;
  const auto refuse = [](const char* option, const char* why) {
    throw Error(errc::usage, fmt::format("--device gpu with {}, {}", option, why), {}, "omit one of them");
  };
  if (request.aim.target == encoder::Target::host) refuse("a target that is a host", "whose plans only hosts make");
  if (invocation.options.count("ranks") != 0) refuse("--ranks", "which the host encodes");
  const auto layouts = gpu_encoder::layouts_on_device();
  if (std::find(layouts.begin(), layouts.end(), request.strategy) == layouts.end())
    throw Error(errc::unsupported,
                fmt::format("--device gpu with --layout {}, which only the host plans", request.strategy), {},
                fmt::format("name one of {}, or omit --device", fmt::join(layouts, ", ")));
  static_cast<void>(gpu_loader::device_name(0, "omit --device"));
  gpu_loader::require_device_code();
  return true;
}

encoder::EncodeResult encode_on_gpu(const SourceMatrix& source, const encoder::EncodeRequest& request,
                                    const std::string& output) {
  const CsrMatrix& a = source.matrix;
  const MemoryScope memory(request.memory_limit, "encoding");
  const Stopwatch planning;
  encoder::EncodeRequest of_device = request;
  of_device.codec = format::Codec::none;
  std::vector<PartSource> parts;
  {
    report_progress(request.progress, "encode", 0, 0);
    std::optional<CsrOnGpu> copy(a);
    const gpu_encoder::DeviceEncoded made =
        gpu_encoder::encode_on_device(copy->csr(), gpu_encoder::DeviceEncodeRequest::of(of_device));
    copy.reset();
    parts = made.matrix.part_sources();
  }
  encoder::EncodeResult result;
  result.plan = plan_of(request, parts, format::Role::a);
  if (encoder::Plan transpose = plan_of(request, parts, format::Role::transpose); !transpose.parts.empty())
    result.transpose = std::move(transpose);
  result.device_bytes = result.plan.device_bytes();
  result.csr_bytes = layouts::csr::device_bytes(a.rows, a.nnz(), a.value_type());
  result.plan_seconds = planning.seconds();

  const Stopwatch writing;
  report_progress(request.progress, "digest", 0, 0);
  const MatrixFacts facts = encoder::facts_of(source, request);
  result.symmetry = facts.symmetry == Symmetry::general ? facts.found : facts.symmetry;
  // Of no parts: those of the device follow.
  ContainerSource container = encoder::container_source(
      facts, source.provenance, {a, encoder::Plan{}},
      encoder::recorded(request, encoder::find_strategy(request.strategy)), {}, {}, source.share);
  container.parts = std::move(parts);
  result.file_bytes = write_container(output, container, encoder::write_options(request));
  result.comments_left_out = Container::open(output).provenance().comments_left_out;
  result.write_seconds = writing.seconds();
  return result;
}

}  // namespace spmvpack::tools
