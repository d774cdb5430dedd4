#include "spmvpack/generators/cage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::generators {
namespace {

constexpr unsigned per_direction = 3;  ///< neighbours of a vertex up the field, and down
/// Probabilities are multiples of 1 / (60 L): of a direction up (1 + 0.1) / (6 L), of one down (1 - 0.1) / (6 L).
constexpr std::uint64_t unit = 60, weight_up = 11, weight_down = 9;

/// The polymer with a monomer moved to another neighbour of the vertex that its own neighbours are at. A vertex that is
/// not in the walk stands for any new one.
CageState moved(const CageState& state, unsigned monomer, unsigned vertex, bool up) {
  constexpr unsigned unnamed = 255;
  std::array<unsigned, 32> names{};
  const auto vertex_of = [&](unsigned m) { return m == monomer ? vertex : state.vertex(m); };
  CageState result;
  names.fill(unnamed);
  names[vertex_of(0)] = 0;
  unsigned next = 1;
  for (unsigned m = 1; m < state.monomers(); ++m) {
    unsigned& name = names[vertex_of(m)];
    if (name == unnamed) name = next++;
    // The bond to the moved monomer has its direction, the bond from it the opposite one.
    result.append(name, m == monomer ? up : m == monomer + 1 ? !up : state.up(m - 1));
  }
  return result;
}

/// Calls f(walk) for all walks of so many monomers that begin with `walk`.
template <class F>
void for_walks(const CageState& walk, unsigned vertices, unsigned monomers, const F& f) {
  const unsigned n = walk.monomers();
  if (n == monomers) return f(walk);
  const unsigned here = walk.vertex(n - 1);
  std::array<std::array<bool, CageState::most_monomers>, 2> visited{};
  for (unsigned b = 0; b + 1 < n; ++b) {
    if (walk.vertex(b) == here) visited[walk.up(b) ? 1 : 0][walk.vertex(b + 1)] = true;
    if (walk.vertex(b + 1) == here) visited[walk.up(b) ? 0 : 1][walk.vertex(b)] = true;
  }
  for (const bool up : {false, true}) {
    unsigned known = 0;
    for (unsigned v = 0; v <= vertices; ++v) {
      if (v == vertices ? known == per_direction : !visited[up ? 1 : 0][v]) continue;
      ++known;
      CageState longer = walk;
      longer.append(v, up);
      for_walks(longer, std::max(vertices, v + 1), monomers, f);
    }
  }
}

}  // namespace

void CageState::append(unsigned vertex, bool up) {
  const unsigned m = monomers_++;
  path_ |= std::uint64_t{vertex} << (60 - 4 * m);
  if (up) ups_ = static_cast<std::uint16_t>(ups_ | 1U << (m - 1));
  for (unsigned bonds = 2, first = 0; bonds <= m; first += most_monomers - bonds, bonds += 2)
    if (this->vertex(m - bonds) == vertex) meetings_ |= std::uint64_t{1} << (first + m - bonds);
}

CageState CageState::reversed() const {
  constexpr unsigned unnamed = 255;
  std::array<unsigned, most_monomers> names{};
  names.fill(unnamed);
  const unsigned last = monomers_ - 1U;
  names[vertex(last)] = 0;
  unsigned next = 1;
  CageState result;
  for (unsigned m = 1; m <= last; ++m) {
    unsigned& name = names[vertex(last - m)];
    if (name == unnamed) name = next++;
    result.append(name, !up(last - m));
  }
  return result;
}

std::strong_ordering CageState::operator<=>(const CageState& other) const noexcept {
  if (const auto order = meetings_ <=> other.meetings_; std::is_neq(order)) return order;
  return ups_ <=> other.ups_;
}

Cage::Cage(std::uint64_t monomers, const Resources& resources) : monomers_(static_cast<unsigned>(monomers)) {
  if (monomers < 3 || monomers > CageState::most_monomers)
    throw Error(errc::usage, fmt::format("{} monomers", monomers), {},
                fmt::format("give a number from 3 to {}", CageState::most_monomers));
  std::uint64_t states = 0;
  const auto for_states = [&](const auto& f) {
    for_walks(CageState(), 1, monomers_, [&](const CageState& walk) {
      if (walk <= walk.reversed()) f(walk);
    });
  };
  for_states([&](const CageState&) { ++states; });
  require_memory(states * sizeof(CageState), resources.memory_limit, "the states of the polymer");
  states_.reserve(states);
  for_states([&](const CageState& state) { states_.push_back(state); });
  std::sort(states_.begin(), states_.end());
}

