#pragma once
// The steps of one slice of csell: which entry of which lane comes when, and how the columns of a step are stored.

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "spmvpack/container/csr_matrix.hpp"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::encoder::layouts::sliced {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// A matrix as rows of full blocks, `block` times `block`. It must have no others: see full_blocks().
class BlockRows {
 public:
  BlockRows(const CsrView& a, std::uint32_t block) : a_(a), block_(block) {}

  [[nodiscard]] std::uint32_t block() const { return block_; }
  [[nodiscard]] std::uint64_t rows() const { return a_.rows() / block_; }
  [[nodiscard]] std::uint64_t slices() const { return div_up(rows(), lanes); }
  [[nodiscard]] const CsrView& matrix() const { return a_; }
  /// Blocks of a block row.
  [[nodiscard]] std::uint32_t length(std::uint64_t row) const {
    return static_cast<std::uint32_t>(a_.row_length(row * block_) / block_);
  }
  /// The matrix entries of a row of a block row; block j begins at element j * block.
  [[nodiscard]] std::uint64_t begin(std::uint64_t row, std::uint32_t r = 0) const {
    return a_.row_ptr(row * block_ + r);
  }
  /// Blocks of a slice.
  [[nodiscard]] std::uint64_t blocks(std::uint64_t slice) const {
    const std::uint64_t first = slice * lanes * block_, last = std::min(a_.rows(), first + lanes * block_);
    return (a_.row_ptr(last) - a_.row_ptr(first)) / block_ / block_;
  }

 private:
  CsrView a_;
  std::uint32_t block_;
};

/// Whether the matrix consists of full blocks of this size, aligned to it. O(nnz), parallel, ends early.
bool full_blocks(const CsrView& a, std::uint32_t block, int threads);

struct Step {
  std::uint32_t base = 0, mask = 0;
  Columns columns = Columns::pattern;
  std::uint32_t first = 0;  ///< in SliceSteps::entries(): one for each lane of the mask, in order
};

/// Arranges one slice after the other; keeps its memory.
class SliceSteps {
 public:
  explicit SliceSteps(const BlockRows& rows) : rows_(rows) {}

  /// Steps of equal column - row, and equal values if `by_value`, in the order of column - row. False, and no steps, if
  /// they are more than `most`.
  bool arrange_pattern(std::uint64_t slice, bool by_value, std::uint64_t most);
  /// Steps with offsets, narrow ones first. Each lane's columns rise within a kind of columns.
  void arrange_offsets(std::uint64_t slice);

  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  /// Numbers of blocks in their lanes' rows.
  [[nodiscard]] std::span<const std::uint32_t> entries() const { return entries_; }
  /// Blocks of the longest row.
  [[nodiscard]] std::uint32_t width() const { return width_; }
  [[nodiscard]] SliceGroups groups() const { return groups_; }

 private:
  void load(std::uint64_t slice);
  /// Cuts the columns into windows of 2^16 if `windows`, or none; in each, step t has the t-th entry of every lane.
  void align(bool windows);
  void choose_columns();
  [[nodiscard]] std::uint64_t units() const;
  [[nodiscard]] bool same_value(std::uint32_t lane, std::uint32_t other) const;

  BlockRows rows_;
  std::uint64_t slice_ = 0;
  std::uint32_t width_ = 0;
  // By lane: its columns, their number, and how many have been taken.
  std::array<const std::uint32_t*, lanes> columns_{};
  std::array<std::uint32_t, lanes> length_{}, taken_{};
  std::vector<Step> steps_, other_steps_;
  std::vector<std::uint32_t> entries_, other_entries_;
  SliceGroups groups_{}, other_groups_{};
};

}  // namespace spmvpack::encoder::layouts::sliced
