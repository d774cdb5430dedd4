#pragma once
// Matrices that together take every path of csell: kinds of columns, sources of values, blocks, tiles, many groups.

#include <string>
#include <utility>
#include <vector>

#include "matrices.hpp"
#include "sanitized.hpp"

namespace spmvpack::test {

struct CsellCase {
  std::string name, values;  ///< values: csell.values
  CsrMatrix matrix;
  /// Counters of the plan that are not 0, so that the case is what its name says.
  std::vector<std::string> counters;
};

/// Blocks of b by b where `pattern` has entries; values of kind `values`.
template <class T>
CsrMatrix in_blocks(const CsrMatrix& pattern, std::uint32_t b, int values, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  return from_rows<T>(pattern.rows * b, pattern.cols * b, rng, values, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t k = pattern.row_ptr[r / b]; k < pattern.row_ptr[r / b + 1]; ++k)
      for (std::uint32_t c = 0; c < b; ++c) row.push_back(pattern.col_idx[k] * b + c);
    return row;
  });
}

/// The same entries; the value of each from its row and column.
template <class T, class Value>
CsrMatrix with_values(CsrMatrix a, Value&& value) {
  auto& values = std::get<Array<T>>(a.values);
  for (std::uint64_t r = 0; r < a.rows; ++r)
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) values[k] = static_cast<T>(value(r, a.col_idx[k]));
  return a;
}

/// Every row has the columns from its own number on: `width` diagonals, whole but for the last columns.
template <class T>
CsrMatrix band(std::uint64_t rows, std::uint32_t width, int values) {
  std::mt19937_64 rng(rows);
  return from_rows<T>(rows, rows + width, rng, values, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint32_t c = 0; c < width; ++c) row.push_back(static_cast<std::uint32_t>(r + c));
    return row;
  });
}

/// The neighbours of each point of a grid, and itself: all 9, or without the corners.
template <class T>
CsrMatrix stencil(std::uint32_t lines, std::uint32_t length, bool corners, int values) {
  std::mt19937_64 rng(lines);
  const std::uint64_t n = std::uint64_t{lines} * length;
  return from_rows<T>(n, n, rng, values, [&](std::uint64_t r) {
    const auto line = static_cast<std::int64_t>(r / length), place = static_cast<std::int64_t>(r % length);
    std::vector<std::uint32_t> row;
    for (const std::int64_t i : {-1, 0, 1})
      for (const std::int64_t j : {-1, 0, 1})
        if ((corners || i == 0 || j == 0) && line + i >= 0 && line + i < lines && place + j >= 0 && place + j < length)
          row.push_back(static_cast<std::uint32_t>((line + i) * length + place + j));
    return row;
  });
}

/// Without the entries of every third stretch of `length` rows.
template <class T>
CsrMatrix every_third_line_empty(const CsrMatrix& a, std::uint64_t length) {
  std::mt19937_64 rng(length);
  return from_rows<T>(a.rows, a.cols, rng, 0, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t k = a.row_ptr[r]; r / length % 3 != 1 && k < a.row_ptr[r + 1]; ++k) row.push_back(a.col_idx[k]);
    return row;
  });
}

/// Rows of `per_row` random columns (with repetitions, which go) below `cols`.
template <class T>
CsrMatrix scattered(std::uint64_t rows, std::uint64_t cols, std::uint32_t per_row, int values) {
  std::mt19937_64 rng(rows + cols);
  return from_rows<T>(rows, cols, rng, values, [&](std::uint64_t) {
    std::vector<std::uint32_t> row;
    for (std::uint32_t i = 0; i < per_row; ++i) row.push_back(static_cast<std::uint32_t>(rng() % cols));
    return row;
  });
}

