#pragma once
// ccoo's launch numbers, for all architectures. No result depends on them.

#include <bit>
#include <cstdint>

#include "spmvpack/launch_rules/ccoo.hpp"

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned ccoo_threads = 256;                                    ///< a warp per chunk
inline constexpr unsigned ccoo_team_threads = launch_rules::ccoo::team_threads;  ///< a block per chunk
inline constexpr unsigned ccoo_most_threads = launch_rules::ccoo::most_threads;

/// The numbers that may differ between architectures.
struct CcooNumbers {
  /// Blocks of ccoo_threads that a multiprocessor holds at once, for K = 1, 2, 4, 8.
  unsigned blocks_by_slots[4];

  [[nodiscard]] constexpr unsigned blocks(int slots) const {
    return blocks_by_slots[std::countr_zero(static_cast<unsigned>(slots))];
  }
  /// The same for blocks of ccoo_most_threads.
  [[nodiscard]] static constexpr unsigned most_blocks() {
    return launch_rules::ccoo::team_blocks * ccoo_team_threads / ccoo_most_threads;
  }
};

/// Hopper, measured on an H100: what registers allow (64, 80, 80 and 128 per thread, stack frames of at most 32 bytes),
/// and for K = 8 what the first-level cache allows.
inline constexpr CcooNumbers ccoo_sm_90{{4, 3, 3, 2}};
/// Architectures that have not been measured: as many blocks as 128 registers per thread allow, more than these kernels
/// need on any of them (80, 100, 120), so that none spills.
inline constexpr CcooNumbers ccoo_safe{{2, 2, 2, 2}};

/// The numbers for devices of a major compute capability. Host and device code agree if code was compiled for the
/// device's own; PTX of an older one has that one's launch bounds, which at worst costs time.
constexpr const CcooNumbers& ccoo_numbers(int major) { return major == 9 ? ccoo_sm_90 : ccoo_safe; }

/// The numbers of the code being compiled, for its launch bounds; not defined in the host pass.
#ifdef __CUDA_ARCH__
inline constexpr CcooNumbers ccoo_compiled = ccoo_numbers(__CUDA_ARCH__ / 100);
#else
inline constexpr CcooNumbers ccoo_compiled = ccoo_safe;
#endif

}  // namespace spmvpack::gpu_loader::tuning
