#pragma once
// The eight lanes of sjds in vector registers: one type for each instruction set, with the same results. A lane is
// added to by fma alone, in the order of the steps.

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "layouts/eight_lanes.hpp"
#include "layouts/sjds/sums.hpp"

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

/// Lanes with the same columns, in four groups of neighbours, whose first lanes are given.
struct FourGroups {
  std::uint64_t of_lanes;  ///< a byte each
  std::array<std::uint32_t, groups> first;
  SPMVPACK_INLINE_V3 explicit FourGroups(std::uint32_t first_lanes) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    of_lanes = _pdep_u64(first_lanes, ones) * ones - ones;
    for (std::uint32_t& lane : first) {
      lane = _tzcnt_u32(first_lanes);
      first_lanes = _blsr_u32(first_lanes);
    }
  }
};

/// Lanes with consecutive columns up to one, and from there on again, further along.
struct TwoRuns {
  std::uint32_t second;  ///< lane
  SPMVPACK_INLINE explicit TwoRuns(std::uint32_t lane) : second(lane) {}
  /// What lane 0 would have of x, were it in the second run: no less than its own column, as columns rise.
  template <class V, class Columns>
  SPMVPACK_INLINE const V* from(const V* x, const Columns& c) const {
    return x + (c[second] - second);
  }
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
  struct Groups : FourGroups {
    __m256i low, high;
    SPMVPACK_INLINE_V3 explicit Groups(std::uint32_t first_lanes)
        : FourGroups(first_lanes), low(words_of(of_lanes)), high(words_of(of_lanes >> 32U)) {}

   private:
    /// The numbers of the two words of each of four elements.
    SPMVPACK_INLINE_V3 static __m256i words_of(std::uint64_t elements) {
      const __m256i i = _mm256_cvtepu8_epi64(_mm_cvtsi64_si128(static_cast<std::int64_t>(2 * elements)));
      return _mm256_add_epi32(_mm256_or_si256(i, _mm256_slli_epi64(i, 32)), _mm256_set1_epi64x(std::int64_t{1} << 32U));
    }
  };
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const double* x, const Columns& c, const Groups& g) {
    return spread(four(x + c[g.first[0]], x + c[g.first[1]], x + c[g.first[2]], x + c[g.first[3]]), g);
  }
  struct Runs : TwoRuns {
    __m256d low, high;  ///< masks of the second run
    SPMVPACK_INLINE_V3 explicit Runs(std::uint32_t lane)
        : TwoRuns(lane),
          low(_mm256_castsi256_pd(_mm256_xor_si256(low_mask(lane), _mm256_set1_epi64x(-1)))),
          high(_mm256_castsi256_pd(_mm256_xor_si256(high_mask(lane), _mm256_set1_epi64x(-1)))) {}
  };
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const double* x, const Columns& c, OneColumn /*one*/) {
    return all(x[c[0]]);
  }
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const double* x, const Columns& c, const Runs& r) {
    const LanesV3 a = load(x + c[0]), b = load(r.from(x, c));
    return {_mm256_blendv_pd(a.low, b.low, r.low), _mm256_blendv_pd(a.high, b.high, r.high)};
  }
  SPMVPACK_INLINE_V3 static LanesV3 window(const double* from, EightPlaces places) {
    return places.bits == consecutive ? load(from) : gather(from, places);
  }
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

 protected:
  SPMVPACK_INLINE_V3 static LanesV3 spread(__m256d of_groups, const Groups& g) {
    const __m256 v = _mm256_castpd_ps(of_groups);
    return {_mm256_castps_pd(_mm256_permutevar8x32_ps(v, g.low)),
            _mm256_castps_pd(_mm256_permutevar8x32_ps(v, g.high))};
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
  struct Groups : FourGroups {
    __m256i elements;
    SPMVPACK_INLINE_V3 explicit Groups(std::uint32_t first_lanes)
        : FourGroups(first_lanes),
          elements(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<std::int64_t>(of_lanes)))) {}
  };
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const float* x, const Columns& c, const Groups& g) {
    const __m128 four = _mm_setr_ps(x[c[g.first[0]]], x[c[g.first[1]]], x[c[g.first[2]]], x[c[g.first[3]]]);
    return {_mm256_permutevar8x32_ps(_mm256_castps128_ps256(four), g.elements)};
  }
  struct Runs : TwoRuns {
    __m256 mask;  ///< of the second run
    SPMVPACK_INLINE_V3 explicit Runs(std::uint32_t lane)
        : TwoRuns(lane), mask(_mm256_castsi256_ps(_mm256_xor_si256(first_lanes(lane), _mm256_set1_epi32(-1)))) {}
  };
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const float* x, const Columns& c, OneColumn /*one*/) {
    return all(x[c[0]]);
  }
  template <class Columns>
  SPMVPACK_INLINE_V3 static LanesV3 gather(const float* x, const Columns& c, const Runs& r) {
    return {_mm256_blendv_ps(load(x + c[0]).v, load(r.from(x, c)).v, r.mask)};
  }
  SPMVPACK_INLINE_V3 static LanesV3 window(const float* from, EightPlaces places) {
    return places.bits == consecutive ? load(from) : gather(from, places);
  }
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

