#pragma once
// Launch numbers of csell. No result depends on them.

#include <cstdint>

#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

namespace tuning {

#ifndef RESIDENT
#define RESIDENT 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
inline constexpr unsigned max_threads = 512, resident_blocks = RESIDENT;
inline constexpr std::uint32_t usual_shared_bytes = 48U << 10U, max_staged_bytes = 96U << 10U;

/// Few slices are dealt to small blocks, so that every multiprocessor gets some.
inline unsigned threads_for(std::uint64_t warps, unsigned multiprocessors) {
  return warps >= std::uint64_t{multiprocessors} * 32 ? max_threads : 128;
}
/// Slices of a piece for each of a block's teams. A table is staged for several.
constexpr unsigned rounds_of_a_piece(spmvpack::layouts::csell::Source source) {
  return source == spmvpack::layouts::csell::Source::table ? 2 : ROUNDS;
}

}  // namespace tuning

/// The slices in pieces of equal size; pieces do not cross a tile.
struct Pieces {
  std::uint64_t count, slices, tile_slices, pieces_of_tile;
  std::uint32_t piece_slices;
  struct Range {
    std::uint64_t begin, end, tile;
  };
  static Pieces of(std::uint64_t slices, std::uint64_t tile_slices, std::uint32_t piece_slices) {
    const std::uint64_t tile = tile_slices == 0 ? slices : tile_slices, pieces = div_up(tile, piece_slices);
    return {div_up(slices, tile) * pieces, slices, tile, pieces, piece_slices};
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE Range range(std::uint64_t piece) const {
    const std::uint64_t tile = piece / pieces_of_tile, first = tile * tile_slices;
    const std::uint64_t begin = first + piece % pieces_of_tile * piece_slices;
    const std::uint64_t tile_end = first + tile_slices < slices ? first + tile_slices : slices;
    return {begin, begin + piece_slices < tile_end ? begin + piece_slices : tile_end, tile};
  }
};

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
