#pragma once
/// Regular grids, and what their cells are made of.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/generators/random.hpp"

namespace spmvpack::generators {

/// Throws Error(errc::usage) if a side is below `least`, Error(errc::unsupported) if the product of the sides,
/// times `unknowns` for each point, is more than a matrix may have rows.
void require_sides(std::span<const std::uint64_t> sides, std::uint64_t least, std::uint64_t unknowns = 1);
/// The number of rows (or of columns), if it is `least` or more and not too many.
std::uint64_t checked_size(std::string_view what, std::uint64_t size, std::uint64_t least);

using Point = std::array<std::uint64_t, 3>;

/// A box of points. (ix, iy, iz) has the number ix + nx (iy + ny iz); a plane has nz = 1.
struct Grid {
  Point n{};

  [[nodiscard]] std::uint64_t points() const noexcept { return n[0] * n[1] * n[2]; }
  [[nodiscard]] std::uint64_t number(const Point& p) const noexcept { return p[0] + n[0] * (p[1] + n[1] * p[2]); }
  [[nodiscard]] Point point(std::uint64_t i) const noexcept { return {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])}; }
};

/// The grid with these sides, once require_sides() has nothing against them.
Grid checked_grid(const Point& sides, std::uint64_t least = 1);

/// How coefficients vary over a matrix: not at all, from block to block of `block` cells along each axis (or of `block`
/// rows, where there is no grid), or from cell to cell.
struct Coefficients {
  enum class Kind : std::uint8_t { constant, blocks, random };
  Kind kind = Kind::constant;
  std::uint64_t block = 0;

  [[nodiscard]] bool is_constant() const noexcept { return kind == Kind::constant; }
  /// The part of the matrix that shares one coefficient with the cell (or row) `i`, where these are in a line.
  [[nodiscard]] std::uint64_t group(std::uint64_t i) const noexcept {
    return kind == Kind::constant ? 0 : kind == Kind::blocks ? i / block : i;
  }
  /// "constant", "one per block of 8", "one per cell".
  [[nodiscard]] std::string describe(std::string_view unit) const;
};

/// The word of --coefficients or --materials: "constant", "blocks:N" or "random". Error(errc::usage) for any other.
Coefficients parse_coefficients(std::string_view option, std::string_view text);

/// Which material each cell of a grid is made of: the number of its block, or its own.
class Materials {
 public:
  Materials(const Grid& cells, const Coefficients& coefficients);
  [[nodiscard]] bool is_constant() const noexcept { return coefficients_.is_constant(); }
  [[nodiscard]] std::uint64_t operator()(const Point& p) const noexcept {
    return blocks_.number({coefficients_.group(p[0]), coefficients_.group(p[1]), coefficients_.group(p[2])});
  }

 private:
  Coefficients coefficients_;
  Grid blocks_;
};

}  // namespace spmvpack::generators
