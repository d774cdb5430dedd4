#pragma once
/// Progress on a terminal, and the signals that stop work.

#include <cstdint>
#include <string_view>

namespace spmvpack::tools {

/// From now on SIGINT and SIGTERM only set a flag, so that outputs can be removed on the way out, and SIGPIPE is
/// ignored, so that a write to a closed pipe fails with an error instead.
void catch_signals();

/// True once SIGINT or SIGTERM has come.
bool interrupted() noexcept;

// Progress is one line on standard error, of which a process has one: stage, per cent, millions (bytes or items) per
// second. It is redrawn ten times a second at most.

/// Lets show_progress() draw, if standard error is a terminal.
void enable_progress();
/// A ProgressCallback: false once interrupted().
bool show_progress(std::string_view stage, std::uint64_t done, std::uint64_t total);
/// Removes the line, before anything else is written to the terminal.
void clear_progress();

}  // namespace spmvpack::tools
