#pragma once

#include "spmvpack/generators/box27.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The matrix of the HPCG benchmark (Dongarra, Heroux, Luszczek 2015): diffusion between the 26 neighbours of a cell,
/// symmetric positive definite; 26 on the diagonal and -1 elsewhere, or random coefficients (Box27). The cell
/// (ix, iy, iz) is row ix + nx (iy + ny iz). nnz = (3 nx - 2) (3 ny - 2) (3 nz - 2).
class Hpcg final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if a side is 0.
  explicit Hpcg(const Point& cells, const Coefficients& coefficients = {}, std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return operator_.grid().points(); }
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  Coefficients coefficients_;
  Box27 operator_;
};

}  // namespace spmvpack::generators
