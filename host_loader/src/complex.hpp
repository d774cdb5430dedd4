#pragma once
// Multiplies with complex vectors that layouts do not have as such, by multiplies that they have. `multiply(alpha, X,
// beta, Y)` computes Y = alpha B X + beta Y.

#include <algorithm>
#include <complex>

#include "columns.hpp"

namespace spmvpack::host_loader {

/// So many of some columns are copied at once.
template <class T>
std::uint64_t copied_columns(const DenseView<T>& columns) {
  return std::clamp<std::uint64_t>(columns.cols, 1, most_columns);
}

/// y = alpha conj(B) x + beta y, as conj(y) = conj(alpha) B conj(x) + conj(beta) conj(y).
template <class V, class F>
void multiply_conjugated(V alpha, const DenseView<const V>& x, V beta, const DenseView<V>& y, int threads,
                         F&& multiply) {
  const std::uint64_t most = copied_columns(y);
  ColumnCopies<const V> of_x(x, most, false, true, threads);
  ColumnCopies<V> of_y(y, most, false, true, threads);
  const auto in = [](const V& element, V& copy, std::uint64_t /*row*/) { copy = std::conj(element); };
  each_column_block(y.cols, most, [&](std::uint64_t first, std::uint64_t count) {
    const DenseView<const V> from = of_x.take(first, count);
    const DenseView<V> to = of_y.take(first, count);
    of_x.each(in);
    if (beta != V{0}) of_y.each(in);
    multiply(std::conj(alpha), from, std::conj(beta), to);
    of_y.each([](V& element, const V& copy, std::uint64_t /*row*/) {
      element = {copy.real(), 0 - copy.imag()};  // no -0, so that rows without entries are +0 where beta is 0
    });
  });
}

/// y = alpha B x + beta y of a real B: its sums are made first, with real scalars.
template <class V, class F>
void multiply_by_complex_scalars(V alpha, const DenseView<const V>& x, V beta, const DenseView<V>& y, int threads,
                                 F&& multiply) {
  if (alpha == V{0}) return scale(beta, y, threads);
  const std::uint64_t most = copied_columns(y);
  ColumnCopies<V> of_y(y, most, true, true, threads);
  each_column_block(y.cols, most, [&](std::uint64_t first, std::uint64_t count) {
    multiply(real_of<V>{1}, x.part(first, count), real_of<V>{0}, of_y.take(first, count));
    of_y.each([&](V& element, const V& sum, std::uint64_t /*row*/) {
      element = completed(alpha, sum, scaled(beta, element));
    });
  });
}

}  // namespace spmvpack::host_loader
