#pragma once
/// Times multiplies on a GPU. In a build without CUDA, everything here throws Error(errc::unsupported).

#include <functional>
#include <memory>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/multiply/timing.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// Runs on the current device with caches flushed or as they are, by events on a stream of its own. Has flush_bytes of
/// device memory. Errors: errc::no_device; errc::out_of_memory.
class SPMVPACK_EXPORT DeviceTimer {
 public:
  DeviceTimer();
  [[nodiscard]] Stream stream() const noexcept;
  /// Seconds that the device takes for what `work` puts on stream(), launches not included; `cold`: after a flush.
  double run(const std::function<void()>& work, bool cold);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// A function that loads a container, whose checksums and structure it trusts, to a device, counted from 0 as devices()
/// does, and times its multiply with each part's default kernel, in vectors of the matrix's type. `threads` load (0:
/// all).
SPMVPACK_EXPORT MeasureMultiply measure_on_device(int device = 0, int threads = 0);

}  // namespace spmvpack::gpu_loader
