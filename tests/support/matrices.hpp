#pragma once
// Matrices for tests: from triplets, and random ones of every awkward kind.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sanitized.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::test {

using Entries = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

template <class T = double>
CsrMatrix make_csr(std::uint64_t rows, std::uint64_t cols, const Entries& entries) {
  CsrMatrix a = allocate_csr(rows, cols, entries.size(), value_type_of<T>);
  std::fill(a.row_ptr.begin(), a.row_ptr.end(), 0);
  std::uint64_t k = 0;
  for (const auto& [at, value] : entries) {
    ++a.row_ptr[at.first + std::uint64_t{1}];
    a.col_idx[k] = at.second;
    std::get<Array<T>>(a.values)[k++] = static_cast<T>(value);
  }
  for (std::uint64_t r = 0; r < rows; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
  return a;
}

struct NamedMatrix {
  std::string name;
  CsrMatrix matrix;
};

/// Real values as applications have them, by kind: 0 all ones; 1 a few; 2 about 300, so that a table of 256 covers
/// most; 3 all different; 4 the nasty ones (NaN payloads, infinities, signed zeros, denormals) among others; decimal
/// fractions of nine digits, 5 of similar sizes, 6 of any.
template <class T>
T random_real_value(std::mt19937_64& rng, int kind) {
  const auto pick = [&](std::uint64_t n) { return rng() % n; };
  switch (kind) {
    case 0:
      return 1;
    case 1:
      return static_cast<T>(static_cast<int>(pick(9)) - 4);
    case 2:
      return static_cast<T>(std::min(pick(300), pick(300))) / 7;
    case 3:
      return static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(rng));
    case 5:
    case 6:
      return static_cast<T>((static_cast<double>(pick(2000000000)) - 1e9) /
                            std::stod("1e" + std::to_string(kind == 5 ? 4 + pick(9) : pick(23))));
    default:
      break;
  }
  using Limits = std::numeric_limits<T>;
  const std::array<T, 9> nasty{Limits::quiet_NaN(),  Limits::infinity(),    -Limits::infinity(), T{0},         -T{0},
                               Limits::denorm_min(), -Limits::denorm_min(), Limits::max(),       Limits::min()};
  const std::uint64_t i = pick(20);
  if (i < nasty.size()) return nasty[i];
  if (i == 9) {  // a NaN that carries something
    bits_of<T> bits = std::bit_cast<bits_of<T>>(Limits::quiet_NaN());
    bits |= static_cast<bits_of<T>>(pick(1000) + 1);
    bits ^= static_cast<bits_of<T>>(pick(2)) << (8 * sizeof(T) - 1);
    return std::bit_cast<T>(bits);
  }
  return static_cast<T>(i);
}

/// Both parts of a complex value are of the kind.
template <class T>
T random_value(std::mt19937_64& rng, int kind) {
  if constexpr (is_complex_type<T>) {
    const auto real = random_value<typename T::value_type>(rng, kind);
    return {real, random_value<typename T::value_type>(rng, kind)};
  } else {
    return random_real_value<T>(rng, kind);
  }
}

/// A matrix from the columns of each row; values of the given kind.
template <class T, class Columns>
CsrMatrix from_rows(std::uint64_t rows, std::uint64_t cols, std::mt19937_64& rng, int values, Columns&& columns) {
  std::vector<std::uint32_t> all;
  std::vector<std::uint64_t> row_ptr{0};
  for (std::uint64_t r = 0; r < rows; ++r) {
    std::vector<std::uint32_t> row = columns(r);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    all.insert(all.end(), row.begin(), row.end());
    row_ptr.push_back(all.size());
  }
  CsrMatrix a = allocate_csr(rows, cols, all.size(), value_type_of<T>);
  std::copy(row_ptr.begin(), row_ptr.end(), a.row_ptr.begin());
  std::copy(all.begin(), all.end(), a.col_idx.begin());
  for (T& v : std::get<Array<T>>(a.values)) v = random_value<T>(rng, values);
  return a;
}

