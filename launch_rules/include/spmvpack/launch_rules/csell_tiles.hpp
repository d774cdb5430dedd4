#pragma once
// csell: how the blocks of a GPU take slices of several tables.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace spmvpack::launch_rules::csell {

/// Larger tables are read through the caches: every device has room for these, beside the sums of teams.
inline constexpr std::uint64_t max_staged_bytes = 64U << 10U;
/// Bytes of a table in a block's shared memory.
constexpr std::uint64_t staged_bytes(std::uint64_t values, std::uint64_t value_size) {
  const std::uint64_t bytes = (values * value_size + 15) / 16 * 16;  // what follows are sums of any type
  return bytes > max_staged_bytes ? 0 : bytes;
}

/// Blocks for which a multiprocessor has shared memory, by that of a block and by the most that a block may have. Since
/// compute capability 8.0 a multiprocessor has 1 KiB more than that, and takes 1 KiB for itself with each block (CUDA
/// C++ Programming Guide, "Shared Memory" of each compute capability).
constexpr std::uint64_t blocks_by_shared(std::uint64_t bytes_of_block, std::uint64_t most_of_block) {
  constexpr std::uint64_t reserved = 1024, granule = 128;
  if (bytes_of_block == 0) return std::numeric_limits<std::uint64_t>::max();
  return (most_of_block + reserved) / ((bytes_of_block + granule - 1) / granule * granule + reserved);
}

/// Threads on a multiprocessor at once, of a kernel whose registers leave room for so many blocks: some devices hold
/// 1,536 where four blocks of 512 have registers.
constexpr unsigned held_threads(unsigned threads, unsigned blocks, unsigned multiprocessor_threads) {
  return std::min(threads * blocks, multiprocessor_threads);
}

/// A part whose slices are in tiles, each with a table of its own.
struct TiledSlices {
  std::uint64_t slices, entries, sums, tiles, tile_slices;
  bool staged;  ///< whether blocks have the tables in shared memory
};
/// The part of a multiprocessor that its kernel may use.
struct TiledRoom {
  unsigned threads;      ///< held_threads()
  std::uint64_t blocks;  ///< by their shared memory
  std::uint64_t multiprocessors;
};
/// Tiles in pieces, which blocks take in turn. A block stages the table of each piece's tile, unless it has it already.
struct TilePieces {
  unsigned threads;        ///< of a block
  std::uint64_t resident;  ///< blocks of a multiprocessor
  std::uint64_t of_tile;   ///< pieces
  std::uint64_t turns;     ///< pieces of the block that has the most
  std::uint64_t rounds;    ///< slices of a piece that a team of warps has, one after the other, at most
};

/// Blocks have at most 512 threads, so that others work while one stages, and fewer if a tile has too few slices for
/// them or some multiprocessors would have none. For each number of turns the most pieces that fit are tried, and the
/// cheapest are taken, by this estimate: (turns + 1/4) * rounds * entries of a slice + 256 * turns. A quarter of a
/// piece is for slices that take longer than others, and 256 entries take as long as staging a table.
/// docs/notebook/GPU.md, "Pieces of tiles".
constexpr TilePieces pieces_of(const TiledSlices& part, const TiledRoom& room) {
  constexpr unsigned least_threads = 128, most_threads = 512;
  const auto div_up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  const std::uint64_t warps = part.slices * part.sums, staging_entries = part.staged ? 256 : 0;
  unsigned threads = std::min(most_threads, room.threads);
  while (threads > least_threads &&
         (threads > part.tile_slices * part.sums * 32 || warps * 32 < 2 * room.multiprocessors * threads))
    threads /= 2;
  const std::uint64_t teams = std::max<std::uint64_t>(1, threads / 32 / part.sums),
                      resident =
                          std::max<std::uint64_t>(1, std::min<std::uint64_t>(room.threads / threads, room.blocks)),
                      blocks = resident * room.multiprocessors,
                      all_rounds = std::max<std::uint64_t>(1, div_up(part.tile_slices, teams));
  TilePieces best{threads, resident, 0, 0, 0};
  const std::uint64_t first = div_up(part.tiles, blocks);
  constexpr std::uint64_t more_turns = 8;
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
