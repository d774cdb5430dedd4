#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

namespace spmvpack::tools {
namespace {

volatile std::sig_atomic_t signalled = 0;

void note_signal(int /*signal*/) { signalled = 1; }

using Clock = std::chrono::steady_clock;

/// The line on the terminal.
struct Line {
  bool enabled = false, drawn = false;
  std::string stage;
  Clock::time_point stage_start, last;
};
Line line;

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;  // without SA_RESTART: a write to a full pipe returns, so that print() can stop
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() noexcept { return signalled != 0; }

void enable_progress() { line.enabled = ::isatty(STDERR_FILENO) == 1; }

bool show_progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  if (interrupted()) return false;
  if (!line.enabled) return true;
  const Clock::time_point now = Clock::now();
  if (stage != line.stage) {
    line.stage = stage;
    line.stage_start = now;
  } else if (now - line.last < std::chrono::milliseconds(100)) {
    return true;
  }
  line.last = now;
  std::string text = fmt::format("\r\x1b[K{}", stage);
  if (total != 0) text += fmt::format(" {:3.0f} %", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  const double seconds = std::chrono::duration<double>(now - line.stage_start).count();
  if (seconds > 0.2) text += fmt::format("  {:.0f} M/s", static_cast<double>(done) / seconds / 1e6);
  std::fputs(text.c_str(), stderr);
  line.drawn = true;
  return true;
}

void clear_progress() {
  if (line.drawn) std::fputs("\r\x1b[K", stderr);
  line.drawn = false;
}

}  // namespace spmvpack::tools
