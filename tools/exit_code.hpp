#pragma once

#include <csignal>
#include <string_view>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::tools {

/// The exit code after a signal, by the convention of shells. Safe to call from a signal handler.
constexpr int interrupted_exit_code(int signal) noexcept { return 128 + signal; }

/// The exit code of `spmvpack` for an error; the only place that maps errc to exit codes. `signal` is the one that
/// caused an errc::interrupted.
int exit_code(errc code, int signal = SIGINT) noexcept;

/// What --help says about exit codes. README.md has the same table.
inline constexpr std::string_view exit_codes_help =
    "Exit codes:\n"
    "  0    done\n"
    "  1    I/O error, or the output already exists\n"
    "  2    usage error: unknown command or option, or invalid value\n"
    "  3    the input violates its format, or is not a container\n"
    "  4    the container is corrupt, or 'verify --against' found a difference\n"
    "  5    valid, but not supported by this version\n"
    "  6    no usable GPU\n"
    "  7    out of memory, or --memory-limit is too low\n"
    "  8    too large: beyond a limit of the container format\n"
    "  70   internal error: a bug in spmvpack\n"
    "  130  interrupted (SIGTERM: 143, SIGHUP: 129); no partial output is left\n";

}  // namespace spmvpack::tools
