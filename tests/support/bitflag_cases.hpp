#pragma once
// Matrices and settings that together take every path of bitflag: sources of values, widths of columns and of rows,
// tiles, hot columns, segments, rows of one lane, of many tiles, and none.

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "matrices.hpp"
#include "sanitized.hpp"

namespace spmvpack::test {

struct BitflagCase {
  std::string name;
  std::map<std::string, std::string> settings;
  CsrMatrix matrix;
  /// Counters of the plan that are not 0, so that the case is what its name says.
  std::vector<std::string> counters;
};

/// Rows of these lengths, at most `cols`: columns at equal distances from a random first one.
template <class T>
CsrMatrix rows_of(const std::vector<std::uint32_t>& lengths, std::uint64_t cols, int values) {
  std::mt19937_64 rng(lengths.size() + cols);
  return from_rows<T>(lengths.size(), cols, rng, values, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(lengths[r]);
    if (row.empty()) return row;
    const std::uint64_t step = cols / row.size();
    std::uint64_t column = rng() % step;
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(std::exchange(column, column + step));
    return row;
  });
}

/// Lengths of rows: `count`, 0 to `most`, of which `empty` in 8 are empty.
inline std::vector<std::uint32_t> random_lengths(std::size_t count, std::uint32_t most, std::uint32_t empty) {
  std::mt19937_64 rng(count + most);
  std::vector<std::uint32_t> lengths(count);
  for (std::uint32_t& n : lengths) n = rng() % 8 < empty ? 0 : 1 + static_cast<std::uint32_t>(rng() % most);
  return lengths;
}

/// Rows of every length around those of a lane, a chunk and tiles, with gaps that take one byte and two.
inline std::vector<std::uint32_t> awkward_lengths() {
  std::vector<std::uint32_t> lengths{1, 7, 8, 9, 15, 16, 17, 255, 256, 257, 1, 2, 0, 0, 511, 3, 513, 1, 2048, 1, 2049};
  for (const std::size_t gap : {200U, 300U, 2046U, 2047U, 2048U, 2049U, 10000U}) {
    lengths.resize(lengths.size() + gap);
    for (const std::uint32_t n : {1U, 40U, 8U}) lengths.push_back(n);
  }
  lengths.insert(lengths.end(), {sanitized ? 45000U : 70000U, 5, 8192, 0, 8193, 1});
  return lengths;
}

/// For values of type T.
template <class T>
SPMVPACK_TEST_ONCE std::vector<BitflagCase> bitflag_cases() {
  std::vector<BitflagCase> all;
  const auto add = [&](std::string name, std::map<std::string, std::string> settings, CsrMatrix a,
                       std::vector<std::string> counters) {
    all.push_back({std::move(name), std::move(settings), std::move(a), std::move(counters)});
  };
  // Sources of values, and kinds of these (random_value).
  std::vector<std::pair<std::string, int>> sources{{"raw", 3}, {"table", 1}, {"single", 0}, {"window", 3}};
  if (sizeof(T) == 8) sources.insert(sources.end(), {{"decimal", 1}, {"decimal", 5}, {"decimal", 6}});
  // Under a sanitizer each source, which is the outer loop, takes one of the inner loop's settings, by turns.
  std::size_t turn = 0;
  const auto left_out = [&](std::size_t i, std::size_t of) { return sanitized && turn % of != i; };
  for (const auto& [source, values] : sources) {
    ++turn;
    for (const auto& [bits, cols] :
         {std::pair{"8", std::uint64_t{200}}, {"16", std::uint64_t{60000}}, {"24", std::uint64_t{1} << 21U}})
      for (const char* const tile : {"1", "7"})
        add("short rows", {{"bitflag.values", source}, {"bitflag.tile", tile}},
            rows_of<T>(random_lengths(1500, 20, 0), cols, values), {"chunks.columns_" + std::string(bits)});
    for (std::size_t i = 0; i < 4; ++i)
      if (!left_out(i, 4))
        add("awkward rows", {{"bitflag.values", source}, {"bitflag.tile", std::array{"1", "3", "8", "32"}.at(i)}},
            rows_of<T>(awkward_lengths(), 100000, values), {"tiles.continued", "chunks.without_entries"});
    add("long rows with empty ones", {{"bitflag.values", source}, {"bitflag.tile", "2"}},
        rows_of<T>(random_lengths(sanitized ? 200 : 800, 1500, 3), 70000, values), {"tiles.continued"});
    for (std::size_t i = 0; i < 3; ++i) {
      if (left_out(i, 3)) continue;
      const char* const hot = std::array{"1", "300", "32768"}.at(i);
      add("short rows, hot columns", {{"bitflag.values", source}, {"bitflag.hot", hot}},
          rows_of<T>(random_lengths(1500, 20, 2), 5000, values), {"hot.columns", "hot.entries"});
      add("awkward rows, hot columns", {{"bitflag.values", source}, {"bitflag.hot", hot}, {"bitflag.tile", "4"}},
          rows_of<T>(awkward_lengths(), 100000, values), {"hot.columns", "tiles.continued"});
    }
  }
  // Segments, of which a row may have no entries, and more than a tree has; the last of fewer columns.
  for (const auto& [source, values] : sources) {
    ++turn;
    for (std::size_t i = 0; i < 4; ++i) {
      if (left_out(i, 4)) continue;
      const char* const segments = std::array{"2", "3", "33", "70"}.at(i);
      add("awkward rows, segments", {{"bitflag.values", source}, {"bitflag.tile", "2"}, {"bitflag.segments", segments}},
          rows_of<T>(awkward_lengths(), 100001, values), {"segments", "tiles.continued"});
      add("short rows, segments", {{"bitflag.values", source}, {"bitflag.segments", segments}},
          rows_of<T>(random_lengths(1500, 90, 2), 7001, values), {"segments"});
    }
  }
  // Of 273 and more tiles, that is several trees.
  add("a row of many tiles", {{"bitflag.tile", "1"}}, rows_of<T>({3, 0, 70000, 1, 8192, 8448, 5}, 100000, 3),
      {"tiles.continued"});
  // Columns too far apart for three bytes, and for these with a bit for hot ones.
  constexpr std::uint64_t wide = 18000000;
  for (const auto& [source, values] : {std::pair{"raw", 3}, {"table", 1}})
    add("wide rows", {{"bitflag.values", source}, {"bitflag.tile", "2"}},
        rows_of<T>(random_lengths(300, 20, 1), wide, values), {"chunks.columns_32"});
  add("wide rows, hot columns", {{"bitflag.values", "table"}, {"bitflag.hot", "300"}},
      rows_of<T>(random_lengths(300, 20, 1), wide, 1), {"chunks.columns_32", "hot.entries"});
  add("one column", {}, rows_of<T>(random_lengths(1000, 1, 3), 1, 3), {"chunks.columns_8"});
  return all;
}

}  // namespace spmvpack::test
