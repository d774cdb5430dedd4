#pragma once
// Grids, overlapping launches, and launch errors.

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "device_facts.hpp"
#include "kernels/tuning.cuh"
#include "spmvpack/container/base/types.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"

namespace spmvpack::gpu_loader {

/// The number of blocks of `threads` threads for `work` threads in total. Below 2^31 in practice.
inline unsigned blocks_for(std::uint64_t work, unsigned threads) {
  const std::uint64_t blocks = div_up(work, threads);
  if (blocks > 0x7FFFFFFFU) throw Error(errc::unsupported, "a grid of more than 2^31 - 1 blocks");
  return static_cast<unsigned>(blocks);
}

/// The number of blocks for a grid-stride loop over `work` items.
inline unsigned stride_blocks(std::uint64_t work, unsigned threads) {
  const std::uint64_t blocks = div_up(work, threads);
  return static_cast<unsigned>(blocks < tuning::grid_stride_blocks ? blocks : tuning::grid_stride_blocks);
}

/// Of a loop over the grid's threads: a thread's first item, which is also its number, and how far apart its items are.
/// Some multiplies write both out: with these, nvcc gives them other registers.
__device__ inline std::uint64_t first_item() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// Launches a kernel, or throws. Unlike <<<>>>, it reports errors of this launch only, not those left behind by earlier
/// calls: after polling an event, a caller would otherwise see its multiply fail.
template <class... Parameters, class... Arguments>
void launch(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  require_cuda(cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...),
               "launching a kernel");
}

inline cudaLaunchConfig_t launch_config(unsigned blocks, unsigned threads, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  return config;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
            Arguments&&... arguments) {
  launch(launch_config(blocks, threads, stream), kernel, std::forward<Arguments>(arguments)...);
}

/// Launches a kernel of a structure check, whose threads share so many items: first_item(), stride().
template <class... Parameters, class... Arguments>
void launch_check(void (*kernel)(Parameters...), std::uint64_t items, cudaStream_t stream, Arguments&&... arguments) {
  launch(kernel, stride_blocks(items, tuning::check_threads), tuning::check_threads, stream,
         std::forward<Arguments>(arguments)...);
}

/// Loads before it are issued before loads after it. Left alone, the compiler moves each load down to its use to save
/// registers, and a thread then waits for one after the other.
__device__ inline void issue_loads() { __syncwarp(__activemask()); }

/// In a kernel followed by launch_early(): the next kernel may start as soon as blocks of this one end.
__device__ inline void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// In a kernel started by launch_early(), called by every thread before it touches what the previous kernel writes:
/// waits for that kernel.
__device__ inline void wait_for_last_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Launches a kernel after another one of ours on the same stream; if the device supports it, before that one has
/// ended, which saves two or three microseconds. The kernel must call wait_for_last_kernel(). Graphs capture such
/// launches from CUDA 12.3 on.
template <class... Parameters, class... Arguments>
void launch_early(const DeviceFacts& device, cudaLaunchConfig_t config, void (*kernel)(Parameters...),
                  Arguments&&... arguments) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &overlap;
  config.numAttrs = device.early_launches ? 1 : 0;
  launch(config, kernel, std::forward<Arguments>(arguments)...);
}

template <class... Parameters, class... Arguments>
void launch_early(const DeviceFacts& device, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                  cudaStream_t stream, Arguments&&... arguments) {
  launch_early(device, launch_config(blocks, threads, stream), kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace spmvpack::gpu_loader
