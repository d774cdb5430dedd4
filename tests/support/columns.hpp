#pragma once
// X and Y of several columns, in every order of their elements.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "orders/scalars.hpp"
#include "products.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::test {

/// How the elements of an X or Y follow each other.
struct Storage {
  std::string_view name;
  bool by_rows;
  std::uint64_t padding;  ///< elements between a column, or a row, and the next
};
inline constexpr std::array storages{Storage{"columns", false, 0}, Storage{"padded columns", false, 3},
                                     Storage{"rows", true, 0}, Storage{"padded rows", true, 2}};

/// Columns stored so; what is no element of theirs is NaN.
template <class T>
struct StoredColumns {
  std::vector<T> memory;
  std::uint64_t rows, cols;
  std::int64_t row_stride, col_stride;

  StoredColumns(const std::vector<std::vector<T>>& columns, std::uint64_t rows_, const Storage& storage)
      : rows(rows_), cols(columns.size()) {
    const std::uint64_t leading = (storage.by_rows ? cols : rows) + storage.padding;
    row_stride = storage.by_rows ? static_cast<std::int64_t>(leading) : 1;
    col_stride = storage.by_rows ? 1 : static_cast<std::int64_t>(leading);
    memory.assign(leading * (storage.by_rows ? rows : cols), T(std::numeric_limits<real_of<T>>::quiet_NaN()));
    for (std::uint64_t j = 0; j < cols; ++j)
      for (std::uint64_t i = 0; i < rows; ++i) memory[place(i, j)] = columns[j][i];
  }
  /// The same columns in a copy of the memory elsewhere.
  template <class U>
  [[nodiscard]] DenseView<U> at(U* data) const {
    return {data, rows, cols, row_stride, col_stride};
  }
  DenseView<T> view() { return at(memory.data()); }
  [[nodiscard]] std::size_t place(std::uint64_t i, std::uint64_t j) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(i) * row_stride +
                                    static_cast<std::int64_t>(j) * col_stride);
  }
};

/// Bits are the same, but those of a NaN: which of several operands' it takes over is the compiler's choice.
template <class T>
bool same_bits_or_nan(const T& a, const T& b) {
  if constexpr (is_complex<T>)
    return same_bits_or_nan(a.real(), b.real()) && same_bits_or_nan(a.imag(), b.imag());
  else
    return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(a) && std::isnan(b));
}
template <class T>
bool same_bits_or_nan(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& left, const T& right) { return same_bits_or_nan(left, right); });
}

/// multiply(x, y0) is the product of one column, multiply_all(x, y) one of all columns, whose results stand in
/// y.memory: calls report(same) for every number of columns and order of elements of X and Y.
template <class T, class One, class All, class Report>
void compare_columns(std::uint64_t x_rows, std::uint64_t y_rows, One&& multiply, All&& multiply_all, Report&& report) {
  for (const std::size_t count : {0U, 1U, 3U}) {
    std::vector<std::vector<T>> xs, y0s, ys;
    for (std::size_t j = 0; j < count; ++j) {
      xs.push_back(random_vector<T>(x_rows, 10 + j));
      y0s.push_back(random_vector<T>(y_rows, 20 + j));
      ys.push_back(multiply(xs.back(), y0s.back()));
    }
    for (std::size_t s = 0; s < storages.size(); ++s)
      for (const std::size_t t : {s, (s + 1) % storages.size(), (s + 2) % storages.size()}) {
        StoredColumns<T> x(xs, x_rows, storages[s]), y(y0s, y_rows, storages[t]), x0 = x;
        const StoredColumns<T> expected(ys, y_rows, storages[t]);
        multiply_all(x, y);
        // What lies between the elements is as it was.
        report(same_bits_or_nan(y.memory, expected.memory) && same_bits(x.memory, x0.memory), count, storages[s].name,
               storages[t].name);
      }
  }
}

/// The same of complex columns, whose real and imaginary parts are to have the bits of vectors of their own:
/// multiply(x, y0) is the product of real ones.
template <class T, class One, class All, class Report>
void compare_complex_columns(std::uint64_t x_rows, std::uint64_t y_rows, One&& multiply, All&& multiply_all,
                             Report&& report) {
  using Complex = std::complex<T>;
  compare_columns<Complex>(
      x_rows, y_rows,
      [&](const std::vector<Complex>& x, std::vector<Complex> y) {
        const auto part = [](const std::vector<Complex>& v, int which) {
          std::vector<T> parts(v.size());
          for (std::size_t i = 0; i < v.size(); ++i) parts[i] = which == 0 ? v[i].real() : v[i].imag();
          return parts;
        };
        const std::vector<T> real = multiply(part(x, 0), part(y, 0)), imaginary = multiply(part(x, 1), part(y, 1));
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = {real[i], imaginary[i]};
        return y;
      },
      multiply_all, report);
}

/// What docs/LAYOUTS.md says of a multiply with factors of the rows and the columns of op(A), empty ones standing for
/// ones, by multiplies without: multiply(alpha, x, beta, y) returns y.
template <class V, class Multiply>
std::vector<V> with_factors(const std::vector<real_of<V>>& of_y, const std::vector<real_of<V>>& of_x, V alpha,
                            std::vector<V> x, V beta, std::vector<V> y, Multiply&& multiply) {
  for (std::size_t j = 0; j < of_x.size(); ++j) x[j] = of_x[j] * x[j];
  if (of_y.empty()) return multiply(alpha, x, beta, y);
  const V nan{std::numeric_limits<real_of<V>>::quiet_NaN()};
  const std::vector<V> sums = multiply(V{1}, x, V{0}, std::vector<V>(y.size(), nan));
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = orders::completed(alpha * of_y[i], sums[i], orders::scaled(beta, y[i]));
  return y;
}

}  // namespace spmvpack::test
