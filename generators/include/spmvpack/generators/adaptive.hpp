#pragma once

#include <array>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// Poisson's equation on a grid that is refined around a body, by finite volumes: rows of 4 to 22 entries, 7 on
/// average, most of them short, like those of sAMG (a car's surroundings; Kreutzer et al. 2012, "Sparse matrix-vector
/// multiplication on GPGPU clusters", section 1.3).
///
/// A cell of the nx x ny x nz grid is refined to eight if the surface of an ellipsoid, with half axes of 0.3 of the
/// sides, passes by nearer than about its rough skin (the square of the relative radius is within 0.07 to 0.13 of 1, at
/// random), or if all six of its neighbours are. A face between a cell and eight smaller ones belongs to four of them:
/// the larger cell has up to five such faces.
///
/// Between the cells p and q stands minus the area of their face over the distance of their centres across it, times
/// the mean of their two coefficients; the diagonal adds up all faces, those on the boundary, where values are given,
/// with the distance to the face. Coefficients are 1, or random in [0.5, 1.5), per cell or per block of cells of the
/// grid. Symmetric positive definite. Cells are numbered in the grid's order, the eight of a refined one next to each
/// other.
class Adaptive final : public MatrixGenerator {
 public:
  /// 4 bytes of memory per cell of the grid. Error(errc::usage) if a side is below 2; Error(errc::unsupported) if there
  /// are too many cells; Error(errc::out_of_memory).
  Adaptive(const Point& cells, const Coefficients& coefficients, std::uint64_t seed = 0,
           const Resources& resources = {});

  [[nodiscard]] std::uint64_t rows() const override { return begin_[grid_.points()]; }
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  /// Whether the surface passes by, the neighbours left aside.
  [[nodiscard]] bool near_surface(const Point& cell) const;
  [[nodiscard]] bool refine(const Point& cell) const;
  [[nodiscard]] bool is_refined(std::uint64_t cell) const noexcept { return begin_[cell + 1] - begin_[cell] > 1; }
  [[nodiscard]] double coefficient(std::uint64_t cell, std::uint64_t child) const;

  Grid grid_;
  Coefficients coefficients_;
  Materials materials_;
  Random skin_, conductivities_;
  Array<std::uint32_t> begin_;  ///< the first row of each cell of the grid
};

}  // namespace spmvpack::generators
