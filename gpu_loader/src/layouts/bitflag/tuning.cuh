#pragma once
// Launch numbers of bitflag. No result depends on them.

#include <cstdint>

namespace spmvpack::gpu_loader::layouts::bitflag_kernels::tuning {

#ifndef BF_THREADS
#define BF_THREADS 512
#endif
#ifndef BF_BLOCKS
#define BF_BLOCKS 2
#endif
#ifndef BF_WAVES
#define BF_WAVES 1
#endif
/// Threads of a block, and blocks that a multiprocessor holds: with hot columns one large block shares their copy.
template <bool hot>
inline constexpr unsigned max_threads = hot ? 1024 : BF_THREADS;
template <bool hot>
inline constexpr unsigned resident_blocks = hot ? 1 : BF_BLOCKS;
inline constexpr unsigned waves = BF_WAVES;
inline constexpr unsigned gather_threads = 128;

/// A block has 16 barriers: one for all its threads, and one for each team of warps that has a tile.
inline constexpr unsigned most_teams = 15;

/// More bytes of hot elements are read through the caches, as on devices with less shared memory.
inline constexpr std::uint32_t usual_shared_bytes = 32U << 10U, other_shared_bytes = 8U << 10U;

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels::tuning
