#pragma once
/// The option --tune: a layout by measured times.

#include "commands/command.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::tools {

void add_tune_option(boost::program_options::options_description& options);
/// Makes the request that the other options have made one for --tune, if it is given. Error(errc::usage) if they do not
/// go together; errc::unsupported in a build without CUDA, or errc::no_device, with --tune gpu.
void read_tuner(const Invocation& invocation, encoder::EncodeRequest& request);

/// What was measured, for the summary of `encode`.
std::string tuning_text(const encoder::Tuning& tuning);

}  // namespace spmvpack::tools
