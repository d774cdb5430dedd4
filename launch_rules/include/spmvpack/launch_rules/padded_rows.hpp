#pragma once
// ell, ellpack_r, sell and pjds on a GPU, which give each row a thread: how many of its slots are on their way
// together.

#include <cstdint>

#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::launch_rules::padded_rows {

/// Slots of a row whose loads are issued together, threads of a block, and how many a multiprocessor holds.
struct RowLaunch {
  int batch;
  unsigned threads, held;
};

/// The three sizes of a batch, by whether vectors are single precision.
constexpr int large_batch(bool single) { return single ? 14 : 16; }
inline constexpr int medium_batch = 7, small_batch = 4;
/// The most threads of a block with each, so that one or two of them are what a multiprocessor has (FP64).
inline constexpr unsigned most_threads_of_large = 512;
constexpr unsigned most_threads_of_medium(bool single) { return single ? 512 : 1024; }
constexpr unsigned most_threads_of_small(bool single) { return single ? 256 : 768; }

/// What is fastest depends on how many threads are on the device at once: slots on their way take registers, and a few
/// rows that have to wait for others' to end take as long as these. In double precision a multiprocessor holds 512
/// threads with the large batch, 1,152 with the medium one and 1,536 with the small one. H200, f64, us, batches of 16,
/// 7 and 4: 41 slots in each of 50,000 rows 12.5, 13.1 and 15.3; 21 in 117,000 15.6, 13.9 and 14.6; 27 in 175,000 22.7,
/// 23.1 and 22.1; 41 in 205,000 35.5, 34.4 and 38.9; 7 in a million 39.1, 31.8 and 30.9.
///
/// Where all are on the device at once (FP32: up to 1,024 rows for each multiprocessor), blocks are even: 0.98 times
/// (43 matrices of more rows: 1.03 with 768 threads). Not where rows are `sorted` by length, as one multiprocessor
/// would have the longest: rows of a power law took 1.2 to 1.4 times as long.
constexpr RowLaunch launch_of(std::uint64_t rows, std::uint64_t nnz, bool single, std::uint64_t multiprocessors,
                              bool sorted) {
  constexpr std::uint64_t short_row = 8;  // entries on average; no more of them would be on their way
  const bool are_short = nnz <= short_row * rows;
  const auto at_most = [&](std::uint64_t threads) { return rows <= threads * multiprocessors; };
  const auto even = [&](RowLaunch usual, unsigned most) {
    return sorted ? usual : RowLaunch{usual.batch, even_threads(rows, most, multiprocessors), usual.held};
  };
  const RowLaunch small{small_batch, 256, single ? 2048U : 1536U}, medium{medium_batch, 128, single ? 1536U : 1152U};
  if (at_most(512) && !are_short) return even({large_batch(single), 128, 512}, most_threads_of_large);
  if (at_most(1024)) return even(medium, most_threads_of_medium(single));
  if (single) {
    // Large blocks find more of x in the first-level cache where rows are long (log-distance columns 86 instead of 90
    // us); where they are short, small ones are faster (5 points 63 instead of 67 us).
    return at_most(small.held)
               ? small
               : RowLaunch{medium_batch, are_short ? 256U : most_threads_of_medium(single), medium.held};
  }
  if (at_most(small.held)) return even(small, most_threads_of_small(single));
  return at_most(2 * std::uint64_t{medium.held}) ? medium : small;
}

}  // namespace spmvpack::launch_rules::padded_rows
