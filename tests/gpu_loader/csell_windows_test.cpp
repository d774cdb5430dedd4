// The windows of x that the GPU loader makes of csell's patterns, multiplied here as its kernel does it, and counted
// beside what encoder predicts with.

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "containers.hpp"
#include "csell_cases.hpp"
#include "layouts/csell/columns.hpp"
#include "layouts/csell/windows.hpp"
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

/// Calls use(place, number) for the program of each pair of slices, or of each two; number: none if it has none.
template <class A, class Use>
void each_program(WindowPrograms<A>& programs, std::vector<Slice> slices, std::uint32_t pairs, Use&& use) {
  const std::size_t of_program = std::size_t{2} * pairs;
  slices.resize((slices.size() + of_program - 1) / of_program * of_program);
  for (std::uint64_t i = 0; i < slices.size() / of_program; ++i)
    use(i, programs.program(i, std::span(slices).subspan(i * of_program, of_program)));
}

/// A x by the programs; nothing if there are none for some slices.
template <class A, class V>
std::optional<std::vector<V>> by_windows(const Container& file, const std::vector<V>& x, const WindowLimits& limits,
                                         std::uint32_t pairs) {
  const Part<A> part = part_of<A>(file);
  const std::uint64_t rows = file.parts()[0].rows.count;
  WindowPrograms<A> programs(part.patterns, part.values, x.size(), limits, pairs);
  std::vector<V> y(rows);
  bool all = true;
  each_program(programs, part.slices, pairs, [&](std::uint64_t place, std::optional<std::uint16_t> number) {
    all = all && number;
    if (!all) return;
    const WindowProgram program = programs.programs().at(*number);
    const std::uint32_t count = program.count & program_count;
    REQUIRE(count % window_batch == 0);
    for (std::uint64_t local = 0; local < pairs * pair_rows; ++local) {
      const std::uint64_t lane = local % pair_rows / 2, odd = local % 2, row = place * pairs * pair_rows + local,
                          of_lane = local / pair_rows * 2 + odd;
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
        require(even_column + 1 <= static_cast<std::int64_t>((place + 1) * pairs * pair_rows) + programs.furthest());
        for (std::uint32_t kind = 0; kind < 3; ++kind) {
          const bool on = (window.rows.at(lane) & row_bit(kind, static_cast<std::uint32_t>(of_lane))) != 0;
          if ((window.kinds & window_full) != 0) require(on == ((window.kinds >> kind & 1U) != 0));
          if (!on) continue;
          require((window.kinds >> kind & 1U) != 0);
          sum = std::fma(V{window.value.at(kind)},
                         x.at(static_cast<std::size_t>(even_column - 1 + kind + static_cast<std::int64_t>(odd))), sum);
          has_entry = true;
        }
      }
      if ((program.count & program_all_rows) != 0) require(has_entry);
      if (row < rows) y[row] = has_entry ? std::fma(V{1}, sum, V{0}) : V{0};
    }
  });
  return all ? std::optional(y) : std::nullopt;
}

template <class A, class V>
void require_order(const CsellCase& c, std::size_t& by_twos) {
  INFO(c.name << ", " << c.values);
  const std::vector<std::byte> bytes =
      encode(c.matrix, "csell", {{"csell.values", c.values}, {"csell.sums", "1"}}).bytes;
  const Container file = open(bytes);
  std::vector<V> x = random_vector<V>(c.matrix.cols, 3);
  x[x.size() / 2] = std::numeric_limits<V>::infinity();
  x[x.size() / 3] = std::numeric_limits<V>::quiet_NaN();
  const std::vector<V> expected = OrderOfCsell<A, V>(file).multiply(x);
  const auto by_one = by_windows<A, V>(file, x, {100000, 100000}, 1),
             by_two = by_windows<A, V>(file, x, {100000, 9}, 2);
  REQUIRE(by_one.has_value());
  REQUIRE(same_bits(*by_one, expected));
  if (by_two) REQUIRE(same_bits(*by_two, expected));
  by_twos += by_two ? 1 : 0;
}

