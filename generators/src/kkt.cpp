#include "spmvpack/generators/kkt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spmvpack::generators {
namespace {

constexpr double control_cost = 0.01;  // alpha
constexpr std::array<std::array<unsigned, 2>, 3> other_axes{{{1, 2}, {0, 2}, {0, 1}}};
constexpr std::array<unsigned, 3> axis_step{1, 3, 9};  // what a step along an axis adds to a direction

}  // namespace

Kkt::Kkt(const Point& cells, const Coefficients& coefficients, std::uint64_t seed)
    : coefficients_(coefficients),
      operator_(cells, coefficients, true, seed),
      random_(Random(seed).at(~std::uint64_t{0})),
      states_(operator_.grid().points()) {
  for (unsigned f = 0; f < faces_.size(); ++f) {
    const unsigned axis = f / 2;
    const bool upper = f % 2 == 1;
    faces_[f] = {axis, upper ? Box27::centre + axis_step[axis] : Box27::centre - axis_step[axis],
                 upper ? cells[axis] - 1 : 0, controls_};
    const auto [a, b] = other_axes[axis];
    controls_ += cells[a] * cells[b];
    control_entries_ += (3 * cells[a] - 2) * (3 * cells[b] - 2);
  }
  checked_size("rows", rows(), 1);
}

EntryCounts Kkt::count(int, const ProgressCallback&) const {
  const std::uint64_t diagonal = states_ + controls_;
  return symmetric_counts(2 * operator_.entries() + 2 * control_entries_ + diagonal, diagonal);
}

/// The weight of state or control i in what is minimised.
double Kkt::weight(std::uint64_t i) const {
  return coefficients_.is_constant() ? 1.0 : 0.5 + random_.uniform(coefficients_.group(i));
}

template <class F>
void Kkt::for_controls(const Face& face, const Point& p, F&& f) const {
  const Point& n = operator_.grid().n;
  const auto [a, b] = other_axes[face.axis];
  for (unsigned db = 0; db < 3; ++db)
    for (unsigned da = 0; da < 3; ++da) {
      const std::uint64_t at_a = p[a] + da - 1, at_b = p[b] + db - 1;  // 0 - 1 wraps around to something far outside
      if (at_a >= n[a] || at_b >= n[b]) continue;
      f(at_a + n[a] * at_b, face.outward + da * axis_step[a] + db * axis_step[b] - axis_step[a] - axis_step[b]);
    }
}

void Kkt::control_row(std::uint64_t control, Row& out) const {
  const Face& face = *std::find_if(faces_.rbegin(), faces_.rend(), [&](const Face& f) { return f.first <= control; });
  const Grid& grid = operator_.grid();
  const unsigned a = other_axes[face.axis][0], b = other_axes[face.axis][1];
  Point nearest{};  // the cell that the control is straight above
  nearest[a] = (control - face.first) % grid.n[a];
  nearest[b] = (control - face.first) / grid.n[a];
  nearest[face.axis] = face.layer;
  // The cells of the layer next to it have the places of the controls next to its cell. Seen from them it is on the
  // other side: the step within the face changes sign, that outward does not.
  for_controls(face, nearest, [&](std::uint64_t place, unsigned direction) {
    Point p = nearest;
    p[a] = place % grid.n[a];
    p[b] = place / grid.n[a];
    out.push(states_ + controls_ + grid.number(p), operator_.entry(p, 2 * face.outward - direction));
  });
}

void Kkt::multiplier_row(const Point& p, Row& out) const {
  for (unsigned d = 0; d < Box27::directions; ++d)
    if (const auto q = operator_.neighbour(p, d)) out.push(operator_.grid().number(*q), operator_.entry(p, d));
  for (const Face& face : faces_)
    if (p[face.axis] == face.layer)
      for_controls(face, p, [&](std::uint64_t place, unsigned direction) {
        out.push(states_ + face.first + place, operator_.entry(p, direction));
      });
}

void Kkt::row(std::uint64_t i, Row& out) const {
  const Grid& grid = operator_.grid();
  if (i >= states_ + controls_) return multiplier_row(grid.point(i - states_ - controls_), out);
  if (i >= states_) {
    out.push(i, control_cost * weight(i));
    return control_row(i - states_, out);
  }
  out.push(i, weight(i));
  const Point p = grid.point(i);
  for (unsigned d = 0; d < Box27::directions; ++d)
    if (const auto q = operator_.neighbour(p, d))
      out.push(states_ + controls_ + grid.number(*q), operator_.transposed_entry(p, d));
}

std::vector<std::string> Kkt::comments() const {
  std::vector<std::string> lines{
      "optimality conditions of a boundary control problem, symmetric indefinite",
      fmt::format("{0} states, {1} controls on the faces, {0} multipliers", states_, controls_),
      fmt::format("coefficient {}", coefficients_.describe("cell"))};
  const Point& n = operator_.grid().n;
  if (n[0] == n[1] && n[1] == n[2] && n[0] % 40 == 0 && n[0] >= 80 && n[0] <= 240)
    lines.push_back(fmt::format("rows and nonzeros are those of SuiteSparse's nlpkkt{}; the values are not", n[0]));
  return lines;
}

}  // namespace spmvpack::generators
