#pragma once

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"
#include "spmvpack/generators/numbering.hpp"

namespace spmvpack::generators {

/// -div (k grad u) with linear finite elements on triangles, Dirichlet boundaries, symmetric positive definite. The nx
/// x ny unknowns are the inner nodes of a lattice of equilateral triangles, each with six neighbours, (+-1, 0), (0,
/// +-1), (1, -1) and (-1, 1), whose nodes are moved at random; nnz = nx ny + 2 ((nx - 1) ny + nx (ny - 1) + (nx - 1)(ny
/// - 1)).
///
/// An edge's entry is minus the sum of k cot(angle) / 2 over the two triangles beside it; the diagonal adds up the six.
/// k = 1, or random in [0.5, 1.5): per triangle, or per block of that many cells (of two triangles) along both axes.
/// Without moved nodes and with constant k all entries off the diagonal are equal; with moved ones all are different.
class Triangles final : public MatrixGenerator {
 public:
  /// Nodes are moved by up to `jitter` (at most 0.2) edge lengths along both axes. A numbering other than natural takes
  /// 8 bytes per row. Error(errc::usage) if a side is 0; Error(errc::out_of_memory).
  Triangles(std::uint64_t nx, std::uint64_t ny, const NumberingRule& numbering = {},
            const Coefficients& coefficients = {}, double jitter = 0.2, std::uint64_t seed = 0,
            const Resources& resources = {});

  [[nodiscard]] std::uint64_t rows() const override { return inner_.points(); }
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  struct Vector {
    double x, y;
  };
  struct Step {
    int x, y;
  };
  /// A node of the whole lattice, boundary included: (0, 0) to (nx + 1, ny + 1).
  using Node = std::array<std::int64_t, 2>;
  static Node neighbour(const Node& node, unsigned direction);
  /// The inner node's number; -1 on the boundary.
  [[nodiscard]] std::int64_t unknown(const Node& node) const;
  [[nodiscard]] Vector move(const Node& node) const;
  [[nodiscard]] double coefficient(const Node& cell, bool upper) const;
  [[nodiscard]] double edge(const Node& node, unsigned direction) const;

  Grid inner_, nodes_;
  Coefficients coefficients_;
  Materials materials_;
  double jitter_;
  Random moves_, conductivities_;
  NumberingRule rule_;
  Numbering numbering_;
};

}  // namespace spmvpack::generators
