#pragma once
// What a load and its multiplies need to know about the device; queried once, at load.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::gpu_loader {

struct DeviceFacts {
  int compute_major = 0, compute_minor = 0;
  unsigned multiprocessors = 0;
  unsigned multiprocessor_threads = 0;  ///< that one holds at once
  int driver_version = 0;               ///< in CUDA's encoding: 12.3 is 12030
  std::uint64_t l2_bytes = 0;
  std::uint64_t shared_bytes = 0;  ///< shared memory that a block can have
  /// Whether kernels started by launch_early() may begin before the previous one has ended; they wait where they must.
  bool early_launches = false;
};

/// The facts of the current device. Error(errc::no_device).
DeviceFacts device_facts();

/// Whether a device of this compute capability (9.0: 900) runs code in which kernels can wait for the previous one.
/// `compiled` are the architectures with code. CUDA prefers code for the device's major version over PTX of an older
/// one, in which kernels would not wait.
constexpr bool code_can_wait(std::initializer_list<int> compiled, int capability) {
  return std::any_of(compiled.begin(), compiled.end(),
                     [&](int a) { return a >= 900 && a / 100 == capability / 100 && a <= capability; });
}

/// What is thrown on a device, of a compute capability, that runs none of the code that a build has; `built_for` as the
/// function, `cuda` is CUDA's word for it.
Error no_code_error(std::string_view device, int compute_major, int compute_minor, std::string_view built_for,
                    std::string_view cuda);

}  // namespace spmvpack::gpu_loader
