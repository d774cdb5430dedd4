#pragma once
// The layouts' multiplies, and how one source serves two instruction sets.

#include <cmath>
#include <span>

#include "spmvpack/container/contents.hpp"

// std::fma is one instruction where the target has it and a slow, equally exact library call where it has not. Loops
// are written once, always inlined, into an entry point per instruction set.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SPMVPACK_TARGET_V3 [[gnu::target("avx2,bmi,bmi2,fma,lzcnt")]]
#define SPMVPACK_HAS_V3 1
#else
#define SPMVPACK_TARGET_V3
#define SPMVPACK_HAS_V3 0
#endif
#define SPMVPACK_INLINE [[gnu::always_inline]] inline

namespace spmvpack::host_loader {

/// Whether this processor has x86-64-v3 (AVX2, BMI, FMA), and SPMVPACK_ISA=generic does not ask to do without.
bool use_v3();

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
