#include "spmvpack/generators/lattice_qcd.hpp"

#include <fmt/format.h>

#include <cmath>

#include "spmvpack/generators/grid.hpp"

namespace spmvpack::generators {
namespace {

using Complex = std::complex<double>;
using ColourVector = std::array<Complex, 3>;

constexpr unsigned axes = 4, spins = 4, colours = 3;

/// Products of complex numbers by real arithmetic: std::complex may take care of infinities in its own way, and results
/// are to be the same everywhere.
Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void normalise(ColourVector& v) {
  double squares = 0;
  for (const Complex& c : v) squares += c.real() * c.real() + c.imag() * c.imag();
  const double root = std::sqrt(squares);
  for (Complex& c : v) c = {c.real() / root, c.imag() / root};
}

/// An entry of gamma_axis off the diagonal, or on it (axis 3): where it is in the row of a spin, and what.
struct GammaEntry {
  unsigned spin;
  Complex value;
};
GammaEntry gamma(unsigned axis, unsigned spin) {
  if (axis == 3) return {spin, spin < 2 ? 1.0 : -1.0};
  // The upper right block is -i sigma, the lower left one i sigma, with Pauli's matrix of the axis.
  const unsigned row = spin % 2, column = axis == 2 ? row : 1 - row;
  const Complex sigma = axis == 0 ? Complex(1) : axis == 1 ? Complex(0, row == 0 ? -1 : 1) : Complex(row == 0 ? 1 : -1);
  return {column + (spin < 2 ? 2 : 0), times({0, spin < 2 ? -1.0 : 1.0}, sigma)};
}

}  // namespace

LatticeQcd::LatticeQcd(std::uint64_t sites, std::uint64_t seed) : sites_(sites), random_(seed) {
  require_sides(std::array{sites, sites, sites, sites}, 3, std::uint64_t{spins} * colours);
}

EntryCounts LatticeQcd::count(int, const ProgressCallback&) const { return {checked_mul(39, rows(), "entries"), 0}; }

std::uint64_t LatticeQcd::number(const Site& site) const noexcept {
  return site[0] + sites_ * (site[1] + sites_ * (site[2] + sites_ * site[3]));
}

/// Gram and Schmidt on two random vectors; the third is the conjugate of their cross product, so that the determinant
/// is 1.
LatticeQcd::Link LatticeQcd::link(const Site& site, unsigned axis) const {
  const Random of_link = random_.at(axes * number(site) + axis);
  ColourVector a{}, b{}, c{};
  for (unsigned k = 0; k < colours; ++k) {
    const auto number = [&](unsigned which) { return 2 * of_link.uniform(4 * k + which) - 1; };
    a[k] = {number(0), number(1)};
    b[k] = {number(2), number(3)};
  }
  normalise(a);
  Complex along{};
  for (unsigned k = 0; k < colours; ++k) along += times(std::conj(a[k]), b[k]);
  for (unsigned k = 0; k < colours; ++k) b[k] -= times(along, a[k]);
  normalise(b);
  for (unsigned k = 0; k < colours; ++k) {
    const unsigned l = (k + 1) % colours, m = (k + 2) % colours;
    c[k] = std::conj(times(a[l], b[m]) - times(a[m], b[l]));
  }
  return {a, b, c};
}

void LatticeQcd::row(std::uint64_t i, Row& out) const {
  const auto colour = static_cast<unsigned>(i % colours), spin = static_cast<unsigned>(i / colours % spins);
  std::uint64_t rest = i / (std::uint64_t{colours} * spins);
  Site site{};
  for (std::uint64_t& x : site) {
    x = rest % sites_;
    rest /= sites_;
  }
  for (unsigned axis = 0; axis < axes; ++axis)
    for (const bool forward : {true, false}) {
      Site neighbour = site;
      neighbour[axis] = (site[axis] + (forward ? 1 : sites_ - 1)) % sites_;
      const Link u = link(forward ? site : neighbour, axis);
      const GammaEntry g = gamma(axis, spin);
      const double sign = forward ? -1 : 1;
      // Row `spin` of 1 -+ gamma: the diagonal, and an entry beside it unless gamma's is on the diagonal, too.
      const auto push = [&](unsigned to_spin, const Complex& factor) {
        for (unsigned to = 0; to < colours; ++to) {
          const Complex entry = times(factor, forward ? u[colour][to] : std::conj(u[to][colour]));
          out.push(to + colours * (to_spin + spins * number(neighbour)), entry.real());
        }
      };
      const Complex beside{sign * g.value.real(), sign * g.value.imag()};
      if (g.spin != spin) {
        push(spin, 1.0);
        push(g.spin, beside);
      } else if (beside.real() > 0) {
        push(spin, 2.0);
      }
    }
  out.sort();
}

std::vector<std::string> LatticeQcd::comments() const {
  std::vector<std::string> lines{
      fmt::format("real part of the hopping term of Wilson's fermions, {0} x {0} x {0} x {0} sites, periodic", sites_),
      "four spins and three colours a site; links are random matrices of SU(3)"};
  if (sites_ == 8) lines.emplace_back("rows and nonzeros are those of QCD (conf5.4-00l8x8); the values are not");
  return lines;
}

}  // namespace spmvpack::generators