Cage::Place Cage::place(const CageState& state) const {
  const CageState reverse = state.reversed();
  const auto found = std::lower_bound(states_.begin(), states_.end(), std::min(state, reverse));
  return {static_cast<std::uint64_t>(found - states_.begin()), state == reverse ? 1U : 2U};
}

template <class F>
void Cage::for_moves(const CageState& state, F&& f) const {
  constexpr unsigned new_up = CageState::most_monomers, new_down = new_up + 1;
  const unsigned last = monomers_ - 1;
  for (unsigned m = 0; m < monomers_; ++m) {
    const unsigned beside = m == 0 ? 1 : m - 1;
    if (m != 0 && m != last && state.vertex(m - 1) != state.vertex(m + 1)) continue;
    const unsigned centre = state.vertex(beside);
    // Neighbours of the vertex that other monomers are at, as their bonds say.
    std::array<std::array<bool, CageState::most_monomers>, 2> visited{};
    for (unsigned b = 0; b < last; ++b) {
      if (b == m || b + 1 == m) continue;
      if (state.vertex(b) == centre) visited[state.up(b) ? 1 : 0][state.vertex(b + 1)] = true;
      if (state.vertex(b + 1) == centre) visited[state.up(b) ? 0 : 1][state.vertex(b)] = true;
    }
    std::array<Move, 2 * per_direction + 2> choices{};
    std::size_t n = 0, current = choices.size();
    const bool is_up = m == 0 ? !state.up(0) : state.up(m - 1);
    for (const bool up : {false, true}) {
      unsigned known = 0;
      for (unsigned v = 0; v < CageState::most_monomers; ++v) {
        if (!visited[up ? 1 : 0][v]) continue;
        ++known;
        if (v == state.vertex(m)) current = n;
        choices[n++] = {v, up, 1};
      }
      if (known < per_direction) choices[n++] = {up ? new_up : new_down, up, per_direction - known};
    }
    if (current == choices.size())  // at a vertex of its own: one of the new ones in its direction
      for (current = 0; choices[current].vertex != (is_up ? new_up : new_down);) ++current;
    f(m, std::span(choices.data(), n), current);
  }
}

void Cage::row(std::uint64_t i, Row& out) const {
  const CageState& state = states_[i];
  const auto weight = [](const Move& c) { return c.ways * (c.up ? weight_up : weight_down); };
  struct Sum {
    Place from;
    std::uint64_t weight;
  };
  std::vector<Sum> sums;
  std::uint64_t stay = unit * monomers_;
  // Whatever a monomer comes from, it goes to a choice with this choice's weight.
  for_moves(state, [&](unsigned monomer, std::span<const Move> choices, std::size_t current) {
    for (std::size_t c = 0; c < choices.size(); ++c) {
      if (c == current) continue;
      const CageState other = moved(state, monomer, choices[c].vertex, choices[c].up);
      const Place from = place(other);
      if (from.row == i) continue;
      stay -= weight(choices[c]);
      sums.push_back({from, weight(choices[current])});
    }
  });
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.from.row < b.from.row; });
  const std::uint64_t polymers = place(state).polymers;
  const auto all = static_cast<double>(unit * monomers_);
  bool diagonal_is_out = false;
  for (std::size_t k = 0; k < sums.size();) {
    const auto [column, from_polymers] = sums[k].from;
    std::uint64_t sum = 0;
    for (; k < sums.size() && sums[k].from.row == column; ++k) sum += sums[k].weight;
    // From a state and from its reverse, if they are two; into this one and its reverse, if these are.
    sum = sum * polymers / from_polymers;
    if (!diagonal_is_out && column > i) {
      out.push(i, static_cast<double>(stay) / all);
      diagonal_is_out = true;
    }
    out.push(column, static_cast<double>(sum) / all);
  }
  if (!diagonal_is_out) out.push(i, static_cast<double>(stay) / all);
}

std::vector<std::string> Cage::comments() const {
  return {
      fmt::format("cage model of DNA electrophoresis: transition probabilities of a polymer of {} monomers", monomers_),
      fmt::format("columns add up to 1; rows and nonzeros are those of SuiteSparse's cage{}", monomers_)};
}

}  // namespace spmvpack::generators
