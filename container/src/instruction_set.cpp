#include "spmvpack/container/instruction_set.hpp"

#include <cstdlib>
#if SPMVPACK_HAS_V3
#include <cpuid.h>
#endif

namespace spmvpack {
#if SPMVPACK_HAS_V3
namespace {

bool is_chosen(std::string_view name) noexcept {
  const char* const isa = std::getenv("SPMVPACK_ISA");  // NOLINT(concurrency-mt-unsafe): read when first asked
  return isa != nullptr && isa == name;
}

/// Processors without lzcnt execute it as another instruction instead of faulting. Clang 14's __builtin_cpu_supports
/// does not know it.
bool has_lzcnt() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 5 & 1) != 0;
}

}  // namespace
#endif

bool use_v3() noexcept {
#if SPMVPACK_HAS_V3
  static const bool has = !is_chosen("generic") && __builtin_cpu_supports("avx2") != 0 &&
                          __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                          __builtin_cpu_supports("bmi2") != 0 && has_lzcnt();
  return has;
#else
  return false;
#endif
}

bool use_v4() noexcept {
#if SPMVPACK_HAS_V3
  static const bool has = use_v3() && !is_chosen("v3") && __builtin_cpu_supports("avx512f") != 0 &&
                          __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                          __builtin_cpu_supports("avx512vl") != 0;
  return has;
#else
  return false;
#endif
}

std::string_view instruction_set() noexcept {
  return use_v4() ? "x86-64-v4 (AVX-512)" : use_v3() ? "x86-64-v3 (AVX2, FMA)" : "baseline instructions";
}

}  // namespace spmvpack
