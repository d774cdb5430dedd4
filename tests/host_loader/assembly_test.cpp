// Values from a list of entries whose pairs repeat, as finite elements have them.

#include "spmvpack/container/matrix/assembly.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

/// A list of pairs, many of which repeat or have a negative index.
template <class Index>
struct List {
  std::vector<Index> rows, cols;
  explicit List(std::uint64_t size) {
    std::mt19937_64 rng(size);
    for (std::uint64_t k = 0; k < size; ++k) {
      rows.push_back(static_cast<Index>(rng() % 23) - (k % 9 == 0 ? 22 : 0));
      cols.push_back(static_cast<Index>(rng() % 17) - (k % 7 == 0 ? 3 : 0));
    }
  }
  [[nodiscard]] std::span<const Index> i() const { return rows; }
  [[nodiscard]] std::span<const Index> j() const { return cols; }
};

TEMPLATE_TEST_CASE("an assembly sums the values of a list in its order", "", std::int32_t, std::int64_t) {
  const List<TestType> list(900);
  std::vector<double> values(900);
  std::mt19937_64 rng(3);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = random_value<double>(rng, k % 50 == 0 ? 4 : 3);
  std::map<std::pair<TestType, TestType>, double> sums;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (list.rows[k] < 0 || list.cols[k] < 0) continue;
    const auto [at, is_new] = sums.try_emplace({list.rows[k], list.cols[k]}, values[k]);
    if (!is_new) at->second += values[k];
  }
  const auto check = [&](const AssemblyMap& map, InsertMode mode, std::span<const double> given, double before) {
    for (const int threads : {1, 3}) {
      std::vector<double> found(map.nnz(), before);
      map.sum(given, std::span<double>(found), mode, threads);
      std::uint64_t wrong = 0, k = 0;
      for (std::uint64_t r = 0; r < map.rows; ++r)
        for (; k < map.row_ptr[r + 1]; ++k) {
          const auto named = sums.find({static_cast<TestType>(r), static_cast<TestType>(map.col_idx[k])});
          const bool adds = mode == InsertMode::add;
          double expected = adds ? before : 0;
          if (named != sums.end() && !given.empty()) expected = adds ? before + named->second : named->second;
          if (std::isnan(expected) ? !std::isnan(found[k])
                                   : std::bit_cast<std::uint64_t>(expected) != std::bit_cast<std::uint64_t>(found[k]))
            ++wrong;
        }
      CHECK(wrong == 0);
    }
  };
  const auto check_all = [&](const AssemblyMap& map) {
    for (const InsertMode mode : {InsertMode::insert, InsertMode::add}) {
      check(map, mode, values, 0.25);
      check(map, mode, {}, -0.0);
    }
  };
  const auto own = AssemblyMap::of(23, 17, list.i(), list.j(), 2);
  REQUIRE(own.nnz() == sums.size());
  CHECK(own.list_size == 900);
  check_all(own);
  Entries dense;
  for (std::uint32_t i = 0; i < 23; ++i)
    for (std::uint32_t j = 0; j < 17; ++j)
      if ((i + j) % 11 != 0 || sums.count({static_cast<TestType>(i), static_cast<TestType>(j)}) != 0) dense[{i, j}] = 1;
  const CsrMatrix pattern = make_csr(23, 17, dense);
  const auto spread = AssemblyMap::of(pattern, list.i(), list.j());
  REQUIRE(spread.nnz() == pattern.nnz());
  REQUIRE(pattern.nnz() > own.nnz());
  check_all(spread);

  std::vector<double> room(own.nnz());
  const std::span<double> out(room);
  CHECK_THROWS_WITH(own.sum(std::span<const double>(values).first(899), out),
                    Catch::Contains("899 values for a list of 900"));
  CHECK_THROWS_WITH(own.sum(std::span<const double>(values), out.first(3)), Catch::Contains("room for 3 values"));
  CHECK_THROWS_WITH(AssemblyMap::of(22, 17, list.i(), list.j()), Catch::Contains("row 22"));
  CHECK_THROWS_WITH(AssemblyMap::of(23, 17, list.i(), list.j().first(5)), Catch::Contains("900 rows and 5 columns"));
  const CsrMatrix less = make_csr(23, 17, {{{0, 0}, 1}});
  CHECK_THROWS_WITH(AssemblyMap::of(less, list.i(), list.j()), Catch::Contains("the pattern has no entry"));
  CHECK(AssemblyMap::of(0, 0, list.i().first(0), list.j().first(0)).nnz() == 0);
}

TEST_CASE("a matrix takes the values of an assembly") {
  const List<std::int32_t> list(900);
  std::vector<std::int32_t> rows, cols;  // without those that are ignored
  std::vector<double> values, all(900);
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k] = static_cast<double>(k) / 7;
    if (list.rows[k] < 0 || list.cols[k] < 0) continue;
    rows.push_back(list.rows[k]);
    cols.push_back(list.cols[k]);
    values.push_back(all[k]);
  }
  const auto assembled = [&](const std::vector<double>& of) {
    return assemble(23, 17, std::span<const std::int32_t>(rows), std::span<const std::int32_t>(cols),
                    std::span<const double>(of))
        .matrix;
  };
  const std::vector<std::byte> file = encode(assembled(std::vector<double>(values.size(), 1)), "sell").bytes;
  LoadOptions options;
  options.updatable = true;
  auto matrix = host_loader::HostMatrix::load(open(file), options);
  const auto map = AssemblyMap::of(23, 17, list.i(), list.j());
  std::vector<double> in_order(map.nnz());
  map.sum(std::span<const double>(all), std::span<double>(in_order));
  matrix.update_values(std::span<const double>(in_order));
  MemorySink sink;
  matrix.write(sink);
  CHECK(bytes_of(sink) == encode(assembled(values), "sell").bytes);
}

}  // namespace
}  // namespace spmvpack::test
