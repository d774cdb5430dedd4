#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace spmvpack::tools {
namespace {

volatile std::sig_atomic_t signalled = 0;

void note_signal(int /*signal*/) { signalled = 1; }

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

Progress::Progress(bool wanted) : draw_(wanted && ::isatty(STDERR_FILENO) == 1) {}

bool Progress::operator()(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  if (interrupted()) return false;
  if (!draw_) return true;
  const Clock::time_point now = Clock::now();
  if (stage != stage_) {
    stage_ = stage;
    stage_start_ = now;
  } else if (now - last_ < std::chrono::milliseconds(100)) {
    return true;
  }
  last_ = now;
  std::string line = fmt::format("\r\x1b[K{}", stage);
  if (total != 0) line += fmt::format(" {:3.0f} %", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  const double seconds = std::chrono::duration<double>(now - stage_start_).count();
  if (seconds > 0.2) line += fmt::format("  {:.0f} M/s", static_cast<double>(done) / seconds / 1e6);
  std::fputs(line.c_str(), stderr);
  drawn_ = true;
  return true;
}

void Progress::clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

}  // namespace spmvpack::tools
