#pragma once
// Matrices whose slices in sjds have all kinds: lanes with the same columns, with consecutive ones, in two runs.

#include <random>
#include <vector>

#include "matrices.hpp"

namespace spmvpack::test {

/// Some rows for each node, all of which have columns of the same nodes around it: lanes of slices in groups, of window
/// steps where `nodes_around` is small.
template <class A>
CsrMatrix rows_of_nodes(std::uint32_t nodes, std::uint32_t rows_each, std::uint32_t nodes_around, int values) {
  std::mt19937_64 random(rows_each);
  std::vector<std::uint32_t> columns;
  return from_rows<A>(std::uint64_t{nodes} * rows_each, std::uint64_t{nodes} * rows_each, random, values,
                      [&](std::uint64_t r) {
                        if (r % rows_each != 0) return columns;
                        columns.clear();
                        const auto node = static_cast<std::uint32_t>(r / rows_each);
                        for (std::uint32_t i = 0; i < 3 + node / 50 % 4; ++i) {
                          const auto of = static_cast<std::uint32_t>((node + random() % nodes_around) % nodes);
                          for (std::uint32_t k = 0; k < rows_each; ++k) columns.push_back(of * rows_each + k);
                        }
                        return columns;
                      });
}

/// A grid's rows, whose columns are one higher in each but at its ends.
template <class A>
CsrMatrix rows_of_grid(std::uint32_t width, std::uint32_t height, int values) {
  std::mt19937_64 random(width);
  const std::uint64_t n = std::uint64_t{width} * height;
  return from_rows<A>(n, n, random, values, [&](std::uint64_t r) {
    std::vector<std::uint32_t> columns{static_cast<std::uint32_t>(r)};
    if (r % width != 0) columns.push_back(static_cast<std::uint32_t>(r - 1));
    if (r % width != width - 1) columns.push_back(static_cast<std::uint32_t>(r + 1));
    if (r >= width) columns.push_back(static_cast<std::uint32_t>(r - width));
    if (r + width < n) columns.push_back(static_cast<std::uint32_t>(r + width));
    return columns;
  });
}

/// Eight rows after eight have consecutive columns up to one row, and from there on again, `gap` further along: in
/// windows of 16 if that is small.
template <class A>
CsrMatrix rows_of_two_runs(std::uint64_t rows, std::uint32_t gap, int values) {
  std::mt19937_64 random(gap);
  return from_rows<A>(rows, rows + gap + 40, random, values, [&](std::uint64_t r) {
    const std::uint64_t second = r / 8 % 9;  // from this row of the eight on; 8: none
    std::vector<std::uint32_t> columns;
    for (const std::uint32_t of_step : {0U, 3U, 11U, 12U, 30U})
      columns.push_back(static_cast<std::uint32_t>(r + of_step + (r % 8 >= second ? gap : 0)));
    return columns;
  });
}

}  // namespace spmvpack::test
