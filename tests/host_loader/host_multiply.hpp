#pragma once
// What the tests of multiplies on the host share.

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {

using host_loader::HostMatrix;

inline HostMatrix load(const Encoded& file) { return HostMatrix::load(open(file.bytes)); }

template <class T>
std::vector<T> multiply(const HostMatrix& a, const std::vector<T>& x, int threads = 2) {
  std::vector<T> y(a.facts().rows, T{std::numeric_limits<real_of<T>>::quiet_NaN()});
  a.multiply<T>(1, x, 0, y, threads);
  return y;
}

/// f(V{}) for every type of vectors that goes with values of type A.
template <class A, class F>
void with_vectors(F&& f) {
#define SPMVPACK_IF(B, V) \
  if constexpr (std::is_same_v<A, B>) f(V{});
  SPMVPACK_TYPE_PAIRS(SPMVPACK_IF)
  SPMVPACK_COMPLEX_PAIRS(SPMVPACK_IF)
#undef SPMVPACK_IF
}

inline std::vector<std::uint32_t> shuffled(std::uint64_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  std::shuffle(all.begin(), all.end(), std::mt19937_64(seed));
  return all;
}

/// Long rows whose pieces begin alike and are far apart in x, so that some entries of each are added up in turn; the
/// last one's pieces end where the arrays do.
template <class A>
CsrMatrix scattered_long_rows(int values) {
  constexpr std::uint64_t cols = 150'000;
  const std::vector<std::uint64_t> lengths{9000, 4097, 12'295, 3, 0, 8192, 9003, 20'001};
  std::mt19937_64 random(9);
  return from_rows<A>(lengths.size(), cols, random, values, [&](std::uint64_t r) {
    std::vector<std::uint32_t> columns(lengths[r]);
    for (std::uint64_t i = 0; i < columns.size(); ++i) {
      const std::uint64_t step = cols / columns.size();
      columns[i] = static_cast<std::uint32_t>(i * step + random() % step);
    }
    return columns;
  });
}

}  // namespace spmvpack::test
