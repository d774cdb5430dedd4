#include "spmvpack/generators/holstein_hubbard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "spmvpack/generators/grid.hpp"

namespace spmvpack::generators {
namespace {

constexpr double hopping = 1, repulsion = 4, coupling = 1, frequency = 1;

/// n over k, for numbers whose result fits.
std::uint64_t binomial(std::uint64_t n, std::uint64_t k) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

std::uint64_t checked_electrons(std::uint64_t sites, std::uint64_t electrons) {
  if (sites < 2 || sites > HolsteinHubbard::most_sites)
    throw Error(errc::usage, fmt::format("{} sites", sites), {},
                fmt::format("give a number from 2 to {}", HolsteinHubbard::most_sites));
  if (electrons < 1 || electrons > 2 * sites)
    throw Error(errc::usage, fmt::format("{} electrons on {} sites", electrons, sites), {},
                "give a number from 1 to twice that of the sites");
  return electrons;
}

}  // namespace

PhononBasis::PhononBasis(std::uint64_t modes, std::uint64_t most)
    : modes_(modes), most_(checked_size("phonons", most, 0)) {
  const auto refuse = [&] {
    throw Error(errc::unsupported, fmt::format("{} phonons in {} modes", most, modes), {},
                "give fewer phonons: matrices have below 2^32 - 1 rows");
  };
  // One mode has a state for each number of phonons, and more modes have no fewer: what is held stays small.
  constexpr std::uint64_t most_held = std::uint64_t{1} << 24;
  if (most >= most_held) refuse();
  states_.assign((modes + 1) * (most + 1), 1);
  for (std::uint64_t m = 1; m <= modes; ++m)
    for (std::uint64_t s = 0; s <= most; ++s) {
      // The first of the modes has a phonon more, or none at all.
      states_[m * (most + 1) + s] = states_[(m - 1) * (most + 1) + s] + (s == 0 ? 0 : states_[m * (most + 1) + s - 1]);
      if (states_[m * (most + 1) + s] >= max_dimension) refuse();
    }
}

PhononBasis::State PhononBasis::state(std::uint64_t number) const {
  State state{};
  std::uint64_t left = most_;
  for (std::uint64_t k = 0; k < modes_; ++k)
    for (;; ++state[k], --left) {
      const std::uint64_t with_these = up_to(modes_ - k - 1, left);
      if (number < with_these) break;
      number -= with_these;
    }
  return state;
}

std::uint64_t PhononBasis::number(const State& state) const {
  std::uint64_t number = 0, left = most_;
  for (std::uint64_t k = 0; k < modes_; ++k)
    for (std::uint32_t n = 0; n < state[k]; ++n, --left) number += up_to(modes_ - k - 1, left);
  return number;
}

HolsteinHubbard::Spin HolsteinHubbard::make_spin(std::uint64_t sites, std::uint64_t electrons) {
  Spin spin;
  for (std::uint32_t pattern = 0; pattern < (std::uint32_t{1} << sites); ++pattern)
    if (static_cast<std::uint64_t>(std::popcount(pattern)) == electrons) spin.patterns.push_back(pattern);
  // The bond between the ends of the ring carries a sign: the electron hops past all others of its spin. Two sites
  // have one bond.
  const std::uint64_t bonds = sites == 2 ? 1 : sites;
  for (const std::uint32_t pattern : spin.patterns) {
    std::vector<Hop>& hops = spin.hops.emplace_back();
    for (std::uint64_t bond = 0; bond < bonds; ++bond) {
      const std::uint32_t ends = (1U << bond) | (1U << (bond + 1) % sites);
      if (std::popcount(pattern & ends) != 1) continue;
      const auto to = std::lower_bound(spin.patterns.begin(), spin.patterns.end(), pattern ^ ends);
      const bool past_others = bond + 1 == sites && electrons % 2 == 0;
      hops.push_back({static_cast<std::uint32_t>(to - spin.patterns.begin()), past_others ? hopping : -hopping});
    }
  }
  return spin;
}

/// The discrete Chebyshev polynomial (Szego, Orthogonal Polynomials, 2.8) of a degree over the points 0 .. sites - 1,
/// in the smallest integers.
HolsteinHubbard::Mode HolsteinHubbard::make_mode(std::uint64_t sites, std::uint64_t degree) {
  Mode mode;
  std::int64_t divisor = 0;
  for (std::uint64_t x = 0; x < sites; ++x) {
    std::int64_t value = 0;
    for (std::uint64_t k = 0; k <= std::min(degree, x); ++k) {
      const auto term =
          static_cast<std::int64_t>(binomial(degree + k, k) * binomial(sites - 1 - k, degree - k) * binomial(x, k));
      value += (degree - k) % 2 == 0 ? term : -term;
    }
    mode.shares.push_back(value);
    divisor = std::gcd(divisor, value);
  }
  for (std::int64_t& share : mode.shares) {
    share /= divisor;
    mode.squares += share * share;
  }
  return mode;
}

std::int64_t HolsteinHubbard::displacement(const Mode& mode, std::uint32_t pattern) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < mode.shares.size(); ++i) sum += (pattern >> i & 1U) != 0 ? mode.shares[i] : 0;
  return sum;
}

