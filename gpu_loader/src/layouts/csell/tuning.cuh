#pragma once
// Launch numbers of csell. No result depends on them.

#include <cstdint>

#include "kernels/tuning.cuh"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/launch_rules/csell.hpp"
#include "spmvpack/launch_rules/csell_tiles.hpp"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

namespace tuning {

using spmvpack::layouts::csell::Source;

/// Which kernel: few slices, whose loads must be on their way early; patterns only, which need fewer registers; the
/// same of blocks with tables where few threads are on a multiprocessor at once; any, of several tables, for which
/// blocks wait; or any.
enum class Size : std::uint8_t { few, patterns, few_patterns, tiled, any };
constexpr bool is_pattern_size(Size size) { return size == Size::patterns || size == Size::few_patterns; }

/// Whether blocks prefetch the arrays of a small part. Parts of single entries with offsets are seldom small unless
/// their slices are few, and nvcc allocates registers of these kernels worse with it. docs/notebook/GPU.md,
/// "Constants".
constexpr bool fetches_ahead(Size size, int block) { return block != 1 || size == Size::few || is_pattern_size(size); }

/// Launch numbers of a kernel.
struct Policy {
  unsigned threads;  ///< of a block, at most
  unsigned blocks;   ///< that a multiprocessor holds: its registers are divided by threads * blocks
  int depth;         ///< groups whose loads are on their way together
  int batch;         ///< steps whose values and elements of x are
};

/// Large blocks, whose slices are neighbours, find more of x in the first-level cache. Two groups in flight pay where
/// columns are offsets, as loads do not wait for branches (walks.cuh). Patterns with tables are the other way round:
/// four blocks of 512 and one group are faster. docs/notebook/GPU.md, "Constants".
constexpr Policy policy(Source source, int block, Size size) {
  if (size == Size::few) {
    constexpr unsigned threads = launch_rules::csell::warps_of_few * 32;
    return block == 1 ? Policy{threads, 1, 4, 16}
                      : Policy{threads, 1, 1, launch_rules::csell::steps_of_blocks(block, true)};
  }
  switch (source) {
    case Source::table:
      if (block > 1) return size == Size::few_patterns ? Policy{512, 1, 1, 2} : Policy{512, 2, 1, 2};
      if (size == Size::patterns) return {512, 4, 1, 4};
      return size == Size::tiled ? Policy{512, 2, 2, 8} : Policy{1024, 1, 2, 8};
    case Source::mirror:
      return {1024, 1, 1, launch_rules::csell::steps_of_mirrors(block)};
    default:
      if (block > 1) return {1024, 1, 1, launch_rules::csell::steps_of_blocks(block, false)};
      return {1024, 1, 2, 8};
  }
}

/// What a kernel of slices is compiled for.
template <Source value_source, int block_rows, Size slices_size>
struct SliceKernel {
  static constexpr Source source = value_source;
  static constexpr int block = block_rows;
  static constexpr Size size = slices_size;
  static constexpr Policy policy = tuning::policy(source, block, size);
  static constexpr unsigned max_warps = policy.threads / 32;
};

/// Policy::blocks, as far as the architecture has room for their threads.
constexpr unsigned bound_blocks(const Policy& policy) {
  return launch_rules::csell::held_threads(policy.threads, policy.blocks, gpu_loader::tuning::multiprocessor_threads) /
         policy.threads;
}
/// Blocks with tables have no room for what a step needs in 64 registers, and the first-level cache has little room for
/// the rest where tables take most of it. There, or if a multiprocessor has no more threads anyway, each thread may
/// have 128. docs/notebook/GPU.md, "Constants".
constexpr bool suits_few_patterns(std::uint64_t threads, std::uint64_t shared_bytes) {
  return threads <= 512 || shared_bytes > 140U << 10U;
}
/// Threads of a block, where slices are many: it has no fewer.
inline constexpr unsigned least_threads = 128;

/// A block has 16 barriers: one for all its threads, and one for each team of warps that share a slice.
inline constexpr unsigned most_teams = 15;
constexpr unsigned threads_limit(unsigned max_threads, unsigned sums) {
  return sums == 1 || max_threads / 32 / sums <= most_teams ? max_threads : max_threads / 2;
}

/// For windows, by pairs of slices a warp: 48 registers a thread with one pair, 72 with two. Larger blocks and more
/// blocks, which spill, are slower. docs/notebook/GPU.md, "Constants".
struct WindowsPolicy {
  unsigned threads, blocks;
};
constexpr WindowsPolicy windows_policy(std::uint32_t pairs) {
  return pairs == 1 ? WindowsPolicy{256, 5} : WindowsPolicy{128, 7};
}
/// The second-level cache fetches a line. docs/notebook/GPU.md, "Constants".
inline constexpr std::size_t prefetched_bytes = 128;

}  // namespace tuning

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
