#include "commands/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/timing.hpp"
#include "spmvpack/host_loader/timing.hpp"

namespace spmvpack::tools {
namespace po = boost::program_options;

encoder::Target read_machine(std::string_view option, const std::string& machine) {
  if (machine != "gpu" && machine != "host")
    throw Error(errc::usage, fmt::format("{} is '{}'", option, escape(machine)), {}, "give gpu or host");
  return machine == "host" ? encoder::Target::host : encoder::Target::gpu;
}

encoder::Tuner tuner_of(encoder::Target target, int threads, std::string_view option) {
  if (target == encoder::Target::gpu)
    return {gpu_loader::device_name(0, fmt::format("use {} host", option)), gpu_loader::measure_on_device(0, threads)};
  return {host_loader::processor_name(), host_loader::measure_on_host(threads)};
}

void add_tune_option(po::options_description& options) {
  options.add_options()("tune", po::value<std::string>()->value_name("gpu|host"),
                        "let auto measure here, for about 1 s");
}

void read_tuner(const Invocation& invocation, encoder::EncodeRequest& request) {
  if (invocation.options.count("tune") == 0) return;
  const std::string& machine = invocation.text("tune");
  const encoder::Target target = read_machine("--tune", machine);
  if (request.strategy != "auto")
    throw Error(errc::usage, fmt::format("--tune with --layout {}, which leaves no choice", request.strategy), {},
                "omit one of them");
  if (request.aim.optimize == encoder::Objective::bytes)
    throw Error(errc::usage, "--tune with --optimize bytes, which needs no measuring", {}, "omit one of them");
  encoder::set_tuned_target(request.aim, target, !invocation.options["target"].defaulted());
  request.tuner = tuner_of(target, invocation.threads, "--tune");
}

std::string tuning_text(const encoder::Tuning& tuning) {
  std::size_t width = 0;
  for (const encoder::TunedLayout& layout : tuning.layouts) width = std::max(width, layout.name.size());
  std::string text;
  for (std::size_t i = 0; i < tuning.layouts.size(); ++i) {
    const encoder::TunedLayout& layout = tuning.layouts[i];
    text += fmt::format("  {:<7}  {:<{}}  ", i == 0 ? "tuned" : "", layout.name, width);
    if (layout.times)
      text += fmt::format("{} (cold {}, warm {}; predicted {}){}\n", time_text(layout.times->mean()),
                          time_text(layout.times->cold), time_text(layout.times->warm),
                          time_text(layout.predicted_seconds), i == tuning.chosen ? ", taken" : "");
    else
      text += fmt::format("not measured: {}\n", layout.refusal);
  }
  return text;
}

}  // namespace spmvpack::tools
