#pragma once
// Launch numbers, all of them. A number that an order of additions depends on is not here but with its kernel: results
// do not change with the device.

#include <algorithm>
#include <initializer_list>

#include "tuning/safe.cuh"
#include "tuning/sm_90.cuh"

namespace spmvpack::gpu_loader::tuning {

/// Threads of a block, the same on every architecture.
inline constexpr unsigned csr_rows_threads = 256;      ///< scalar, vector
inline constexpr unsigned pcsr_product_threads = 256;  ///< pcsr, first kernel
inline constexpr unsigned balanced_threads = 128;      ///< csr merge, coo: a warp per chunk
inline constexpr unsigned carry_threads = 128;
inline constexpr unsigned vector_threads = 256;  ///< scale, gather, scatter
inline constexpr unsigned check_threads = 256;
inline constexpr unsigned ccoo_threads = 256;      ///< a warp per chunk
inline constexpr unsigned ccoo_team_threads = 64;  ///< a block per chunk
/// Blocks of a grid-stride kernel: enough to fill every device known.
inline constexpr unsigned grid_stride_blocks = 2048;

/// The numbers for devices of a major compute capability. Host and device code choose alike where code was compiled for
/// the device's own; what comes as PTX of an older one has that one's launch bounds, which costs time at most.
constexpr const Numbers& numbers(int major) { return major == 9 ? sm_90 : safe; }

/// Whether a device of this compute capability (9.0: 900) runs code in which kernels can wait for the one before them.
/// `compiled` are the architectures that there is code for. What was compiled for the device's major version is taken
/// before PTX of an older one.
constexpr bool early_launches(std::initializer_list<int> compiled, int capability) {
  return std::any_of(compiled.begin(), compiled.end(),
                     [&](int a) { return a >= 900 && a / 100 == capability / 100 && a <= capability; });
}

/// Those of the code being compiled, for its launch bounds; there is none in the host's pass.
#ifdef __CUDA_ARCH__
inline constexpr Numbers compiled = numbers(__CUDA_ARCH__ / 100);
#else
inline constexpr Numbers compiled = safe;
#endif

}  // namespace spmvpack::gpu_loader::tuning
