#pragma once
// Launch numbers of csell. No result depends on them.

#include <cstdint>

#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/launch_rules/csell.hpp"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

namespace tuning {

using spmvpack::layouts::csell::Source;

/// Which kernel: few slices, whose loads must be on their way early; patterns only, which need fewer registers; any, of
/// several tables, for which blocks wait; or any.
enum class Size : std::uint8_t { few, patterns, tiled, any };

/// Threads of a block, and blocks that a multiprocessor holds: its registers are divided by them. Large blocks, whose
/// slices are neighbours, find more of x in the first-level cache: triangles take 98 us with 1,024 threads, 105 with
/// 256; 5 points 68 us with one block of 1,024 and two groups on their way, 90 with three of 512 and one (H200). Tables
/// are the other way round: 27 points 80 us with four blocks of 512, 91 with two and two groups.
template <Source source, int block, Size size>
inline constexpr unsigned max_threads = size == Size::few         ? launch_rules::csell::threads_of_few
                                        : source == Source::table ? 512
                                                                  : 1024;
template <Source source, int block, Size size>
inline constexpr unsigned resident_blocks = size == Size::few                  ? 4
                                            : source != Source::table          ? 1
                                            : block > 1 || size == Size::tiled ? 2
                                                                               : 4;
/// Threads that a multiprocessor holds, of the architecture that is compiled for.
#ifdef __CUDA_ARCH__
inline constexpr unsigned multiprocessor_threads = launch_rules::multiprocessor_threads(__CUDA_ARCH__);
#else
inline constexpr unsigned multiprocessor_threads = launch_rules::multiprocessor_threads(0);
#endif
template <Source source, int block, Size size>
inline constexpr unsigned bound_blocks =
    resident_blocks<source, block, size>* max_threads<source, block, size> > multiprocessor_threads
        ? multiprocessor_threads / max_threads<source, block, size>
        : resident_blocks<source, block, size>;
/// Groups whose loads are on their way together, and steps whose values and elements of x are.
template <Source source, int block, Size size>
inline constexpr int depth = block > 1                                      ? 1
                             : size == Size::few                            ? 4
                             : size == Size::tiled                          ? 2
                             : source == Source::table || size == Size::any ? 1
                                                                            : 2;
template <Source source, int block, Size size>
inline constexpr int batch = block == 1                ? 4 * depth<source, block, size>
                             : source == Source::table ? 2
                                                       : launch_rules::csell::steps_of_blocks(block, size == Size::few);
/// With mirrors: steps whose values and elements of x are on their way together.
template <int block>
inline constexpr int mirror_batch = launch_rules::csell::steps_of_mirrors(block);
/// Larger tables are read through the caches: every device has room for these, beside the sums of teams.
inline constexpr std::uint32_t max_staged_bytes = 64U << 10U;

/// Of a block whose tiles are small, or of one of several tiles.
inline constexpr unsigned least_threads = 128, most_threads_of_tiles = 512;

/// A block has 16 barriers: one for all its threads, and one for each team of warps that share a slice.
inline constexpr unsigned most_teams = 15;
constexpr unsigned threads_limit(unsigned max_threads, unsigned sums) {
  return sums == 1 || max_threads / 32 / sums <= most_teams ? max_threads : max_threads / 2;
}

/// Pieces into which a tile is cut, so that blocks have enough of them: each piece stages the tile's table again.
constexpr std::uint32_t pieces_of_tile(std::uint64_t tiles, std::uint32_t tile_slices, std::uint32_t teams,
                                       std::uint64_t resident_blocks) {
  const std::uint64_t rounds = (tile_slices + teams - 1) / teams, wanted = (resident_blocks + tiles - 1) / tiles;
  return static_cast<std::uint32_t>(wanted < 1 ? 1 : wanted < rounds ? wanted : rounds);
}

/// Of windows: 48 registers for each thread. 5, 7 and 27 points take 26.9, 33.6 and 32.0 us, with one block of 1,024 on
/// a multiprocessor 29.6, 38.9 and 34.9, with six blocks, which spill, 38.9, 49.0 and 39.2 (H200).
inline constexpr unsigned windows_threads = 256, windows_blocks = 5;
/// The second-level cache fetches a line. Without, 5 points take 29.6 us.
inline constexpr std::size_t prefetched_bytes = 128;

}  // namespace tuning

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
