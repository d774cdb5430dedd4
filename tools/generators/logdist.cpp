#include "generators/logdist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generators/grid.hpp"

namespace spmvpack::tools {
namespace {

constexpr std::uint64_t hop_values = 8;

}  // namespace

LogDistance::LogDistance(std::uint64_t rows, std::uint64_t per_row, std::uint64_t seed)
    : rows_(checked_size("rows", rows, 2)),
      per_row_(per_row),
      levels_(static_cast<std::uint64_t>(std::bit_width(rows - 1))),
      masks_(0),
      keep_(0),
      unit_(0),
      random_(seed) {
  if (per_row < 1 || per_row > 1000)
    throw Error(errc::usage, fmt::format("{} entries per row", per_row), {}, "give a number from 1 to 1000");
  masks_ = std::max<std::uint64_t>(div_up(per_row - 1, levels_), 1);
  keep_ = static_cast<double>(per_row - 1) / static_cast<double>(masks_ * levels_);
  unit_ = 0.5 / static_cast<double>(std::bit_ceil(hop_values * masks_ * levels_));
}

double LogDistance::hop(std::uint64_t from, std::uint64_t to) const {
  return unit_ * static_cast<double>(1 + random_.at(from).below(to, hop_values));
}

void LogDistance::row(std::uint64_t i, Row& out) const {
  std::vector<std::uint64_t> partners;
  for (std::uint64_t k = 0; k < levels_; ++k) {
    const std::uint64_t bit = std::uint64_t{1} << k;
    // Keys of masks and of hops, which are below 2^32, do not meet.
    const Random of_block = random_.at(~k).at(i >> (k + 1));
    for (std::uint64_t m = 0; m < masks_; ++m) {
      const std::uint64_t j = i ^ (bit | (of_block.bits(m) & (bit - 1)));
      if (j < rows_ && of_block.at(m).uniform(std::min(i, j)) < keep_) partners.push_back(j);
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

}  // namespace spmvpack::tools
