#pragma once
// ccoo: which chunks have a block of threads for themselves, and how large one.

#include <cstdint>

namespace spmvpack::launch_rules::ccoo {

inline constexpr unsigned team_threads = 64;       ///< of a block for each chunk
inline constexpr unsigned most_threads = 256;      ///< of such a block, if there are few chunks
inline constexpr unsigned team_blocks = 8;         ///< of team_threads, that a multiprocessor holds at once
inline constexpr std::uint64_t largest_slots = 8;  ///< K

/// Whether chunks of K = 8 get one block each: if there are no ids, or few rows a chunk. Otherwise most of the work is
/// finding rows and adding them up, where one warp a chunk waits less. docs/notebook/GPU.md, "Constants".
constexpr bool takes_team(std::uint64_t rows, std::uint64_t chunks, std::uint64_t lut_size) {
  constexpr std::uint64_t few_rows = 64;
  return lut_size == 0 || rows <= few_rows * chunks;
}

/// The threads of a chunk's block where chunks are so few that the device holds all of these blocks at once; 0: there
/// are more. Each warp then has one group of lanes or a few, and no multiprocessor is idle.
constexpr unsigned small_threads(std::uint64_t chunks, std::uint64_t multiprocessors) {
  const std::uint64_t held = multiprocessors * team_blocks * team_threads;
  for (unsigned threads = most_threads; threads >= team_threads; threads /= 2)
    if (chunks * threads <= held) return threads;
  return 0;
}

/// The threads of a chunk's block; 0: chunks have a warp each.
constexpr unsigned block_threads(std::uint64_t rows, std::uint64_t chunks, std::uint64_t slots, std::uint64_t lut_size,
                                 std::uint64_t multiprocessors) {
  const unsigned threads = small_threads(chunks, multiprocessors);
  return threads == 0 && slots == largest_slots && takes_team(rows, chunks, lut_size) ? team_threads : threads;
}

/// The entries that a thread takes in turn beyond its first K, in a part of K slots a lane whose chunks have blocks.
constexpr std::uint64_t serial_entries(std::uint64_t rows, std::uint64_t chunks, std::uint64_t lanes,
                                       std::uint64_t slots, std::uint64_t lut_size, std::uint64_t multiprocessors) {
  const unsigned threads = block_threads(rows, chunks, slots, lut_size, multiprocessors);
  if (threads == 0 || chunks == 0) return 0;
  const std::uint64_t held = multiprocessors * team_blocks * team_threads / threads;
  const std::uint64_t turns = (chunks + held - 1) / held * ((lanes + threads - 1) / threads);
  return (turns - 1) * slots;
}

}  // namespace spmvpack::launch_rules::ccoo
