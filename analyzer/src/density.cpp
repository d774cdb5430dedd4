#include "spmvpack/analyzer/density.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sentences.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::analyzer {
namespace {

/// The first row or column of cell `k` of `cells`.
constexpr std::uint64_t begin_of(std::uint64_t k, std::uint64_t size, std::uint64_t cells) {
  return div_up(k * size, cells);
}

}  // namespace

double Density::filled(std::uint32_t row, std::uint32_t col) const noexcept {
  const std::uint64_t high = begin_of(row + 1, rows, height) - begin_of(row, rows, height),
                      wide = begin_of(col + 1, cols, width) - begin_of(col, cols, width);
  return static_cast<double>(counts[std::uint64_t{row} * width + col]) /
         (static_cast<double>(high) * static_cast<double>(wide));
}

Density density_of(const CsrView& a, std::uint32_t most_height, std::uint32_t most_width, int threads) {
  Density density;
  density.rows = a.rows();
  density.cols = a.cols();
  if (a.rows() == 0 || a.cols() == 0) return density;
  density.height = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_height, a.rows()));
  density.width = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_width, a.cols()));
  density.counts.resize(std::uint64_t{density.height} * density.width);
  const std::uint32_t* const columns = a.col_idx();
  parallel_for(density.height, threads, [&](std::uint64_t row) {
    std::uint64_t* const counts = density.counts.data() + row * density.width;
    const std::uint64_t last = begin_of(row + 1, a.rows(), density.height);
    for (std::uint64_t i = begin_of(row, a.rows(), density.height); i < last; ++i) {
      std::uint64_t cell = 0, end = 0;  // of the entry before: columns rise, and most are in the same cell
      for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
        if (columns[k] >= end) {
          cell = std::uint64_t{columns[k]} * density.width / a.cols();
          end = begin_of(cell + 1, a.cols(), density.width);
        }
        ++counts[cell];
      }
    }
  });
  return density;
}

Shades shades_of(const Density& density) {
  Shades shades;
  shades.levels.resize(density.counts.size());
  const auto each = [&](auto&& f) {
    for (std::uint32_t row = 0; row < density.height; ++row)
      for (std::uint32_t col = 0; col < density.width; ++col)
        if (const double filled = density.filled(row, col); filled > 0)
          f(filled, shades.levels[std::uint64_t{row} * density.width + col]);
  };
  each([&](double filled, std::uint8_t&) {
    shades.least = shades.most == 0 ? filled : std::min(shades.least, filled);
    shades.most = std::max(shades.most, filled);
  });
  if (shades.most == 0) return shades;
  shades.factor = std::max(2.0, std::pow(shades.most / shades.least, 1.0 / Density::shades));
  each([&](double filled, std::uint8_t& level) {
    const double below = std::floor(std::log(shades.most / filled) / std::log(shades.factor));
    level = static_cast<std::uint8_t>(Density::shades - std::min(below, Density::shades - 1.0));
  });
  return shades;
}

std::string spy_text(const CsrView& a, int threads) {
  constexpr std::uint32_t most_columns = 64, most_lines = 48;
  constexpr std::string_view characters = " .:-=+*#@";
  static_assert(characters.size() == Density::shades + 1);
  if (a.rows() == 0 || a.cols() == 0) return "no rows or no columns\n";
  // A character is about twice as high as wide.
  const double lines = static_cast<double>(std::min<std::uint64_t>(most_columns, a.cols())) / 2 *
                       static_cast<double>(a.rows()) / static_cast<double>(a.cols());
  const auto height = static_cast<std::uint32_t>(std::clamp(std::round(lines), 1.0, double{most_lines}));
  const Density density = density_of(a, height, most_columns, threads);
  const Shades shades = shades_of(density);
  const std::string edge = fmt::format("  +{:-<{}}+\n", "", density.width);
  std::string text = edge;
  for (std::uint32_t row = 0; row < density.height; ++row) {
    text += "  |";
    for (std::uint32_t col = 0; col < density.width; ++col)
      text += characters[shades.levels[std::uint64_t{row} * density.width + col]];
    text += "|\n";
  }
  text += edge;
  const auto size = [](std::uint64_t all, std::uint32_t cells) {
    return fmt::format("{:.{}f}", static_cast<double>(all) / cells, all % cells == 0 ? 0 : 1);
  };
  text += fmt::format("  a character covers {} x {} places\n", size(a.rows(), density.height),
                      size(a.cols(), density.width));
  if (shades.most == 0) return text + "  no entries\n";
  return text + fmt::format("  @ is {} full; each shade of {} is {:.3g} times the one before\n",
                            share_text(shades.most), characters.substr(1), shades.factor);
}

}  // namespace spmvpack::analyzer
