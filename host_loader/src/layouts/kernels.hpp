#pragma once
// The layouts' multiplies.

#include <cmath>
#include <span>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/instruction_set.hpp"

namespace spmvpack::host_loader {

/// y = alpha A x + beta y over a part's local rows and columns. Every row first becomes beta y (0 where beta is 0, y
/// unread); a row with entries then becomes fma(alpha, sum, that).
template <class T>
struct Multiply {
  using Function = void (*)(const PartView& part, T alpha, const T* x, T beta, T* y, int threads);
};

namespace layouts {
template <class T>
void multiply_csr(const PartView& part, T alpha, const T* x, T beta, T* y, int threads);
template <class T>
void multiply_coo(const PartView& part, T alpha, const T* x, T beta, T* y, int threads);
template <class T>
void multiply_ccoo(const PartView& part, T alpha, const T* x, T beta, T* y, int threads);
}  // namespace layouts

/// beta y, with no y read where beta is 0.
template <class T>
SPMVPACK_INLINE T scaled(T beta, const T& y) {
  return beta == 0 ? T{0} : beta * y;
}

}  // namespace spmvpack::host_loader
