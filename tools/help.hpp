#pragma once
/// What -h and --help print, in lines of at most 80 columns.

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>

#include "commands/command.hpp"

namespace spmvpack::tools {

/// The commands, one line each; with `full`, also examples and exit codes.
std::string overview(std::span<const Command* const> commands, bool full);

/// The options that all commands take.
boost::program_options::options_description common_options();

/// Usage and options of a command; with `full`, also its details and the exit codes.
std::string command_help(const Command& command, bool full);

/// What `help layouts` prints: which matrices each layout suits.
std::string layouts_help();

/// What `help targets` prints: the names that --target takes. Completion reads them there.
std::string targets_help();

}  // namespace spmvpack::tools
