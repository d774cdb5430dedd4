#pragma once
// The arithmetic of docs/LAYOUTS.md, "How sums are formed", written down a second time, part by part.

#include <cmath>
#include <complex>

#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::test::orders {

/// a x + s
template <class V>
V fma(V a, V x, V s) {
  if constexpr (is_complex<V>) {
    auto real = std::fma(a.real(), x.real(), s.real()), imaginary = std::fma(a.real(), x.imag(), s.imag());
    real = std::fma(-a.imag(), x.imag(), real);
    imaginary = std::fma(a.imag(), x.real(), imaginary);
    return {real, imaginary};
  } else {
    return std::fma(a, x, s);
  }
}

/// beta y
template <class V>
V scaled(V beta, V y) {
  if constexpr (is_complex<V>) {
    if (beta == V{0}) return V{0};
    auto real = beta.real() * y.real(), imaginary = beta.real() * y.imag();
    if (beta.imag() != 0) {
      real = std::fma(-beta.imag(), y.imag(), real);
      imaginary = std::fma(beta.imag(), y.real(), imaginary);
    }
    return {real, imaginary};
  } else {
    return beta == 0 ? V{0} : beta * y;
  }
}

/// alpha sum + beta y, where y is already scaled
template <class V>
V completed(V alpha, V sum, V y) {
  if constexpr (is_complex<V>)
    if (alpha.imag() == 0)
      return {std::fma(alpha.real(), sum.real(), y.real()), std::fma(alpha.real(), sum.imag(), y.imag())};
  return fma(alpha, sum, y);
}

}  // namespace spmvpack::test::orders
