// What all loaders go by: the description of a multiply, the schedule of its parts, and blocks of columns.

#include "spmvpack/container/multiply/multiply.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "catch.hpp"

namespace spmvpack::test {

TEST_CASE("a description of a multiply is held against the matrix") {
  MatrixFacts facts;
  facts.rows = 3;
  facts.cols = 7;
  const auto verdict = [&](const MultiplyDescription& description) {
    try {
      check_description(description, facts, {});
    } catch (const Error& e) {
      return e.code();
    }
    return errc{};
  };
  CHECK(verdict({}) == errc{});
  CHECK(verdict({.vectors = ValueType::f32}) == errc::usage);
  facts.value_type = ValueType::f32;
  CHECK(verdict({.vectors = ValueType::f32}) == errc{});
  CHECK(verdict({}) == errc{});  // f64 vectors
  for (const Operation operation : {Operation::transpose, Operation::conjugate_transpose})
    CHECK(verdict({.operation = operation}) == errc{});  // of no nonzeros
  facts.nnz = 1;
  CHECK(verdict({}) == errc{});
  CHECK(verdict({.operation = Operation::transpose}) == errc::usage);
  CHECK(verdict({.right_hand_sides = 0}) == errc{});
  CHECK(verdict({.right_hand_sides = 2}) == errc{});
}

TEST_CASE("views overlap if they have a byte in common, whatever their strides") {
  std::mt19937_64 rng(5);
  const auto upto = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(rng); };
  const auto view = [&](std::uintptr_t boundary) {
    const auto first = 4096 + static_cast<std::uintptr_t>(upto(0, 40)) * boundary;
    return DenseView<const double>(reinterpret_cast<const double*>(first),  // NOLINT(performance-no-int-to-ptr)
                                   static_cast<std::uint64_t>(upto(0, 6)), static_cast<std::uint64_t>(upto(0, 4)),
                                   upto(-9, 9), upto(-9, 9));
  };
  const auto bytes_of = [](const DenseView<const double>& v) {
    std::multiset<std::intptr_t> bytes;
    for (std::uint64_t j = 0; j < v.cols; ++j)
      for (std::uint64_t i = 0; i < v.rows; ++i)
        for (std::intptr_t b = 0; b < 8; ++b)
          bytes.insert(reinterpret_cast<std::intptr_t>(v.data) +
                       8 * (static_cast<std::int64_t>(i) * v.row_stride + static_cast<std::int64_t>(j) * v.col_stride) +
                       b);
    return bytes;
  };
  int overlapping = 0, twice = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::uintptr_t boundary = round % 3 == 0 ? 4 : 8;
    const auto a = view(boundary), b = view(boundary);
    const auto of_a = bytes_of(a), of_b = bytes_of(b);
    const bool common = std::any_of(of_a.begin(), of_a.end(), [&](std::intptr_t byte) { return of_b.contains(byte); });
    INFO(a.rows << " x " << a.cols << ", " << a.row_stride << ", " << a.col_stride << " and " << b.rows << " x "
                << b.cols << ", " << b.row_stride << ", " << b.col_stride);
    REQUIRE(overlap(a, b) == common);
    REQUIRE(overlap(b, a) == common);
    overlapping += common ? 1 : 0;
    // Y may not have an element twice.
    const bool repeated = std::adjacent_find(of_a.begin(), of_a.end()) != of_a.end();
    const DenseView<const double> nowhere(nullptr, 0, a.cols, 1, 0);
    bool refused = false;
    try {
      check_operands({.rows = a.rows}, Operation::none, nowhere, a);
    } catch (const Error& e) {
      REQUIRE(e.code() == errc::usage);
      refused = true;
    }
    REQUIRE(refused == repeated);
    twice += repeated ? 1 : 0;
  }
  CHECK(overlapping > 3'000);
  CHECK(overlapping < 17'000);
  CHECK(twice > 1'000);
  // Far apart, and with strides that no memory has.
  constexpr std::int64_t far = std::int64_t{1} << 60;
  const DenseView<const double> wide(reinterpret_cast<const double*>(4096), 3, 3, far, 1);  // NOLINT
  CHECK(overlap(wide, wide));
  CHECK(!overlap(wide, DenseView<const double>(reinterpret_cast<const double*>(4096 + 24), 1'000'000)));  // NOLINT
  std::vector<double> turns(40'000'000 / 8);
  const DenseView<double> even(turns.data(), turns.size() / 2, 1, 2, 0),
      odd(turns.data() + 1, turns.size() / 2, 1, 2, 0);
  CHECK(!overlap(even, odd));
  CHECK(overlap(even, DenseView<double>(turns)));
}

TEST_CASE("complex columns are pairs of real ones: all at once in rows, else each column's") {
  using Complex = std::complex<float>;
  std::array<Complex, 200> x_memory{}, y_memory{};
  for (std::size_t i = 0; i < x_memory.size(); ++i)
    x_memory[i] = Complex(static_cast<float>(i), 1000 + static_cast<float>(i));
  struct Case {
    std::uint64_t rows, cols;
    std::int64_t x_row, x_col, y_row, y_col;
    std::size_t views;
  };
  for (const Case& c : {Case{5, 3, 3, 1, 4, 1, 1}, Case{5, 3, 1, 5, 3, 1, 3}, Case{5, 3, 3, 1, 1, 7, 3},
                        Case{5, 1, 1, 9, 1, 5, 1}, Case{5, 1, 4, 0, -4, 0, 1}, Case{5, 3, -3, 1, 3, -1, 3},
                        Case{4, 0, 1, 4, 1, 4, 1}, Case{0, 3, 1, 0, 1, 0, 3}, Case{0, 0, 1, 0, 1, 0, 1},
                        Case{1, 3, std::numeric_limits<std::int64_t>::max(), 1, 9, 1, 1}, Case{5, 2, 0, 0, 2, 1, 2}}) {
    INFO(c.rows << " x " << c.cols << ", " << c.x_row << ", " << c.x_col << ", " << c.y_row << ", " << c.y_col);
    const DenseView<const Complex> x(x_memory.data() + 100, c.rows, c.cols, c.x_row, c.x_col);
    const DenseView<Complex> y(y_memory.data() + 100, c.rows, c.cols, c.y_row, c.y_col);
    CHECK((has_real_view(x) && has_real_view(y)) == (c.views == 1 || c.cols <= 1));
    std::size_t views = 0;
    each_real_view(x, y, [&](const DenseView<const float>& real_x, const DenseView<float>& real_y) {
      ++views;
      REQUIRE(real_x.rows == c.rows);
      REQUIRE(real_y.rows == c.rows);
      REQUIRE(real_x.cols == real_y.cols);
      for (std::uint64_t j = 0; j < real_x.cols; ++j)
        for (std::uint64_t i = 0; i < c.rows; ++i)
          real_y.column(j)[static_cast<std::int64_t>(i) * real_y.row_stride] =
              real_x.column(j)[static_cast<std::int64_t>(i) * real_x.row_stride];
    });
    CHECK(views == c.views);
    for (std::uint64_t j = 0; j < c.cols; ++j)  // real and imaginary parts are where they belong
      for (std::uint64_t i = 0; i < c.rows; ++i)
        REQUIRE(y.column(j)[static_cast<std::int64_t>(i) * c.y_row] ==
                x.column(j)[static_cast<std::int64_t>(i) * c.x_row]);
  }
  static_assert(std::is_same_v<real_of<Complex>, float> && std::is_same_v<real_of<const Complex>, const float>);
  static_assert(std::is_same_v<real_of<double>, double> && is_complex<Complex> && !is_complex<double>);
  constexpr MultiplyDescription one = describe<Complex>(Operation::transpose);
  static_assert(one.vectors == ValueType::f32 && one.right_hand_sides == 2 && one.strided_x && one.strided_y &&
                one.operation == Operation::transpose);
}

TEST_CASE("the schedule of a multiply: parts of one role in their order, the first of which may scale y") {
  std::vector<PartInfo> parts(4);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].role = i < 3 ? format::Role::a : format::Role::transpose;
    parts[i].rows.count = i == 1 ? 5 : 9;
  }
  using Run = std::tuple<std::size_t, bool, bool>;
  const auto runs = [&](const Operand& operand) {
    std::vector<Run> seen;
    each_part(operand, parts, [&](auto... run) { seen.emplace_back(run...); });
    return seen;
  };
  const Operand a{.rows = 9};
  CHECK(first_part_scales(a, parts));
  CHECK(runs(a) == std::vector<Run>{{0, false, false}, {1, true, false}, {2, true, false}});
  const Operand transposed{.role = format::Role::transpose, .rows = 9};
  CHECK(runs(transposed) == std::vector<Run>{{3, false, false}});
  const Operand negated{.negated = true, .rows = 10};
  CHECK(!first_part_scales(negated, parts));
  CHECK(runs(negated) == std::vector<Run>{{0, true, true}, {1, true, true}, {2, true, true}});
  parts.clear();
  CHECK(!first_part_scales(a, parts));
  CHECK(runs(a).empty());
}

