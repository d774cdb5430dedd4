#pragma once
// Grids, and what a launch reports.

#include "cuda_error.hpp"
#include "spmvpack/container/types.hpp"
#include "tuning.cuh"

namespace spmvpack::gpu_loader {

/// Blocks for `work` threads of work, `threads` to a block. Below 2^31 for all that 64-bit nonzeros ask for in
/// practice.
inline unsigned blocks_for(std::uint64_t work, unsigned threads) {
  const std::uint64_t blocks = div_up(work, threads);
  if (blocks > 0x7FFFFFFFU) throw Error(errc::unsupported, "a grid of more than 2^31 - 1 blocks");
  return static_cast<unsigned>(blocks);
}

/// Blocks of a grid-stride loop over `work` items.
inline unsigned stride_blocks(std::uint64_t work, unsigned threads) {
  const std::uint64_t blocks = div_up(work, threads);
  return static_cast<unsigned>(blocks < tuning::grid_stride_blocks ? blocks : tuning::grid_stride_blocks);
}

inline void require_launch() { require_cuda(cudaGetLastError(), "launching a kernel"); }

}  // namespace spmvpack::gpu_loader
