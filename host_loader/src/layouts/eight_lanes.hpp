#pragma once
// Eight lanes side by side by AVX-512, whose target (SPMVPACK_TARGET_V4) callers must have.

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "spmvpack/container/base/instruction_set.hpp"

namespace spmvpack::host_loader::layouts {

#define SPMVPACK_INLINE_V4 SPMVPACK_TARGET_V4 SPMVPACK_INLINE
// GCC 12 takes what its own header leaves undefined on purpose for a mistake (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// Eight numbers below 2^32.
struct EightIndices {
  alignas(32) std::array<std::uint32_t, 8> of;
  SPMVPACK_INLINE_V4 explicit EightIndices(__m256i v) { _mm256_store_si256(reinterpret_cast<__m256i*>(of.data()), v); }
};

/// What eight lanes hold, by type of vectors. Elements are loaded one by one, as gather instructions are slow on some
/// processors (sjds_wide.hpp has them): `of` asks element(0) to element(7), whose loads are those of the merging
/// instructions, which take the place of shuffles; `gather` takes eight indices, best of all from memory.
struct EightFloats {
  __m256 v;
  SPMVPACK_INLINE_V4 static EightFloats load(const float* p) { return {_mm256_loadu_ps(p)}; }
  SPMVPACK_INLINE_V4 static EightFloats load(const float* p, __mmask8 m) { return {_mm256_maskz_loadu_ps(m, p)}; }
  template <class Indices>
  SPMVPACK_INLINE_V4 static EightFloats gather(const float* p, const Indices& i) {
    return of([&](std::uint32_t k) __attribute__((always_inline)) { return p[i[k]]; });
  }
  template <class F>
  SPMVPACK_INLINE_V4 static EightFloats of(F&& element) {
    __m128 low = _mm_set_ss(element(0));
    low = _mm_mask_mov_ps(low, 2, _mm_set1_ps(element(1)));
    low = _mm_mask_mov_ps(low, 4, _mm_set1_ps(element(2)));
    low = _mm_mask_mov_ps(low, 8, _mm_set1_ps(element(3)));
    __m128 high = _mm_set_ss(element(4));
    high = _mm_mask_mov_ps(high, 2, _mm_set1_ps(element(5)));
    high = _mm_mask_mov_ps(high, 4, _mm_set1_ps(element(6)));
    high = _mm_mask_mov_ps(high, 8, _mm_set1_ps(element(7)));
    return {_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1)};
  }
  SPMVPACK_INLINE_V4 static EightFloats all(float value) { return {_mm256_set1_ps(value)}; }
  [[nodiscard]] SPMVPACK_INLINE_V4 float first() const { return _mm256_cvtss_f32(v); }
  /// Makes 0 of the lanes that are not in m.
  SPMVPACK_INLINE_V4 void keep(__mmask8 m) { v = _mm256_maskz_mov_ps(m, v); }
  SPMVPACK_INLINE_V4 void take(EightFloats from, __mmask8 m) { v = _mm256_mask_mov_ps(v, m, from.v); }
  SPMVPACK_INLINE_V4 void add(EightFloats b, __mmask8 m) { v = _mm256_mask_add_ps(v, m, v, b.v); }
  SPMVPACK_INLINE_V4 void add_product(EightFloats a, EightFloats b) { v = _mm256_fmadd_ps(a.v, b.v, v); }
  SPMVPACK_INLINE_V4 void add_product(EightFloats a, EightFloats b, __mmask8 m) {
    v = _mm256_mask3_fmadd_ps(a.v, b.v, v, m);
  }
  SPMVPACK_INLINE_V4 static EightFloats product(EightFloats a, EightFloats b) { return {_mm256_mul_ps(a.v, b.v)}; }
  /// The lanes from number `distance` on, then those of `next`.
  template <int distance>
  [[nodiscard]] SPMVPACK_INLINE_V4 EightFloats shifted(EightFloats next) const {
    const __m256i bits = _mm256_alignr_epi32(_mm256_castps_si256(next.v), _mm256_castps_si256(v), distance);
    return {_mm256_castsi256_ps(bits)};
  }
  SPMVPACK_INLINE_V4 void store(float* p) const { _mm256_storeu_ps(p, v); }
  SPMVPACK_INLINE_V4 void store(float* p, __mmask8 m) const { _mm256_mask_storeu_ps(p, m, v); }
};
struct EightDoubles {
  __m512d v;
  SPMVPACK_INLINE_V4 static EightDoubles load(const double* p) { return {_mm512_loadu_pd(p)}; }
  SPMVPACK_INLINE_V4 static EightDoubles load(const double* p, __mmask8 m) { return {_mm512_maskz_loadu_pd(m, p)}; }
  SPMVPACK_INLINE_V4 static EightDoubles load(const float* p, __mmask8 m) {
    return {_mm512_cvtps_pd(EightFloats::load(p, m).v)};
  }
  template <class Indices>
  SPMVPACK_INLINE_V4 static EightDoubles gather(const double* p, const Indices& i) {
    return of([&](std::uint32_t k) __attribute__((always_inline)) { return p[i[k]]; });
  }
  template <class Indices>
  SPMVPACK_INLINE_V4 static EightDoubles gather(const float* p, const Indices& i) {
    return {_mm512_cvtps_pd(EightFloats::gather(p, i).v)};
  }
  template <class F>
  SPMVPACK_INLINE_V4 static EightDoubles of(F&& element) {
    __m256d low = _mm256_castpd128_pd256(_mm_set_sd(element(0)));
    low = _mm256_mask_mov_pd(low, 2, _mm256_set1_pd(element(1)));
    low = _mm256_mask_mov_pd(low, 4, _mm256_set1_pd(element(2)));
    low = _mm256_mask_mov_pd(low, 8, _mm256_set1_pd(element(3)));
    __m256d high = _mm256_castpd128_pd256(_mm_set_sd(element(4)));
    high = _mm256_mask_mov_pd(high, 2, _mm256_set1_pd(element(5)));
    high = _mm256_mask_mov_pd(high, 4, _mm256_set1_pd(element(6)));
    high = _mm256_mask_mov_pd(high, 8, _mm256_set1_pd(element(7)));
    return {_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1)};
  }
  SPMVPACK_INLINE_V4 static EightDoubles all(double value) { return {_mm512_set1_pd(value)}; }
  [[nodiscard]] SPMVPACK_INLINE_V4 double first() const { return _mm512_cvtsd_f64(v); }
  [[nodiscard]] SPMVPACK_INLINE_V4 __m256d low() const { return _mm512_castpd512_pd256(v); }
  [[nodiscard]] SPMVPACK_INLINE_V4 __m256d high() const { return _mm512_extractf64x4_pd(v, 1); }
  SPMVPACK_INLINE_V4 void keep(__mmask8 m) { v = _mm512_maskz_mov_pd(m, v); }
  SPMVPACK_INLINE_V4 void take(EightDoubles from, __mmask8 m) { v = _mm512_mask_mov_pd(v, m, from.v); }
  SPMVPACK_INLINE_V4 void add(EightDoubles b, __mmask8 m) { v = _mm512_mask_add_pd(v, m, v, b.v); }
  SPMVPACK_INLINE_V4 void add_product(EightDoubles a, EightDoubles b) { v = _mm512_fmadd_pd(a.v, b.v, v); }
  SPMVPACK_INLINE_V4 void add_product(EightDoubles a, EightDoubles b, __mmask8 m) {
    v = _mm512_mask3_fmadd_pd(a.v, b.v, v, m);
  }
  SPMVPACK_INLINE_V4 static EightDoubles product(EightDoubles a, EightDoubles b) { return {_mm512_mul_pd(a.v, b.v)}; }
  template <int distance>
  [[nodiscard]] SPMVPACK_INLINE_V4 EightDoubles shifted(EightDoubles next) const {
    const __m512i bits = _mm512_alignr_epi64(_mm512_castpd_si512(next.v), _mm512_castpd_si512(v), distance);
    return {_mm512_castsi512_pd(bits)};
  }
  SPMVPACK_INLINE_V4 void store(double* p) const { _mm512_storeu_pd(p, v); }
  SPMVPACK_INLINE_V4 void store(double* p, __mmask8 m) const { _mm512_mask_storeu_pd(p, m, v); }
};

template <class V>
struct EightTraits;
template <>
struct EightTraits<double> {
  using Lanes = EightDoubles;
};
template <>
struct EightTraits<float> {
  using Lanes = EightFloats;
};
/// Of a type of vectors.
template <class V>
using EightOf = typename EightTraits<V>::Lanes;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace spmvpack::host_loader::layouts
