#include "spmvpack/container/instruction_set.hpp"

#include <cstdlib>

namespace spmvpack {

bool use_v3() noexcept {
#if SPMVPACK_HAS_V3
  static const bool has = [] {
    const char* const isa = std::getenv("SPMVPACK_ISA");  // NOLINT(concurrency-mt-unsafe): read once
    if (isa != nullptr && std::string_view(isa) == "generic") return false;
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  }();
  return has;
#else
  return false;
#endif
}

std::string_view instruction_set() noexcept { return use_v3() ? "x86-64-v3 (AVX2, FMA)" : "baseline instructions"; }

}  // namespace spmvpack
