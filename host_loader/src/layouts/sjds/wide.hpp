#pragma once
// The eight lanes of sjds in one register of 512 bits, by gather instructions: for processors that gather in about the
// time of single loads (docs/notebook/HOST.md, "Wide lanes"). The same results as those of sjds_lanes.hpp.

#include <immintrin.h>

#include <cstdint>

#include "layouts/eight_lanes.hpp"
#include "layouts/sjds/lanes.hpp"
#include "layouts/sjds/sums.hpp"

namespace spmvpack::host_loader::layouts::sjds_sums {

// GCC 12 takes what its own header leaves undefined on purpose for a mistake (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// Of doubles.
template <class V>
struct WideLanes;
template <>
struct WideLanes<double> {
  __m512d v;
  SPMVPACK_INLINE_V4 static WideLanes all(double value) { return {_mm512_set1_pd(value)}; }
  SPMVPACK_INLINE_V4 static WideLanes load(const double* p) { return {_mm512_loadu_pd(p)}; }
  SPMVPACK_INLINE_V4 static WideLanes load(const float* p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
  /// The first n.
  template <class A>
  SPMVPACK_INLINE_V4 static WideLanes load(const A* p, std::uint32_t n) {
    return {EightDoubles::load(p, mask_of(n)).v};
  }
  SPMVPACK_INLINE_V4 static WideLanes gather(const double* x, const ColumnsInMemory<std::uint16_t>& c) {
    const __m128i columns = _mm_loadu_si128(reinterpret_cast<const __m128i*>(c.columns));
    return {_mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xFF, _mm256_cvtepu16_epi32(columns), x, sizeof(double))};
  }
  SPMVPACK_INLINE_V4 static WideLanes gather(const double* x, const ColumnsInMemory<std::uint32_t>& c) {
    const __m256i columns = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(c.columns));
    return {_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 0xFF, _mm512_maskz_cvtepu32_epi64(0xFF, columns), x,
                                     sizeof(double))};
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static WideLanes gather(const double* x, const Columns& c, OneColumn /*one*/) {
    return all(x[c[0]]);
  }
  struct Groups : FourGroups {
    __m512i elements;
    SPMVPACK_INLINE_V4 explicit Groups(std::uint32_t first_lanes)
        : FourGroups(first_lanes),
          elements(_mm512_maskz_cvtepu8_epi64(0xFF, _mm_cvtsi64_si128(static_cast<std::int64_t>(of_lanes)))) {}
  };
  template <class Columns>
  SPMVPACK_INLINE_V4 static WideLanes gather(const double* x, const Columns& c, const Groups& g) {
    const auto of_group = [&](std::uint32_t i) __attribute__((always_inline)) { return x + c[g.first[i]]; };
    const __m256d four = LanesV4<double>::four(of_group(0), of_group(1), of_group(2), of_group(3));
    return {_mm512_maskz_permutexvar_pd(0xFF, g.elements, _mm512_castpd256_pd512(four))};
  }
  using Runs = LanesV4<double>::Runs;
  template <class Columns>
  SPMVPACK_INLINE_V4 static WideLanes gather(const double* x, const Columns& c, const Runs& r) {
    return {_mm512_mask_loadu_pd(_mm512_loadu_pd(x + c[0]), r.mask, r.from(x, c))};
  }
  SPMVPACK_INLINE_V4 static WideLanes window(const double* from, EightPlaces places) {
    if (places.bits == consecutive) return load(from);
    const __m512i i = LanesV4<double>::indices(places.bits);
    if ((places.bits & beyond_eight) == 0) return {_mm512_maskz_permutexvar_pd(0xFF, i, _mm512_loadu_pd(from))};
    return pick(from, i);
  }
  /// What codes stand for.
  struct Table {
    const double* values;
    SPMVPACK_INLINE_V4 explicit Table(const CodedValues<double>& coded) : values(coded.values.data()) {}
    [[nodiscard]] SPMVPACK_INLINE double one() const { return values[0]; }
    [[nodiscard]] SPMVPACK_INLINE_V4 WideLanes of(std::uint32_t codes) const {
      return pick(values, LanesV4<double>::indices(codes));
    }
  };
  SPMVPACK_INLINE_V4 void add_products(const WideLanes& a, const WideLanes& b) { v = _mm512_fmadd_pd(a.v, b.v, v); }
  /// In the first n lanes.
  SPMVPACK_INLINE_V4 void add_products(const WideLanes& a, const WideLanes& b, std::uint32_t n) {
    v = _mm512_mask3_fmadd_pd(a.v, b.v, v, mask_of(n));
  }
  SPMVPACK_INLINE_V4 void store(double* p) const { _mm512_storeu_pd(p, v); }

 private:
  /// Of 16 elements those that indices say.
  SPMVPACK_INLINE_V4 static WideLanes pick(const double* from, __m512i i) {
    return {_mm512_permutex2var_pd(_mm512_loadu_pd(from), i, _mm512_loadu_pd(from + lanes))};
  }
  SPMVPACK_INLINE_V4 static __mmask8 mask_of(std::uint32_t n) { return LanesV4<double>::mask_of(n); }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace spmvpack::host_loader::layouts::sjds_sums
