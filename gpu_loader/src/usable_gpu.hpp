#pragma once
// Whether there is a GPU to use, by what the driver says without CUDA.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spmvpack::gpu_loader {

struct FoundGpu {
  int compute_major = 0, compute_minor = 0;
  std::string uuid;  ///< "GPU-...", as CUDA_VISIBLE_DEVICES names it
};

struct FoundDriver {
  int cuda_version = 0;  ///< the newest CUDA that it runs: 12.3 is 12030
  std::vector<FoundGpu> gpus;
};

/// What the driver's management library (NVML) says; unset without it, without a driver, or without libcuda. CUDA is
/// not initialised.
std::optional<FoundDriver> found_driver(const char* library = "libnvidia-ml.so.1");

/// Whether a GPU of this compute capability runs code that was built for `built_for`, as the function of that name says
/// it, with a toolkit of CUDA `toolkit`, if the driver is for CUDA `driver`.
bool runs_code(const FoundGpu& gpu, int driver, std::string_view built_for, int toolkit);

/// Whether a process in whose environment CUDA_VISIBLE_DEVICES is `visible` (null: it is not there) has such a GPU.
bool any_usable(const FoundDriver& driver, const char* visible, std::string_view built_for, int toolkit);

}  // namespace spmvpack::gpu_loader
