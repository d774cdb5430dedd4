#pragma once
/// Matrices of plain shapes, at which layouts and predictions that suit meshes and graphs may fail.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// What all shapes have. Values are random in [-1, 1); constant: 1; blocks: those of a row of the block.
class Shape : public MatrixGenerator {
 public:
  [[nodiscard]] std::uint64_t rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t cols() const override { return cols_; }
  [[nodiscard]] std::vector<std::string> comments() const override;

 protected:
  /// Error(errc::usage) if rows or columns are 0.
  Shape(std::uint64_t rows, std::uint64_t cols, const Coefficients& coefficients, std::uint64_t seed,
        std::string comment);
  /// Appends an entry: the k-th of row i.
  void push(std::uint64_t i, std::uint64_t k, std::uint64_t column, Row& out) const;
  [[nodiscard]] const Random& structure() const noexcept { return structure_; }

 private:
  std::uint64_t rows_, cols_;
  Coefficients coefficients_;
  Random structure_, values_;
  std::string comment_;
};

/// Rows that are one run of columns each.
class Runs final : public Shape {
 public:
  using Run = std::pair<std::uint64_t, std::uint64_t>;  ///< first column, and one past the last

  /// Every entry is there.
  static std::unique_ptr<Runs> full(std::uint64_t rows, std::uint64_t cols, const Coefficients& coefficients,
                                    std::uint64_t seed);
  /// `below` diagonals below the main one, and `above` above it: a triangle has n - 1 and 0. Every `empty_every`-th row
  /// is without entries, unless that is 0.
  static std::unique_ptr<Runs> band(std::uint64_t n, std::uint64_t below, std::uint64_t above,
                                    std::uint64_t empty_every, const Coefficients& coefficients, std::uint64_t seed);
  /// Full blocks of `block` rows and columns along the diagonal. Error(errc::usage) if it is 0.
  static std::unique_ptr<Runs> blocks(std::uint64_t n, std::uint64_t block, const Coefficients& coefficients,
                                      std::uint64_t seed);
  void row(std::uint64_t i, Row& out) const override;

  Runs(std::uint64_t rows, std::uint64_t cols, std::function<Run(std::uint64_t row)> run,
       const Coefficients& coefficients, std::uint64_t seed, std::string comment);

 private:
  std::function<Run(std::uint64_t)> run_;
};

/// A full first row, a full first column, and the diagonal.
class Arrow final : public Shape {
 public:
  Arrow(std::uint64_t n, const Coefficients& coefficients, std::uint64_t seed = 0);
  void row(std::uint64_t i, Row& out) const override;
};

/// Lengths of rows by a power law: one has k entries with a probability like k^-exponent, at most `longest`, in
/// uniformly random columns.
class PowerLawRows final : public Shape {
 public:
  /// Error(errc::usage) unless the exponent is from 1.1 to 10, and `longest` from 1 to the number of columns.
  PowerLawRows(std::uint64_t rows, std::uint64_t cols, double exponent, std::uint64_t longest,
               const Coefficients& coefficients, std::uint64_t seed = 0);
  void row(std::uint64_t i, Row& out) const override;

 private:
  std::uint64_t longest_, steps_;  ///< steps_: of the inverse distribution's exponent
};

/// Entries at uniformly random places, each place once.
class Scattered final : public Shape {
 public:
  /// The places are held in memory, 8 bytes each. Error(errc::usage) if there are more entries than half of all places;
  /// Error(errc::out_of_memory).
  Scattered(std::uint64_t rows, std::uint64_t cols, std::uint64_t entries, const Coefficients& coefficients,
            std::uint64_t seed = 0, const Resources& resources = {});
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;

 private:
  std::vector<std::uint64_t> places_;  ///< row times columns plus column, rising
};

}  // namespace spmvpack::generators