/// A third of the rows have entries in none to `most` ranges of `width` columns; the others in one.
template <class T>
CsrMatrix rows_over_ranges(std::uint64_t rows, std::uint32_t ranges, std::uint32_t width, std::uint32_t most) {
  std::mt19937_64 rng(most);
  return from_rows<T>(rows, std::uint64_t{ranges} * width, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row, of(ranges);
    for (std::uint32_t i = 0; i < ranges; ++i) of[i] = i;
    std::shuffle(of.begin(), of.end(), rng);
    of.resize(r % 3 == 0 ? r / 3 % (most + 1) : 1);
    for (const std::uint32_t range : of) {
      const auto first = static_cast<std::uint32_t>(rng() % (width - 3));
      for (std::uint32_t c = 0; c <= r % 4; ++c) row.push_back(range * width + first + c);
    }
    return row;
  });
}

/// Of each of the three longest rows below.
inline constexpr std::uint64_t entries_of_long_row = sanitized ? 20000 : 60000;
/// What the rows of others, which are all alike, are divided by.
inline constexpr std::uint64_t fewer = sanitized ? 2 : 1;

/// One matrix of each structure, with values of kind `values` (random_value).
template <class T>
std::vector<NamedMatrix> random_matrices(std::uint64_t seed, int values) {
  std::mt19937_64 rng(seed);
  using Row = std::vector<std::uint32_t>;
  const auto pick = [&](std::uint64_t n) { return static_cast<std::uint32_t>(rng() % n); };
  const auto some = [&](std::uint64_t count, std::uint64_t cols) {
    Row row;
    for (std::uint64_t i = 0; i < count; ++i) row.push_back(pick(cols));
    return row;
  };
  std::vector<NamedMatrix> all;
  const auto add = [&](std::string name, std::uint64_t rows, std::uint64_t cols, auto&& columns) {
    all.push_back({std::move(name), from_rows<T>(rows, cols, rng, values, columns)});
  };
  add("0 x 0", 0, 0, [&](std::uint64_t) { return Row{}; });
  add("0 rows", 0, 7, [&](std::uint64_t) { return Row{}; });
  add("0 columns", 7, 0, [&](std::uint64_t) { return Row{}; });
  add("0 nonzeros", 300, 200, [&](std::uint64_t) { return Row{}; });
  add("1 x 1", 1, 1, [&](std::uint64_t) { return Row{0}; });
  add("one column", 1000, 1, [&](std::uint64_t) { return some(pick(2), 1); });
  add("one dense row", 700, 5000, [&](std::uint64_t r) {
    Row row = some(r == 333 ? 0 : pick(4), 5000);
    for (std::uint32_t c = 0; r == 333 && c < 5000; ++c) row.push_back(c);
    return row;
  });
  add("one row", 1, 100000, [&](std::uint64_t) { return some(40000 / fewer, 100000); });
  add("three rows of many chunks", 3, 300000, [&](std::uint64_t) { return some(entries_of_long_row, 300000); });
  add("mostly empty rows", 20000, 500, [&](std::uint64_t) { return some(pick(50) == 0 ? 1 + pick(3) : 0, 500); });
  add("far apart rows", 4000, 400, [&](std::uint64_t r) { return some(r % 256 == 0 || r % 257 == 0 ? 3 : 0, 400); });
  add("tridiagonal", 5000, 5000, [&](std::uint64_t r) {
    Row row;
    for (std::uint64_t c = r == 0 ? 0 : r - 1; c <= std::min<std::uint64_t>(r + 1, 4999); ++c)
      row.push_back(static_cast<std::uint32_t>(c));
    return row;
  });
  add("5 to 9 per row", 3000 / fewer, 100000, [&](std::uint64_t) { return some(5 + pick(5), 100000); });
  add("blocks of 3", 999, 999, [&](std::uint64_t r) {
    Row row;
    for (std::uint32_t c = 0; c < 27; ++c) row.push_back(static_cast<std::uint32_t>((r / 3 * 3 + c) % 999));
    return row;
  });
  add("power law", 4000, 4000,
      [&](std::uint64_t) { return some(40 / (1 + pick(40)) * (pick(500) == 0 ? 50 : 1), 4000); });
  add("wide", 40 / fewer, 1U << 20, [&](std::uint64_t) { return some(700, 1U << 20); });
  return all;
}

}  // namespace spmvpack::test
