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

/// |y_i - ref_i| <= (n_i + 4) u sum_j |a_ij x_j|, against a long double reference; alpha = 1, beta = 0. Where the
/// reference is not finite, neither is y.
template <class A, class V>
void require_correct(const CsrMatrix& a, const std::vector<V>& x, const std::vector<V>& y) {
  const auto& values = std::get<Array<A>>(a.values);
  const long double u = std::numeric_limits<V>::epsilon() / 2;
  REQUIRE(y.size() == a.rows);
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    long double sum = 0, bound = 0;
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const long double product = static_cast<long double>(values[k]) * static_cast<long double>(x[a.col_idx[k]]);
      sum += product;
      bound += std::abs(product);
    }
    const auto n = static_cast<long double>(a.row_ptr[r + 1] - a.row_ptr[r]);
    if (!(std::abs(static_cast<long double>(y[r]) - sum) <= (n + 4) * u * bound)) {
      INFO("row " << r);
      REQUIRE(static_cast<long double>(y[r]) == sum);
    }
  }
}

}  // namespace spmvpack::test
