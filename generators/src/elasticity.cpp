#include "spmvpack/generators/elasticity.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spmvpack::generators {
namespace {

using Vector = std::array<double, 3>;

constexpr double poisson = 0.3;
constexpr double shear = 1 / (2 * (1 + poisson));                       // Lame's second constant, for modulus 1
constexpr double lame = poisson / ((1 + poisson) * (1 - 2 * poisson));  // and the first
constexpr unsigned side(unsigned corner, unsigned axis) { return (corner >> axis) & 1U; }  // 0 lower, 1 upper

/// 72 times the integral over the unit cube of (d N_a / d x_c) (d N_b / d x_d): a product of the integrals along the
/// axes, +-1 of two derivatives, +-1/2 of one, 1/3 (a and b on the same side) or 1/6 of none.
int integral72(unsigned a, unsigned b, unsigned c, unsigned d) {
  int value = 72;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const bool same = side(a, axis) == side(b, axis);
    if (axis == c && axis == d)
      value *= same ? 1 : -1;
    else if (axis == c)
      value = value * (side(a, axis) == 1 ? 1 : -1) / 2;
    else if (axis == d)
      value = value * (side(b, axis) == 1 ? 1 : -1) / 2;
    else
      value /= same ? 3 : 6;
  }
  return value;
}

/// 144 / shear times the stiffness of the unit cube between displacement c at corner a and d at corner b. An integer,
/// as lame is 3/2 shear.
int cube_stiffness(unsigned a, unsigned c, unsigned b, unsigned d) {
  int value = 3 * integral72(a, b, c, d) + 2 * integral72(a, b, d, c);
  if (c == d)
    for (unsigned axis = 0; axis < 3; ++axis) value += 2 * integral72(a, b, axis, axis);
  return value;
}

/// [a][c][b][d]
using CubeStiffness = std::array<std::array<std::array<std::array<double, 3>, 8>, 3>, 8>;
const CubeStiffness& cube_table() {
  static const CubeStiffness table = [] {
    CubeStiffness t{};
    for (unsigned a = 0; a < 8; ++a)
      for (unsigned c = 0; c < 3; ++c)
        for (unsigned b = 0; b < 8; ++b)
          for (unsigned d = 0; d < 3; ++d) t[a][c][b][d] = cube_stiffness(a, c, b, d);
    return t;
  }();
  return table;
}

/// Gradients of the eight shape functions of the unit cube at the eight Gauss points: [point][corner].
using Gradients = std::array<std::array<Vector, 8>, 8>;
const Gradients& reference_gradients() {
  static const Gradients table = [] {
    const double g = 0.5 / std::sqrt(3.0);
    Gradients t{};
    for (unsigned point = 0; point < 8; ++point)
      for (unsigned corner = 0; corner < 8; ++corner)
        for (unsigned c = 0; c < 3; ++c) {
          double value = side(corner, c) == 1 ? 1 : -1;
          for (unsigned axis = 0; axis < 3; ++axis) {
            if (axis == c) continue;
            const double at = side(point, axis) == 1 ? 0.5 + g : 0.5 - g;
            value *= side(corner, axis) == 1 ? at : 1 - at;
          }
          t[point][corner][c] = value;
        }
    return t;
  }();
  return table;
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Point corner_of(const Point& element, unsigned corner) {
  return {element[0] + side(corner, 0), element[1] + side(corner, 1), element[2] + side(corner, 2)};
}

}  // namespace

Elasticity::Elasticity(const Point& free_nodes, const Coefficients& materials, double jitter, std::uint64_t seed)
    : free_(checked_grid(free_nodes)),
      nodes_{{free_nodes[0] + 1, free_nodes[1], free_nodes[2]}},
      elements_{{free_nodes[0], free_nodes[1] - 1, free_nodes[2] - 1}},
      coefficients_(materials),
      materials_(elements_, materials),
      jitter_(jitter),
      moduli_(seed),
      moves_(Random(seed).at(~std::uint64_t{0})) {
  require_sides(std::array{free_nodes[1], free_nodes[2]}, 2);
  require_sides(free_nodes, 1, 3);
}

EntryCounts Elasticity::count(int, const ProgressCallback&) const {
  const auto [nx, ny, nz] = free_.n;
  return symmetric_counts(9 * (3 * nx - 2) * (3 * ny - 2) * (3 * nz - 2), rows());
}

double Elasticity::modulus(const Point& element, unsigned point) const {
  if (materials_.is_constant()) return 1;
  return 0.5 + static_cast<double>(moduli_.bits(8 * materials_(element) + point) >> 24) * 0x1p-40;
}

Elasticity::ElementRow Elasticity::cube_row(const Point& element, unsigned a, unsigned c) const {
  ElementRow row = cube_table()[a][c];
  const double stiffness = modulus(element, 0);
  for (Vector& of_corner : row)
    for (double& value : of_corner) value *= stiffness;
  return row;
}

