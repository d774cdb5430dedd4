#pragma once
// ccoo's launch numbers, for all architectures. No result depends on them.

#include <bit>
#include <cstdint>

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned ccoo_threads = 256;       ///< a warp per chunk
inline constexpr unsigned ccoo_team_threads = 64;   ///< a block per chunk
inline constexpr unsigned ccoo_most_threads = 256;  ///< of such a block, if there are few chunks

/// Whether chunks of K = 8 get one block each: if there are no ids, or few rows per chunk. With raw values loaded by
/// whole lines, `random` then takes 156 us instead of 173, and `lp-wide` 110 instead of 118 (H100). Otherwise, most of
/// the work is finding rows and adding them up, which one warp per chunk does with less waiting: 22 % less time (H100).
constexpr bool ccoo_takes_team(std::uint64_t rows, std::uint64_t chunks, std::uint64_t lut_size) {
  constexpr std::uint64_t few_rows = 64;
  return lut_size == 0 || rows <= few_rows * chunks;
}

/// The numbers that may differ between architectures.
struct CcooNumbers {
  /// Blocks of ccoo_threads that a multiprocessor holds at once, for K = 1, 2, 4, 8.
  unsigned blocks_by_slots[4];
  /// The same for blocks of ccoo_team_threads.
  unsigned team_blocks;

  [[nodiscard]] constexpr unsigned blocks(int slots) const {
    return blocks_by_slots[std::countr_zero(static_cast<unsigned>(slots))];
  }
  /// The same for blocks of ccoo_most_threads.
  [[nodiscard]] constexpr unsigned most_blocks() const { return team_blocks * ccoo_team_threads / ccoo_most_threads; }
  /// The threads of a chunk's block where chunks are so few that the device holds all of these blocks at once; 0: there
  /// are more. Each warp then has one group of lanes or a few, and no multiprocessor is idle.
  [[nodiscard]] constexpr unsigned small_threads(std::uint64_t chunks, unsigned multiprocessors) const {
    const std::uint64_t held = std::uint64_t{multiprocessors} * team_blocks * ccoo_team_threads;
    for (unsigned threads = ccoo_most_threads; threads >= ccoo_team_threads; threads /= 2)
      if (chunks * threads <= held) return threads;
    return 0;
  }
};

/// Hopper, measured on an H100: what registers allow (64, 80, 80 and 128 per thread, stack frames of at most 32 bytes),
/// and for K = 8 what the first-level cache allows.
inline constexpr CcooNumbers ccoo_sm_90{{4, 3, 3, 2}, 8};
/// Architectures that have not been measured: as many blocks as 128 registers per thread allow, more than these kernels
/// need on any of them (80, 100, 120), so that none spills.
inline constexpr CcooNumbers ccoo_safe{{2, 2, 2, 2}, 8};

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
