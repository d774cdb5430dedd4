#pragma once
// The eight lanes of sjds in vector registers: one type for each instruction set, with the same results. A lane is
// added to by fma alone, in the order of the steps.

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "eight_lanes.hpp"
#include "sjds_sums.hpp"

namespace spmvpack::host_loader::layouts::sjds_sums {

/// Eight columns, of which several come by one load: loads are what limits these loops.
template <class Column>
struct EightColumns {
  static constexpr std::uint32_t together = 8 / sizeof(Column), bits = 8 * sizeof(Column);
  std::uint64_t words[8 / together];  // NOLINT(*-avoid-c-arrays): which registers hold
  SPMVPACK_INLINE explicit EightColumns(const Column* columns) {
    // One by one: copied as a whole, they would go through memory.
    for (std::uint32_t i = 0; i < 8 / together; ++i) std::memcpy(&words[i], columns + i * together, sizeof words[i]);
  }
  SPMVPACK_INLINE std::uint64_t operator[](std::uint32_t i) const {
    return static_cast<Column>(words[i / together] >> i % together * bits);
  }
};

/// AVX-512.
template <class V>
struct LanesV4 : EightOf<V> {
  using Eight = EightOf<V>;
  SPMVPACK_INLINE_V4 LanesV4(Eight from) : Eight(from) {}  // NOLINT(google-explicit-constructor)
  SPMVPACK_INLINE_V4 static LanesV4 all(V value) { return Eight::all(value); }
  template <class A>
  SPMVPACK_INLINE_V4 static LanesV4 load(const A* p, std::uint32_t n = 8) {
    return Eight::load(p, mask_of(n));
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const V* x, const Columns& columns) {
    return Eight::gather(x, columns);
  }
  /// Of 16 elements those that four bits for each lane say.
  SPMVPACK_INLINE_V4 static LanesV4 pick(const V* from, std::uint32_t places) {
    if constexpr (sizeof(V) == 8) {
      const __m512i i =
          _mm512_maskz_srlv_epi64(0xFF, _mm512_set1_epi64(places), _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28));
      return Eight{_mm512_permutex2var_pd(_mm512_loadu_pd(from), i, _mm512_loadu_pd(from + 8))};
    } else {
      const __m256i i = _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(places)),
                                          _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
      return Eight{_mm256_permutex2var_ps(_mm256_loadu_ps(from), i, _mm256_loadu_ps(from + 8))};
    }
  }
  /// What codes stand for.
  struct Table {
    const V* values;
    SPMVPACK_INLINE_V4 explicit Table(const CodedValues<V>& coded) : values(coded.values.data()) {}
    [[nodiscard]] SPMVPACK_INLINE V one() const { return values[0]; }
    [[nodiscard]] SPMVPACK_INLINE_V4 LanesV4 of(std::uint32_t codes) const { return pick(values, codes); }
  };
  SPMVPACK_INLINE_V4 void add_products(const LanesV4& a, const LanesV4& b) { this->add_product(a, b); }
  /// In the first n lanes.
  SPMVPACK_INLINE_V4 void add_products(const LanesV4& a, const LanesV4& b, std::uint32_t n) {
    this->add_product(a, b, mask_of(n));
  }

 private:
  SPMVPACK_INLINE_V4 static __mmask8 mask_of(std::uint32_t n) { return static_cast<__mmask8>((1U << n) - 1); }
};

