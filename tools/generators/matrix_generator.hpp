#pragma once
/// Matrices by rule: given a row's index, its entries.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace spmvpack::tools {

struct Entry {
  std::uint64_t column = 0;
  double value = 0;
};

/// The entries of one row, columns strictly increasing.
class Row {
 public:
  static constexpr std::size_t capacity = 64;
  void push(std::uint64_t column, double value) { entries_.at(size_++) = {column, value}; }
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] const Entry* begin() const noexcept { return entries_.data(); }
  [[nodiscard]] const Entry* end() const noexcept { return entries_.data() + size_; }

 private:
  std::array<Entry, capacity> entries_{};
  std::size_t size_ = 0;
};

/// A square matrix whose rows can be made in any order, from several threads at once.
class MatrixGenerator {
 public:
  MatrixGenerator() = default;
  MatrixGenerator(const MatrixGenerator&) = delete;
  MatrixGenerator& operator=(const MatrixGenerator&) = delete;
  virtual ~MatrixGenerator() = default;
  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t nnz() const = 0;  ///< of all rows together
  /// Appends the entries of row `i` (zero-based, as are columns).
  virtual void row(std::uint64_t i, Row& out) const = 0;
  /// What the matrix stands for: comment lines for the file, without %.
  [[nodiscard]] virtual std::vector<std::string> comments() const = 0;
};

}  // namespace spmvpack::tools
