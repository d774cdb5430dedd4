#pragma once
// csr: its kernels, which of them is a part's default, and how they divide the work. The order of additions depends on
// all of it and on the matrix, on nothing else: the numbers are the same on every device, and none is needed.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace spmvpack::launch_rules::csr {

/// Indices in the GPU's table of them.
enum Kernel : std::size_t { ipcsr, vector, scalar, pcsr, merge, long_rows, vector32, ipcsr_printed };

/// The size limits of a row block of IPCSR (Gao, Qi, He: Efficient CSR-Based Sparse Matrix-Vector Multiplication on
/// GPU, Mathematical Problems in Engineering 2016, algorithms 4 and 6). The paper derives the entries from the device's
/// shared memory; here they are fixed, because the order of additions depends on them.
struct RowBlockLimits {
  std::uint32_t threads = 256;   ///< nt: the most rows of a block
  std::uint32_t entries = 2048;  ///< SHARED_SIZE: the most entries of a block, unless it is a single row
};

/// Those of `ipcsr_printed`, for values of so many bytes: equation (3) of the paper for a C2050.
constexpr RowBlockLimits printed_limits(std::uint64_t value_bytes) {
  constexpr std::uint32_t bytes = 8192;
  return {.entries = bytes / static_cast<std::uint32_t>(value_bytes)};
}

/// The number of rows in the block that starts at row `first` < rows: blocks take rows greedily, one by one.
/// `row_ptr(r)` is row r's pointer.
template <class RowPtr>
constexpr std::uint32_t row_block_rows(const RowPtr& row_ptr, std::uint64_t rows, std::uint64_t first,
                                       RowBlockLimits limits) {
  const auto begin = row_ptr(first);
  // The fewest rows, 1 to most, that fill a block with entries; `most` if they do not.
  const auto most = static_cast<std::uint32_t>(rows - first < limits.threads ? rows - first : limits.threads);
  std::uint32_t low = 1, high = most;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (row_ptr(first + middle) - begin >= limits.entries)
      high = middle;
    else
      low = middle + 1;
  }
  return low > 1 && row_ptr(first + low) - begin > limits.entries ? low - 1 : low;
}

/// The decision tree of figure 1, as we read it: the number of threads for each row of a block
/// with `rows` rows, the largest power of two that is at most threads / rows and at most threads / 2.
constexpr std::uint32_t threads_per_row(std::uint32_t threads, std::uint32_t rows) {
  std::uint32_t each = 1;
  while (each * 2 * rows <= threads && each * 2 <= threads / 2) each *= 2;
  return each;
}

/// If a row is very long, the default is `merge` instead of `ipcsr`: a single block of threads would take as long for
/// it as the device for all other rows, some 3.7 ns an entry instead of 0.005. docs/notebook/GPU.md, "Constants".
constexpr bool is_very_long_row(std::uint64_t length, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t least = 16384, share = 512;
  return length > least && length > nnz / share;
}

/// The blocks of `threads` threads that csr's `long` gives each row. There are 16, unless the longest row would keep
/// them longer than the device needs for all rows. The number then doubles, up to 512, until each thread of that row
/// has at most four entries, while all rows together have at most 512 blocks, which an H200 holds at once; beyond that,
/// until each has at most sixteen.
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

/// Whether rows are few and long: each has work for the threads that `long` gives it, and few enough of these are idle
/// that starting them does not take long. docs/notebook/GPU.md, "Constants".
constexpr bool are_few_long_rows(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t most_blocks = 4096;
  if (rows == 0 || nnz / rows < LongRows::least_threads) return false;
  const std::uint32_t blocks = LongRows::blocks(rows, longest, nnz);
  return blocks == LongRows::least_blocks || rows * blocks <= most_blocks;
}

/// Whether a load looks if the columns of each row are consecutive: `ipcsr`, `vector` and `vector32` then read only the
/// first of each row. If rows differed much in length, `ipcsr` would wait for the longest. If rows are short, the
/// kernels wait for something else: 200,000 full rows of 16 take 31.3 us with consecutive columns by `vector`, 28.9 us
/// otherwise (H200).
constexpr bool looks_for_runs(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t least = 32, most_of_mean = 4;
  return rows != 0 && nnz / rows >= least && longest <= most_of_mean * (nnz / rows);
}

/// Lanes per row in csr's `vector`: the largest power of two that is at most the mean row length, 1 to 32.
constexpr std::uint32_t lanes_per_row(std::uint64_t rows, std::uint64_t nnz) {
  std::uint32_t lanes = 1;
  while (lanes < 32 && rows != 0 && nnz / rows >= std::uint64_t{lanes} * 2) lanes *= 2;
  return lanes;
}

/// Entries of a lane of `vector` that are on their way together, if its row has all 32 lanes.
inline constexpr std::uint64_t vector_entries_at_once = 4;
/// How often its lanes wait for entries once more, in the longest row.
constexpr std::uint64_t vector_turns(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) {
  const std::uint64_t of_turn = lanes_per_row(rows, nnz) * vector_entries_at_once;
  return longest == 0 ? 0 : (longest - 1) / of_turn;
}

/// Entries of a chunk of `merge`, the work of a warp, and chunks of a row that shares them that are added up together.
inline constexpr std::uint64_t chunk_entries = 256, chunks_at_once = 1024;

/// The most products that a thread of `ipcsr` adds up in turn, if a block with the longest row is otherwise like the
/// rest of the part. A row above the limit of a block has one for itself, and all its threads.
constexpr std::uint64_t expected_turns(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) noexcept {
  constexpr RowBlockLimits limits;
  const std::uint64_t of_block =
      std::clamp<std::uint64_t>(rows * limits.entries / std::max<std::uint64_t>(nnz, 1), 1, limits.threads);
  return std::min<std::uint64_t>(longest, limits.entries) /
         threads_per_row(limits.threads, static_cast<std::uint32_t>(of_block));
}

/// The kernel that is the default of a part with so many rows and nonzeros.
///
/// Where no lane has more than a few entries, the kernels without blocks are faster: `scalar` where all rows are short,
/// `vector` in small matrices. `merge` is taken if a thread of `ipcsr` would add up more in turn, at 17 ns each, than
/// the device needs longer for all entries in equal shares. docs/notebook/GPU.md, "Constants".
constexpr Kernel default_kernel(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t few = 8, small = std::uint64_t{1} << 21;
  if (are_few_long_rows(rows, longest, nnz)) return long_rows;
  if (is_very_long_row(longest, nnz)) return merge;
  if (longest <= few) return scalar;
  if (nnz <= small && longest <= few * lanes_per_row(rows, nnz)) return vector;
  constexpr std::uint64_t least_turns = 256, entries_of_turn = 8192;
  return expected_turns(rows, longest, nnz) > least_turns + nnz / entries_of_turn ? merge : ipcsr;
}

}  // namespace spmvpack::launch_rules::csr
