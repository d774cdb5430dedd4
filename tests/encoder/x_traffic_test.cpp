#include "spmvpack/encoder/x_traffic.hpp"

#include <list>
#include <unordered_map>

#include "catch.hpp"
#include "matrices.hpp"

namespace spmvpack::test {
namespace {

using encoder::x_lines_loaded;
using encoder::XCache;
using Row = std::vector<std::uint32_t>;

template <class Columns>
CsrMatrix matrix(std::uint64_t rows, std::uint64_t cols, Columns&& columns) {
  std::mt19937_64 rng(1);
  return from_rows<double>(rows, cols, rng, 0, columns);
}

CsrMatrix uniform(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  return matrix(rows, cols, [&](std::uint64_t) {
    Row row(per_row);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % cols);
    return row;
  });
}

/// Columns that are the more frequent the smaller they are, as in a power-law graph.
CsrMatrix skewed(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform_real(0, 1);
  return matrix(rows, cols, [&](std::uint64_t) {
    Row row(per_row);
    for (std::uint32_t& c : row) {
      const double u = uniform_real(rng);
      c = static_cast<std::uint32_t>(static_cast<double>(cols - 1) * u * u * u);
    }
    return row;
  });
}

/// Entries at i + offset, where that is a column.
CsrMatrix banded(std::uint64_t n, const std::vector<std::int64_t>& offsets) {
  return matrix(n, n, [&](std::uint64_t i) {
    Row row;
    for (const std::int64_t offset : offsets) {
      const std::int64_t c = static_cast<std::int64_t>(i) + offset;
      if (c >= 0 && c < static_cast<std::int64_t>(n)) row.push_back(static_cast<std::uint32_t>(c));
    }
    return row;
  });
}

/// A fully associative cache with least recently used replacement, by the book.
std::uint64_t exact_lru(const CsrView& a, const XCache& cache) {
  const std::uint64_t capacity = cache.bytes / cache.line_bytes;
  std::list<std::uint64_t> recent;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> where;
  std::uint64_t misses = 0;
  for (std::uint64_t i = 0; i < a.rows(); ++i) {
    if (cache.rows_per_cache != 0 && i % cache.rows_per_cache == 0) recent.clear(), where.clear();
    for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      if (cache.entries_per_cache != 0 && k % cache.entries_per_cache == 0) recent.clear(), where.clear();
      const std::uint64_t line = a.col_idx()[k] * cache.element_bytes / cache.line_bytes;
      if (const auto found = where.find(line); found != where.end()) {
        recent.splice(recent.begin(), recent, found->second);
        continue;
      }
      ++misses;
      if (recent.size() == capacity) where.erase(recent.back()), recent.pop_back();
      recent.push_front(line);
      where[line] = recent.begin();
    }
  }
  return misses;
}

/// The estimate; it must not depend on the number of threads.
std::uint64_t estimate(const CsrView& a, const XCache& cache) {
  const std::uint64_t lines = x_lines_loaded(a, cache, 1);
  for (const int threads : {2, 3, 8}) CHECK(x_lines_loaded(a, cache, threads) == lines);
  return lines;
}

}  // namespace

