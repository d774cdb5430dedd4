#pragma once
// Launch numbers of the kernels that layouts share, the same on every architecture. No result depends on them: what an
// order of additions depends on is in chunks.hpp. Where no figure stands beside a number, none has been measured.

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned balanced_threads = 128;  ///< csr's merge, coo: a warp per chunk
/// The carries' pass, a lane per chunk. Launched early it takes two to three microseconds less (H100).
inline constexpr unsigned carry_threads = 128;
inline constexpr unsigned vector_threads = 256;  ///< scale, gather
inline constexpr unsigned check_threads = 256;
/// Blocks of a grid-stride kernel: twice as many of 256 threads as the 132 multiprocessors of an H100 hold at once.
/// The check of 6 GB of csr takes 1 ms (H100).
inline constexpr unsigned grid_stride_blocks = 2048;

}  // namespace spmvpack::gpu_loader::tuning
