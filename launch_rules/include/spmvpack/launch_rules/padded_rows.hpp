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

/// What is fastest depends on how many threads are on the device at once: slots in flight take registers, and a few
/// rows that wait for others to end take as long as these. In double precision a multiprocessor holds 512 threads with
/// the large batch, 1,152 with the medium one and 1,536 with the small one.
///
/// If all are on the device at once (FP32: up to 1,024 rows a multiprocessor), blocks are even. Not if rows are
/// `sorted` by length, as one multiprocessor would have the longest. docs/notebook/GPU.md, "Constants".
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
    // Large blocks find more of x in the first-level cache if rows are long; if rows are short, small blocks are
    // faster. docs/notebook/GPU.md, "Constants".
    return at_most(small.held)
               ? small
               : RowLaunch{medium_batch, are_short ? 256U : most_threads_of_medium(single), medium.held};
  }
  if (at_most(small.held)) return even(small, most_threads_of_small(single));
  return at_most(2 * std::uint64_t{medium.held}) ? medium : small;
}

}  // namespace spmvpack::launch_rules::padded_rows
