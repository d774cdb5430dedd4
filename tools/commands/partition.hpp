#pragma once
/// Shared by the commands that cut a matrix into the shares of several ranks.

#include <cstdint>

#include "commands/command.hpp"
#include "spmvpack/encoder/partition.hpp"

namespace spmvpack::tools {

/// Adds --ranks and --partition, which details() of a command describe.
void add_partition_options(boost::program_options::options_description& options);
/// The number of ranks, or 0 if none is asked for. Error(errc::usage), also for --partition without --ranks.
std::uint64_t read_ranks(const Invocation& invocation);
/// The partition that the options make.
encoder::Partition partition(const CsrView& a, std::uint64_t ranks, const Invocation& invocation);

/// Writes a container for each rank and prints a summary. An existing output is only overwritten with --force.
void encode_ranks_and_tell(const SourceMatrix& source, const encoder::EncodeRequest& request, const std::string& output,
                           std::uint64_t ranks, const Invocation& invocation);

}  // namespace spmvpack::tools
