#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The phonon states of a truncated basis: occupations of `modes` oscillators that add up to at most `most`, numbered
/// in lexicographic order. There are C(most + modes, modes).
class PhononBasis {
 public:
  static constexpr std::uint64_t most_modes = 15;
  using State = std::array<std::uint32_t, most_modes>;

  /// Error(errc::unsupported) if there are 2^32 - 1 states or more.
  PhononBasis(std::uint64_t modes, std::uint64_t most);

  [[nodiscard]] std::uint64_t size() const noexcept { return up_to(modes_, most_); }
  [[nodiscard]] std::uint64_t modes() const noexcept { return modes_; }
  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
  [[nodiscard]] State state(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t number(const State& state) const;
  /// Pairs of states of which one has a phonon more in a given mode: as many for each mode.
  [[nodiscard]] std::uint64_t pairs() const noexcept { return most_ == 0 ? 0 : up_to(modes_, most_ - 1); }

 private:
  /// States of the last `modes` modes with at most `phonons`.
  [[nodiscard]] std::uint64_t up_to(std::uint64_t modes, std::uint64_t phonons) const noexcept {
    return states_[modes * (most_ + 1) + phonons];
  }

  std::uint64_t modes_, most_;
  std::vector<std::uint64_t> states_;
};

/// The Hamiltonian of the Holstein-Hubbard model, electrons on a ring of sites that are coupled to vibrations of the
/// sites; HMEp of Kreutzer et al. 2012 ("Sparse matrix-vector multiplication on GPGPU clusters", section 1.3) is one:
///
///     H = -t sum_(i, s) (c+_(i+1, s) c_(i, s) + h. c.) + U sum_i n_(i, up) n_(i, down)
///         - g w sum_i (b+_i + b_i) n_i + w sum_i b+_i b_i,      t = 1, U = 4, g = 1, w = 1.
///
/// Half the electrons (rounded up) have spin up, half (rounded down) spin down. The vibrations b_i are turned, by a
/// real orthogonal matrix, into collective modes. One of them, in which all sites move alike, couples to the number of
/// electrons alone: it is solved by a shift of its oscillator and left out, with the constant that it adds to the
/// energy. The other modes, sites - 1 of them, are the discrete Chebyshev (Gram) polynomials over the sites; all of
/// them together hold at most `phonons` phonons. Such a truncation does not depend on which orthogonal modes are
/// chosen.
///
/// An electron state's number is that of its spin-up pattern times the spin-down patterns plus that of the other;
/// patterns of occupied sites, as binary numbers, are rising. A row is an electron state times the phonon states plus a
/// phonon state: hops make contiguous diagonals of as many entries as there are phonon states. Real symmetric, all of
/// the diagonal is stored, couplings that are zero are not. Six sites, six electrons and 15 phonons: 400 electron
/// states x 15,504 phonon states = 6,201,600 rows.
class HolsteinHubbard final : public MatrixGenerator {
 public:
  static constexpr std::uint64_t most_sites = PhononBasis::most_modes + 1;

  /// Error(errc::usage) unless there are 2 to 16 sites and 1 to 2 `sites` electrons; Error(errc::unsupported) if there
  /// are too many states.
  HolsteinHubbard(std::uint64_t sites, std::uint64_t electrons, std::uint64_t phonons);

  [[nodiscard]] std::uint64_t rows() const override;
  [[nodiscard]] Symmetry symmetry() const override { return Symmetry::symmetric; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  struct Hop {
    std::uint32_t to;  ///< the pattern's number
    double value;
  };
  /// The patterns of one spin: which sites are occupied, and where its electrons can hop to.
  struct Spin {
    std::vector<std::uint32_t> patterns;
    std::vector<std::vector<Hop>> hops;
  };
  /// A collective mode: integers, the site's shares, that are to be divided by the root of the sum of their squares.
  struct Mode {
    std::vector<std::int64_t> shares;
    std::int64_t squares = 0;
  };

  [[nodiscard]] static Spin make_spin(std::uint64_t sites, std::uint64_t electrons);
  [[nodiscard]] static Mode make_mode(std::uint64_t sites, std::uint64_t degree);
  /// sum_i S_ki n_i without the root of Mode::squares: integers, so that zero is zero.
  [[nodiscard]] static std::int64_t displacement(const Mode& mode, std::uint32_t pattern);

  std::uint64_t sites_, electrons_;
  Spin up_, down_;
  std::vector<Mode> modes_;
  PhononBasis phonons_;
};

}  // namespace spmvpack::generators
