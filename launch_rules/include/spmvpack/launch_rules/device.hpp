#pragma once
// Numbers of GPUs.

#include <algorithm>
#include <cstdint>

namespace spmvpack::launch_rules {

/// The most threads that a multiprocessor holds, by __CUDA_ARCH__ (CUDA C++ Programming Guide, technical
/// specifications per compute capability).
constexpr unsigned multiprocessor_threads(int architecture) {
  return architecture == 860 || architecture == 870 || architecture == 890 || architecture >= 1100 ? 1536 : 2048;
}

/// Threads of a block, by whole teams and at most `most` (a multiple of a team), with which so many threads are the
/// same number of blocks on each multiprocessor, as nearly as possible, and one block if that is enough. No
/// multiprocessor has more than it must, and what neighbours read of x is in one first-level cache.
/// docs/notebook/GPU.md, "Even blocks".
constexpr unsigned even_threads(std::uint64_t threads, unsigned most, std::uint64_t multiprocessors,
                                unsigned team = 32) {
  const auto div_up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  const std::uint64_t blocks = multiprocessors * std::max<std::uint64_t>(1, div_up(threads, most * multiprocessors));
  return static_cast<unsigned>(std::max<std::uint64_t>(1, div_up(div_up(threads, blocks), team))) * team;
}

}  // namespace spmvpack::launch_rules
