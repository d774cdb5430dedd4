#include "spmvpack/generators/block_mesh.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "row_pieces.hpp"

namespace spmvpack::generators {
namespace {

constexpr std::uint64_t most_unknowns = 64;
constexpr double most_radius = 16;

}  // namespace

BlockMesh::BlockMesh(const Point& points, std::uint64_t unknowns, double radius, const Coefficients& coefficients,
                     double jitter, std::uint64_t seed)
    : grid_(checked_grid(points)),
      unknowns_(unknowns),
      radius_(radius),
      jitter_(jitter),
      coefficients_(coefficients),
      materials_(grid_, coefficients),
      moves_(Random(seed).at(0)),
      values_(Random(seed).at(1)) {
  if (unknowns < 1 || unknowns > most_unknowns)
    throw Error(errc::usage, fmt::format("{} unknowns a point", unknowns), {},
                fmt::format("give a number from 1 to {}", most_unknowns));
  if (!(radius >= 1 && radius <= most_radius))
    throw Error(errc::usage, fmt::format("a radius of {}", radius), {},
                fmt::format("give a number from 1 to {}", most_radius));
  require_sides(points, 1, unknowns);
  // Two points come nearer by at most twice the jitter along each axis.
  const auto reach = static_cast<std::int64_t>(std::ceil(radius + 2 * jitter));
  const auto nearest = [&](std::int64_t step) {
    const double d = std::max(std::abs(static_cast<double>(step)) - 2 * jitter, 0.0);
    return d * d;
  };
  for (std::int64_t z = -reach; z <= reach; ++z)
    for (std::int64_t y = -reach; y <= reach; ++y)
      for (std::int64_t x = -reach; x <= reach; ++x)
        if (nearest(x) + nearest(y) + nearest(z) <= radius * radius) offsets_.push_back({x, y, z});
}

BlockMesh::Place BlockMesh::place(std::uint64_t p, const Point& at) const {
  Place place{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    place[axis] = static_cast<double>(at[axis]) + jitter_ * (2 * moves_.uniform(3 * p + axis) - 1);
  return place;
}

template <class F>
void BlockMesh::for_neighbours(std::uint64_t p, F&& f) const {
  const Point at = grid_.point(p);
  const Place here = place(p, at);
  for (const Offset& step : offsets_) {
    Point to{};
    bool inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      to[axis] = at[axis] + static_cast<std::uint64_t>(step[axis]);  // below 0 wraps around to something far outside
      inside = inside && to[axis] < grid_.n[axis];
    }
    if (!inside) continue;
    const std::uint64_t q = grid_.number(to);
    const Place there = place(q, to);
    double squares = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double d = there[axis] - here[axis];
      squares += d * d;
    }
    if (squares <= radius_ * radius_) f(q);
  }
}

EntryCounts BlockMesh::count(int threads, const ProgressCallback& progress) const {
  constexpr std::uint64_t piece = 1024;
  std::atomic<std::uint64_t> blocks{0};
  for_row_pieces(grid_.points(), piece, "count", threads, progress, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t n = 0;
    for (std::uint64_t p = first; p < last; ++p) for_neighbours(p, [&](std::uint64_t) { ++n; });
    blocks += n;
  });
  return {checked_mul(blocks, unknowns_ * unknowns_, "entries"), 0};
}

void BlockMesh::row(std::uint64_t i, Row& out) const {
  const std::uint64_t p = i / unknowns_, c = i % unknowns_;
  const Random of_point = values_.at(materials_(grid_.point(p)));
  std::array<double, most_unknowns> own{};
  own[c] = 1;
  for_neighbours(p, [&](std::uint64_t q) {
    if (q == p) return;
    const Random of_pair = of_point.at(materials_(grid_.point(q)));
    for (std::uint64_t d = 0; d < unknowns_; ++d) {
      double k = 1 / (1 + static_cast<double>(c > d ? c - d : d - c));
      if (!materials_.is_constant()) k *= 0.5 + of_pair.uniform(c * unknowns_ + d);
      out.push(q * unknowns_ + d, -k);
      own[d] += k;
    }
  });
  for (std::uint64_t d = 0; d < unknowns_; ++d) out.push(p * unknowns_ + d, own[d]);
  out.sort();
}

std::vector<std::string> BlockMesh::comments() const {
  return {fmt::format("{} unknowns at each point of a mesh, coupled within a radius of {}, full blocks", unknowns_,
                      radius_),
          fmt::format("{}; coefficient {}",
                      jitter_ == 0 ? "points on a lattice" : fmt::format("points moved by up to {}", jitter_),
                      coefficients_.describe(coefficients_.kind == Coefficients::Kind::blocks ? "point" : "entry"))};
}

}  // namespace spmvpack::generators
