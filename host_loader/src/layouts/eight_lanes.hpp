#pragma once
// Eight lanes side by side by AVX-512, whose target (SPMVPACK_TARGET_V4) callers must have.

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "spmvpack/container/instruction_set.hpp"

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

/// What eight lanes hold, by type of vectors. `gather` takes eight indices, best of all from memory, and has elements
/// one by one: gather instructions take longer where measured (BENCHMARKS.md).
struct EightFloats {
  __m256 v;
  SPMVPACK_INLINE_V4 static EightFloats load(const float* p, __mmask8 m) { return {_mm256_maskz_loadu_ps(m, p)}; }
  template <class Indices>
  SPMVPACK_INLINE_V4 static EightFloats gather(const float* p, const Indices& i) {
    return {_mm256_setr_ps(p[i[0]], p[i[1]], p[i[2]], p[i[3]], p[i[4]], p[i[5]], p[i[6]], p[i[7]])};
  }
  SPMVPACK_INLINE_V4 static EightFloats all(float value) { return {_mm256_set1_ps(value)}; }
  SPMVPACK_INLINE_V4 void add_product(EightFloats a, EightFloats b, __mmask8 m) {
    v = _mm256_mask3_fmadd_ps(a.v, b.v, v, m);
  }
  SPMVPACK_INLINE_V4 static EightFloats product(EightFloats a, EightFloats b) { return {_mm256_mul_ps(a.v, b.v)}; }
  SPMVPACK_INLINE_V4 void store(float* p) const { _mm256_storeu_ps(p, v); }
  SPMVPACK_INLINE_V4 void store(float* p, __mmask8 m) const { _mm256_mask_storeu_ps(p, m, v); }
};
struct EightDoubles {
  __m512d v;
  SPMVPACK_INLINE_V4 static EightDoubles load(const double* p, __mmask8 m) { return {_mm512_maskz_loadu_pd(m, p)}; }
  SPMVPACK_INLINE_V4 static EightDoubles load(const float* p, __mmask8 m) {
    return {_mm512_cvtps_pd(EightFloats::load(p, m).v)};
  }
  template <class Indices>
  SPMVPACK_INLINE_V4 static EightDoubles gather(const double* p, const Indices& i) {
    return {_mm512_setr_pd(p[i[0]], p[i[1]], p[i[2]], p[i[3]], p[i[4]], p[i[5]], p[i[6]], p[i[7]])};
  }
  template <class Indices>
  SPMVPACK_INLINE_V4 static EightDoubles gather(const float* p, const Indices& i) {
    return {_mm512_cvtps_pd(EightFloats::gather(p, i).v)};
  }
  SPMVPACK_INLINE_V4 static EightDoubles all(double value) { return {_mm512_set1_pd(value)}; }
  SPMVPACK_INLINE_V4 void add_product(EightDoubles a, EightDoubles b, __mmask8 m) {
    v = _mm512_mask3_fmadd_pd(a.v, b.v, v, m);
  }
  SPMVPACK_INLINE_V4 static EightDoubles product(EightDoubles a, EightDoubles b) { return {_mm512_mul_pd(a.v, b.v)}; }
  SPMVPACK_INLINE_V4 void store(double* p) const { _mm512_storeu_pd(p, v); }
  SPMVPACK_INLINE_V4 void store(double* p, __mmask8 m) const { _mm512_mask_storeu_pd(p, m, v); }
};

/// Of a type of vectors.
template <class V>
using EightOf = std::conditional_t<std::is_same_v<V, double>, EightDoubles, EightFloats>;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#undef SPMVPACK_INLINE_V4

}  // namespace spmvpack::host_loader::layouts
