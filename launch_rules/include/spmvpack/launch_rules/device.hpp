#pragma once
// Numbers of GPUs.

#include <cstdint>

namespace spmvpack::launch_rules {

/// The most threads that a multiprocessor holds, by __CUDA_ARCH__ (CUDA C++ Programming Guide, technical
/// specifications per compute capability).
constexpr unsigned multiprocessor_threads(int architecture) {
  return architecture == 860 || architecture == 870 || architecture == 890 || architecture >= 1100 ? 1536 : 2048;
}

/// Whether so few threads run that each waits for its loads. Kernels with a row for each thread (ell, sell, pjds) then
/// load more steps together.
constexpr bool are_few_threads(std::uint64_t threads, std::uint64_t multiprocessors) {
  constexpr std::uint64_t of_multiprocessor = 1024;
  return threads < of_multiprocessor * multiprocessors;
}

}  // namespace spmvpack::launch_rules
