#pragma once
/// The arithmetic of multiplies, operation by operation, so that hosts and GPUs have the same bits: for real numbers
/// and for std::complex of them.

#include <cmath>
#include <complex>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack {

/// a b + c, with one rounding of a real result. Of complex numbers, each part of the result takes two fused
/// multiply-adds, those with a's real part first:
///   re = fma(-a.im, b.im, fma(a.re, b.re, c.re))
///   im = fma( a.im, b.re, fma(a.re, b.im, c.im))
template <class V>
[[nodiscard]] SPMVPACK_HOST_DEVICE SPMVPACK_INLINE V fused(const V& a, const V& b, const V& c) {
  using std::fma;
  if constexpr (is_complex_type<V>)
    return {fma(-a.imag(), b.imag(), fma(a.real(), b.real(), c.real())),
            fma(a.imag(), b.real(), fma(a.real(), b.imag(), c.imag()))};
  else
    return fma(a, b, c);
}

/// alpha sum + c of a scalar alpha. If a complex alpha is real, it multiplies both parts apart: an infinite part leaves
/// the other alone, and the bits are those of real vectors.
template <class V>
[[nodiscard]] SPMVPACK_HOST_DEVICE SPMVPACK_INLINE V completed(const V& alpha, const V& sum, const V& c) {
  using std::fma;
  if constexpr (is_complex_type<V>)
    if (alpha.imag() == 0) return {fma(alpha.real(), sum.real(), c.real()), fma(alpha.real(), sum.imag(), c.imag())};
  return fused(alpha, sum, c);
}

/// beta y of a scalar beta. Of complex numbers, the products with beta's real part are rounded before the others are
/// added as fused() does; if beta is real, they are the result.
template <class V>
[[nodiscard]] SPMVPACK_HOST_DEVICE SPMVPACK_INLINE V times(const V& beta, const V& y) {
  if constexpr (is_complex_type<V>) {
    using std::fma;
    const V by_real{beta.real() * y.real(), beta.real() * y.imag()};
    if (beta.imag() == 0) return by_real;
    return {fma(-beta.imag(), y.imag(), by_real.real()), fma(beta.imag(), y.real(), by_real.imag())};
  } else {
    return beta * y;
  }
}

/// The same, but +0 where beta is 0, and y is not read.
template <class V>
[[nodiscard]] SPMVPACK_HOST_DEVICE SPMVPACK_INLINE V scaled(const V& beta, const V& y) {
  return beta == V{} ? V{} : times(beta, y);
}

}  // namespace spmvpack