template <class A, class V>
void require_orders() {
  std::size_t cases = 0, by_twos = 0;
  for (const CsellCase& c : csell_cases<A>()) {
    if ((c.values != "step" && c.values != "single") || c.counters != std::vector<std::string>{"groups.pattern"} ||
        c.name.find("blocks") != std::string::npos || c.name.find("many") != std::string::npos)
      continue;
    require_order<A, V>(c, by_twos);
    ++cases;
  }
  CHECK(cases == 7);
  CHECK(by_twos >= 4);
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

/// The windows of the program that has the most, of all that load makes for so many pairs; 0 if it makes none.
template <class A>
std::uint64_t most_windows_of(const CsrMatrix& a, const std::string& values, std::uint64_t multiprocessors,
                              std::uint32_t pairs) {
  const std::vector<std::byte> bytes = encode(a, "csell", {{"csell.values", values}, {"csell.sums", "1"}}).bytes;
  const Part<A> part = part_of<A>(open(bytes));
  const WindowLimits limits = launch_rules::csell::window_limits(part.slices.size(), multiprocessors, pairs);
  WindowPrograms<A> programs(part.patterns, part.values, a.cols, limits, pairs);
  std::uint64_t most = 0;
  bool all = true;
  each_program(programs, part.slices, pairs, [&](std::uint64_t, std::optional<std::uint16_t> number) {
    all = all && number;
    if (all) most = std::max<std::uint64_t>(most, programs.programs().at(*number).count & program_count);
  });
  return all ? most : 0;
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
    if (!columns) continue;                                 // encode() would refuse
    for (const std::uint64_t multiprocessors : {0U, 132U})  // slices for each: many and few
      for (const std::uint32_t pairs : {1U, 2U}) {
        const std::uint64_t expected = most_windows_of<A>(a, values, multiprocessors, pairs);
        INFO(values << ", matrix " << i << ", pairs " << pairs);
        CHECK(columns->windows(a.cols, multiprocessors, pairs) == expected);
        ++(expected == 0 ? without : with);
      }
  }
  CHECK(with >= 20);
  CHECK(without >= 6);
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
  for (const std::uint32_t pairs : {1U, 2U}) {
    WindowPrograms<double> programs(patterns, one, 1000, {100, 6}, pairs);
    const std::vector<Slice> slices(std::size_t{2} * pairs, {0, 0, 0, 1});
    const auto first = programs.program(0, slices), second = programs.program(1, slices),
               third = programs.program(2, slices), last = programs.program(16 / pairs - 1, slices);
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
}

TEST_CASE("no windows of steps out of order, of slices with offsets, of too many, or of two pairs with many") {
  const std::vector<double> one{2.5};
  const std::vector<Group> patterns{group({3, 2}),       group({2, 3, 100, 200}), group({-4, 0, 50, 60}),
                                    group({0, 3, 6, 9}), group({12, 15}),         group({18})};
  const Slice unordered{0, 0, 0, 1}, ordered{1, 0, 0, 1}, other{2, 0, 0, 1}, offsets{1, 0, 0, 256}, six{3, 0, 0, 2};
  const auto has = [&](const std::vector<Slice>& slices, std::uint64_t most = 100, std::uint64_t slices_of_part = 0) {
    const auto pairs = static_cast<std::uint32_t>(slices.size() / 2);
    const WindowLimits limits{most, launch_rules::csell::window_limits(slices_of_part, 132, pairs).of_program};
    return WindowPrograms<double>(patterns, one, 1000, limits, pairs).program(0, slices).has_value();
  };
  CHECK_FALSE(has({ordered, unordered}));
  CHECK_FALSE(has({ordered, offsets}));
  for (const std::int32_t base : {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    const std::vector<Group> far{group({base})};
    const std::vector<Slice> slices(2, {0, 0, 0, 1});
    CHECK_FALSE(
        WindowPrograms<double>(far, one, std::uint64_t{1} << 32U, {100, 100}, 1).program(0, slices).has_value());
  }
  CHECK(has({ordered, ordered}, 3));
  CHECK_FALSE(has({ordered, other}, 3));
  CHECK(has({six, six, six, six}));
  const Slice seven{3, 0, 0, 3};
  CHECK_FALSE(has({six, six, six, seven}));
  CHECK_FALSE(has({six, six, six, seven}, 100, 128 * 132 - 1));
  CHECK(has({six, six, six, seven}, 100, 128 * 132));  // 27 points, where slices are many
  CHECK(has({six, seven}));
}

}  // namespace spmvpack::test
