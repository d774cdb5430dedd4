#pragma once
// Launch numbers of csell. No result depends on them.

#include <cstdint>

#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

namespace tuning {

#define R_RAW 1
#define T_RAW 1024
#define R_TABLE 4
#define T_TABLE 512
#define R_TPAT 4
#define T_TPAT 512
#define D_TPAT 1
#define R_PAT 1
#define T_PAT 1024
#define DEPTH_PAT 2
using spmvpack::layouts::csell::Source;

inline constexpr unsigned most_threads = 1024;
template <Source source, int block, bool patterns_only>
inline constexpr unsigned max_threads = source == Source::table      ? (patterns_only ? T_TPAT : T_TABLE)
                                        : patterns_only&& block == 1 ? T_PAT
                                                                     : T_RAW;
template <Source source, int block, bool patterns_only>
inline constexpr unsigned resident_blocks = source == Source::table      ? (patterns_only ? R_TPAT : R_TABLE)
                                            : patterns_only&& block == 1 ? R_PAT
                                                                         : R_RAW;
/// Groups whose loads are on their way together, and steps whose values and elements of x are.
template <Source source, int block, bool patterns_only>
inline constexpr int depth = block > 1 || !patterns_only ? 1
                             : source == Source::table   ? D_TPAT
                                                         : DEPTH_PAT;
template <int block>
inline constexpr int batch = block == 1   ? 4
                             : block == 2 ? 2
                                          : 1;
inline constexpr std::uint32_t usual_shared_bytes = 24U << 10U, max_staged_bytes = 96U << 10U;

/// Few slices are dealt to small blocks, so that every multiprocessor gets some.
inline unsigned threads_for(std::uint64_t warps, unsigned multiprocessors, unsigned max_threads) {
  return warps >= std::uint64_t{multiprocessors} * 32 ? max_threads : 128;
}
/// Pieces into which a tile is cut, so that blocks have enough of them: each piece stages the tile's table again.
constexpr std::uint32_t pieces_of_tile(std::uint64_t tiles, std::uint32_t tile_slices, std::uint32_t teams,
                                       std::uint64_t resident_blocks) {
  const std::uint64_t rounds = (tile_slices + teams - 1) / teams, wanted = (resident_blocks + tiles - 1) / tiles;
  return static_cast<std::uint32_t>(wanted < 1 ? 1 : wanted < rounds ? wanted : rounds);
}

}  // namespace tuning

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
