#pragma once
/// Finite-difference matrices on regular grids.

#include <array>
#include <cstdint>

#include "generators/matrix_generator.hpp"

namespace spmvpack::tools {

/// The 5-point Laplacian on nx x ny unknowns with Dirichlet boundaries: 4 on the diagonal, -1 for each neighbour. The
/// unknown (ix, iy) is row ix + nx iy. nnz = 5 nx ny - 2 nx - 2 ny.
class Laplace2d final : public MatrixGenerator {
 public:
  /// With `remove_one` the unknown (nx / 2, ny / 2), which then has all four neighbours, is held at zero: its row and
  /// column are left out, 9 entries. On 1000 x 1000 that gives 999,999 rows and 4,995,991 nonzeros, the sizes of
  /// ecology2. Error(errc::usage) where a side is 0, or below 3 with `remove_one`.
  Laplace2d(std::uint64_t nx, std::uint64_t ny, bool remove_one);

  [[nodiscard]] std::uint64_t rows() const override { return nx_ * ny_ - (remove_one_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t nnz() const override { return 5 * nx_ * ny_ - 2 * (nx_ + ny_) - (remove_one_ ? 9 : 0); }
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  std::uint64_t nx_, ny_;
  bool remove_one_;
  std::uint64_t removed_;  ///< number of the removed unknown on the whole grid
};

/// Steady convection and diffusion on nx x ny x nz cells, first-order upwind finite volumes with Dirichlet boundaries:
/// seven points, not symmetric. The cell (ix, iy, iz) is row ix + nx (iy + ny iz).
/// nnz = 7 nx ny nz - 2 (nx ny + ny nz + nz nx).
///
/// A face with conductance d and flow f from cell p to cell q adds d + max(f, 0) to the entry (p, p), subtracts
/// d + max(-f, 0) from (p, q), and the mirror image for row q. Constant: d = 1 and f = (0.5, 0.3, 0.2) along the axes,
/// so that there are five values. Variable: d is the mean of two cells' random conductances in [0.5, 1.5), f is random
/// per face in [-1, 1), so that nearly every value is distinct; both from a hash of the cell's number.
class ConvectionDiffusion final : public MatrixGenerator {
 public:
  /// Error(errc::usage) where a side is 0.
  ConvectionDiffusion(std::array<std::uint64_t, 3> cells, bool variable);

  [[nodiscard]] std::uint64_t rows() const override { return n_[0] * n_[1] * n_[2]; }
  [[nodiscard]] std::uint64_t nnz() const override {
    return 7 * rows() - 2 * (n_[0] * n_[1] + n_[1] * n_[2] + n_[2] * n_[0]);
  }
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  struct Face {
    double conductance, flow;
  };
  /// The face between `lower` and its neighbour `upper` along `axis`. A face on the boundary has one cell, given twice;
  /// `end` tells the two ends of a line of cells apart.
  [[nodiscard]] Face face(std::uint64_t lower, std::uint64_t upper, unsigned axis, unsigned end) const;

  std::array<std::uint64_t, 3> n_, stride_;
  bool variable_;
};

}  // namespace spmvpack::tools
