#include "spmvpack/container/multiply/multiply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

using Wide = __int128;  // products of strides and sizes

/// first, first + stride, ...: `count` places.
struct Line {
  Wide first, stride, count;
  [[nodiscard]] Line rising() const { return stride < 0 ? Line{first + (count - 1) * stride, -stride, count} : *this; }
  [[nodiscard]] Wide last() const { return first + (count - 1) * stride; }
};

/// Of two that are not negative; strides fit 64 bits.
Wide divisor_of(Wide a, Wide b) {
  return static_cast<Wide>(std::gcd(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}
Wide remainder(Wide a, Wide n) { return (a % n + n) % n; }
Wide floor_of(Wide a, Wide n) { return (a - remainder(a, n)) / n; }

/// The x from 0 to n - 1 for which a x - 1 is a multiple of n, by Euclid's algorithm; a and n have no common divisor.
Wide inverse(Wide a, Wide n) {
  Wide r = n, next_r = remainder(a, n), x = 0, next_x = 1;
  while (next_r != 0) {
    const Wide q = r / next_r;
    r = std::exchange(next_r, r - q * next_r);
    x = std::exchange(next_x, x - q * next_x);
  }
  return remainder(x, n);
}

/// Whether two lines have a place in common.
bool meet(const Line& a_in, const Line& b_in) {
  const Line a = a_in.rising(), b = b_in.rising();
  const Wide low = std::max(a.first, b.first), high = std::min(a.last(), b.last());
  if (low > high) return false;
  // A line of one place, or of one place again and again, is one of stride 0.
  const auto on = [](Wide place, const Line& line) { return remainder(place - line.first, line.stride) == 0; };
  if (a.stride == 0 || a.count == 1) return b.stride == 0 || b.count == 1 ? a.first == b.first : on(a.first, b);
  if (b.stride == 0 || b.count == 1) return on(b.first, a);
  const Wide divisor = divisor_of(a.stride, b.stride), distance = b.first - a.first;
  if (distance % divisor != 0) return false;
  // The places of both repeat every a.stride b.stride / divisor; one of them is i steps of a from its first.
  const Wide steps = b.stride / divisor;
  const Wide i = remainder(remainder(distance / divisor, steps) * inverse(a.stride / divisor, steps), steps);
  const Wide place = a.first + i * a.stride, period = a.stride * steps;
  return place + (floor_of(high - place, period)) * period >= low;
}

/// Lines of elements: the rows or the columns, whichever are fewer.
struct Lines {
  explicit Lines(const DensePlace& p) : by_columns(p.cols <= p.rows) {
    count = by_columns ? p.cols : p.rows;
    along = by_columns ? p.row_stride : p.col_stride;
    across = by_columns ? p.col_stride : p.row_stride;
    length = by_columns ? p.rows : p.cols;
  }
  [[nodiscard]] Line at(std::uint64_t i, Wide first) const {
    return {first + static_cast<Wide>(i) * across, along, static_cast<Wide>(length)};
  }
  bool by_columns;
  std::uint64_t count, length;
  std::int64_t along, across;
};

/// The places of the lowest and the highest element, in elements from the first.
std::pair<Wide, Wide> range_of(const DensePlace& p) {
  const Wide down = static_cast<Wide>(p.rows - 1) * p.row_stride, right = static_cast<Wide>(p.cols - 1) * p.col_stride;
  return {std::min<Wide>(down, 0) + std::min<Wide>(right, 0), std::max<Wide>(down, 0) + std::max<Wide>(right, 0)};
}

bool is_empty(const DensePlace& p) { return p.rows == 0 || p.cols == 0; }

/// Whether two elements are at one place: then they are as many rows apart as columns, in other directions.
bool has_twice(const DensePlace& p) {
  if (is_empty(p)) return false;
  const Wide down = p.row_stride < 0 ? -Wide{p.row_stride} : Wide{p.row_stride},
             right = p.col_stride < 0 ? -Wide{p.col_stride} : Wide{p.col_stride};
  if ((p.rows > 1 && down == 0) || (p.cols > 1 && right == 0)) return true;
  if (p.rows == 1 || p.cols == 1) return false;
  const Wide divisor = divisor_of(down, right);
  return right / divisor < static_cast<Wide>(p.rows) && down / divisor < static_cast<Wide>(p.cols);
}

void check_rows(const char* vector, const char* name, const DensePlace& given, std::uint64_t expected,
                Operation operation, const char* sides) {
  if (given.rows == expected) return;
  const char* const a = operation == Operation::none ? "A" : "A^T";
  throw Error(errc::usage, given.cols == 1
                               ? fmt::format("{} has {} elements, {} has {} {}", vector, given.rows, a, expected, sides)
                               : fmt::format("{} has {} rows, {} has {} {}", name, given.rows, a, expected, sides));
}

}  // namespace

bool has_transpose(const MatrixFacts& facts, std::span<const PartInfo> parts) noexcept {
  return facts.nnz == 0 || facts.bitwise_symmetry() != Symmetry::general ||
         !parts_of(parts, format::Role::transpose).empty();
}

bool has_permuted_basis(std::span<const PartInfo> parts) {
  const std::span<const PartInfo> of_a = parts_of(parts, format::Role::a);
  if (of_a.size() != 1) return false;
  const Layout& layout = find_layout(of_a[0].layout);
  return layout.permuted != nullptr && layout.permuted(of_a[0]);
}

Operand check_description(const MultiplyDescription& description, const MatrixFacts& facts,
                          std::span<const PartInfo> parts) {
  const bool complex = holds_complex(facts.value_type);
  if (!is_type_pair(real_type_of(facts.value_type), description.vectors)) {
    const ValueType vectors = complex ? complex_type_of(description.vectors) : description.vectors;
    throw Error(
        errc::usage,
        fmt::format("{} vectors for a matrix of {} values", to_string(vectors), to_string(facts.value_type)), {},
        fmt::format("use {0} vectors, or encode the matrix as {1}", to_string(facts.value_type), to_string(vectors)));
  }
  if (description.operation > Operation::conjugate_transpose)
    throw Error(errc::usage, fmt::format("there is no operation {}", static_cast<unsigned>(description.operation)));
  Operand operand{.rows = facts.rows, .cols = facts.cols};
  if (description.operation != Operation::none) {
    if (!has_transpose(facts, parts))
      throw Error(errc::usage, "the container does not have the transpose of its matrix", {},
                  "encode the matrix again with its transpose (--transpose, EncodeRequest::transpose)");
    std::swap(operand.rows, operand.cols);
    const Symmetry symmetry = facts.bitwise_symmetry();
    operand.negated = symmetry == Symmetry::skew_symmetric;
    if (symmetry == Symmetry::general) operand.role = format::Role::transpose;
    // A Hermitian matrix is its own A^H; what others have is A^T.
    operand.conjugated =
        complex && (description.operation == Operation::conjugate_transpose) != (symmetry == Symmetry::hermitian);
  }
  if (description.basis == Basis::permuted && (operand.role != format::Role::a || !has_permuted_basis(parts)))
    throw Error(errc::usage, "the container has no permuted basis for this operation", {},
                "use Basis::user, or encode a square matrix as pjds with pjds.basis=permuted");
  return operand;
}

bool overlap(const DensePlace& a, const DensePlace& b) noexcept {
  if (is_empty(a) || is_empty(b)) return false;
  const Wide size = static_cast<Wide>(a.element_bytes);
  const Wide bytes = static_cast<Wide>(reinterpret_cast<std::uintptr_t>(b.data)) -
                     static_cast<Wide>(reinterpret_cast<std::uintptr_t>(a.data));
  const auto [a_low, a_high] = range_of(a);
  const auto [b_low, b_high] = range_of(b);
  if (bytes + (b_high + 1) * size <= a_low * size || (a_high + 1) * size <= bytes + b_low * size) return false;
  // In elements of a. Those of b that are not on its boundaries touch two.
  const Wide first = floor_of(bytes, size), touched = remainder(bytes, size) == 0 ? 1 : 2;
  const Lines of_a(a), of_b(b);
  for (std::uint64_t i = 0; i < of_a.count; ++i)
    for (std::uint64_t k = 0; k < of_b.count; ++k)
      for (Wide t = 0; t < touched; ++t)
        if (meet(of_a.at(i, 0), of_b.at(k, first + t))) return true;
  return false;
}

void check_operands(const Operand& operand, Operation operation, const DensePlace& x, const DensePlace& y) {
  check_rows("x", "X", x, operand.cols, operation, "columns");
  check_rows("y", "Y", y, operand.rows, operation, "rows");
  if (x.cols != y.cols) throw Error(errc::usage, fmt::format("X has {} columns, Y has {}", x.cols, y.cols));
  if (has_twice(y))
    throw Error(errc::usage,
                fmt::format("Y has an element twice: {} x {} with strides of {} and {}", y.rows, y.cols, y.row_stride,
                            y.col_stride),
                {}, "give every element of Y a place of its own");
  if (overlap(x, y)) throw Error(errc::usage, "x and y overlap", {}, "use two vectors");
}

void check_factors(const DensePlace& factors, std::uint64_t expected, const char* sides, const DensePlace& y) {
  if (factors.rows == 0) return;
  if (factors.rows != expected)
    throw Error(errc::usage, fmt::format("{} factors of {}, A has {}", factors.rows, sides, expected), {},
                "give one for each, or none at all; with the transpose, too, they are of A's");
  if (overlap(factors, y)) throw Error(errc::usage, fmt::format("the factors of {} and y overlap", sides));
}

bool first_part_scales(const Operand& operand, std::span<const PartInfo> parts) noexcept {
  const std::span<const PartInfo> of_role = parts_of(parts, operand.role);
  return !of_role.empty() && of_role[0].rows.count == operand.rows;
}

}  // namespace spmvpack