/// All bits of the first n of eight words.
SPMVPACK_INLINE_V3 __m256i first_lanes(std::uint32_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// The values of every pair of codes, in the order of the byte that has both: half as many loads.
template <class V>
struct PairTable {
  alignas(2 * sizeof(V)) std::array<std::array<V, 2>, max_table * max_table> pairs;
  explicit PairTable(const CodedValues<V>& coded) {
    for (std::uint32_t high = 0; high < coded.count; ++high)
      for (std::uint32_t low = 0; low < coded.count; ++low)
        pairs[high * max_table + low] = {coded.values[low], coded.values[high]};
  }
  [[nodiscard]] SPMVPACK_INLINE V one() const { return pairs[0][0]; }
  /// Of lanes 2 i and 2 i + 1.
  [[nodiscard]] SPMVPACK_INLINE const V* of(std::uint32_t codes, std::uint32_t i) const {
    return pairs[codes >> 8 * i & 0xFF].data();
  }
};

/// AVX2 and FMA.
template <class V>
struct LanesV3;
template <>
struct LanesV3<double> {
  __m256d low, high;
  SPMVPACK_INLINE_V3 static LanesV3 all(double value) { return {_mm256_set1_pd(value), _mm256_set1_pd(value)}; }
  SPMVPACK_INLINE_V3 static LanesV3 load(const double* p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
  SPMVPACK_INLINE_V3 static LanesV3 load(const float* p) {
    return {_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))};
  }
  /// The first n.
  SPMVPACK_INLINE_V3 static LanesV3 load(const double* p, std::uint32_t n) {
    return {_mm256_maskload_pd(p, low_mask(n)), _mm256_maskload_pd(p + 4, high_mask(n))};
  }
  SPMVPACK_INLINE_V3 static LanesV3 load(const float* p, std::uint32_t n) {
    const __m256 both = _mm256_maskload_ps(p, first_lanes(n));
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(both)), _mm256_cvtps_pd(_mm256_extractf128_ps(both, 1))};
  }
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const double* x, const Columns& c) {
    return {four(x + c[0], x + c[1], x + c[2], x + c[3]), four(x + c[4], x + c[5], x + c[6], x + c[7])};
  }
  SPMVPACK_INLINE_V3 static LanesV3 pick(const double* from, std::uint32_t places);
  struct Table : PairTable<double> {
    using PairTable::PairTable;
    [[nodiscard]] SPMVPACK_INLINE_V3 LanesV3 of(std::uint32_t codes) const {
      const auto two = [&](std::uint32_t i) __attribute__((always_inline)) {
        return _mm_load_pd(PairTable::of(codes, i));
      };
      return {_mm256_set_m128d(two(1), two(0)), _mm256_set_m128d(two(3), two(2))};
    }
  };
  SPMVPACK_INLINE_V3 void add_products(const LanesV3& a, const LanesV3& b) {
    low = _mm256_fmadd_pd(a.low, b.low, low);
    high = _mm256_fmadd_pd(a.high, b.high, high);
  }
  SPMVPACK_INLINE_V3 void add_products(const LanesV3& a, const LanesV3& b, std::uint32_t n) {
    low = _mm256_blendv_pd(low, _mm256_fmadd_pd(a.low, b.low, low), _mm256_castsi256_pd(low_mask(n)));
    high = _mm256_blendv_pd(high, _mm256_fmadd_pd(a.high, b.high, high), _mm256_castsi256_pd(high_mask(n)));
  }
  SPMVPACK_INLINE_V3 void store(double* p) const {
    _mm256_storeu_pd(p, low);
    _mm256_storeu_pd(p + 4, high);
  }

 private:
  SPMVPACK_INLINE_V3 static __m256i low_mask(std::uint32_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  SPMVPACK_INLINE_V3 static __m256i high_mask(std::uint32_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(4, 5, 6, 7));
  }
  SPMVPACK_INLINE_V3 static __m256d four(const double* a, const double* b, const double* c, const double* d) {
    return _mm256_set_m128d(_mm_loadh_pd(_mm_load_sd(c), d), _mm_loadh_pd(_mm_load_sd(a), b));
  }
};
template <>
struct LanesV3<float> {
  __m256 v;
  SPMVPACK_INLINE_V3 static LanesV3 all(float value) { return {_mm256_set1_ps(value)}; }
  SPMVPACK_INLINE_V3 static LanesV3 load(const float* p) { return {_mm256_loadu_ps(p)}; }
  SPMVPACK_INLINE_V3 static LanesV3 load(const float* p, std::uint32_t n) {
    return {_mm256_maskload_ps(p, first_lanes(n))};
  }
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const float* x, const Columns& c) {
    return {_mm256_setr_ps(x[c[0]], x[c[1]], x[c[2]], x[c[3]], x[c[4]], x[c[5]], x[c[6]], x[c[7]])};
  }
  SPMVPACK_INLINE_V3 static LanesV3 pick(const float* from, std::uint32_t places);
  struct Table : PairTable<float> {
    using PairTable::PairTable;
    [[nodiscard]] SPMVPACK_INLINE_V3 LanesV3 of(std::uint32_t codes) const {
      const auto two = [&](std::uint32_t i) __attribute__((always_inline)) {
        double bits = 0;  // moved, never computed with
        std::memcpy(&bits, PairTable::of(codes, i), sizeof bits);
        return bits;
      };
      return {_mm256_castpd_ps(_mm256_setr_pd(two(0), two(1), two(2), two(3)))};
    }
  };
  SPMVPACK_INLINE_V3 void add_products(const LanesV3& a, const LanesV3& b) { v = _mm256_fmadd_ps(a.v, b.v, v); }
  SPMVPACK_INLINE_V3 void add_products(const LanesV3& a, const LanesV3& b, std::uint32_t n) {
    v = _mm256_blendv_ps(v, _mm256_fmadd_ps(a.v, b.v, v), _mm256_castsi256_ps(first_lanes(n)));
  }
  SPMVPACK_INLINE_V3 void store(float* p) const { _mm256_storeu_ps(p, v); }
};

/// Four bits for each lane, as columns.
struct EightPlaces {
  std::uint32_t places;
  SPMVPACK_INLINE std::uint32_t operator[](std::uint32_t lane) const { return places >> 4 * lane & 15U; }
};
SPMVPACK_INLINE_V3 LanesV3<double> LanesV3<double>::pick(const double* from, std::uint32_t places) {
  return gather(from, EightPlaces{places});
}
SPMVPACK_INLINE_V3 LanesV3<float> LanesV3<float>::pick(const float* from, std::uint32_t places) {
  return gather(from, EightPlaces{places});
}

}  // namespace spmvpack::host_loader::layouts::sjds_sums
