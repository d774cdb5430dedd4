#pragma once
// Launch numbers of the kernels shared by layouts, the same on every architecture. No result depends on them: what the
// order of additions depends on is in chunks.hpp. Numbers without a figure have not been measured.

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned balanced_threads = 128;  ///< csr's merge, coo: a warp per chunk
/// The second pass over carries, a lane per chunk. Launched early, it takes two to three microseconds less (H100).
inline constexpr unsigned carry_threads = 128;
inline constexpr unsigned vector_threads = 256;  ///< scale, gather
inline constexpr unsigned check_threads = 256;
/// Blocks of a grid-stride kernel: twice as many blocks of 256 threads as the 132 multiprocessors of an H100 hold at
/// once. Checking 6 GB of csr takes 1 ms (H100).
inline constexpr unsigned grid_stride_blocks = 2048;

}  // namespace spmvpack::gpu_loader::tuning
