#pragma once
/// Times multiplies on this computer's processor.

#include <functional>
#include <span>
#include <string>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/multiply/timing.hpp"

namespace spmvpack::host_loader {

/// The processor's name, as Linux has it.
SPMVPACK_EXPORT std::string processor_name();

/// Runs with caches flushed or as they are. Has a buffer of flush_bytes, which counts.
class SPMVPACK_EXPORT HostTimer {
 public:
  explicit HostTimer(int threads = 0);  ///< that flush; 0: all

  /// Seconds of one `work`; `cold`: after a flush.
  double run(const std::function<void()>& work, bool cold);
  /// Writes all of the buffer, another byte each time.
  void flush();
  [[nodiscard]] std::span<std::byte> buffer() noexcept { return {buffer_.data(), buffer_.size()}; }

 private:
  int threads_;
  Array<std::byte> buffer_;
  unsigned char turn_ = 0;
};

/// A function that loads a container, whose checksums and structure it trusts, and times its multiply in vectors of the
/// matrix's type on so many threads (0: all).
SPMVPACK_EXPORT MeasureMultiply measure_on_host(int threads = 0);

}  // namespace spmvpack::host_loader
