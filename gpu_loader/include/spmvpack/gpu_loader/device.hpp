#pragma once
/// The GPUs of this machine.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/export.hpp"

namespace spmvpack::gpu_loader {

/// Whether this build contains GPU code.
SPMVPACK_EXPORT bool built_with_cuda() noexcept;

/// The compute capabilities that this build has code for, such as "8.0, 9.0 and PTX", which newer GPUs run; empty in a
/// build without CUDA.
SPMVPACK_EXPORT std::string_view built_for() noexcept;

/// Error(errc::no_device), naming both, if this build has no code that the current device runs, or if there is no
/// device; Error(errc::unsupported) in a build without CUDA. A load does this first.
SPMVPACK_EXPORT void require_device_code();

struct DeviceInfo {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
};

/// The devices in CUDA's order; empty if there is no driver or no device. Error(errc::unsupported) in a build without
/// CUDA.
SPMVPACK_EXPORT std::vector<DeviceInfo> devices();

/// Whether this process has a GPU that load() would take: this build has code for it, the driver is there and new
/// enough, and CUDA_VISIBLE_DEVICES does not hide it. The driver's management library is asked, once per process, and
/// CUDA is not initialised: the process may still fork children that use it. False where that library is missing.
SPMVPACK_EXPORT bool has_usable_gpu();

/// The name of a device, counted from 0 as devices() does, for callers that are about to use it. Errors, whose remedy
/// begins with `otherwise`: errc::unsupported in a build without CUDA; errc::no_device if there is none; errc::usage if
/// there are not so many.
SPMVPACK_EXPORT std::string device_name(int device, std::string_view otherwise);

/// Makes a device, counted from 0 as devices() does, this thread's current one, and restores the previous one at the
/// end. For programs that do not call CUDA themselves. Error(errc::no_device) if there is no such device,
/// Error(errc::unsupported) in a build without CUDA.
class SPMVPACK_EXPORT CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  [[maybe_unused]] int before_ = 0, device_ = 0;  // unused without CUDA
};

}  // namespace spmvpack::gpu_loader
