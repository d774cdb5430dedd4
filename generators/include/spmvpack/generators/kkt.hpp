#pragma once

#include "spmvpack/generators/box27.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// First-order conditions of a boundary control problem: find the state y in a box and the control u on its six faces
/// that minimise sum w y^2 / 2 + alpha sum w u^2 / 2 under A y + B u = f. A is the 27-point operator of Box27, with
/// transport where coefficients vary; the controls are the values that A meets just outside the faces (zero outside the
/// edges and corners), and B is where it meets them. The matrix is symmetric indefinite:
///
///     | W_y  0    A^T |     n  states        A is not singular: n + m eigenvalues are
///     | 0    W_u  B^T |     m  controls      positive and n negative
///     | A    B    0   |     n  multipliers
///
/// Structure and sizes are those of SuiteSparse's nlpkkt80, 120, 160, 200 and 240 (Schenk, Waechter, Weiser 2008), of
/// cubes of that many cells: m = 2 (nx ny + ny nz + nz nx); nnz = 2 nnz(A) + 2 nnz(B) + n + m, where nnz(A) is the
/// product of 3 n - 2 over the axes and nnz(B) that over the two axes of a face, over all faces.
class Kkt final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if a side is 0.
  explicit Kkt(const Point& cells, const Coefficients& coefficients = {}, std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return 2 * states_ + controls_; }
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  /// One of the faces x-, x+, y-, y+, z-, z+ of the box.
  struct Face {
    unsigned axis, outward;  ///< the direction (Box27) that leaves the box
    std::uint64_t layer;     ///< coordinate of its cells along the axis
    std::uint64_t first;     ///< number of its first control
  };
  /// Calls f(place, direction) for the controls of a face next to the cell p of its layer: their numbers on the face,
  /// rising, and their directions from p.
  template <class F>
  void for_controls(const Face& face, const Point& p, F&& f) const;
  [[nodiscard]] double weight(std::uint64_t i) const;
  void control_row(std::uint64_t control, Row& out) const;
  void multiplier_row(const Point& p, Row& out) const;

  Coefficients coefficients_;
  Box27 operator_;
  Random random_;
  std::uint64_t states_, controls_ = 0, control_entries_ = 0;
  std::array<Face, 6> faces_{};
};

}  // namespace spmvpack::generators
