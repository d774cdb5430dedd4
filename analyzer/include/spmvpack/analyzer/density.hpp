#pragma once
/// Where the entries of a matrix are: how many lie in each cell of a grid.

#include <cstdint>
#include <string>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::analyzer {

/// A grid of `height` by `width` cells over a matrix. Row i lies in row i * height / rows of the grid, column j
/// likewise, so that cells differ by at most one row and one column.
struct Density {
  static constexpr std::uint32_t picture = 256;  ///< cells of a picture, either way
  static constexpr unsigned shades = 8;

  std::uint64_t rows = 0, cols = 0;
  std::uint32_t height = 0, width = 0;  ///< both 0 if there are no rows or no columns
  std::vector<std::uint64_t> counts;    ///< entries of each cell, row by row

  /// The share of a cell's places that hold an entry, from 0 to 1.
  [[nodiscard]] SPMVPACK_EXPORT double filled(std::uint32_t row, std::uint32_t col) const noexcept;
};

/// Counts on a grid of at most `most_height` by `most_width` cells, and of no more cells than rows and columns.
/// Parallel, O(nnz + rows); the result does not depend on the number of threads.
SPMVPACK_EXPORT Density density_of(const CsrView& a, std::uint32_t most_height, std::uint32_t most_width,
                                   int threads = 0);

/// How dark each cell is: 0 without entries, else 1 to Density::shades, the fullest. Each shade is `factor` times as
/// full as the one before it, at least twice.
struct Shades {
  std::vector<std::uint8_t> levels;  ///< of Density::counts
  double least = 0, most = 0;        ///< Density::filled() of the emptiest and fullest cell that has entries; 0 without
  double factor = 2;
};
SPMVPACK_EXPORT Shades shades_of(const Density& density);

/// The picture in characters, in a frame, with a line that says what they mean: at most 64 of them in a line of at most
/// 48 lines, about twice as high as wide.
SPMVPACK_EXPORT std::string spy_text(const CsrView& a, int threads = 0);

}  // namespace spmvpack::analyzer
