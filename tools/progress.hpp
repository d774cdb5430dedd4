#pragma once
/// Progress on a terminal, and the signals that stop work.

#include <cstdint>
#include <string>
#include <string_view>

namespace spmvpack::tools {

/// From now on, SIGHUP, SIGINT and SIGTERM end the process at once while no output file is open, even if it waits for a
/// pipe. Otherwise the first of them only sets a flag, so that work stops at its next progress report and outputs are
/// removed on the way out; another one ends the process at once, which may leave a temporary file
/// (NAME.xxxxxxxx.tmp). A signal that is ignored, such as SIGINT in a script's background jobs, stays ignored. SIGPIPE
/// and SIGXFSZ are ignored, so that a write to a closed pipe or beyond a limit fails with an error instead.
void catch_signals();

/// The signal that set the flag; 0 if none.
int caught_signal() noexcept;
/// True once a signal has set the flag.
bool interrupted() noexcept;

/// "read  40 %  213 MB/s  12 s left": `done` of `total` (0: unknown), which was `before` `seconds` ago. Speed and time
/// left appear once there is something to measure; speed is in bytes for stages that count bytes (reading and writing
/// files), otherwise in items.
std::string progress_text(std::string_view stage, std::uint64_t done, std::uint64_t total, std::uint64_t before,
                          double seconds);

// Progress is one line on standard error, redrawn at most ten times a second.

/// Lets show_progress() draw, if standard error is a terminal.
void enable_progress();
/// A ProgressCallback: false once interrupted().
bool show_progress(std::string_view stage, std::uint64_t done, std::uint64_t total);
/// Removes the line; call it before anything else is written to the terminal.
void clear_progress();

}  // namespace spmvpack::tools
