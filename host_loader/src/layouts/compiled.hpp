#pragma once
// The instruction sets that loops are compiled for: the only list of them, the best first, as X(name, target, has).
// Layouts that have loops of their own for a further one, written with its intrinsics, ask for that before.

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/instruction_set.hpp"

#if defined(SPMVPACK_WITHOUT_GENERIC)
#define SPMVPACK_COMPILED_SETS(X) X(v3, SPMVPACK_TARGET_V3, use_v3())
#elif SPMVPACK_HAS_V3
#define SPMVPACK_COMPILED_SETS(X)     \
  X(v3, SPMVPACK_TARGET_V3, use_v3()) \
  X(generic, SPMVPACK_TARGET_GENERIC, true)
#else
#define SPMVPACK_COMPILED_SETS(X) X(generic, SPMVPACK_TARGET_GENERIC, true)
#endif

namespace spmvpack::host_loader {

/// A function, SPMVPACK_INLINE, compiled for each set: Compiled<f>::NAME. Lambdas in it must be inlined, too, as they
/// do not inherit its target.
template <auto f>
struct Compiled;
template <class... Args, void (*f)(Args...)>
struct Compiled<f> {
#define SPMVPACK_COMPILE(name, target, has) \
  target static void name(Args... args) { f(args...); }
  SPMVPACK_COMPILED_SETS(SPMVPACK_COMPILE)
#undef SPMVPACK_COMPILE
};

/// What follows the choice of a set, for builds that leave the generic one out.
[[noreturn]] inline void no_set() {
  throw Error(errc::unsupported,
              "This build, for a sanitizer, has loops for processors with AVX2 and FMA alone, which SPMVPACK_ISA must "
              "not disable. Use another build.");
}

/// That of the best set that this processor has.
template <auto f>
auto best_of() {
#define SPMVPACK_IF(name, target, has) \
  if (has) return &Compiled<f>::name;
  SPMVPACK_COMPILED_SETS(SPMVPACK_IF)
#undef SPMVPACK_IF
  no_set();
}

}  // namespace spmvpack::host_loader
