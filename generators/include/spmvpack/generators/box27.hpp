#pragma once
/// Diffusion and transport between the 26 neighbours of a cell, the operator of HPCG and of the control problems.

#include <optional>

#include "spmvpack/generators/grid.hpp"

namespace spmvpack::generators {

/// The operator A on a box of cells: between the cells p and q, which share a face, an edge or a corner, stands
/// A(p, q) = -(d + max(-f, 0)) for a conductance d and a flow f from p to q; A(p, p) adds up d + max(f, 0) over all 26
/// neighbours, also those outside, where values are given. d is the mean of the two cells' conductances (of the one
/// cell's, where the other is outside). Constant: d = 1, f = 0, hence 26 and -1. Else conductances are random in
/// [0.5, 1.5), one per material, and flows, where there are any, random in [-1, 1) per pair of neighbours, and in [0,
/// 1) inwards from outside.
class Box27 {
 public:
  static constexpr unsigned directions = 27, centre = 13;  ///< direction (dz + 1) 9 + (dy + 1) 3 + dx + 1

  /// Error(errc::usage) if a side is 0.
  Box27(const Point& cells, const Coefficients& coefficients, bool with_flow, std::uint64_t seed);

  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// Entries of A: the product of 3 n - 2 over the axes.
  [[nodiscard]] std::uint64_t entries() const;
  /// The neighbour of p in a direction, unless it is outside.
  [[nodiscard]] std::optional<Point> neighbour(const Point& p, unsigned direction) const;
  /// A(p, q) for q in the direction of p, inside or outside; A(p, p) for the centre.
  [[nodiscard]] double entry(const Point& p, unsigned direction) const;
  /// A(q, p) for the neighbour q of p in a direction, which is inside.
  [[nodiscard]] double transposed_entry(const Point& p, unsigned direction) const;

 private:
  struct Link {
    double conductance, flow;  ///< flow: from p
  };
  [[nodiscard]] Link link(const Point& p, unsigned direction) const;
  [[nodiscard]] double conductance(std::uint64_t material) const;

  Grid grid_;
  Materials materials_;
  bool with_flow_;
  Random random_;
};

}  // namespace spmvpack::generators
