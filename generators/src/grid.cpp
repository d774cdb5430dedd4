#include "spmvpack/generators/grid.hpp"

#include <fmt/format.h>

#include <limits>

#include "option_number.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::generators {

void require_sides(std::span<const std::uint64_t> sides, std::uint64_t least, std::uint64_t unknowns) {
  std::uint64_t rows = unknowns;
  for (const std::uint64_t side : sides) {
    if (side < least)
      throw Error(errc::usage, fmt::format("a side of the grid is {}", side), {},
                  fmt::format("every side must be {} or more", least));
    rows = checked_mul(rows, side, "grid");
  }
  if (rows >= max_dimension)
    throw Error(errc::unsupported, fmt::format("a grid of {} unknowns", rows), {}, "matrices have below 2^32 - 1 rows");
}

std::uint64_t checked_size(std::string_view what, std::uint64_t size, std::uint64_t least) {
  if (size < least)
    throw Error(errc::usage, fmt::format("{} {}", size, what), {}, fmt::format("give {} or more", least));
  if (size >= max_dimension)
    throw Error(errc::unsupported, fmt::format("{} {}", size, what), {}, "give a number below 2^32 - 1");
  return size;
}

Grid checked_grid(const Point& sides, std::uint64_t least) {
  require_sides(sides, least);
  return {sides};
}

std::string Coefficients::describe(std::string_view unit) const {
  if (kind == Kind::constant) return "constant";
  return kind == Kind::blocks ? fmt::format("one per block of {} {}s", block, unit) : fmt::format("one per {}", unit);
}

Coefficients parse_coefficients(std::string_view option, std::string_view text) {
  if (text == "constant") return {Coefficients::Kind::constant};
  if (text == "random") return {Coefficients::Kind::random};
  if (constexpr std::string_view blocks = "blocks:"; text.starts_with(blocks))
    return {Coefficients::Kind::blocks, option_number(fmt::format("{} blocks", option), text.substr(blocks.size()), 1,
                                                      std::numeric_limits<std::uint32_t>::max())};
  throw Error(errc::usage, fmt::format("{} is '{}'", option, escape(text)), {}, "give constant, blocks:N or random");
}

Materials::Materials(const Grid& cells, const Coefficients& coefficients) : coefficients_(coefficients) {
  for (std::size_t axis = 0; axis < 3; ++axis) blocks_.n[axis] = coefficients.group(cells.n[axis] - 1) + 1;
}

}  // namespace spmvpack::generators
