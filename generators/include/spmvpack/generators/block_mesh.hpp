#pragma once

#include <vector>

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// Several unknowns at each point of a mesh without structure, each coupled to all unknowns of the points within a
/// radius: full blocks of unknowns x unknowns, as linearised flow solvers make them. DLR1, DLR2 and UHBR of Kreutzer et
/// al. 2012 ("Sparse matrix-vector multiplication on GPGPU clusters", section 1.3) are of this kind, with six and five
/// unknowns and about 24, 63 and 25 points a row.
///
/// The nx x ny x nz points stand on a cubic lattice with spacing 1 and are moved by up to `jitter` along each axis, so
/// that the number of points within a radius varies; the pattern is symmetric, points at the boundary have fewer. The
/// unknown c of point p is row `unknowns` p + c.
///
/// The block of the points p and q is -K_pq with K_pq(c, d) = k / (1 + |c - d|), that of p itself the identity plus the
/// sum of its K_pq: a row adds up to 1 over each unknown of all points, as (delta_cd). k is 1 (then the matrix is
/// symmetric positive definite) or random in [0.5, 1.5) for each entry of each block, both its directions apart: not
/// symmetric.
class BlockMesh final : public MatrixGenerator {
 public:
  /// Error(errc::usage) unless there are 1 to 64 unknowns and the radius is from 1 to 16.
  BlockMesh(const Point& points, std::uint64_t unknowns, double radius, const Coefficients& coefficients, double jitter,
            std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return unknowns_ * grid_.points(); }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  using Offset = std::array<std::int64_t, 3>;
  using Place = std::array<double, 3>;

  /// Calls f(q) for the points within the radius of p, p included, by rising number.
  template <class F>
  void for_neighbours(std::uint64_t p, F&& f) const;
  [[nodiscard]] Place place(std::uint64_t p, const Point& at) const;

  Grid grid_;
  std::uint64_t unknowns_;
  double radius_, jitter_;
  Coefficients coefficients_;
  Materials materials_;
  Random moves_, values_;
  std::vector<Offset> offsets_;  ///< lattice steps that may end within the radius, by rising number
};

}  // namespace spmvpack::generators
