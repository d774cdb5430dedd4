#pragma once
// csell: how the blocks of a GPU take slices of several tables.

#include <algorithm>
#include <cstdint>

namespace spmvpack::launch_rules::csell {

/// A part whose slices are in tiles, each with a table of its own.
struct TiledSlices {
  std::uint64_t slices, entries, sums, tiles, tile_slices;
};
/// What its kernel may have of a multiprocessor.
struct TiledRoom {
  unsigned threads;      ///< by their registers
  std::uint64_t tables;  ///< blocks, by their tables in shared memory
  std::uint64_t multiprocessors;
};
/// Tiles in pieces, which blocks take in turn; each stages the tile's table.
struct TilePieces {
  unsigned threads;        ///< of a block
  std::uint64_t resident;  ///< blocks of a multiprocessor
  std::uint64_t of_tile;   ///< pieces
  std::uint64_t turns;     ///< pieces of the block that has the most
  std::uint64_t rounds;    ///< slices of a piece that a team of warps has, one after the other
};

/// Blocks of at most 512 threads, so that others work while one stages, and of fewer where a tile has less for them or
/// some multiprocessors would have none. The time is that of the block that has the most rounds, with a quarter of a
/// piece for slices that take longer than others; to stage a table takes as long as 256 entries of a slice do. Of the
/// numbers of pieces with which blocks have as many as they can in so many turns, the best by that: 294 tiles of 128
/// slices (holstein-hubbard, 1.2 million rows) take 58 us in four pieces each and 68 in one, 109 (cage, 13 monomers) 32
/// in four, 37 in two and 40 in three, and 245 of five entries a row (laplace2d 1000x1000) 21 in two and 24 in three
/// (H200).
constexpr TilePieces pieces_of(const TiledSlices& part, const TiledRoom& room) {
  constexpr unsigned least_threads = 128, most_threads = 512;
  const auto div_up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  const std::uint64_t warps = part.slices * part.sums;
  unsigned threads = std::min(most_threads, room.threads);
  while (threads > least_threads &&
         (threads > part.tile_slices * part.sums * 32 || warps * 32 < 2 * room.multiprocessors * threads))
    threads /= 2;
  const std::uint64_t teams = std::max<std::uint64_t>(1, threads / 32 / part.sums),
                      resident =
                          std::max<std::uint64_t>(1, std::min<std::uint64_t>(room.threads / threads, room.tables)),
                      blocks = resident * room.multiprocessors,
                      all_rounds = std::max<std::uint64_t>(1, div_up(part.tile_slices, teams));
  TilePieces best{threads, resident, 0, 0, 0};
  const std::uint64_t first = div_up(part.tiles, blocks);
  constexpr std::uint64_t more_turns = 8, staging_entries = 256;
  std::uint64_t least = 0;
  for (std::uint64_t most = first; most <= first + more_turns; ++most) {
    const std::uint64_t wanted = std::clamp<std::uint64_t>(most * blocks / part.tiles, 1, all_rounds),
                        rounds = div_up(all_rounds, wanted), of_tile = div_up(all_rounds, rounds),
                        turns = div_up(part.tiles * of_tile, blocks);
    const std::uint64_t time = (4 * turns + 1) * rounds * part.entries / part.slices + 4 * turns * staging_entries;
    if (best.of_tile != 0 && time >= least) continue;
    least = time;
    best = {threads, resident, of_tile, turns, rounds};
  }
  return best;
}

}  // namespace spmvpack::launch_rules::csell