/// Rows of `per_row` columns within `spread`, at a place of their slice's own.
template <class T>
CsrMatrix clustered(std::uint64_t rows, std::uint64_t cols, std::uint32_t spread, std::uint32_t per_row, int values) {
  std::mt19937_64 rng(rows + spread);
  std::uint64_t place = 0;
  return from_rows<T>(rows, cols, rng, values, [&](std::uint64_t r) {
    if (r % 32 == 0) place = rng() % (cols - spread);
    std::vector<std::uint32_t> row;
    for (std::uint32_t i = 0; i < per_row; ++i) row.push_back(static_cast<std::uint32_t>(place + rng() % spread));
    return row;
  });
}

/// Values of `tiles` stretches of 512 rows: `per_tile` of their own in each, in turn.
template <class T>
CsrMatrix by_tiles(std::uint64_t tiles, std::uint32_t per_tile) {
  std::uint32_t next = 0;
  return with_values<T>(scattered<T>(512 * tiles - 17, 3000, 30, 0), [&](std::uint64_t r, std::uint32_t) {
    next = (next + 1) % per_tile;
    return static_cast<double>(r / 512 * per_tile + next) + 0.5;
  });
}

/// The square matrix of the first rows and columns of `half`, and of its transposed one: entries that lie opposite of
/// each other have the same value, but for the sign where they are left of the diagonal.
template <class T>
CsrMatrix both_halves(const CsrMatrix& half, std::uint32_t b = 1, int sign = 1) {
  std::vector<std::vector<std::uint32_t>> columns(half.rows);
  for (std::uint64_t r = 0; r < half.rows; ++r)
    for (std::uint64_t k = half.row_ptr[r]; k < half.row_ptr[r + 1]; ++k)
      if (half.col_idx[k] < half.rows) {
        columns[r].push_back(half.col_idx[k]);
        columns[half.col_idx[k]].push_back(static_cast<std::uint32_t>(r));
      }
  std::mt19937_64 rng(half.rows);
  CsrMatrix pattern =
      from_rows<T>(half.rows, half.rows, rng, 0, [&](std::uint64_t r) { return columns[r]; });  // sorted, each once
  if (b != 1) pattern = in_blocks<T>(pattern, b, 0, 1);
  return with_values<T>(std::move(pattern), [&](std::uint64_t r, std::uint32_t c) {
    const std::uint64_t low = std::min<std::uint64_t>(r, c), high = std::max<std::uint64_t>(r, c);
    return (c < r ? sign : 1) * (static_cast<double>((low * 7919 + high * 104729) % 999983) + 0.5);
  });
}

/// Some of the entries left of the diagonal differ from those opposite of them.
template <class T>
CsrMatrix with_single_entries(CsrMatrix a) {
  auto& values = std::get<Array<T>>(a.values);
  for (std::uint64_t r = 0; r < a.rows; ++r)
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
      if (a.col_idx[k] < r && (r * 31 + a.col_idx[k]) % 11 == 0) values[k] += 1;
  return a;
}

