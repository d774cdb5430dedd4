#pragma once

#include <csignal>
#include <string_view>

#include "spmvpack/container/error.hpp"

namespace spmvpack::tools {

/// The exit code after a signal: as a shell tells that it ended a process. May be called in a signal handler.
constexpr int interrupted_exit_code(int signal) noexcept { return 128 + signal; }

/// The exit code of `spmvpack` for an error: the one place where errc and exit codes meet. `signal` is the one that
/// made an errc::interrupted.
int exit_code(errc code, int signal = SIGINT) noexcept;

/// What --help says of the exit codes. README.md has the same table.
inline constexpr std::string_view exit_codes_help =
    "Exit codes:\n"
    "  0    done\n"
    "  1    the system refused to read or write, or the output exists already\n"
    "  2    usage: an unknown command or option, or a value that makes no sense\n"
    "  3    the input breaks its format, or is not a container\n"
    "  4    the container is corrupt, or 'verify --against' found another matrix\n"
    "  5    valid, but not supported by this version\n"
    "  6    no usable GPU\n"
    "  7    out of memory, or more than --memory-limit would be needed\n"
    "  70   internal error: a bug of spmvpack\n"
    "  130  interrupted (SIGTERM: 143, SIGHUP: 129); nothing half-written is left\n";

}  // namespace spmvpack::tools