HolsteinHubbard::HolsteinHubbard(std::uint64_t sites, std::uint64_t electrons, std::uint64_t phonons)
    : sites_(sites),
      electrons_(checked_electrons(sites, electrons)),
      up_(make_spin(sites, (electrons + 1) / 2)),
      down_(make_spin(sites, electrons / 2)),
      phonons_(sites - 1, phonons) {
  for (std::uint64_t degree = 1; degree < sites; ++degree) modes_.push_back(make_mode(sites, degree));
  const std::uint64_t states =
      checked_mul(up_.patterns.size() * down_.patterns.size(), phonons_.size(), "electron and phonon states");
  if (states >= max_dimension)
    throw Error(errc::unsupported, fmt::format("{} states", states), {},
                "give fewer phonons: matrices have below 2^32 - 1 rows");
}

std::uint64_t HolsteinHubbard::rows() const { return up_.patterns.size() * down_.patterns.size() * phonons_.size(); }

EntryCounts HolsteinHubbard::count(int, const ProgressCallback&) const {
  const auto hops = [](const Spin& spin) {
    std::uint64_t n = 0;
    for (const std::vector<Hop>& of_pattern : spin.hops) n += of_pattern.size();
    return n;
  };
  const std::uint64_t n_up = up_.patterns.size(), n_down = down_.patterns.size();
  std::uint64_t all = (n_up * n_down + hops(up_) * n_down + hops(down_) * n_up) * phonons_.size();
  for (const Mode& mode : modes_) {
    // Electron states that do not move this mode: both spins' displacements cancel.
    std::map<std::int64_t, std::uint64_t> of_down;
    for (const std::uint32_t pattern : down_.patterns) ++of_down[displacement(mode, pattern)];
    std::uint64_t still = 0;
    for (const std::uint32_t pattern : up_.patterns)
      if (const auto found = of_down.find(-displacement(mode, pattern)); found != of_down.end()) still += found->second;
    all += (n_up * n_down - still) * 2 * phonons_.pairs();
  }
  return symmetric_counts(all, rows());
}

void HolsteinHubbard::row(std::uint64_t i, Row& out) const {
  const std::uint64_t n_phonon = phonons_.size(), n_down = down_.patterns.size();
  const std::uint64_t electron = i / n_phonon, phonon = i % n_phonon;
  const std::uint64_t up = electron / n_down, down = electron % n_down;
  const std::uint32_t up_pattern = up_.patterns[up], down_pattern = down_.patterns[down];
  for (const Hop& hop : up_.hops[up]) out.push((hop.to * n_down + down) * n_phonon + phonon, hop.value);
  for (const Hop& hop : down_.hops[down]) out.push((up * n_down + hop.to) * n_phonon + phonon, hop.value);

  PhononBasis::State state = phonons_.state(phonon);
  std::uint64_t phonons = 0;
  for (std::uint64_t k = 0; k < modes_.size(); ++k) phonons += state[k];
  out.push(i, repulsion * std::popcount(up_pattern & down_pattern) + frequency * static_cast<double>(phonons));
  for (std::size_t k = 0; k < modes_.size(); ++k) {
    const Mode& mode = modes_[k];
    const std::int64_t moved = displacement(mode, up_pattern) + displacement(mode, down_pattern);
    if (moved == 0) continue;
    // b+ makes n phonons of n - 1, with the factor sqrt(n). Both entries of a pair are this one expression.
    const auto value = [&](std::uint32_t n) {
      return -coupling * frequency * static_cast<double>(moved) *
             std::sqrt(static_cast<double>(n) / static_cast<double>(mode.squares));
    };
    const std::uint32_t n = state[k];
    if (n > 0) {
      state[k] = n - 1;
      out.push(electron * n_phonon + phonons_.number(state), value(n));
    }
    if (phonons < phonons_.most()) {
      state[k] = n + 1;
      out.push(electron * n_phonon + phonons_.number(state), value(n + 1));
    }
    state[k] = n;
  }
  out.sort();
}

std::vector<std::string> HolsteinHubbard::comments() const {
  std::vector<std::string> lines{
      fmt::format("Holstein-Hubbard model: {} electrons on a ring of {} sites, up to {} phonons in {} modes",
                  electrons_, sites_, phonons_.most(), phonons_.modes()),
      fmt::format("hopping {}, repulsion {}, coupling {}, phonon energy {}; phonon states vary fastest", hopping,
                  repulsion, coupling, frequency)};
  if (sites_ == 6 && electrons_ == 6 && phonons_.most() == 15)
    lines.emplace_back("rows are those of HMEp (Kreutzer et al. 2012); the values are not");
  return lines;
}

}  // namespace spmvpack::generators
