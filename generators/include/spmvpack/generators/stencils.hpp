#pragma once
/// Finite differences and volumes on regular grids, with neighbours along the axes.

#include <array>
#include <cstdint>

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The 5-point Laplacian on nx x ny unknowns with Dirichlet boundaries; the unknown (ix, iy) is row ix + nx iy.
/// nnz = 5 nx ny - 2 nx - 2 ny.
///
/// Between neighbours stands minus the conductance of their face, the mean of the two cells' coefficients; a cell's own
/// on the boundary. The diagonal adds up the four. Constant: 4 and -1; else coefficients are random in [0.5, 1.5).
class Laplace2d final : public MatrixGenerator {
 public:
  /// With `remove_one` the unknown (nx / 2, ny / 2), which then has all four neighbours, is held at zero: its row and
  /// column are left out, 9 entries. On 1000 x 1000 that gives 999,999 rows and 4,995,991 nonzeros, the sizes of
  /// ecology2. Error(errc::usage) if a side is 0, or below 3 with `remove_one`.
  Laplace2d(std::uint64_t nx, std::uint64_t ny, bool remove_one, const Coefficients& coefficients = {},
            std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return grid_.points() - (remove_one_ ? 1 : 0); }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  [[nodiscard]] double coefficient(const Point& cell) const;

  Grid grid_;
  bool remove_one_;
  std::uint64_t removed_;  ///< number of the removed unknown on the whole grid
  Coefficients coefficients_;
  Materials materials_;
  Random random_;
};

/// Steady convection and diffusion on nx x ny x nz cells, first-order upwind finite volumes with Dirichlet boundaries:
/// seven points, not symmetric. The cell (ix, iy, iz) is row ix + nx (iy + ny iz).
/// nnz = 7 nx ny nz - 2 (nx ny + ny nz + nz nx).
///
/// A face with conductance d and flow f from cell p to cell q adds d + max(f, 0) to the entry (p, p), subtracts
/// d + max(-f, 0) from (p, q), and the mirror image for row q. Constant: d = 1 and f = (0.5, 0.3, 0.2) along the axes,
/// so that there are five values. Else d is the mean of two cells' conductances, random in [0.5, 1.5), and f is random
/// in [-1, 1) per face, or the same for like faces of a block; with random coefficients nearly every value is distinct.
class ConvectionDiffusion final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if a side is 0.
  explicit ConvectionDiffusion(const Point& cells, const Coefficients& coefficients = {}, std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return grid_.points(); }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  struct Face {
    double conductance, flow;
  };
  /// The face between `lower` and its neighbour `upper` along `axis`. A face on the boundary has one cell, given twice;
  /// `end` distinguishes the two ends of a line of cells.
  [[nodiscard]] Face face(const Point& lower, const Point& upper, unsigned axis, unsigned end) const;

  Grid grid_;
  Coefficients coefficients_;
  Materials materials_;
  Random random_;
};

}  // namespace spmvpack::generators
