// The windows of x that the GPU loader makes of csell's patterns, multiplied here as its kernel does it, and counted
// beside what encoder predicts with.

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "containers.hpp"
#include "csell_cases.hpp"
#include "layouts/csell/windows.hpp"
#include "layouts/csell_columns.hpp"
#include "matrices.hpp"
#include "orders/csell.hpp"
#include "products.hpp"

namespace spmvpack::test {
namespace {

using namespace gpu_loader::layouts::csell_kernels;
using spmvpack::layouts::csell::Group;
using spmvpack::layouts::csell::Slice;

template <class T>
struct Part {
  std::vector<Slice> slices;
  std::vector<Group> patterns;
  std::vector<T> values;
};

template <class To, class From>
std::vector<To> as(const std::vector<From>& from) {
  std::vector<To> to(from.size() * sizeof(From) / sizeof(To));
  std::memcpy(to.data(), from.data(), to.size() * sizeof(To));
  return to;
}

template <class T>
Part<T> part_of(const Container& file) {
  return {as<Slice>(elements<std::uint32_t>(file, "slices")), as<Group>(elements<std::uint32_t>(file, "patterns")),
          elements<T>(file, "values")};
}

/// REQUIRE() where it would take most of the time.
void require(bool holds, int line = __builtin_LINE()) {
  if (!holds) FAIL("line " << line);
}

/// A x by the programs; nothing if a pair has none.
template <class A, class V>
std::optional<std::vector<V>> by_windows(const Container& file, const std::vector<V>& x, std::uint64_t most_windows) {
  Part<A> part = part_of<A>(file);
  const std::uint64_t rows = file.parts()[0].rows.count;
  if (part.slices.size() % 2 != 0) part.slices.push_back({});
  WindowPrograms<A> programs(part.patterns, part.values, x.size(), most_windows);
  std::vector<V> y(rows);
  for (std::uint64_t pair = 0; pair < part.slices.size() / 2; ++pair) {
    const auto number = programs.program(pair, part.slices[2 * pair], part.slices[2 * pair + 1]);
    if (!number) return std::nullopt;
    const WindowProgram program = programs.programs().at(*number);
    const std::uint32_t count = program.count & program_count;
    REQUIRE(count % window_batch == 0);
    for (std::uint64_t local = 0; local < pair_rows; ++local) {
      const std::uint64_t lane = local / 2, odd = local % 2, row = pair * pair_rows + local;
      V sum = 0;
      bool has_entry = false;
      for (std::uint32_t w = program.first; w < program.first + count; ++w) {
        const Window<A>& window = programs.windows().at(w);
        require(window.base % 2 == 0);
        const std::int64_t even_column = static_cast<std::int64_t>(row - odd) + window.base;
        if ((program.count & program_at_edge) == 0) {  // what lanes load for themselves, and for their neighbours
          require(even_column - 1 >= 0);
          require(even_column + 2 < static_cast<std::int64_t>(x.size()));
        }
        require(even_column + 1 <= static_cast<std::int64_t>(pair * pair_rows + pair_rows) + programs.furthest());
        for (std::uint32_t kind = 0; kind < 3; ++kind) {
          const bool on = (window.mask.at(kind).at(odd) >> lane & 1U) != 0;
          if ((window.kinds & window_full) != 0) require(on == ((window.kinds >> kind & 1U) != 0));
          if (!on) continue;
          require((window.kinds >> kind & 1U) != 0);
          sum = std::fma(V{window.value.at(kind)},
                         x.at(static_cast<std::size_t>(even_column - 1 + kind + static_cast<std::int64_t>(odd))), sum);
          has_entry = true;
        }
      }
      require((count != 0 && (programs.windows().at(program.first).rows.at(odd) >> lane & 1U) != 0) == has_entry);
      if ((program.count & program_all_rows) != 0) require(has_entry);
      if (row < rows) y[row] = has_entry ? std::fma(V{1}, sum, V{0}) : V{0};
    }
  }
  return y;
}

template <class A, class V>
void require_order(const CsellCase& c) {
  INFO(c.name << ", " << c.values);
  const std::vector<std::byte> bytes =
      encode(c.matrix, "csell", {{"csell.values", c.values}, {"csell.sums", "1"}}).bytes;
  const Container file = open(bytes);
  std::vector<V> x = random_vector<V>(c.matrix.cols, 3);
  x[x.size() / 2] = std::numeric_limits<V>::infinity();
  x[x.size() / 3] = std::numeric_limits<V>::quiet_NaN();
  const auto y = by_windows<A, V>(file, x, 100000);
  REQUIRE(y.has_value());
  REQUIRE(same_bits(*y, OrderOfCsell<A, V>(file).multiply(x)));
}

template <class A, class V>
void require_orders() {
  std::size_t cases = 0;
  for (const CsellCase& c : csell_cases<A>()) {
    if ((c.values != "step" && c.values != "single") || c.counters != std::vector<std::string>{"groups.pattern"} ||
        c.name.find("blocks") != std::string::npos || c.name.find("many") != std::string::npos)
      continue;
    require_order<A, V>(c);
    ++cases;
  }
  CHECK(cases == 7);
}

/// A pattern of one group: these columns, seen from their rows, in all rows.
Group group(const std::vector<std::int32_t>& columns) {
  Group g{};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    g.base[k] = static_cast<std::uint32_t>(columns[k]);
    g.mask[k] = ~0U;
  }
  return g;
}

/// The windows of the pair that has the most, of all that load makes; 0 if it makes none.
template <class A>
std::uint64_t most_windows_of(const CsrMatrix& a, const std::string& values) {
  const std::vector<std::byte> bytes = encode(a, "csell", {{"csell.values", values}, {"csell.sums", "1"}}).bytes;
  Part<A> part = part_of<A>(open(bytes));
  const std::uint64_t slices = part.slices.size();
  if (slices % 2 != 0) part.slices.push_back({});
  WindowPrograms<A> programs(part.patterns, part.values, a.cols, most_windows(slices));
  std::uint64_t most = 0;
  for (std::uint64_t pair = 0; pair < part.slices.size() / 2; ++pair) {
    const auto number = programs.program(pair, part.slices[2 * pair], part.slices[2 * pair + 1]);
    if (!number) return 0;
    most = std::max<std::uint64_t>(most, programs.programs().at(*number).count & program_count);
  }
  return most;
}

template <class A>
void require_counts(const std::string& values) {
  std::mt19937_64 rng(7);
  std::size_t with = 0, without = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    // Slices of a few shapes, in any order: columns near the diagonal, fewer in some rows, also past x.
    const std::uint64_t rows = 1 + rng() % 2000, shapes = 1 + rng() % 40;
    std::vector<std::uint64_t> shape_of(rows / 32 + 1);
    for (std::uint64_t& shape : shape_of) shape = rng() % shapes;
    CsrMatrix a = from_rows<A>(rows, rows + i % 3, rng, 0, [&](std::uint64_t r) {
      std::mt19937_64 of_shape(shape_of[r / 32]);
      std::vector<std::uint32_t> row;
      for (std::uint64_t c = r + of_shape() % 3, n = of_shape() % 9; n != 0 && c < rows; --n, c += 1 + of_shape() % 3)
        if (rng() % 8 != 0 || of_shape() % 2 == 0) row.push_back(static_cast<std::uint32_t>(c));
      return row;
    });
    for (std::uint64_t r = 0; r < rows && values == "step"; ++r)
      for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        std::get<Array<A>>(a.values)[k] = static_cast<A>(1 + (a.col_idx[k] - r) * shape_of[r / 32] % 3);
    const auto columns = encoder::layouts::csell_plans::plan_columns({a, 1}, values == "step", 1);
    if (!columns) continue;  // encode() would refuse
    const std::uint64_t expected = most_windows_of<A>(a, values);
    INFO(values << ", matrix " << i);
    CHECK(columns->windows(a.cols) == expected);
    ++(expected == 0 ? without : with);
  }
  CHECK(with >= 10);
  CHECK(without >= 3);
}

}  // namespace