/// Matrices for csell.values=mirror and skew.
template <class T, class Add>
SPMVPACK_TEST_ONCE void add_mirror_cases(Add&& add) {
  const auto near = [](std::uint64_t rows, std::uint32_t spread, std::uint32_t per_row) {
    std::mt19937_64 rng(rows + spread);
    return from_rows<T>(rows, rows + spread, rng, 0, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row;
      for (std::uint32_t i = 0; i < per_row; ++i) row.push_back(static_cast<std::uint32_t>(r + rng() % spread));
      return row;
    });
  };
  const auto few_rows = [] {
    std::mt19937_64 rng(5);
    return from_rows<T>(1U << 18U, 1U << 18U, rng, 0, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row;
      for (std::uint32_t i = 0; r < 64 && i < 9; ++i) row.push_back(static_cast<std::uint32_t>(rng() % (1U << 18U)));
      return row;
    });
  };
  for (const std::uint32_t b : {1U, 2U, 3U, 4U}) {
    const std::string blocks = b == 1 ? "" : ", blocks of " + std::to_string(b);
    const std::uint64_t rows = b == 1 ? 1001 : 333, scattered_rows = sanitized ? 601 : 1001;
    add("both halves of a band" + blocks, "mirror", both_halves<T>(band<T>(rows, 5, 0), b),
        {"groups.pattern", "mirrors.by_steps"});
    add("both halves of a band, with single entries" + blocks, "mirror",
        with_single_entries<T>(both_halves<T>(band<T>(rows, 5, 0), b)), {"groups.pattern", "mirrors"});
    add("both halves of a band, signs flipped" + blocks, "skew", both_halves<T>(band<T>(rows, 5, 0), b, -1),
        {"groups.pattern", "mirrors.by_steps"});
    add("both halves, 8 bits" + blocks, "mirror", both_halves<T>(near(rows, 100, 9), b),
        {"groups.offsets_8", "mirrors"});
    add("both halves, 16 bits" + blocks, "mirror",
        both_halves<T>(scattered<T>(scattered_rows, scattered_rows, 9, 0), b), {"groups.offsets_16", "mirrors"});
    add("both halves, 16 bits, signs flipped" + blocks, "skew",
        both_halves<T>(scattered<T>(scattered_rows, scattered_rows, 9, 0), b, -1), {"groups.offsets_16", "mirrors"});
  }
  add("both halves, 32 bits", "mirror", both_halves<T>(few_rows()), {"groups.offsets_32", "mirrors"});
  // More than 128 slots, whose references are of two bytes; and more than 255 groups of a pattern.
  add("both halves, long rows", "mirror", both_halves<T>(scattered<T>(700, 700, 200, 0)), {"mirrors"});
  add("both halves, many of a pattern", "mirror", both_halves<T>(band<T>(1049, 1049, 0)),
      {"groups.pattern", "mirrors.by_steps"});
}

