#pragma once
/// How one source serves two instruction sets: loops are written once, always inlined, into an entry point for each.
/// std::fma, for one, is an instruction where the target has it and a slow, equally exact library call where it has
/// not.

#include <string_view>

#include "spmvpack/container/export.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SPMVPACK_TARGET_V3 [[gnu::target("avx2,bmi,bmi2,fma,lzcnt")]]
#define SPMVPACK_HAS_V3 1
#else
#define SPMVPACK_TARGET_V3
#define SPMVPACK_HAS_V3 0
#endif
#define SPMVPACK_INLINE [[gnu::always_inline]] inline

namespace spmvpack {

/// Whether this processor has x86-64-v3 (AVX2, BMI, FMA), and SPMVPACK_ISA=generic does not ask to do without.
SPMVPACK_EXPORT bool use_v3() noexcept;

/// The instruction set in use, in words.
SPMVPACK_EXPORT std::string_view instruction_set() noexcept;

}  // namespace spmvpack
