#pragma once
// The steps of one slice of csell: which entry of which lane comes when, and how the columns of a step are stored.

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// A matrix as rows of full blocks, `block` times `block`. It must have no others: see full_blocks().
class BlockRows {
 public:
  BlockRows(const CsrView& a, std::uint32_t block) : a_(a), block_(block) {}

  [[nodiscard]] std::uint32_t block() const { return block_; }
  /// n / block(), by constants: a division by a variable takes longer than all else that is done for an entry, and
  /// compilers fold `block == 1 ? n : n / block` into one.
  template <class N>
  [[nodiscard]] N in_blocks(N n) const {
    static_assert(max_block == 4);
    return block_ == 1 ? n : block_ == 2 ? n / 2 : block_ == 3 ? n / 3 : n / 4;
  }
  [[nodiscard]] std::uint64_t rows() const { return in_blocks(a_.rows()); }
  [[nodiscard]] std::uint64_t slices() const { return div_up(rows(), lanes); }
  [[nodiscard]] const CsrView& matrix() const { return a_; }
  /// Blocks of a block row.
  [[nodiscard]] std::uint32_t length(std::uint64_t row) const {
    return static_cast<std::uint32_t>(in_blocks(a_.row_length(row * block_)));
  }
  /// The matrix entries of a row of a block row; block j begins at element j * block.
  [[nodiscard]] std::uint64_t begin(std::uint64_t row, std::uint32_t r = 0) const {
    return a_.row_ptr(row * block_ + r);
  }
  /// The number of a block row's first block.
  [[nodiscard]] std::uint64_t first_block(std::uint64_t row) const { return number(begin(row)); }
  /// The number of the block that begins at this entry of its first row, or would if the block row had one.
  [[nodiscard]] std::uint64_t number(std::uint64_t entry) const { return in_blocks(in_blocks(entry)); }
  /// Blocks of a slice.
  [[nodiscard]] std::uint64_t blocks(std::uint64_t slice) const {
    const std::uint64_t first = slice * lanes * block_, last = std::min(a_.rows(), first + lanes * block_);
    return number(a_.row_ptr(last) - a_.row_ptr(first));
  }

 private:
  CsrView a_;
  std::uint32_t block_;
};

/// The first matrix entry of each lane's row r of its block row; 0 for a lane without one.
using LaneStarts = std::array<std::uint64_t, lanes>;
inline LaneStarts lane_starts(const BlockRows& rows, std::uint64_t slice, std::uint32_t r) {
  LaneStarts starts{};
  for (std::uint64_t lane = 0; lane < std::min<std::uint64_t>(lanes, rows.rows() - slice * lanes); ++lane)
    starts[lane] = rows.begin(slice * lanes + lane, r);
  return starts;
}

/// Whether the matrix consists of full blocks of this size, aligned to it. O(nnz), parallel, ends early.
bool full_blocks(const CsrView& a, std::uint32_t block, int threads);

struct Step {
  std::uint32_t base = 0, mask = 0;
  Columns columns = Columns::pattern;
  std::uint32_t first = 0;  ///< in SliceSteps::entries(): one for each lane of the mask, in order
};

/// The steps of slices with offsets, each lane's entries in their order: what is left to do when a slice is written
/// takes no search.
struct OffsetSteps {
  CountedVector<std::uint32_t> masks;
  CountedVector<Columns> columns;
};
struct StepRange {
  std::uint64_t first = 0, count = 0;
};

/// Arranges one slice after the other; keeps its memory.
class SliceSteps {
 public:
  explicit SliceSteps(const BlockRows& rows) : rows_(rows) {}

  /// Steps of equal column - row, and equal values if `by_value`, in the order of column - row. False, and no steps, if
  /// they are more than `most`.
  bool arrange_pattern(std::uint64_t slice, bool by_value, std::uint64_t most);
  /// Finds steps with offsets, in windows if these take fewer bytes, for arrange_offsets(): adds them to `to`. Only
  /// groups() tells of them.
  StepRange find_offsets(std::uint64_t slice, OffsetSteps& to);
  /// The steps that find_offsets() has found for this slice, or for one of the same shape, narrow ones first. Each
  /// lane's columns rise within a kind of columns.
  void arrange_offsets(std::uint64_t slice, const OffsetSteps& from, StepRange range);

  [[nodiscard]] std::uint64_t slice() const { return slice_; }
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  /// Numbers of blocks in their lanes' rows.
  [[nodiscard]] std::span<const std::uint32_t> entries() const { return entries_; }
  /// Blocks of the longest row.
  [[nodiscard]] std::uint32_t width() const { return width_; }
  [[nodiscard]] SliceGroups groups() const { return groups_; }

 private:
  using PerKind = std::array<std::uint32_t, 4>;
  static SliceGroups groups_of(const PerKind& steps);
  void load(std::uint64_t slice);
  /// Key: holds column - row, counted from the least that the slice may have.
  template <class Key>
  bool arrange_pattern_by(bool by_value, std::uint64_t most);
  /// Cuts the columns into windows of 2^16 if `windows`, or none; in each, step t has the t-th entry of every lane.
  /// What is left over of a kind joins the next wider one where that has room in its last group. False if that takes
  /// `most` units and more. Steps without their entries.
  bool align(bool windows, std::uint64_t most);
  [[nodiscard]] std::uint64_t units() const { return stream_layout(groups_, 0).end; }
  /// Of the lane's next entry, if it has one.
  [[nodiscard]] std::uint32_t column(std::uint32_t lane) const {
    return rows_.in_blocks(columns_[lane][std::size_t{taken_[lane]} * rows_.block()]);
  }
  [[nodiscard]] bool same_value(std::uint32_t lane, std::uint32_t other) const;

  BlockRows rows_;
  std::uint64_t slice_ = 0;
  std::uint32_t width_ = 0;
  // By lane: its columns, their number, and how many have been taken.
  std::array<const std::uint32_t*, lanes> columns_{};
  std::array<std::uint32_t, lanes> length_{}, taken_{};
  CountedVector<Step> steps_, others_;
  CountedVector<std::uint32_t> entries_;
  SliceGroups groups_{};
  PerKind kinds_{}, widened_{};  ///< steps
};

/// Whether the columns of two slices, and their values if `by_value`, differ only as their first rows do: SliceSteps
/// then finds the same, but for bases that are columns.
bool same_shape(const BlockRows& rows, std::uint64_t slice, std::uint64_t other, bool by_value);

/// What was found for the latest slices of different shapes: most slices of a grid have one of few.
template <class Found>
class RecentSlices {
 public:
  RecentSlices(const BlockRows& rows, bool by_value) : rows_(rows), by_value_(by_value) {}

  /// What was found for this slice's shape: by find(place) if it is not known, where `place` is to be overwritten.
  template <class Find>
  const Found& operator()(std::uint64_t slice, Find&& find) {
    auto known = std::find_if(known_.begin(), known_.end(),
                              [&](const auto& k) { return same_shape(rows_, slice, k->slice, by_value_); });
    if (known == known_.end()) {
      if (known_.size() < most) known_.push_back(std::make_unique<Known>());
      known = known_.end() - 1;
      (*known)->slice = slice;
      find((*known)->found);
    }
    std::rotate(known_.begin(), known, known + 1);
    return known_.front()->found;
  }

 private:
  static constexpr std::size_t most = 16;
  struct Known {
    std::uint64_t slice = 0;
    Found found;
  };
  BlockRows rows_;
  bool by_value_;
  std::vector<std::unique_ptr<Known>> known_;  ///< the latest first
};

}  // namespace spmvpack::encoder::layouts::csell_plans
