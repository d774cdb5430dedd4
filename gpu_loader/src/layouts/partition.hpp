#pragma once
// How csr shares out its work: what the order of additions depends on besides the matrix. The same numbers on every
// device, and no device needed.

#include <cstdint>
#include <utility>
#include <vector>

namespace spmvpack::gpu_loader {

/// What a row block of IPCSR may hold (Gao, Qi, He: Efficient CSR-Based Sparse Matrix-Vector Multiplication on GPU,
/// Mathematical Problems in Engineering 2016, algorithms 4 and 6). The paper computes the entries from the device's
/// shared memory; here they are fixed, for the order of additions depends on them.
struct RowBlockLimits {
  std::uint32_t threads = 256;   ///< nt: a block has at most as many rows
  std::uint32_t entries = 2048;  ///< SHARED_SIZE: and as many entries, unless it is one row
};

/// Cuts rows into blocks, greedily from the first on.
class RowBlocks {
 public:
  explicit RowBlocks(RowBlockLimits limits = {}) : limits_(limits) {}

  /// The next row has `length` entries.
  void add(std::uint64_t length) {
    if (row_ != starts_.back() && length > limits_.entries - entries_) close();
    ++row_;
    entries_ += length;
    if (entries_ >= limits_.entries || row_ - starts_.back() == limits_.threads) close();
  }
  /// The blocks' first rows, and behind the last block's the number of rows; {0} where there are none.
  std::vector<std::uint32_t> finish() {
    if (row_ != starts_.back()) close();
    return std::move(starts_);
  }

 private:
  void close() {
    starts_.push_back(row_);
    entries_ = 0;
  }

  RowBlockLimits limits_;
  std::vector<std::uint32_t> starts_{0};
  std::uint32_t row_ = 0;
  std::uint64_t entries_ = 0;
};

/// The decision tree, figure 1 (missing in print; this is our reading): threads that work on each row of a block of
/// `rows` rows, the largest power of two that is at most threads / rows, and at most threads / 2.
constexpr std::uint32_t threads_per_row(std::uint32_t threads, std::uint32_t rows) {
  std::uint32_t each = 1;
  while (each * 2 * rows <= threads && each * 2 <= threads / 2) each *= 2;
  return each;
}

/// Lanes for each row in csr's `vector`: the largest power of two that is at most the mean row length, 1 to 32.
constexpr std::uint32_t lanes_per_row(std::uint64_t rows, std::uint64_t nnz) {
  std::uint32_t lanes = 1;
  while (lanes < 32 && rows != 0 && nnz / rows >= std::uint64_t{lanes} * 2) lanes *= 2;
  return lanes;
}

}  // namespace spmvpack::gpu_loader
