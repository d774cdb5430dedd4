// Several columns at once on the host: the bits of each column alone, however many they are and wherever they lie.

#include "host_loader/host_columns.hpp"

#include <complex>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "containers.hpp"
#include "dealt.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "variants.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

/// Small ones with what loops of columns may get wrong.
template <class A>
std::vector<NamedMatrix> small_matrices(int values) {
  std::mt19937_64 random(11);
  std::vector<NamedMatrix> all;
  using Row = std::vector<std::uint32_t>;
  const auto add = [&](std::string name, std::uint64_t rows, std::uint64_t cols, auto&& columns) {
    all.push_back({std::move(name), from_rows<A>(rows, cols, random, values, columns)});
  };
  const auto some = [&](std::uint64_t count, std::uint64_t cols) {
    Row row = shuffled(cols, random());
    row.resize(std::min(count, cols));
    return row;
  };
  add("0 rows", 0, 7, [&](std::uint64_t) { return Row{}; });
  add("0 columns", 7, 0, [&](std::uint64_t) { return Row{}; });
  add("0 nonzeros", 70, 20, [&](std::uint64_t) { return Row{}; });
  add("one column", 100, 1, [&](std::uint64_t) { return some(random() % 2, 1); });
  add("rows of any lengths", 130, 90, [&](std::uint64_t r) { return some(r == 77 ? 90 : random() % 30, 90); });
  add("pieces, the last of 7", 5, 9000, [&](std::uint64_t r) { return some(r == 2 ? 8199 : r == 4 ? 300 : 2, 9000); });
  add("blocks of 3", 102, 102, [&](std::uint64_t r) {
    Row row;
    for (std::uint32_t c = 0; c < 12; ++c) row.push_back(static_cast<std::uint32_t>((r / 3 * 3 + c) % 102));
    return row;
  });
  add("five diagonals", 300, 300, [&](std::uint64_t r) {
    Row row;
    for (const std::int64_t c : {-20, -1, 0, 1, 20})
      if (const std::int64_t at = static_cast<std::int64_t>(r) + c; at >= 0 && at < 300)
        row.push_back(static_cast<std::uint32_t>(at));
    return row;
  });
  return all;
}

template <class A>
void every_variant_has_columns(bool all) {
  std::size_t turn = 0;
  for (const NamedMatrix& m : small_matrices<A>(3))
    for (const Variant& variant : every_variant()) {
      if (!suits(m.matrix, variant)) continue;
      const HostMatrix a = load(encode(m.matrix, variant.layout, variant.settings));
      with_vectors<A>([&]<class V>(V) {
        INFO(variant.name() << ", " << m.name << ", vectors " << sizeof(V));
        require_columns<A, V>(a, &m.matrix, Operation::none, turn,
                              all && variant.settings.empty() && m.matrix.cols < 1000
                                  ? std::span<const std::size_t>(counts)
                                  : one_count(turn));
        ++turn;
      });
    }
}

}  // namespace

TEST_CASE("several columns at once have the bits of each alone, in every layout and order") {
  SECTION("f64") { every_variant_has_columns<double>(true); }
  SECTION("f32, with vectors of both types") { every_variant_has_columns<float>(false); }
  SECTION("c128") { every_variant_has_columns<std::complex<double>>(false); }
}

TEST_CASE("several columns at once of parts of every layout, with lists of rows and columns, and of A^T") {
  std::size_t turn = 0;
  for (const NamedMatrix& m : small_matrices<double>(3))
    for (const std::uint64_t seed : {1U, 2U}) {
      INFO(m.name << ", seed " << seed);
      const HostMatrix a = load(encode({clone(m.matrix), Field::real, Symmetry::general, {}}, dealt(seed),
                                       {.transpose = true, .threads = 2, .force_size = true}));
      require_columns<double, double>(a, &m.matrix, Operation::none, turn, one_count(turn));
      require_columns<double, double>(a, nullptr, Operation::transpose, turn + 1, one_count(turn + 5));
      ++turn;
    }
}

TEST_CASE("copies of columns count against the budget, and a Y that overlaps X is refused") {
  const HostMatrix a = load(encode(make_csr(2000, 2000, {{{0, 0}, 1.0}, {{1999, 7}, 2.0}}), "csr"));
  std::vector<double> x(2000 * 9, 1.0), y(x.size(), 5.0);
  const DenseView<const double> by_columns(x.data(), 2000, 9, 1, 2000), by_rows(x.data(), 2000, 9, 9, 1);
  const DenseView<double> to(y.data(), 2000, 9, 9, 1);
  const MemoryScope memory(2000 * 9 * sizeof(double) - 1, "a test");
  CHECK_NOTHROW(a.multiply<double>(1, by_rows, 0, to, 1));
  if (!use_v3()) return;  // columns are multiplied one by one, as they lie
  try {
    a.multiply<double>(1, by_columns, 0, to, 1);
    FAIL("9 columns have been copied in less memory than they have");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
  }
  CHECK_THROWS_AS(a.multiply<double>(1, by_rows, 0, {x.data() + 1, 1999, 9, 9, 1}, 1), Error);
}

}  // namespace spmvpack::test
