#pragma once
// The layouts' multiplies.

#include <cmath>
#include <span>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/instruction_set.hpp"

namespace spmvpack::host_loader {

/// beta y, with no y read where beta is 0.
template <class V>
SPMVPACK_INLINE V scaled(V beta, const V& y) {
  return beta == 0 ? V{0} : beta * y;
}

/// y = alpha A x + beta y over a part's local rows and columns. Every row first becomes beta y (0 where beta is 0, y
/// unread); a row with entries then becomes fma(alpha, sum, that). V is the type of vectors, products and sums.
/// Passed by value, so that a store to y cannot change what a loop holds.
template <class V>
struct Operands {
  V alpha = 0;
  const V* x = nullptr;
  V beta = 0;
  V* y = nullptr;

  /// A row that has entries.
  SPMVPACK_INLINE void put(std::uint64_t row, V sum) const { y[row] = std::fma(alpha, sum, scaled(beta, y[row])); }
  /// Rows [begin, end), which have none.
  SPMVPACK_INLINE void scale(std::uint64_t begin, std::uint64_t end) const {
    for (; begin < end; ++begin) y[begin] = scaled(beta, y[begin]);
  }
};

template <class V>
using Multiply = void (*)(const PartView& part, const Operands<V>& operands, int threads);

namespace layouts {
/// A is the type of the stored values. They are widened to V, exactly, before anything is computed.
template <class A, class V>
void multiply_csr(const PartView& part, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_coo(const PartView& part, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_ccoo(const PartView& part, const Operands<V>& operands, int threads);
}  // namespace layouts

}  // namespace spmvpack::host_loader
