#include "spmvpack/generators/logdist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "spmvpack/generators/grid.hpp"

namespace spmvpack::generators {
namespace {

constexpr std::uint64_t hop_values = 8, neighbourhood = 8;

/// The inverse of an odd number modulo 2^64, by Newton's iteration: 3 bits are right at first, then 6, 12, ...
std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int step = 0; step < 5; ++step) x *= 2 - odd * x;
  return x;
}

/// The state that i is paired with across the middle of its aligned block of 2 `half` states. `random` is the block's.
std::uint64_t partner(std::uint64_t i, std::uint64_t half, const Random& random) {
  const std::uint64_t in_half = i & (half - 1);
  const bool upper = (i & half) != 0;
  std::uint64_t to = in_half ^ (random.bits(0) & (std::min(half, neighbourhood) - 1));
  if (half > neighbourhood) {
    // Neighbourhood g of the lower half goes with a g + c of the upper one, modulo their number, a power of two.
    const std::uint64_t a = random.bits(1) | 1, c = random.bits(2), g = in_half / neighbourhood;
    const std::uint64_t other = (upper ? inverse(a) * (g - c) : a * g + c) & (half / neighbourhood - 1);
    to = other * neighbourhood + to % neighbourhood;
  }
  return i - (i & (2 * half - 1)) + (upper ? 0 : half) + to;
}

}  // namespace

LogDistance::LogDistance(std::uint64_t rows, std::uint64_t per_row, std::uint64_t seed)
    : rows_(checked_size("rows", rows, 2)),
      per_row_(per_row),
      levels_(static_cast<std::uint64_t>(std::bit_width(rows - 1))),
      random_(seed) {
  if (per_row < 1 || per_row > 1000)
    throw Error(errc::usage, fmt::format("{} entries per row", per_row), {}, "give a number from 1 to 1000");
  pairings_ = std::max<std::uint64_t>(div_up(per_row - 1, levels_), 1);
  keep_ = static_cast<double>(per_row - 1) / static_cast<double>(pairings_ * levels_);
  unit_ = 0.5 / static_cast<double>(std::bit_ceil(hop_values * pairings_ * levels_));
}

double LogDistance::hop(std::uint64_t from, std::uint64_t to) const {
  return unit_ * static_cast<double>(1 + random_.at(from).below(to, hop_values));
}

void LogDistance::row(std::uint64_t i, Row& out) const {
  std::vector<std::uint64_t> partners;
  for (std::uint64_t k = 0; k < levels_; ++k) {
    // These keys and those of hops, which are below 2^32, do not meet.
    const Random of_block = random_.at(~k).at(i >> (k + 1));
    for (std::uint64_t m = 0; m < pairings_; ++m) {
      const Random of_pairing = of_block.at(m);
      const std::uint64_t j = partner(i, std::uint64_t{1} << k, of_pairing);
      if (j < rows_ && of_pairing.at(3).uniform(std::min(i, j)) < keep_) partners.push_back(j);
    }
  }
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  double stay = 1;
  for (const std::uint64_t j : partners) {
    out.push(j, hop(j, i));
    stay -= hop(i, j);
  }
  out.push(i, stay);
  out.sort();
}

std::vector<std::string> LogDistance::comments() const {
  return {"random walk with hops over log-uniform distances, like the cage matrices of DNA electrophoresis",
          fmt::format("symmetric pattern, columns add up to 1, about {} entries per row", per_row_)};
}

}  // namespace spmvpack::generators
