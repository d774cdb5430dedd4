#pragma once
/// What measures multiplies here, and the option --tune: a layout by measured times.

#include "commands/command.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::tools {

/// The machine that an option names: gpu or host. Error(errc::usage).
encoder::Target read_machine(std::string_view option, const std::string& machine);
/// What measures on the first GPU or on this processor. errc::unsupported in a build without CUDA, or errc::no_device;
/// `option` is what names another machine.
encoder::Tuner tuner_of(encoder::Target target, int threads, std::string_view option);

void add_tune_option(boost::program_options::options_description& options);
/// Makes the request that the other options have made one for --tune, if it is given. Error(errc::usage) if they do not
/// go together; errc::unsupported in a build without CUDA, or errc::no_device, with --tune gpu.
void read_tuner(const Invocation& invocation, encoder::EncodeRequest& request);

/// What was measured, for the summary of `encode`.
std::string tuning_text(const encoder::Tuning& tuning);

}  // namespace spmvpack::tools