Elasticity::ElementRow Elasticity::distorted_row(const Point& element, unsigned a, unsigned c) const {
  std::array<Vector, 8> corners{};
  for (unsigned b = 0; b < 8; ++b) {
    const std::uint64_t key = 3 * nodes_.number(corner_of(element, b));
    for (unsigned axis = 0; axis < 3; ++axis)
      corners[b][axis] = side(b, axis) + jitter_ * (2 * moves_.uniform(key + axis) - 1);
  }
  ElementRow sums{};
  for (unsigned point = 0; point < 8; ++point) {
    const std::array<Vector, 8>& reference = reference_gradients()[point];
    std::array<Vector, 3> jacobian{};  // [c]: the derivative of the position along reference axis c
    for (unsigned b = 0; b < 8; ++b)
      for (unsigned r = 0; r < 3; ++r)
        for (unsigned axis = 0; axis < 3; ++axis) jacobian[r][axis] += reference[b][r] * corners[b][axis];
    const std::array<Vector, 3> cofactors{cross(jacobian[1], jacobian[2]), cross(jacobian[2], jacobian[0]),
                                          cross(jacobian[0], jacobian[1])};
    const double determinant = dot(jacobian[0], cofactors[0]);
    std::array<Vector, 8> gradients{};
    for (unsigned b = 0; b < 8; ++b)
      for (unsigned axis = 0; axis < 3; ++axis)
        gradients[b][axis] = (reference[b][0] * cofactors[0][axis] + reference[b][1] * cofactors[1][axis] +
                              reference[b][2] * cofactors[2][axis]) /
                             determinant;
    const bool per_point = coefficients_.kind == Coefficients::Kind::random;
    const double weight = modulus(element, per_point ? point : 0) * (determinant / 8);
    // Every sum and product is the same, to the bit, with (a, c) and (b, d) exchanged.
    for (unsigned b = 0; b < 8; ++b)
      for (unsigned d = 0; d < 3; ++d) {
        double value = lame * (gradients[a][c] * gradients[b][d]) + shear * (gradients[a][d] * gradients[b][c]);
        if (c == d) value += shear * dot(gradients[a], gradients[b]);
        sums[b][d] += value * weight;
      }
  }
  return sums;
}

void Elasticity::row(std::uint64_t i, Row& out) const {
  const Point at = free_.point(i / 3);
  const Point node{at[0] + 1, at[1], at[2]};
  const auto c = static_cast<unsigned>(i % 3);
  std::array<Vector, 27> sums{};
  // The elements around the node, in the order of their numbers, so that (i, j) and (j, i) add up the same.
  for (unsigned e = 0; e < 8; ++e) {
    Point element{};
    bool inside = true;
    for (unsigned axis = 0; axis < 3; ++axis) {
      element[axis] = node[axis] + side(e, axis) - 1;  // 0 - 1 wraps around to something far outside
      inside = inside && element[axis] < elements_.n[axis];
    }
    if (!inside) continue;
    const unsigned a = 7 - e;
    const ElementRow from = jitter_ == 0 ? cube_row(element, a, c) : distorted_row(element, a, c);
    for (unsigned b = 0; b < 8; ++b) {
      const unsigned neighbour =
          side(e, 0) + side(b, 0) + 3 * (side(e, 1) + side(b, 1)) + 9 * (side(e, 2) + side(b, 2));
      for (unsigned d = 0; d < 3; ++d) sums[neighbour][d] += from[b][d];
    }
  }
  const double scale = jitter_ == 0 ? shear / 144 : 1;
  for (unsigned neighbour = 0; neighbour < 27; ++neighbour) {
    const Point q{at[0] + neighbour % 3 - 1, at[1] + neighbour / 3 % 3 - 1, at[2] + neighbour / 9 - 1};
    if (q[0] >= free_.n[0] || q[1] >= free_.n[1] || q[2] >= free_.n[2]) continue;
    const std::uint64_t column = 3 * free_.number(q);
    for (unsigned d = 0; d < 3; ++d) out.push(column + d, scale * sums[neighbour][d]);
  }
}

std::vector<std::string> Elasticity::comments() const {
  return {"linear elasticity, trilinear hexahedra, 3 displacements per node, symmetric positive definite",
          "Poisson's ratio 0.3, the face x = 0 clamped (left out); modulus " +
              coefficients_.describe(
                  jitter_ != 0 && coefficients_.kind == Coefficients::Kind::random ? "integration point" : "element"),
          jitter_ == 0 ? "the elements are cubes" : fmt::format("nodes moved by up to {} of the mesh width", jitter_)};
}

}  // namespace spmvpack::generators
