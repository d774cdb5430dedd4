#pragma once
/// Matrices by rule: given a row's index, its entries.

#include <cstdint>
#include <string>
#include <vector>

#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::generators {

struct Entry {
  std::uint64_t column = 0;
  double value = 0;
};

/// The entries of one row. Its memory is kept from row to row.
class Row {
 public:
  void push(std::uint64_t column, double value) { entries_.push_back({column, value}); }
  void clear() noexcept { entries_.clear(); }
  /// Sorts the entries by column, for rows that are not made in that order. No column may appear twice.
  void sort();
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const Entry* begin() const noexcept { return entries_.data(); }
  [[nodiscard]] const Entry* end() const noexcept { return entries_.data() + entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

/// Entries of the whole matrix, and those on and below its diagonal, which are what a symmetric file lists.
struct EntryCounts {
  std::uint64_t all = 0, lower = 0;
};

/// The counts of a symmetric matrix with `diagonal` entries on its diagonal.
constexpr EntryCounts symmetric_counts(std::uint64_t all, std::uint64_t diagonal) {
  return {all, (all + diagonal) / 2};
}

/// What a generator may use where its structure has to be made as a whole, before any row.
struct Resources {
  int threads = 0;                 ///< 0: all
  std::uint64_t memory_limit = 0;  ///< bytes, 0: what is available
};

/// A matrix whose rows can be made in any order, from several threads at once.
class MatrixGenerator {
 public:
  MatrixGenerator() = default;
  MatrixGenerator(const MatrixGenerator&) = delete;
  MatrixGenerator& operator=(const MatrixGenerator&) = delete;
  virtual ~MatrixGenerator() = default;
  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t cols() const { return rows(); }
  [[nodiscard]] virtual Field field() const { return Field::real; }
  /// How the matrix is written. Rows are made whole all the same, and a symmetric matrix is so to the bit.
  [[nodiscard]] virtual Symmetry symmetry() const { return Symmetry::general; }
  /// Exact. Generators without a formula make all rows to count them, in parallel; `lower` is only asked for where the
  /// matrix is symmetric.
  [[nodiscard]] virtual EntryCounts count(int threads, const ProgressCallback& progress) const;
  [[nodiscard]] std::uint64_t nnz() const { return count(0, {}).all; }
  /// Appends the entries of row `i` to the empty `out`, columns strictly increasing (zero-based, as are rows).
  virtual void row(std::uint64_t i, Row& out) const = 0;
  /// What the matrix stands for: comment lines for the file, without %.
  [[nodiscard]] virtual std::vector<std::string> comments() const = 0;
};

}  // namespace spmvpack::generators
