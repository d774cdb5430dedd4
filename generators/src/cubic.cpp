#include "spmvpack/generators/cubic.hpp"

namespace spmvpack::generators {
namespace {

constexpr std::uint64_t degree = 3;

using Element = std::array<std::array<int, degree + 1>, degree + 1>;
/// Of the cubic element of length 1 with nodes at 0, 1/3, 2/3 and 1: 40 times the integrals of products of the basis'
/// derivatives, and 1680 times those of products of the basis.
constexpr Element stiffness{{{148, -189, 54, -13}, {-189, 432, -297, 54}, {54, -297, 432, -189}, {-13, 54, -189, 148}}};
constexpr Element mass{{{128, 99, -36, 19}, {99, 648, -81, -36}, {-36, -81, 648, 99}, {19, -36, 99, 128}}};
constexpr double scale = 40 * 1680;

/// What an inner node of a line of `elements` couples to, itself included: the nodes `first` to `first` + `nodes` - 1,
/// boundary nodes left out.
struct Line {
  std::uint64_t first = 0, nodes = 0;
  std::array<int, 2 * degree + 1> stiffness{}, mass{};
};

/// `i` counts inner nodes from 0; node i + 1 of all.
Line line_of(std::uint64_t i, std::uint64_t elements) {
  const std::uint64_t node = i + 1, last = degree * elements;
  const std::uint64_t upper = node / degree, lower = node % degree == 0 ? upper - 1 : upper;
  const std::uint64_t begin = degree * lower;
  Line line;
  for (std::uint64_t element = lower; element <= upper; ++element)
    for (std::uint64_t c = 0; c <= degree; ++c) {
      const std::uint64_t from = degree * element;
      line.stiffness[from + c - begin] += stiffness[node - from][c];
      line.mass[from + c - begin] += mass[node - from][c];
    }
  const std::uint64_t skipped = begin == 0 ? 1 : 0, end = degree * (upper + 1);  // the last node
  line.first = begin + skipped - 1;
  line.nodes = end - begin + 1 - skipped - (end == last ? 1 : 0);
  for (std::uint64_t k = 0; k < line.nodes; ++k) {
    line.stiffness[k] = line.stiffness[k + skipped];
    line.mass[k] = line.mass[k + skipped];
  }
  return line;
}

}  // namespace

Cubic::Cubic(std::uint64_t nx, std::uint64_t ny) : squares_(checked_grid({nx, ny, 1})) {
  require_sides(std::array{nx, ny}, 2);
  inner_ = checked_grid({degree * nx - 1, degree * ny - 1, 1});
}

EntryCounts Cubic::count(int, const ProgressCallback&) const {
  return symmetric_counts((15 * squares_.n[0] - 13) * (15 * squares_.n[1] - 13), rows());
}

void Cubic::row(std::uint64_t i, Row& out) const {
  const Point at = inner_.point(i);
  const Line x = line_of(at[0], squares_.n[0]), y = line_of(at[1], squares_.n[1]);
  for (std::uint64_t v = 0; v < y.nodes; ++v)
    for (std::uint64_t u = 0; u < x.nodes; ++u)
      out.push(inner_.number({x.first + u, y.first + v, 0}),
               (x.stiffness[u] * y.mass[v] + x.mass[u] * y.stiffness[v]) / scale);
}

std::vector<std::string> Cubic::comments() const {
  std::vector<std::string> lines{
      "Laplacian by cubic finite elements on squares, 4 x 4 nodes each, boundary left out, symmetric positive "
      "definite"};
  if (squares_.n == Point{128, 128, 1})
    lines.emplace_back("rows and nonzeros are those of Dubcova3; the values are not");
  return lines;
}

}  // namespace spmvpack::generators
