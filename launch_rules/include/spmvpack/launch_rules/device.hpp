#pragma once
// Numbers of GPUs.

#include <cstdint>

namespace spmvpack::launch_rules {

/// The most threads that a multiprocessor holds, by __CUDA_ARCH__ (CUDA C++ Programming Guide, technical
/// specifications per compute capability).
constexpr unsigned multiprocessor_threads(int architecture) {
  return architecture == 860 || architecture == 870 || architecture == 890 || architecture >= 1100 ? 1536 : 2048;
}

}  // namespace spmvpack::launch_rules
