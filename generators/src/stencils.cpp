#include "spmvpack/generators/stencils.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spmvpack::generators {
Laplace2d::Laplace2d(std::uint64_t nx, std::uint64_t ny, bool remove_one, const Coefficients& coefficients,
                     std::uint64_t seed)
    : grid_(checked_grid({nx, ny, 1})),
      remove_one_(remove_one),
      removed_(nx / 2 + nx * (ny / 2)),
      coefficients_(coefficients),
      materials_(grid_, coefficients),
      random_(seed) {
  if (remove_one) require_sides(std::array{nx, ny}, 3);
}

double Laplace2d::coefficient(const Point& cell) const {
  return materials_.is_constant() ? 1.0 : 0.5 + random_.uniform(materials_(cell));
}

EntryCounts Laplace2d::count(int, const ProgressCallback&) const {
  const std::uint64_t all = 5 * grid_.points() - 2 * (grid_.n[0] + grid_.n[1]) - (remove_one_ ? 9 : 0);
  return symmetric_counts(all, rows());
}

void Laplace2d::row(std::uint64_t i, Row& out) const {
  const std::uint64_t p = i + (remove_one_ && i >= removed_ ? 1 : 0);  // the unknown's number on the whole grid
  const Point at = grid_.point(p);
  const auto [nx, ny, nz] = grid_.n;
  const double own = coefficient(at);
  const auto face = [&](bool inside, std::uint64_t x, std::uint64_t y) {
    return inside ? 0.5 * (own + coefficient({x, y, 0})) : own;
  };
  const double south = face(at[1] > 0, at[0], at[1] - 1), west = face(at[0] > 0, at[0] - 1, at[1]);
  const double east = face(at[0] + 1 < nx, at[0] + 1, at[1]), north = face(at[1] + 1 < ny, at[0], at[1] + 1);
  const auto push = [&](std::uint64_t q, double value) {
    if (!remove_one_ || q < removed_)
      out.push(q, value);
    else if (q > removed_)
      out.push(q - 1, value);
  };
  if (at[1] > 0) push(p - nx, -south);
  if (at[0] > 0) push(p - 1, -west);
  push(p, south + west + east + north);
  if (at[0] + 1 < nx) push(p + 1, -east);
  if (at[1] + 1 < ny) push(p + nx, -north);
}

std::vector<std::string> Laplace2d::comments() const {
  const auto [nx, ny, nz] = grid_.n;
  std::vector<std::string> lines{"5-point Laplacian, Dirichlet boundaries, lexicographic order",
                                 fmt::format("coefficient {}", coefficients_.describe("cell"))};
  if (remove_one_) lines.push_back(fmt::format("without the unknown ({}, {})", nx / 2, ny / 2));
  if (nx == 1000 && ny == 1000)
    lines.push_back(fmt::format("rows and nonzeros are those of SuiteSparse's {}; the values are not",
                                remove_one_ ? "ecology2" : "ecology1"));
  return lines;
}

ConvectionDiffusion::ConvectionDiffusion(const Point& cells, const Coefficients& coefficients, std::uint64_t seed)
    : grid_(checked_grid(cells)), coefficients_(coefficients), materials_(grid_, coefficients), random_(seed) {}

EntryCounts ConvectionDiffusion::count(int, const ProgressCallback&) const {
  const auto [nx, ny, nz] = grid_.n;
  const std::uint64_t all = 7 * grid_.points() - 2 * (nx * ny + ny * nz + nz * nx);
  return symmetric_counts(all, rows());
}

ConvectionDiffusion::Face ConvectionDiffusion::face(const Point& lower, const Point& upper, unsigned axis,
                                                    unsigned end) const {
  constexpr std::array<double, 3> constant_flow{0.5, 0.3, 0.2};
  if (materials_.is_constant()) return {1.0, constant_flow[axis]};
  // Eight keys per material: its conductance, the flow through its upper face along each axis, and through the lower
  // one where that is on the boundary.
  const std::uint64_t material = materials_(lower);
  const double sum = 0.5 + random_.uniform(8 * material) + (0.5 + random_.uniform(8 * materials_(upper)));
  return {0.5 * sum, 2.0 * random_.uniform(8 * material + 1 + axis + 3 * end) - 1.0};
}

void ConvectionDiffusion::row(std::uint64_t i, Row& out) const {
  const Point at = grid_.point(i);
  const Point stride{1, grid_.n[0], grid_.n[0] * grid_.n[1]};
  std::array<double, 3> below{}, above{};
  double diagonal = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const bool first = at[axis] == 0, last = at[axis] + 1 == grid_.n[axis];
    Point previous = at, next = at;
    if (!first) --previous[axis];
    if (!last) ++next[axis];
    const Face in = face(previous, at, axis, first ? 1 : 0);
    const Face out_face = face(at, next, axis, 0);
    below[axis] = -(in.conductance + std::max(in.flow, 0.0));
    above[axis] = -(out_face.conductance + std::max(-out_face.flow, 0.0));
    diagonal += in.conductance + std::max(-in.flow, 0.0);
    diagonal += out_face.conductance + std::max(out_face.flow, 0.0);
  }
  for (unsigned axis = 3; axis-- > 0;)
    if (at[axis] > 0) out.push(i - stride[axis], below[axis]);
  out.push(i, diagonal);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (at[axis] + 1 < grid_.n[axis]) out.push(i + stride[axis], above[axis]);
}

std::vector<std::string> ConvectionDiffusion::comments() const {
  std::vector<std::string> lines{"convection-diffusion, 7-point upwind finite volumes, Dirichlet boundaries"};
  lines.push_back(coefficients_.is_constant()
                      ? "conductance 1, flow (0.5, 0.3, 0.2)"
                      : fmt::format("random conductances and flows, {}", coefficients_.describe("cell")));
  if (grid_.n == Point{148, 148, 58})
    lines.emplace_back("rows and nonzeros are those of SuiteSparse's atmosmodd; the values are not");
  return lines;
}

}  // namespace spmvpack::generators
