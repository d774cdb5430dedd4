#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>

#include "exit_code.hpp"
#include "spmvpack/container/file/file_io.hpp"

namespace spmvpack::tools {
namespace {

volatile std::sig_atomic_t signalled = 0;
volatile std::sig_atomic_t on_terminal = 0;

constexpr std::array stopping{SIGHUP, SIGINT, SIGTERM};

/// Calls only what is safe in a signal handler. It runs on the main thread (the only one that does not block signals),
/// as does everything that creates outputs, so no output can be begun between the check of their number and the end.
void note_signal(int signal) {
  signalled = signal;
  for (const int one : stopping) std::signal(one, SIG_DFL);
  // With the output in place, what is left to do takes a moment, and nothing has been interrupted.
  if (unfinished_outputs() == 0 && finished_outputs() != 0) return;
  if (unfinished_outputs() == 0) {
    constexpr std::string_view cleared = "\r\x1b[Kspmvpack: interrupted\n";
    const std::string_view text = cleared.substr(on_terminal != 0 ? 0 : 4);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(interrupted_exit_code(signal));
  }
  constexpr std::string_view notice = "\r\x1b[Kstopping; press Ctrl-C again to end at once\n";
  // If the notice cannot be written, there is nobody to read it.
  if (signal == SIGINT && on_terminal != 0 && ::write(STDERR_FILENO, notice.data(), notice.size()) < 0) return;
}

using Clock = std::chrono::steady_clock;

/// The line on the terminal.
struct Line {
  bool enabled = false, drawn = false;
  std::string stage;
  std::uint64_t stage_done = 0;  ///< when it was first reported
  Clock::time_point stage_start, last;
};
Line progress_line;

bool counts_bytes(std::string_view stage) {
  constexpr std::array<std::string_view, 4> stages{"read", "load", "check", "write"};
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

}  // namespace

std::string progress_text(std::string_view stage, std::uint64_t done, std::uint64_t total, std::uint64_t before,
                          double seconds) {
  std::string text(stage);
  if (total != 0) text += fmt::format(" {:3.0f} %", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  constexpr double measurable = 0.2, predictable = 1.0;
  if (seconds < measurable || done <= before) return text;
  const double per_second = static_cast<double>(done - before) / seconds;
  text += fmt::format("  {:.{}f} {}/s", per_second / 1e6, per_second < 1e7 ? 1 : 0, counts_bytes(stage) ? "MB" : "M");
  if (total <= done || seconds < predictable) return text;
  const long left = std::lround(std::ceil(static_cast<double>(total - done) / per_second));
  return text + (left < 60 ? fmt::format("  {} s left", left) : fmt::format("  {}:{:02} left", left / 60, left % 60));
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  for (const int signal : stopping) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

int caught_signal() noexcept { return signalled; }
bool interrupted() noexcept { return signalled != 0; }

void enable_progress() {
  progress_line.enabled = ::isatty(STDERR_FILENO) == 1;
  on_terminal = progress_line.enabled ? 1 : 0;
}

bool show_progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  if (interrupted()) return false;
  if (!progress_line.enabled) return true;
  const Clock::time_point now = Clock::now();
  if (stage != progress_line.stage) {
    progress_line.stage = stage;
    progress_line.stage_done = done;
    progress_line.stage_start = now;
  } else if (now - progress_line.last < std::chrono::milliseconds(100)) {
    return true;
  }
  progress_line.last = now;
  const double seconds = std::chrono::duration<double>(now - progress_line.stage_start).count();
  std::fputs(fmt::format("\r\x1b[K{}", progress_text(stage, done, total, progress_line.stage_done, seconds)).c_str(),
             stderr);
  progress_line.drawn = true;
  return true;
}

void clear_progress() {
  if (progress_line.drawn) std::fputs("\r\x1b[K", stderr);
  progress_line.drawn = false;
}

}  // namespace spmvpack::tools
