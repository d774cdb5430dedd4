#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "spmvpack/generators/matrix_generator.hpp"
#include "spmvpack/generators/random.hpp"

namespace spmvpack::generators {

/// The hopping term of Wilson's fermions in lattice quantum chromodynamics, of which only the real parts are kept:
///
///     D(x, y) = sum_m (1 - gamma_m) U_m(x) [y = x + m] + (1 + gamma_m) U_m(y)^H [y = x - m]
///
/// on a periodic lattice with `sites` sites along each of four axes, four spins and three colours at each: 12 sites^4
/// rows. Every link U_m(x) is a random matrix of SU(3), as in strong coupling. gamma is in the representation of Dirac,
/// where gamma_4 is diag(1, 1, -1, -1) and the others have their two blocks off the diagonal: a row has 6 entries for
/// each neighbour along three axes and 3 for one of those along the fourth, 39. This is the matrix without the
/// identity, D of M = 1 - kappa D, like QCD (conf5.4-00l8x8) of the collections, whose 49,152 rows and 1,916,928
/// nonzeros 8 sites have.
///
/// The values of the collection's are complex. gamma_5 D gamma_5 = D^H, and as gamma_5 is real, the real part R obeys
/// gamma_5 R gamma_5 = R^T.
///
/// The row of colour c and spin s at the site (x, y, z, t) is c + 3 (s + 4 (x + n (y + n (z + n t)))).
class LatticeQcd final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if there are less than 3 sites along an axis: then both neighbours along it are one.
  explicit LatticeQcd(std::uint64_t sites, std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return 12 * sites_ * sites_ * sites_ * sites_; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  using Complex = std::complex<double>;
  using Site = std::array<std::uint64_t, 4>;
  using Link = std::array<std::array<Complex, 3>, 3>;

  [[nodiscard]] std::uint64_t number(const Site& site) const noexcept;
  /// U_axis(site).
  [[nodiscard]] Link link(const Site& site, unsigned axis) const;

  std::uint64_t sites_;
  Random random_;
};

}  // namespace spmvpack::generators