/// For values of type T. No number of rows is a multiple of 32.
template <class T>
SPMVPACK_TEST_ONCE std::vector<CsellCase> csell_cases() {
  std::vector<CsellCase> all;
  const auto add = [&](std::string name, std::string values, CsrMatrix a, std::vector<std::string> counters) {
    all.push_back({std::move(name), std::move(values), std::move(a), std::move(counters)});
  };
  const auto by_diagonal = [](std::uint64_t r, std::uint32_t c) { return c - r == 1 ? 4.0 : -1.0; };
  add("a band", "raw", band<T>(1000, 7, 3), {"groups.pattern"});
  add("a band", "table", band<T>(1000, 7, 1), {"groups.pattern", "tables.values"});
  add("a band", "step", with_values<T>(band<T>(1000, 7, 0), by_diagonal), {"groups.pattern"});
  add("a band", "single", band<T>(1000, 7, 0), {"groups.pattern"});
  for (const char* const values : {"raw", "table"}) {
    const int kind = values == std::string("raw") ? 3 : 2;
    add("8 bits", values, clustered<T>(1001, 100000, 256, 9, kind), {"groups.offsets_8"});
    add("16 bits", values, clustered<T>(1001, 1000000, 65536, 9, kind), {"groups.offsets_16"});
    add("32 bits", values, scattered<T>(1001, 1U << 20U, 9, kind), {"groups.offsets_32"});
  }
  add("8 bits", "single", clustered<T>(1001, 100000, 256, 9, 0), {"groups.offsets_8"});
  add("16 bits", "single", clustered<T>(1001, 1000000, 65536, 9, 0), {"groups.offsets_16"});
  add("32 bits", "single", scattered<T>(1001, 1U << 20U, 9, 0), {"groups.offsets_32"});
  add("257 values", "table", by_tiles<T>(1, 257), {"tables.values"});
  add("256 values", "table", by_tiles<T>(1, 256), {"tables.values"});
  add("tiles of 100 values", "table", by_tiles<T>(7, 100), {"tables.values"});
  add("tiles of 1000 values", "table", by_tiles<T>(5, 1000), {"tables.values"});
  add("tiles of 7000 values", "table", by_tiles<T>(3, 7000), {"tables.values"});
  add("tiles of 15000 values", "table", by_tiles<T>(2, 15000), {"tables.values"});  // more than shared memory has

  // Windows of x: lines of even and odd length, some rows with other values, empty rows.
  const auto by_column = [](std::uint64_t r, std::uint32_t c) {
    return r % 130 == 7 ? 0.25 : 1.0 + static_cast<double>((c - r) % 8);
  };
  add("9 points, even lines", "step", with_values<T>(stencil<T>(30, 70, true, 0), by_column), {"groups.pattern"});
  add("9 points, odd lines", "step", with_values<T>(stencil<T>(41, 51, true, 0), by_column), {"groups.pattern"});
  add("5 points, even lines", "step", with_values<T>(stencil<T>(25, 84, false, 0), by_column), {"groups.pattern"});
  add("5 points, odd lines", "single", stencil<T>(33, 67, false, 0), {"groups.pattern"});
  add("points with empty lines", "single", every_third_line_empty<T>(stencil<T>(90, 48, true, 0), 48),
      {"groups.pattern"});

  // More than 255 groups of a kind.
  add("many of a pattern", "raw", band<T>(90, 1100, 3), {"groups.pattern"});
  add("many of a pattern", "table", band<T>(90, 1100, 1), {"groups.pattern"});
  add("many of a pattern", "step", with_values<T>(band<T>(90, 1100, 0), by_diagonal), {"groups.pattern"});
  add("many of a pattern", "single", band<T>(90, 1100, 0), {"groups.pattern"});
  add("many of offsets", "raw", scattered<T>(45, 1U << 20U, 2500, 3), {"groups.offsets_16"});
  add("many of offsets", "table", scattered<T>(45, 1U << 20U, 2500, 2), {"groups.offsets_16"});

  for (const std::uint32_t b : {2U, 3U, 4U}) {
    const std::string name = "blocks of " + std::to_string(b);
    const auto seed = std::uint64_t{b};
    add(name + " in a band", "raw", in_blocks<T>(band<T>(333, 5, 0), b, 3, seed), {"groups.pattern"});
    add(name + " in a band", "single", in_blocks<T>(band<T>(333, 5, 0), b, 0, seed), {"groups.pattern"});
    add(name + " in a band", "step",
        with_values<T>(
            in_blocks<T>(band<T>(333, 5, 0), b, 0, seed),
            [&](auto r, auto c) { return static_cast<double>(r % b * b + c % b) + (r / b == c / b ? 0.5 : 0); }),
        {"groups.pattern"});
    for (const char* const values : {"raw", "table"}) {
      const int kind = values == std::string("raw") ? 3 : 2;
      const auto blocks = [&](const CsrMatrix& pattern) { return in_blocks<T>(pattern, b, kind, seed); };
      add(name + ", 8 bits", values, blocks(clustered<T>(333, 9000, 256, 9, 0)), {"groups.offsets_8"});
      add(name + ", 16 bits", values, blocks(scattered<T>(333, 60000, 9, 0)), {"groups.offsets_16"});
      add(name + ", 32 bits", values, blocks(scattered<T>(333, 1U << 20U, 9, 0)), {"groups.offsets_32"});
      if (!sanitized || b == 2)
        add(name + ", many", values, blocks(scattered<T>(33, 60000, 1300, 0)), {"groups.offsets_16"});
    }
    add(name + " in a band", "table", in_blocks<T>(band<T>(333, 5, 0), b, 1, seed), {"groups.pattern"});
    add(name + " in tiles", "table",
        with_values<T>(
            in_blocks<T>(band<T>(1100, 5, 0), b, 0, seed),
            [&](auto r, auto c) { return static_cast<double>(r / (512 * b) * 1000 + (r * 7 + c) % 900) + 0.5; }),
        {"groups.pattern", "tables.values"});
  }
  add_mirror_cases<T>(add);
  return all;
}

}  // namespace spmvpack::test
