#pragma once
// ell, ellpack_r, sell and pjds on a GPU, which give each row a thread: how many of its slots are on their way
// together.

#include <cstdint>

namespace spmvpack::launch_rules::padded_rows {

/// Slots of a row whose loads are issued together, and threads of a block.
struct RowLaunch {
  int batch;
  unsigned threads;
};

/// The three sizes of a batch, by whether vectors are single precision.
constexpr int large_batch(bool single) { return single ? 14 : 16; }
inline constexpr int medium_batch = 7, small_batch = 4;
/// The most threads of a block with each.
inline constexpr unsigned threads_of_large = 128;
constexpr unsigned threads_of_medium(bool single) { return single ? 512 : 128; }
inline constexpr unsigned threads_of_small = 256;

/// What is fastest depends on how many threads are on the device at once: slots on their way take registers, and a few
/// rows that have to wait for others' to end take as long as these. In double precision a multiprocessor holds 512
/// threads with the large batch, 1,152 with the medium one and 1,536 with the small one. H200, f64, us, batches of 16,
/// 7 and 4: 41 slots in each of 50,000 rows 12.5, 13.1 and 15.3; 21 in 117,000 15.6, 13.9 and 14.6; 27 in 175,000 22.7,
/// 23.1 and 22.1; 41 in 205,000 35.5, 34.4 and 38.9; 7 in a million 39.1, 31.8 and 30.9. Between 1,024 and 1,152
/// threads per multiprocessor the small one loses up to 4 % on bands, and wins 13 % where columns are scattered
/// (147,456 rows of a triangulation, numbered at random in windows of 1,024).
constexpr RowLaunch launch_of(std::uint64_t rows, std::uint64_t nnz, bool single, std::uint64_t multiprocessors) {
  constexpr std::uint64_t short_row = 8;  // entries on average; no more of them would be on their way
  const bool are_short = nnz <= short_row * rows;
  const auto at_most = [&](std::uint64_t threads) { return rows <= threads * multiprocessors; };
  constexpr RowLaunch small{small_batch, threads_of_small}, medium{medium_batch, threads_of_medium(false)};
  if (at_most(512) && !are_short) return {large_batch(single), threads_of_large};
  if (at_most(1024)) return medium;
  if (single) {
    // Large blocks find more of x in the first-level cache where rows are long (log-distance columns 86 instead of 90
    // us); where they are short, small ones are faster (5 points 63 instead of 67 us).
    return at_most(2048) ? small : RowLaunch{medium_batch, are_short ? 256 : threads_of_medium(single)};
  }
  constexpr std::uint64_t of_small = 1536, of_medium = 1152;
  return !at_most(of_small) && at_most(2 * of_medium) ? medium : small;
}

}  // namespace spmvpack::launch_rules::padded_rows