/// AVX-512, in registers of 256 bits: eight doubles at any place, as those of x, lie in two cache lines, which takes
/// two cycles of an EPYC (Zen 4), and 1.5 in halves, of which one does (docs/notebook/HOST.md).
template <class V>
struct LanesV4;
template <>
struct LanesV4<double> : LanesV3<double> {
  using Halves = LanesV3<double>;
  SPMVPACK_INLINE_V4 LanesV4(Halves from) : Halves(from) {}  // NOLINT(google-explicit-constructor)
  SPMVPACK_INLINE_V4 explicit LanesV4(EightDoubles v) : Halves{v.low(), v.high()} {}
  SPMVPACK_INLINE_V4 static LanesV4 all(double value) { return Halves::all(value); }
  template <class A>
  SPMVPACK_INLINE_V4 static LanesV4 load(const A* p) {
    return Halves::load(p);
  }
  template <class A>
  SPMVPACK_INLINE_V4 static LanesV4 load(const A* p, std::uint32_t n) {
    return LanesV4(EightDoubles::load(p, mask_of(n)));
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const double* x, const Columns& c) {
    return Halves{four(x + c[0], x + c[1], x + c[2], x + c[3]), four(x + c[4], x + c[5], x + c[6], x + c[7])};
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const double* x, const Columns& c, OneColumn one) {
    return Halves::gather(x, c, one);
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const double* x, const Columns& c, const Groups& g) {
    return spread(four(x + c[g.first[0]], x + c[g.first[1]], x + c[g.first[2]], x + c[g.first[3]]), g);
  }
  struct Runs : TwoRuns {
    __mmask8 mask;  ///< of the second run
    SPMVPACK_INLINE_V4 explicit Runs(std::uint32_t lane) : TwoRuns(lane), mask(static_cast<__mmask8>(~mask_of(lane))) {}
  };
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const double* x, const Columns& c, const Runs& r) {
    const double* const first = x + c[0];
    const double* const second = r.from(x, c);
    return Halves{_mm256_mask_loadu_pd(_mm256_loadu_pd(first), r.mask, second),
                  _mm256_mask_loadu_pd(_mm256_loadu_pd(first + 4), r.mask >> 4U, second + 4)};
  }
  SPMVPACK_INLINE_V4 static LanesV4 window(const double* from, EightPlaces places) {
    if (places.bits == consecutive) return load(from);
    const __m512i i = indices(places.bits);
    if ((places.bits & beyond_eight) == 0)
      return LanesV4(EightDoubles{_mm512_maskz_permutexvar_pd(0xFF, i, _mm512_loadu_pd(from))});
    return pick(from, i);
  }
  /// What codes stand for.
  struct Table {
    const double* values;
    SPMVPACK_INLINE_V4 explicit Table(const CodedValues<double>& coded) : values(coded.values.data()) {}
    [[nodiscard]] SPMVPACK_INLINE double one() const { return values[0]; }
    [[nodiscard]] SPMVPACK_INLINE_V4 LanesV4 of(std::uint32_t codes) const { return pick(values, indices(codes)); }
  };
  SPMVPACK_INLINE_V4 void add_products(const LanesV4& a, const LanesV4& b) { Halves::add_products(a, b); }
  /// In the first n lanes.
  SPMVPACK_INLINE_V4 void add_products(const LanesV4& a, const LanesV4& b, std::uint32_t n) {
    const __mmask8 m = mask_of(n);
    low = _mm256_mask3_fmadd_pd(a.low, b.low, low, m);
    high = _mm256_mask3_fmadd_pd(a.high, b.high, high, m >> 4U);
  }

  /// Four bits for each lane.
  SPMVPACK_INLINE_V4 static __m512i indices(std::uint32_t bits) {
    return _mm512_maskz_srlv_epi64(0xFF, _mm512_set1_epi32(static_cast<int>(bits)),
                                   _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28));
  }
  /// As `EightDoubles::of` does.
  SPMVPACK_INLINE_V4 static __m256d four(const double* a, const double* b, const double* c, const double* d) {
    __m256d v = _mm256_castpd128_pd256(_mm_load_sd(a));
    v = _mm256_mask_mov_pd(v, 2, _mm256_set1_pd(*b));
    v = _mm256_mask_mov_pd(v, 4, _mm256_set1_pd(*c));
    return _mm256_mask_mov_pd(v, 8, _mm256_set1_pd(*d));
  }
  SPMVPACK_INLINE_V4 static __mmask8 mask_of(std::uint32_t n) { return static_cast<__mmask8>((1U << n) - 1); }

 private:
  /// Of 16 elements those that indices say.
  SPMVPACK_INLINE_V4 static LanesV4 pick(const double* from, __m512i i) {
    return LanesV4(EightDoubles{_mm512_permutex2var_pd(_mm512_loadu_pd(from), i, _mm512_loadu_pd(from + lanes))});
  }
};
template <>
struct LanesV4<float> : LanesV3<float> {
  using Whole = LanesV3<float>;
  SPMVPACK_INLINE_V4 LanesV4(Whole from) : Whole(from) {}  // NOLINT(google-explicit-constructor)
  SPMVPACK_INLINE_V4 static LanesV4 all(float value) { return Whole::all(value); }
  SPMVPACK_INLINE_V4 static LanesV4 load(const float* p) { return Whole::load(p); }
  SPMVPACK_INLINE_V4 static LanesV4 load(const float* p, std::uint32_t n) {
    return Whole{EightFloats::load(p, mask_of(n)).v};
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const float* x, const Columns& c) {
    return Whole{EightFloats::gather(x, c).v};
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const float* x, const Columns& c, OneColumn one) {
    return Whole::gather(x, c, one);
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const float* x, const Columns& c, const Groups& g) {
    return Whole::gather(x, c, g);
  }
  template <class Columns>
  SPMVPACK_INLINE_V4 static LanesV4 gather(const float* x, const Columns& c, const Runs& r) {
    return Whole::gather(x, c, r);
  }
  SPMVPACK_INLINE_V4 static LanesV4 window(const float* from, EightPlaces places) {
    return places.bits == consecutive ? load(from) : pick(from, places.bits);
  }
  struct Table {
    const float* values;
    SPMVPACK_INLINE_V4 explicit Table(const CodedValues<float>& coded) : values(coded.values.data()) {}
    [[nodiscard]] SPMVPACK_INLINE float one() const { return values[0]; }
    [[nodiscard]] SPMVPACK_INLINE_V4 LanesV4 of(std::uint32_t codes) const { return pick(values, codes); }
  };
  SPMVPACK_INLINE_V4 void add_products(const LanesV4& a, const LanesV4& b) { Whole::add_products(a, b); }
  SPMVPACK_INLINE_V4 void add_products(const LanesV4& a, const LanesV4& b, std::uint32_t n) {
    v = _mm256_mask3_fmadd_ps(a.v, b.v, v, mask_of(n));
  }

 private:
  /// Of 16 elements those that four bits for each lane say.
  SPMVPACK_INLINE_V4 static LanesV4 pick(const float* from, std::uint32_t bits) {
    const __m256i i =
        _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(bits)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    return Whole{_mm256_permutex2var_ps(_mm256_loadu_ps(from), i, _mm256_loadu_ps(from + lanes))};
  }
  SPMVPACK_INLINE_V4 static __mmask8 mask_of(std::uint32_t n) { return static_cast<__mmask8>((1U << n) - 1); }
};

}  // namespace spmvpack::host_loader::layouts::sjds_sums
