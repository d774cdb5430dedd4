#include "generators/stencils.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spmvpack/container/types.hpp"

namespace spmvpack::tools {
namespace {

/// Refuses grids that have no cell, or more than a matrix may have rows.
void require_sides(std::initializer_list<std::uint64_t> sides, std::uint64_t least) {
  std::uint64_t cells = 1;
  for (const std::uint64_t side : sides) {
    if (side < least)
      throw Error(errc::usage, fmt::format("a side of the grid is {}", side), {},
                  fmt::format("every side must be {} or more", least));
    cells = checked_mul(cells, side, "grid");
  }
  if (cells >= max_dimension)
    throw Error(errc::unsupported, fmt::format("a grid of {} points", cells), {}, "matrices have below 2^32 - 1 rows");
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014): neighbouring numbers give unrelated ones.
std::uint64_t hash(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// A number in [0, 1) with 53 random bits, exact: no rounding that could differ between machines.
double uniform(std::uint64_t key) { return static_cast<double>(hash(key) >> 11) * 0x1p-53; }

}  // namespace

Laplace2d::Laplace2d(std::uint64_t nx, std::uint64_t ny, bool remove_one)
    : nx_(nx), ny_(ny), remove_one_(remove_one), removed_(nx / 2 + nx * (ny / 2)) {
  require_sides({nx, ny}, remove_one ? 3 : 1);
}

void Laplace2d::row(std::uint64_t i, Row& out) const {
  const std::uint64_t p = i + (remove_one_ && i >= removed_ ? 1 : 0);  // the unknown's number on the whole grid
  const std::uint64_t ix = p % nx_, iy = p / nx_;
  const auto push = [&](std::uint64_t q, double value) {
    if (!remove_one_ || q < removed_)
      out.push(q, value);
    else if (q > removed_)
      out.push(q - 1, value);
  };
  if (iy > 0) push(p - nx_, -1);
  if (ix > 0) push(p - 1, -1);
  push(p, 4);
  if (ix + 1 < nx_) push(p + 1, -1);
  if (iy + 1 < ny_) push(p + nx_, -1);
}

std::vector<std::string> Laplace2d::comments() const {
  std::vector<std::string> lines{
      fmt::format("spmvpack generate laplace2d --grid {}x{}{}", nx_, ny_, remove_one_ ? " --remove-one" : ""),
      "5-point Laplacian, Dirichlet boundaries, lexicographic order"};
  if (remove_one_) lines.push_back(fmt::format("without the unknown ({}, {})", nx_ / 2, ny_ / 2));
  if (nx_ == 1000 && ny_ == 1000)
    lines.push_back(fmt::format("rows and nonzeros are those of SuiteSparse's {}; the values are not",
                                remove_one_ ? "ecology2" : "ecology1"));
  return lines;
}

ConvectionDiffusion::ConvectionDiffusion(std::array<std::uint64_t, 3> cells, bool variable)
    : n_(cells), stride_{1, cells[0], cells[0] * cells[1]}, variable_(variable) {
  require_sides({cells[0], cells[1], cells[2]}, 1);
}

ConvectionDiffusion::Face ConvectionDiffusion::face(std::uint64_t lower, std::uint64_t upper, unsigned axis,
                                                    unsigned end) const {
  constexpr std::array<double, 3> constant_flow{0.5, 0.3, 0.2};
  if (!variable_) return {1.0, constant_flow[axis]};
  // Eight keys per cell: its conductance, the flow through its upper face along each axis, and through the lower one
  // where that is on the boundary.
  const auto conductance = [](std::uint64_t cell) { return 0.5 + uniform(8 * cell); };
  return {0.5 * (conductance(lower) + conductance(upper)), 2.0 * uniform(8 * lower + 1 + axis + 3 * end) - 1.0};
}

void ConvectionDiffusion::row(std::uint64_t i, Row& out) const {
  const std::array<std::uint64_t, 3> at{i % n_[0], i / n_[0] % n_[1], i / (n_[0] * n_[1])};
  std::array<double, 3> below{}, above{};
  double diagonal = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::uint64_t step = stride_[axis];
    const bool first = at[axis] == 0, last = at[axis] + 1 == n_[axis];
    const Face in = first ? face(i, i, axis, 1) : face(i - step, i, axis, 0);
    const Face out_face = face(i, last ? i : i + step, axis, 0);
    below[axis] = -(in.conductance + std::max(in.flow, 0.0));
    above[axis] = -(out_face.conductance + std::max(-out_face.flow, 0.0));
    diagonal += in.conductance + std::max(-in.flow, 0.0);
    diagonal += out_face.conductance + std::max(out_face.flow, 0.0);
  }
  for (unsigned axis = 3; axis-- > 0;)
    if (at[axis] > 0) out.push(i - stride_[axis], below[axis]);
  out.push(i, diagonal);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (at[axis] + 1 < n_[axis]) out.push(i + stride_[axis], above[axis]);
}

std::vector<std::string> ConvectionDiffusion::comments() const {
  std::vector<std::string> lines{
      fmt::format("spmvpack generate convection-diffusion --grid {}x{}x{}{}", n_[0], n_[1], n_[2],
                  variable_ ? " --variable" : ""),
      "convection-diffusion, 7-point upwind finite volumes, Dirichlet boundaries",
      variable_ ? "conductance random per cell, flow random per face" : "conductance 1, flow (0.5, 0.3, 0.2)"};
  if (n_ == std::array<std::uint64_t, 3>{148, 148, 58})
    lines.emplace_back("rows and nonzeros are those of SuiteSparse's atmosmodd; the values are not");
  return lines;
}

}  // namespace spmvpack::tools
