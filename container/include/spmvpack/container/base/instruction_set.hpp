#pragma once
/// One source for two instruction sets: loops are written once and always inlined into one entry point per set.
/// std::fma, for example, is one instruction on targets that have it, and a slow but equally exact library call on
/// others.

#include <string_view>

#include "spmvpack/container/base/export.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SPMVPACK_TARGET_V3 [[gnu::target("avx2,bmi,bmi2,fma,lzcnt")]]
#define SPMVPACK_HAS_V3 1
/// For processors without it, on which each std::fma is a call that takes nearly all of the time: what has many
/// instances is compiled for size, which takes half as long to build.
#define SPMVPACK_TARGET_GENERIC [[gnu::cold]]
/// For loops that are written with intrinsics: those of x86-64-v4. Lambdas do not inherit it from their function.
#define SPMVPACK_TARGET_V4 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,fma,lzcnt,popcnt")]]
#else
#define SPMVPACK_TARGET_V3
#define SPMVPACK_HAS_V3 0
#define SPMVPACK_TARGET_GENERIC
#endif
// Sanitizer builds leave out what their machine does not run (cmake/SpmvpackCompiler.cmake).
#if SPMVPACK_HAS_V3 && !defined(SPMVPACK_WITHOUT_V4)
#define SPMVPACK_HAS_V4 1
#else
#define SPMVPACK_HAS_V4 0
#endif
#define SPMVPACK_INLINE [[gnu::always_inline]] inline

namespace spmvpack {

/// Whether this processor supports x86-64-v3 (AVX2, BMI, FMA) and SPMVPACK_ISA=generic does not disable it.
SPMVPACK_EXPORT bool use_v3() noexcept;
/// Whether it supports x86-64-v4 (AVX-512), too, and SPMVPACK_ISA=v3 does not disable that.
SPMVPACK_EXPORT bool use_v4() noexcept;
/// Whether it supports x86-64-v4 and gathers eight doubles by one instruction in about the time of single loads, which
/// is measured when first asked (some 0.1 ms), as it depends on the processor and its microcode. SPMVPACK_ISA=gathers
/// and v4 say yes and no instead.
SPMVPACK_EXPORT bool use_gathers() noexcept;

/// The name of the instruction set in use.
SPMVPACK_EXPORT std::string_view instruction_set() noexcept;

}  // namespace spmvpack
