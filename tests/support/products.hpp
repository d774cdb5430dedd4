#pragma once
// Vectors of tests, and what y = A x is held to.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::test {

template <class T>
std::vector<T> random_vector(std::uint64_t n, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> x(n);
  for (T& e : x)
    if constexpr (is_complex<T>)
      e = {static_cast<real_of<T>>(uniform(rng)), static_cast<real_of<T>>(uniform(rng))};
    else
      e = static_cast<T>(uniform(rng));
  return x;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// A sum of products in long double, and what its rounding errors may be.
struct ReferenceSum {
  long double sum = 0, size = 0;
  std::uint64_t count = 0;
  void add(long double a, long double x) {
    sum += a * x;
    size += std::abs(a * x);
    ++count;
  }
  template <class V>
  void require(V y) const {
    const long double u = std::numeric_limits<V>::epsilon() / 2;
    if (std::abs(static_cast<long double>(y) - sum) <= static_cast<long double>(count + 4) * u * size) return;
    REQUIRE(static_cast<long double>(y) == sum);
  }
};

/// |y_i - ref_i| <= (n_i + 4) u sum_j |a_ij x_j|, against a long double reference; alpha = 1, beta = 0. Where the
/// reference is not finite, neither is y. Each part of a complex y_i is a sum of 2 n_i real products.
template <class A, class V>
void require_correct(const CsrMatrix& a, const std::vector<V>& x, const std::vector<V>& y) {
  const auto& values = std::get<Array<A>>(a.values);
  REQUIRE(y.size() == a.rows);
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    ReferenceSum real, imaginary;
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const A& value = values[k];
      const V& element = x[a.col_idx[k]];
      if constexpr (is_complex<V>) {
        real.add(value.real(), element.real());
        real.add(-value.imag(), element.imag());
        imaginary.add(value.real(), element.imag());
        imaginary.add(value.imag(), element.real());
      } else {
        real.add(value, element);
      }
    }
    INFO("row " << r);
    if constexpr (is_complex<V>) {
      real.require(y[r].real());
      imaginary.require(y[r].imag());
    } else {
      real.require(y[r]);
    }
  }
}

}  // namespace spmvpack::test
