#pragma once

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The Laplacian by cubic finite elements on nx x ny squares (Q3, Lagrange's basis over 4 x 4 equidistant nodes), with
/// the boundary held at zero and left out: like Dubcova3 of the collections, whose rows and nonzeros 128 x 128 squares
/// have. The node (ix, iy) of the (3 nx - 1) x (3 ny - 1) inner ones is row ix + (3 nx - 1) iy. A row has 49 entries at
/// a corner of four squares, 28 on an edge of two and 16 within one, fewer beside the boundary: along x, nodes couple
/// to 15 nx - 13 others in all, themselves included, so that nnz = (15 nx - 13) (15 ny - 13). No entry is zero.
class Cubic final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if a side is below 2.
  Cubic(std::uint64_t nx, std::uint64_t ny);

  [[nodiscard]] std::uint64_t rows() const override { return inner_.points(); }
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  Grid squares_, inner_;
};

}  // namespace spmvpack::generators
