#pragma once

#include <array>

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// Linear elasticity on a block of trilinear hexahedra, assembled from element stiffness matrices: three displacements
/// per node, Poisson's ratio 0.3, Young's modulus by material. The face x = 0 is clamped and its nodes are left out, so
/// that the matrix is symmetric positive definite. The node (ix, iy, iz) of the nx x ny x nz free ones has the rows 3 k
/// to 3 k + 2, k = ix + nx (iy + ny iz). nnz = 9 (3 nx - 2) (3 ny - 2) (3 nz - 2): all entries of the 3 x 3 blocks,
/// also those that cancel to 0 if neighbouring elements are alike, as assembly leaves them.
///
/// Modulus 1, or random in [0.5, 1.5) with 40 bits, so that sums over cubes are exact. In an isotropic element the
/// entries (c, d) and (d, c) of many 3 x 3 blocks are equal, of moved nodes too. So where nodes are moved random moduli
/// are those of the integration points, as in plasticity, and every entry of the lower triangle is different.
class Elasticity final : public MatrixGenerator {
 public:
  /// Nodes are moved at random by up to `jitter` (below 0.2) of the mesh width along each axis; 0 gives cubes.
  /// Error(errc::usage) if nx is 0, or another side below 2.
  explicit Elasticity(const Point& free_nodes, const Coefficients& materials = {}, double jitter = 0,
                      std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return 3 * free_.points(); }
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  /// The row of displacement c at corner a: its coupling to displacement d at corner b, [b][d].
  using ElementRow = std::array<std::array<double, 3>, 8>;
  [[nodiscard]] ElementRow cube_row(const Point& element, unsigned a, unsigned c) const;
  [[nodiscard]] ElementRow distorted_row(const Point& element, unsigned a, unsigned c) const;
  [[nodiscard]] double modulus(const Point& element, unsigned point) const;

  Grid free_;   ///< nodes that move
  Grid nodes_;  ///< with the clamped ones, one more along x
  Grid elements_;
  Coefficients coefficients_;
  Materials materials_;
  double jitter_;
  Random moduli_, moves_;
};

}  // namespace spmvpack::generators
