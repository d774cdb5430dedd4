#pragma once
/// Matrices whose rows are random sets of columns.

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// Every row has `per_row` distinct columns, any such set as likely as another.
class RandomColumns : public MatrixGenerator {
 public:
  [[nodiscard]] std::uint64_t rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t cols() const override { return cols_; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;

 protected:
  /// Error(errc::usage) if rows, columns or per_row are 0, or per_row is more than there are columns.
  RandomColumns(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, std::uint64_t seed);
  /// The columns of row i, rising.
  [[nodiscard]] std::vector<std::uint64_t> columns(std::uint64_t i) const;
  [[nodiscard]] const Random& values() const noexcept { return values_; }

 private:
  std::uint64_t rows_, cols_, per_row_;
  Random columns_, values_;
};

/// Uniformly random columns: no structure to find, the gathers of x as bad as they can be. Values are random in [-1,
/// 1); constant: 1; blocks: a row's first, second, ... value is that of the other rows of its block.
class Uniform final : public RandomColumns {
 public:
  Uniform(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, const Coefficients& coefficients,
          std::uint64_t seed = 0);
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  Coefficients coefficients_;
};

/// The constraints of a linear program: rows that run over a wide matrix with the coefficients +1 and -1 (or all of
/// them 1, as in set covering: rail4284 has 4,284 rows and 1,096,894 columns).
class LinearProgram final : public RandomColumns {
 public:
  LinearProgram(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, bool with_signs, std::uint64_t seed = 0);
  [[nodiscard]] Field field() const override { return Field::integer; }
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  bool with_signs_;
};

}  // namespace spmvpack::generators