TEST_CASE("columns are dealt in blocks that suit all parts") {
  constexpr ColumnsAtOnce one{}, four{.most = 4, .any_strides = true}, any_one{.most = 1, .any_strides = true};
  CHECK(four.together_with(one).most == 4);
  CHECK(one.together_with(four).most == 4);
  CHECK(!four.together_with(one).any_strides);
  CHECK(four.together_with(any_one).any_strides);
  using Block = std::pair<std::uint64_t, std::uint64_t>;
  const auto blocks = [](std::uint64_t columns, std::uint64_t most) {
    std::vector<Block> all;
    each_column_block(columns, most, [&](std::uint64_t first, std::uint64_t count) { all.emplace_back(first, count); });
    return all;
  };
  CHECK(blocks(0, 4).empty());
  CHECK(blocks(0, 0).empty());
  CHECK(blocks(4, 4) == std::vector<Block>{{0, 4}});
  CHECK(blocks(9, 4) == std::vector<Block>{{0, 4}, {4, 4}, {8, 1}});
  CHECK(blocks(3, 1) == std::vector<Block>{{0, 1}, {1, 1}, {2, 1}});
  std::array<double, 12> x{}, y{};
  const ColumnBlock<double> all{x.data(), y.data(), 1, 4, 3, 1, 3};
  const ColumnBlock<double> last = all.part(1, 2);
  CHECK(last.x == x.data() + 4);
  CHECK(last.y == y.data() + 1);
  CHECK(last.count == 2);
  CHECK(last.y_row_stride == 3);
}

}  // namespace spmvpack::test
