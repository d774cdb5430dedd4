#include "spmvpack/generators/adaptive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::generators {
namespace {

constexpr std::uint64_t children = 8;

/// The cell across one of the six faces, 2 axis + 1 for the upper one, unless it is outside.
std::optional<Point> across(const Grid& grid, const Point& cell, unsigned face) {
  Point to = cell;
  to[face / 2] += face % 2 == 1 ? 1 : ~std::uint64_t{0};  // 0 - 1 wraps around to something far outside
  if (to[face / 2] >= grid.n[face / 2]) return {};
  return to;
}

/// Which half of its cell a child is in along an axis: 0 the lower, 1 the upper one.
constexpr std::uint64_t half(std::uint64_t child, unsigned axis) { return (child >> axis) & 1U; }

}  // namespace

Adaptive::Adaptive(const Point& cells, const Coefficients& coefficients, std::uint64_t seed, const Resources& resources)
    : grid_(checked_grid(cells, 2)),
      coefficients_(coefficients),
      materials_(grid_, coefficients),
      skin_(Random(seed).at(0)),
      conductivities_(Random(seed).at(1)) {
  const std::uint64_t points = grid_.points();
  require_memory((points + 1) * sizeof(std::uint32_t), resources.memory_limit, "the cells of the grid");
  begin_ = Array<std::uint32_t>(points + 1);
  constexpr std::uint64_t piece = 4096;
  parallel_pieces(points, piece, resources.threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t p = first; p < last; ++p) begin_[p + 1] = refine(grid_.point(p)) ? children : 1;
  });
  std::uint64_t rows = 0;
  begin_[0] = 0;
  for (std::uint64_t p = 0; p < points; ++p) {
    rows += begin_[p + 1];
    if (rows >= max_dimension)
      throw Error(errc::unsupported, "a refined grid of too many cells", {}, "matrices have below 2^32 - 1 rows");
    begin_[p + 1] = static_cast<std::uint32_t>(rows);
  }
}

bool Adaptive::near_surface(const Point& cell) const {
  double squares = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto side = static_cast<double>(grid_.n[axis]);
    const double relative = (static_cast<double>(cell[axis]) + 0.5 - 0.5 * side) / (0.3 * side);
    squares += relative * relative;
  }
  return std::abs(squares - 1) < 0.07 + 0.06 * skin_.uniform(grid_.number(cell));
}

bool Adaptive::refine(const Point& cell) const {
  if (near_surface(cell)) return true;
  for (unsigned face = 0; face < 6; ++face) {
    const std::optional<Point> neighbour = across(grid_, cell, face);
    if (!neighbour || !near_surface(*neighbour)) return false;
  }
  return true;
}

double Adaptive::coefficient(std::uint64_t cell, std::uint64_t child) const {
  if (materials_.is_constant()) return 1;
  const std::uint64_t material = materials_(grid_.point(cell));
  const std::uint64_t own = coefficients_.kind == Coefficients::Kind::blocks ? 0 : child;
  return 0.5 + conductivities_.uniform(children * material + own);
}

void Adaptive::row(std::uint64_t i, Row& out) const {
  const std::uint64_t cell =
      static_cast<std::uint64_t>(std::upper_bound(begin_.begin(), begin_.end(), i) - begin_.begin()) - 1;
  const std::uint64_t child = i - begin_[cell];
  const bool small = is_refined(cell);
  const Point at = grid_.point(cell);
  const double own = coefficient(cell, child);
  double diagonal = 0;
  // area / distance: of a whole face 1, of a quarter 1/2 between small cells and 1/3 between a small and a large one.
  const auto link = [&](std::uint64_t to, std::uint64_t to_child, double area_over_distance) {
    const double value = 0.5 * (own + coefficient(to, to_child)) * area_over_distance;
    diagonal += value;
    out.push(begin_[to] + to_child, -value);
  };
  for (unsigned face = 0; face < 6; ++face) {
    const unsigned axis = face / 2;
    const std::uint64_t upper = face % 2;
    const std::uint64_t opposite = child ^ (std::uint64_t{1} << axis);
    if (small && half(child, axis) != upper) {
      link(cell, opposite, 0.5);
      continue;
    }
    const std::optional<Point> neighbour = across(grid_, at, face);
    if (!neighbour) {
      diagonal += own * (small ? 1 : 2);
      continue;
    }
    const std::uint64_t to = grid_.number(*neighbour);
    if (!is_refined(to)) {
      link(to, 0, small ? 1.0 / 3 : 1);
    } else if (small) {
      link(to, opposite, 0.5);
    } else {
      for (std::uint64_t c = 0; c < children; ++c)
        if (half(c, axis) != upper) link(to, c, 1.0 / 3);
    }
  }
  out.push(i, diagonal);
  out.sort();
}

std::vector<std::string> Adaptive::comments() const {
  return {
      "Poisson's equation on a grid that is refined around an ellipsoid, finite volumes, symmetric positive definite",
      fmt::format("coefficient {}", coefficients_.describe("cell"))};
}

}  // namespace spmvpack::generators
