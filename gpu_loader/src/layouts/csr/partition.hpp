#pragma once
// How csr divides its work: what the order of additions depends on besides the matrix. The numbers are the same on
// every device; none is needed.

#include <cstddef>
#include <cstdint>

namespace spmvpack::gpu_loader {

/// The size limits of a row block of IPCSR (Gao, Qi, He: Efficient CSR-Based Sparse Matrix-Vector Multiplication on
/// GPU, Mathematical Problems in Engineering 2016, algorithms 4 and 6). The paper derives the entries from the device's
/// shared memory; here they are fixed, because the order of additions depends on them.
struct RowBlockLimits {
  std::uint32_t threads = 256;   ///< nt: the most rows of a block
  std::uint32_t entries = 2048;  ///< SHARED_SIZE: the most entries of a block, unless it is a single row
};

/// The number of rows in the block that starts at row `first` < rows: blocks take rows greedily, one by one.
template <class P>
constexpr std::uint32_t row_block_rows(const P* row_ptr, std::uint64_t rows, std::uint64_t first,
                                       RowBlockLimits limits) {
  const P begin = row_ptr[first];
  // The fewest rows, 1 to most, that fill a block with entries; `most` if they do not.
  const auto most = static_cast<std::uint32_t>(rows - first < limits.threads ? rows - first : limits.threads);
  std::uint32_t low = 1, high = most;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (row_ptr[first + middle] - begin >= limits.entries)
      high = middle;
    else
      low = middle + 1;
  }
  return low > 1 && row_ptr[first + low] - begin > limits.entries ? low - 1 : low;
}

/// The decision tree, figure 1 (missing in print; this is our reading): the number of threads for each row of a block
/// with `rows` rows, the largest power of two that is at most threads / rows and at most threads / 2.
constexpr std::uint32_t threads_per_row(std::uint32_t threads, std::uint32_t rows) {
  std::uint32_t each = 1;
  while (each * 2 * rows <= threads && each * 2 <= threads / 2) each *= 2;
  return each;
}

/// If a row is very long, the default is `merge` instead of `ipcsr`: a single block of threads would take as long for
/// it as the device for all other rows. Measured on an H100: 3.7 ns per entry in a row of 200,000, against 0.005 ns if
/// the whole device works.
constexpr bool is_very_long_row(std::uint64_t length, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t least = 16384, share = 512;
  return length > least && length > nnz / share;
}

/// What csr's `long` gives each row: blocks of so many threads. It is 16 of them, unless the longest row would keep
/// them longer than the device needs for all rows: then a power of two up to 512, with which each thread of that row
/// has four entries at most, as far as all rows together have 512 blocks, which is what an H200 holds at once; and
/// sixteen, however many blocks that takes.
struct LongRows {
  static constexpr std::uint32_t threads = 512, least_blocks = 16, most_blocks = 512;
  static constexpr std::uint64_t least_threads = std::uint64_t{threads} * least_blocks;

  static constexpr std::uint32_t blocks(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) noexcept {
    constexpr std::uint64_t wanted = 4, most = 16;  // entries of a thread
    std::uint32_t blocks = least_blocks;
    if (longest > nnz / 16)
      while (blocks < most_blocks && longest > threads * blocks * (2 * blocks * rows <= most_blocks ? wanted : most))
        blocks *= 2;
    return blocks;
  }
};

/// Whether rows are few and long: each has work for the threads that `long` gives it, and not so many of them have none
/// that starting them takes long. nw04's 37 rows of 591 to 87,473 entries take 10.6 us cold, with `merge` 19 (H200).
constexpr bool are_few_long_rows(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t most_blocks = 4096;
  if (rows == 0 || nnz / rows < LongRows::least_threads) return false;
  const std::uint32_t blocks = LongRows::blocks(rows, longest, nnz);
  return blocks == LongRows::least_blocks || rows * blocks <= most_blocks;
}

/// Lanes per row in csr's `vector`: the largest power of two that is at most the mean row length, 1 to 32.
constexpr std::uint32_t lanes_per_row(std::uint64_t rows, std::uint64_t nnz) {
  std::uint32_t lanes = 1;
  while (lanes < 32 && rows != 0 && nnz / rows >= std::uint64_t{lanes} * 2) lanes *= 2;
  return lanes;
}

}  // namespace spmvpack::gpu_loader
