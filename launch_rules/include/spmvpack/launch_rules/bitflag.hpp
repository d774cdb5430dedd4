#pragma once
// bitflag: how many blocks a device holds.

#include <cstdint>

namespace spmvpack::launch_rules::bitflag {

/// Threads of a block, if there is enough work for all multiprocessors. If all of it is on the device at once, blocks
/// are even (even_threads()), of at most max_threads. Whatever their number, a multiprocessor holds 1,024: with 64
/// registers each, all loads of a chunk are in flight together. With hot columns one large block shares their copy.
/// docs/notebook/GPU.md, "Constants".
inline constexpr unsigned max_threads = 1024, usual_threads = 512, multiprocessor_threads = 1024;

/// The blocks that are on a device together, each of which has a segment of x.
constexpr std::uint64_t resident_blocks(std::uint64_t multiprocessors) {
  return multiprocessors * (multiprocessor_threads / usual_threads);
}

/// The most segments whose sums of a row a thread adds up.
inline constexpr std::uint64_t few_segments = 32;

}  // namespace spmvpack::launch_rules::bitflag
