#include "spmvpack/generators/triangles.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spmvpack::generators {
namespace {

struct Offset {
  int x, y;
};
/// Directions of the six edges at a node, by rising number of the neighbour; 5 - d is the opposite of d.
constexpr std::array<Offset, 6> directions{{{0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}}};

/// One of the two triangles beside an edge that starts at node (0, 0): the lower or upper one of a cell, and its third
/// corner. The lower triangle of the cell (x, y) has the corners (x, y), (x + 1, y), (x, y + 1), the upper one
/// (x + 1, y), (x + 1, y + 1), (x, y + 1).
struct Beside {
  Offset cell;
  bool upper;
  Offset corner;
};
/// Of the directions 3, 4 and 5.
constexpr std::array<std::array<Beside, 2>, 3> triangles_beside{
    {{{{{0, -1}, true, {1, -1}}, {{0, 0}, false, {0, 1}}}},
     {{{{-1, 0}, false, {-1, 0}}, {{-1, 0}, true, {0, 1}}}},
     {{{{-1, 0}, true, {-1, 1}}, {{0, 0}, false, {1, 0}}}}}};

}  // namespace

Triangles::Triangles(std::uint64_t nx, std::uint64_t ny, const NumberingRule& numbering,
                     const Coefficients& coefficients, double jitter, std::uint64_t seed, const Resources& resources)
    : inner_(checked_grid({nx, ny, 1})),
      nodes_{{nx + 2, ny + 2, 1}},
      coefficients_(coefficients),
      // One material per cell, of which there is a row and a column more than of inner nodes; per triangle, two.
      materials_({{nx + 1, ny + 1, 2}}, coefficients),
      jitter_(jitter),
      moves_(Random(seed).at(0)),
      conductivities_(Random(seed).at(1)),
      rule_(numbering),
      numbering_(
          inner_.points(), numbering, seed,
          [this](std::uint32_t vertex, std::vector<std::uint32_t>& out) {
            const Point p = inner_.point(vertex);
            const Node node{static_cast<std::int64_t>(p[0]) + 1, static_cast<std::int64_t>(p[1]) + 1};
            for (unsigned d = 0; d < directions.size(); ++d)
              if (const std::int64_t q = unknown(neighbour(node, d)); q >= 0)
                out.push_back(static_cast<std::uint32_t>(q));
          },
          resources) {}

EntryCounts Triangles::count(int, const ProgressCallback&) const {
  const std::uint64_t nx = inner_.n[0], ny = inner_.n[1];
  return symmetric_counts(rows() + 2 * ((nx - 1) * ny + nx * (ny - 1) + (nx - 1) * (ny - 1)), rows());
}

Triangles::Node Triangles::neighbour(const Node& node, unsigned direction) {
  return {node[0] + directions[direction].x, node[1] + directions[direction].y};
}

std::int64_t Triangles::unknown(const Node& node) const {
  const auto nx = static_cast<std::int64_t>(inner_.n[0]), ny = static_cast<std::int64_t>(inner_.n[1]);
  if (node[0] < 1 || node[0] > nx || node[1] < 1 || node[1] > ny) return -1;
  return node[0] - 1 + nx * (node[1] - 1);
}

Triangles::Vector Triangles::move(const Node& node) const {
  const std::uint64_t key =
      2 * nodes_.number({static_cast<std::uint64_t>(node[0]), static_cast<std::uint64_t>(node[1]), 0});
  return {jitter_ * (2 * moves_.uniform(key) - 1), jitter_ * (2 * moves_.uniform(key + 1) - 1)};
}

double Triangles::coefficient(const Node& cell, bool upper) const {
  if (materials_.is_constant()) return 1;
  return 0.5 + conductivities_.uniform(materials_(
                   {static_cast<std::uint64_t>(cell[0]), static_cast<std::uint64_t>(cell[1]), upper ? 1U : 0U}));
}

/// The sum of k cot(angle) / 2 for the edge from `node` in `direction`. An edge is looked at from its lower node, so
/// that both its nodes see the same sum.
double Triangles::edge(const Node& node, unsigned direction) const {
  if (direction < 3) return edge(neighbour(node, direction), 5 - direction);
  const Vector moved_node = move(node), moved_end = move(neighbour(node, direction));
  // A node's place relative to where the first one was.
  const auto place = [](Offset at, const Vector& moved) {
    constexpr double height = 0.86602540378443865;  // sqrt(3) / 2
    return Vector{at.x + 0.5 * at.y + moved.x, height * at.y + moved.y};
  };
  const Vector a = place({0, 0}, moved_node), b = place(directions[direction], moved_end);
  double sum = 0;
  for (const Beside& t : triangles_beside[direction - 3]) {
    const Vector c = place(t.corner, move({node[0] + t.corner.x, node[1] + t.corner.y}));
    const Vector ca{a.x - c.x, a.y - c.y}, cb{b.x - c.x, b.y - c.y};
    constexpr double cot60 = 0.57735026918962576;  // exactly equal in all directions, which rounding would not be
    const double cot = jitter_ == 0 ? cot60 : (ca.x * cb.x + ca.y * cb.y) / std::abs(ca.x * cb.y - ca.y * cb.x);
    sum += 0.5 * coefficient({node[0] + t.cell.x, node[1] + t.cell.y}, t.upper) * cot;
  }
  return sum;
}

void Triangles::row(std::uint64_t i, Row& out) const {
  const Point p = inner_.point(numbering_.vertex(i));
  const Node node{static_cast<std::int64_t>(p[0]) + 1, static_cast<std::int64_t>(p[1]) + 1};
  double diagonal = 0;
  for (unsigned d = 0; d < directions.size(); ++d) {
    const double weight = edge(node, d);
    diagonal += weight;
    if (const std::int64_t q = unknown(neighbour(node, d)); q >= 0)
      out.push(numbering_.row(static_cast<std::uint64_t>(q)), -weight);
  }
  out.push(i, diagonal);
  out.sort();
}

std::vector<std::string> Triangles::comments() const {
  return {
      "diffusion on a mesh of triangles, linear finite elements, symmetric positive definite",
      fmt::format("{}; coefficient {}",
                  jitter_ == 0 ? "equilateral triangles" : fmt::format("nodes moved by up to {} of an edge", jitter_),
                  coefficients_.describe(coefficients_.kind == Coefficients::Kind::blocks ? "cell" : "triangle")),
      rule_.describe()};
}

}  // namespace spmvpack::generators
