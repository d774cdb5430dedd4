#pragma once
// What a load and its multiplies need to know of the device: asked once, at load, and handed on.

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace spmvpack::gpu_loader {

struct DeviceFacts {
  int compute_major = 0, compute_minor = 0;
  unsigned multiprocessors = 0;
  int driver_version = 0;  ///< as CUDA counts: 12.3 is 12030
  std::uint64_t l2_bytes = 0;
  /// Whether kernels of launch_early() may start before the one ahead of them has ended: they wait where they must.
  bool early_launches = false;
};

/// Of the current device. Error(errc::no_device).
DeviceFacts device_facts();

/// Whether a device of this compute capability (9.0: 900) runs code in which kernels can wait for the one before them.
/// `compiled` are the architectures that there is code for. What was compiled for the device's major version is taken
/// before PTX of an older one, in which they would not wait.
constexpr bool code_can_wait(std::initializer_list<int> compiled, int capability) {
  return std::any_of(compiled.begin(), compiled.end(),
                     [&](int a) { return a >= 900 && a / 100 == capability / 100 && a <= capability; });
}

}  // namespace spmvpack::gpu_loader
