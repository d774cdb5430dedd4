#pragma once
// Launch numbers of the kernels shared by layouts, the same on every architecture. No result depends on them: what the
// order of additions depends on is in chunks.hpp. Numbers without a figure have not been measured.

#include <cstdint>

#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::tuning {

/// Threads that a multiprocessor holds, of the architecture that is compiled for.
#ifdef __CUDA_ARCH__
inline constexpr unsigned multiprocessor_threads = launch_rules::multiprocessor_threads(__CUDA_ARCH__);
#else
inline constexpr unsigned multiprocessor_threads = launch_rules::multiprocessor_threads(0);
#endif

inline constexpr unsigned balanced_threads = 128;  ///< csr's merge, coo: a warp per chunk
/// Blocks that a multiprocessor holds at once: 64 registers per thread, with which none spills.
inline constexpr unsigned balanced_blocks = 8;
/// The second pass over carries, a lane a chunk. It is launched early. The last block of the first kernel could do it
/// instead, but that is slower. docs/notebook/GPU.md, "Constants".
inline constexpr unsigned carry_threads = 128;
/// coo: kernels make rows without entries beta y along the way, if there are at most `gap_rows` rows, or twice as many
/// as entries. Otherwise a few warps might have most of y to write, so that a kernel before them does it.
inline constexpr std::uint64_t gap_rows = 32768;
inline constexpr unsigned vector_threads = 256;  ///< scale, gather
inline constexpr unsigned check_threads = 256;
/// Blocks of a grid-stride kernel: twice as many blocks of 256 threads as the 132 multiprocessors of an H100 hold at
/// once.
inline constexpr unsigned grid_stride_blocks = 2048;

}  // namespace spmvpack::gpu_loader::tuning