TEST_CASE("encoder counts the windows that load makes") {
  require_counts<double>("single");
  require_counts<float>("single");
  require_counts<double>("step");
  require_counts<float>("step");
}

TEST_CASE("windows add in csell's order, whatever the lines' length") {
  SECTION("f64") { require_orders<double, double>(); }
  SECTION("f32") { require_orders<float, float>(); }
  SECTION("f32 matrix, f64 vectors") { require_orders<float, double>(); }
}

TEST_CASE("windows of three neighbouring columns are one, and programs are shared") {
  const std::vector<Group> patterns{group({-1, 0, 1})};
  const std::vector<double> one{2.5};
  WindowPrograms<double> programs(patterns, one, 1000, 100);
  const Slice slice{0, 0, 0, 1};
  const auto first = programs.program(0, slice, slice), second = programs.program(1, slice, slice),
             third = programs.program(2, slice, slice), last = programs.program(15, slice, slice);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first != second);  // column -1
  CHECK(second == third);
  CHECK(last == first);  // columns past the last
  CHECK(programs.windows().size() == window_batch);
  CHECK(programs.windows()[0].kinds == (window_full | window_before | window_at | window_after));
  CHECK(programs.programs().size() == 2);
  CHECK((programs.programs().at(*first).count & program_at_edge) != 0);
  CHECK((programs.programs().at(*second).count & program_at_edge) == 0);
}

TEST_CASE("no windows of steps out of order, of slices with offsets, or of too many") {
  const std::vector<double> one{2.5};
  const std::vector<Group> patterns{group({3, 2}), group({2, 3, 100, 200}), group({-4, 0, 50, 60})};
  const Slice unordered{0, 0, 0, 1}, ordered{1, 0, 0, 1}, other{2, 0, 0, 1}, offsets{1, 0, 0, 256};
  CHECK_FALSE(WindowPrograms<double>(patterns, one, 1000, 100).program(0, ordered, unordered).has_value());
  CHECK_FALSE(WindowPrograms<double>(patterns, one, 1000, 100).program(0, ordered, offsets).has_value());
  CHECK(WindowPrograms<double>(patterns, one, 1000, 3).program(0, ordered, ordered).has_value());
  CHECK_FALSE(WindowPrograms<double>(patterns, one, 1000, 3).program(0, ordered, other).has_value());
}

}  // namespace spmvpack::test
