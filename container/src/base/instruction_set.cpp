#include "spmvpack/container/base/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#if SPMVPACK_HAS_V3
#include <cpuid.h>
#include <immintrin.h>
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

#if SPMVPACK_HAS_V4
/// x for both ways to be measured by: within a first cache.
struct GatherSample {
  static constexpr std::size_t size = 512, lanes = 8;
  alignas(64) std::array<double, size> x{};
  std::array<std::uint16_t, size> columns{};
  GatherSample() noexcept {
    constexpr std::uint16_t step = 167;  // prime to the size: scattered
    for (std::size_t i = 0; i < size; ++i) columns[i] = static_cast<std::uint16_t>(i * step % size);
  }
};
SPMVPACK_TARGET_V4 double sum_by_gathers(const GatherSample& sample) noexcept {
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t i = 0; i < GatherSample::size; i += GatherSample::lanes) {
    const __m128i columns = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&sample.columns[i]));
    sum = _mm512_add_pd(sum, _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xFF, _mm256_cvtepu16_epi32(columns),
                                                      sample.x.data(), sizeof(double)));
  }
  return _mm512_cvtsd_f64(sum);
}
/// Four by single loads, with the merging instructions that stand in for gathers where these are slow.
SPMVPACK_TARGET_V4 inline __m256d four_by_loads(const double* x, const std::uint16_t* columns) noexcept {
  __m256d v = _mm256_castpd128_pd256(_mm_load_sd(x + columns[0]));
  v = _mm256_mask_mov_pd(v, 2, _mm256_set1_pd(x[columns[1]]));
  v = _mm256_mask_mov_pd(v, 4, _mm256_set1_pd(x[columns[2]]));
  return _mm256_mask_mov_pd(v, 8, _mm256_set1_pd(x[columns[3]]));
}
SPMVPACK_TARGET_V4 double sum_by_loads(const GatherSample& sample) noexcept {
  __m256d low = _mm256_setzero_pd(), high = low;
  for (std::size_t i = 0; i < GatherSample::size; i += GatherSample::lanes) {
    low = _mm256_add_pd(low, four_by_loads(sample.x.data(), &sample.columns[i]));
    high = _mm256_add_pd(high, four_by_loads(sample.x.data(), &sample.columns[i + 4]));
  }
  return _mm256_cvtsd_f64(_mm256_add_pd(low, high));
}

/// Whether they take at most a quarter longer than single loads: what uses them saves that elsewhere. On a Xeon (family
/// 6, model 207) they take 0.85 times as long (1 of 300 processes measured more than 1.25), on an EPYC (Zen 4) 2.0
/// times.
bool gathers_are_fast() noexcept {
  using Clock = std::chrono::steady_clock;
  const GatherSample sample;
  // Least times, in turns: what else runs lasts longer than one, or is in both. Several calls for each, as reading the
  // clock may take longer than one.
  constexpr int turns = 32, calls = 8;
  auto gathers = Clock::duration::max(), loads = gathers;
  [[maybe_unused]] volatile double kept = 0;
  for (int i = 0; i < turns; ++i) {
    const auto begin = Clock::now();
    for (int k = 0; k < calls; ++k) kept = sum_by_gathers(sample);
    const auto between = Clock::now();
    for (int k = 0; k < calls; ++k) kept = sum_by_loads(sample);
    gathers = std::min(gathers, between - begin);
    loads = std::min(loads, Clock::now() - between);
  }
  return 4 * gathers < 5 * loads;
}
#endif

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
#if SPMVPACK_HAS_V4
  static const bool has = use_v3() && !is_chosen("v3") && __builtin_cpu_supports("avx512f") != 0 &&
                          __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                          __builtin_cpu_supports("avx512vl") != 0;
  return has;
#else
  return false;
#endif
}

bool use_gathers() noexcept {
#if SPMVPACK_HAS_V4
  // Not a static of the first call's result: another thread may be measuring when the process forks, and the child
  // would wait for it. Whoever does not know measures; the first answer stays.
  enum class Answer : std::uint8_t { unknown, no, yes };
  static std::atomic<Answer> known{Answer::unknown};
  Answer answer = known.load(std::memory_order_relaxed);
  if (answer == Answer::unknown) {
    const bool has = use_v4() && !is_chosen("v4") && (is_chosen("gathers") || gathers_are_fast());
    const Answer mine = has ? Answer::yes : Answer::no;
    if (known.compare_exchange_strong(answer, mine, std::memory_order_relaxed)) answer = mine;
  }
  return answer == Answer::yes;
#else
  return false;
#endif
}

std::string_view instruction_set() noexcept {
  return use_gathers() ? "x86-64-v4 (AVX-512, gathers)"
         : use_v4()    ? "x86-64-v4 (AVX-512)"
         : use_v3()    ? "x86-64-v3 (AVX2, FMA)"
                       : "baseline instructions";
}

}  // namespace spmvpack
