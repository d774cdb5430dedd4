#pragma once
/// Progress on a terminal, and the signals that stop work.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "spmvpack/container/progress.hpp"

namespace spmvpack::tools {

/// From now on SIGINT and SIGTERM only set a flag, so that outputs can be removed on the way out, and SIGPIPE is
/// ignored, so that a write to a closed pipe fails with an error instead.
void catch_signals();

/// True once SIGINT or SIGTERM has come.
bool interrupted() noexcept;

/// One line on standard error: stage, per cent, bytes per second. Redrawn ten times a second at most; gone when the
/// object goes.
class Progress {
 public:
  /// Draws only where `wanted` and standard error is a terminal.
  explicit Progress(bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// A ProgressCallback: false once interrupted().
  bool operator()(std::string_view stage, std::uint64_t done, std::uint64_t total);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool draw_ = false, drawn_ = false;
  std::string stage_;
  Clock::time_point stage_start_, last_;
};

}  // namespace spmvpack::tools