TEST_CASE("x that fits is loaded once, line by line") {
  CHECK(estimate(banded(10'000, {0}), {.bytes = 80'000}) == 2500);
  CHECK(estimate(banded(10'001, {0}), {.bytes = 80'032}) == 2501);
  CHECK(estimate(banded(10'000, {0}), {.bytes = 80'000, .line_bytes = 128, .element_bytes = 4}) == 313);
  CHECK(estimate(banded(10'000, {-1, 0, 1}), {.bytes = 1 << 20}) == 2500);
  // One column in eight: every second line.
  const CsrMatrix sparse =
      matrix(500, 8000, [](std::uint64_t i) { return Row{static_cast<std::uint32_t>(i % 100 * 8)}; });
  CHECK(estimate(sparse, {.bytes = 64'000}) == 100);
  for (const NamedMatrix& m : random_matrices<float>(5, 0)) {
    INFO(m.name);
    const XCache cache{.bytes = 1 << 22, .line_bytes = 32, .element_bytes = 4};
    CHECK(estimate(m.matrix, cache) == exact_lru(m.matrix, cache));
  }
}

TEST_CASE("a band is loaded once, although x does not fit") {
  CHECK(estimate(banded(100'000, {0}), {.bytes = 1024}) == 25'000);
  CHECK(estimate(banded(100'000, {-1, 0, 1}), {.bytes = 1024}) == 25'000);
  // 500 lines between the first and the last use of a line; twice that in the cache.
  CHECK(estimate(banded(100'000, {-1000, -999, -10, 0, 10, 999, 1000}), {.bytes = 32'000}) == 25'000);
  // A cache of less than the distance has forgotten each of the three groups of diagonals.
  const std::uint64_t lines = estimate(banded(100'000, {-1000, 0, 1000}), {.bytes = 1024});
  CHECK(lines > 74'000 - 500);
  CHECK(lines <= 75'000);
}

TEST_CASE("uniformly random columns nearly always miss a cache far smaller than x") {
  const CsrMatrix a = uniform(20'000, 4'000'000, 10, 1);
  const std::uint64_t lines = estimate(a, {.bytes = 32'000});  // a thousandth of x
  CHECK(lines <= a.nnz());
  CHECK(static_cast<double>(lines) > 0.99 * static_cast<double>(a.nnz()));
  // A quarter of x: a quarter of the gathers hit once the cache is full.
  const CsrMatrix b = uniform(40'000, 40'000, 20, 2);
  const double share = static_cast<double>(estimate(b, {.bytes = 80'000})) / static_cast<double>(b.nnz());
  CHECK(share > 0.74);
  CHECK(share < 0.76);
}

TEST_CASE("one dense row") {
  const auto dense = [](std::uint64_t i) {
    Row row;
    if (i != 50) return Row{static_cast<std::uint32_t>(i)};
    for (std::uint32_t c = 0; c < 100'000; ++c) row.push_back(c);
    return row;
  };
  const CsrMatrix a = matrix(100, 100'000, dense);
  CHECK(estimate(a, {.bytes = 1 << 20}) == 25'000);
  // It pushes out the first lines, which the rows below it load again.
  CHECK(estimate(a, {.bytes = 3200}) == 25'000 + 13);
}

TEST_CASE("nothing to load, and nothing to load it into") {
  for (const XCache& cache : {XCache{}, XCache{.bytes = 1}, XCache{.bytes = 1 << 20, .rows_per_cache = 3}})
    for (const auto& [rows, cols] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {0, 9}, {9, 0}, {9, 9}})
      CHECK(estimate(matrix(rows, cols, [](std::uint64_t) { return Row{}; }), cache) == 0);
  const CsrMatrix a = banded(1000, {-1, 0, 1});
  CHECK(estimate(a, {.bytes = 0}) == a.nnz());
  CHECK(estimate(a, {.bytes = 1}) == 250);  // a cache of one set
}

TEST_CASE("close to an exact LRU cache", "[sequential]") {
  std::uint64_t seed = 0;
  const auto check = [&](const CsrMatrix& a) {
    for (const std::uint64_t kib : {4U, 16U, 64U, 256U})
      for (const std::uint64_t line : {32U, 128U}) {
        const XCache cache{.bytes = kib << 10U, .line_bytes = line};
        const auto exact = static_cast<double>(exact_lru(a, cache)), found = static_cast<double>(estimate(a, cache));
        CAPTURE(kib, line, a.nnz(), exact, found);
        CHECK(found >= 0.93 * exact);
        CHECK(found <= 1.10 * exact);
      }
  };
  for (const std::uint64_t cols : {5'000U, 60'000U, 300'000U}) {
    check(uniform(30'000, cols, 7, ++seed));
    check(skewed(30'000, cols, 7, ++seed));
  }
}

TEST_CASE("groups of rows have a cache each") {
  for (const CsrMatrix& a : {uniform(5'000, 50'000, 9, 1), skewed(5'000, 50'000, 9, 2), banded(5'000, {-70, 0, 3})})
    for (const std::uint64_t rows : {1U, 7U, 256U, 1024U, 4999U}) {
      CAPTURE(rows);
      // Enough for each group, whether or not x fits: exact.
      for (const std::uint64_t bytes : {std::uint64_t{1} << 19U, rows * 9 * 32}) {
        const XCache cache{.bytes = bytes, .rows_per_cache = rows};
        CHECK(estimate(a, cache) == exact_lru(a, cache));
      }
      // Not enough.
      const XCache cache{.bytes = 4096, .rows_per_cache = rows};
      const auto exact = static_cast<double>(exact_lru(a, cache)), found = static_cast<double>(estimate(a, cache));
      CAPTURE(exact, found);
      CHECK(found >= 0.93 * exact);
      CHECK(found <= 1.10 * exact);
    }
  const CsrMatrix a = uniform(5'000, 50'000, 9, 3);
  for (const std::uint64_t bytes : {4096U, 1U << 20U})  // a group of all rows is no group
    CHECK(estimate(a, {.bytes = bytes, .rows_per_cache = 5'000}) == estimate(a, {.bytes = bytes}));
}

TEST_CASE("of many groups a sample stands for all, and large ones for themselves") {
  const auto sampled = [](XCache cache, std::uint64_t entries) {
    cache.simulated_entries = entries;
    return cache;
  };
  int estimated = 0;
  for (const CsrMatrix& a : {uniform(9'000, 50'000, 9, 1), skewed(9'000, 50'000, 9, 2), banded(9'000, {-70, 0, 3})})
    for (const std::uint64_t bytes : {256U, 1U << 19U})
      for (const XCache& cache :
           {XCache{.bytes = bytes, .rows_per_cache = 16}, XCache{.bytes = bytes, .entries_per_cache = 128}}) {
        const auto all = static_cast<double>(estimate(a, sampled(cache, a.nnz())));
        const auto some = static_cast<double>(estimate(a, sampled(cache, a.nnz() / 4)));
        CAPTURE(bytes, cache.rows_per_cache, all, some);
        CHECK(some >= 0.97 * all);
        CHECK(some <= 1.03 * all);
        estimated += some != all ? 1 : 0;
      }
  CHECK(estimated >= 8);  // of a band each group loads as much
  // Row 5 has a third of the entries, side by side, and is in no sample: a quarter of a line each, others a whole one.
  const CsrMatrix a = matrix(3'000, 80'000, [](std::uint64_t i) {
    Row row;
    for (std::uint32_t k = 0; k < (i == 5 ? 15'000U : 10U); ++k)
      row.push_back(i == 5 ? k : static_cast<std::uint32_t>((i * 7919 + k * 8000) % 80'000));
    std::sort(row.begin(), row.end());
    return row;
  });
  const XCache cache{.bytes = std::uint64_t{1} << 20U, .rows_per_cache = 1};
  CHECK(estimate(a, cache) == 15'000 / 4 + 10 * 2'999);
  CHECK(estimate(a, sampled(cache, 2'000)) == estimate(a, cache));
  // Two groups whose caches are filled a hundred times: the first entries stand for the others.
  const CsrMatrix c = uniform(1'000, 100'000, 100, 5);
  const XCache small{.bytes = 16'000, .rows_per_cache = 500};
  const auto exact = static_cast<double>(exact_lru(c, small)), found = static_cast<double>(estimate(c, small));
  CAPTURE(exact, found);
  CHECK(found != exact);
  CHECK(found >= 0.97 * exact);
  CHECK(found <= 1.03 * exact);
  // Fewer than 256 groups are all simulated.
  const CsrMatrix b = uniform(255, 5'000, 9, 4);
  CHECK(estimate(b, sampled(cache, 1)) == exact_lru(b, cache));
  CHECK_THROWS_AS(estimate(a, sampled(cache, 0)), Error);
}

TEST_CASE("groups of entries have a cache each, wherever rows end") {
  for (const CsrMatrix& a : {uniform(5'000, 50'000, 9, 1), skewed(5'000, 50'000, 9, 2), banded(5'000, {-70, 0, 3})})
    for (const std::uint64_t entries : {1U, 7U, 256U, 8192U}) {
      CAPTURE(entries);
      const XCache cache{.bytes = std::uint64_t{1} << 19U, .entries_per_cache = entries};
      CHECK(estimate(a, cache) == exact_lru(a, cache));
    }
  const CsrMatrix a = uniform(5'000, 50'000, 9, 3);
  CHECK(estimate(a, {.bytes = 4096, .entries_per_cache = a.nnz()}) == estimate(a, {.bytes = 4096}));
}

TEST_CASE("where columns are many more than entries, caches are as exact, and take no memory for each column") {
  constexpr std::uint64_t cols = 40'000'000;
  for (const CsrMatrix& a : {uniform(3'000, cols, 3, 1), skewed(3'000, cols, 3, 2)})
    for (const XCache& cache :
         {XCache{.bytes = 4096, .rows_per_cache = 7}, XCache{.bytes = 1U << 19U, .rows_per_cache = 1024},
          XCache{.bytes = 1U << 30U, .rows_per_cache = 1024}, XCache{.bytes = 1U << 19U, .entries_per_cache = 256}}) {
      const MemoryScope memory(8U << 20U, "the traffic of x");
      CHECK(estimate(a, cache) == exact_lru(a, cache));
    }
}

TEST_CASE("a line is a power of two of elements") {
  const CsrMatrix a = banded(10, {0});
  for (const auto& [line, element] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {32, 0}, {0, 8}, {24, 8}, {36, 8}, {4, 8}, {std::uint64_t{1} << 40U, 1}}) {
    CAPTURE(line, element);
    try {
      x_lines_loaded(a, {.bytes = 1024, .line_bytes = line, .element_bytes = element});
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code() == errc::usage);
    }
  }
  CHECK(x_lines_loaded(a, {.bytes = 1024, .line_bytes = 8}) == 10);
}

}  // namespace spmvpack::test
