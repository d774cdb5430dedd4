#include "spmvpack/generators/box27.hpp"

#include <algorithm>

namespace spmvpack::generators {

Box27::Box27(const Point& cells, const Coefficients& coefficients, bool with_flow, std::uint64_t seed)
    : grid_(checked_grid(cells)),
      materials_(grid_, coefficients),
      with_flow_(with_flow && !coefficients.is_constant()),
      random_(seed) {}

std::uint64_t Box27::entries() const { return (3 * grid_.n[0] - 2) * (3 * grid_.n[1] - 2) * (3 * grid_.n[2] - 2); }

std::optional<Point> Box27::neighbour(const Point& p, unsigned direction) const {
  const std::array<unsigned, 3> step{direction % 3, direction / 3 % 3, direction / 9};  // 0, 1, 2 for -1, 0, 1
  Point q{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    q[axis] = p[axis] + step[axis] - 1;  // 0 - 1 wraps around to something far outside
    if (q[axis] >= grid_.n[axis]) return {};
  }
  return q;
}

double Box27::conductance(std::uint64_t material) const {
  return materials_.is_constant() ? 1.0 : 0.5 + random_.uniform(directions * material + centre);
}

Box27::Link Box27::link(const Point& p, unsigned direction) const {
  // The flow of a pair is kept by its lower cell, that from the outside, which is inwards, by the cell inside.
  const std::optional<Point> q = neighbour(p, direction);
  const bool p_keeps = !q || direction > centre;
  const std::uint64_t own = materials_(p), other = q ? materials_(*q) : own;
  Link link{0.5 * (conductance(own) + conductance(other)), 0};
  if (with_flow_) {
    const std::uint64_t key = directions * (p_keeps ? own : other) + (p_keeps ? direction : 2 * centre - direction);
    const double flow = random_.uniform(key);
    link.flow = !q ? -flow : p_keeps ? 2 * flow - 1 : 1 - 2 * flow;
  }
  return link;
}

double Box27::entry(const Point& p, unsigned direction) const {
  if (direction != centre) {
    const Link l = link(p, direction);
    return -(l.conductance + std::max(-l.flow, 0.0));
  }
  double diagonal = 0;
  for (unsigned d = 0; d < directions; ++d) {
    if (d == centre) continue;
    const Link l = link(p, d);
    diagonal += l.conductance + std::max(l.flow, 0.0);
  }
  return diagonal;
}

double Box27::transposed_entry(const Point& p, unsigned direction) const {
  if (direction == centre) return entry(p, centre);
  const Link l = link(p, direction);
  return -(l.conductance + std::max(l.flow, 0.0));
}

}  // namespace spmvpack::generators
