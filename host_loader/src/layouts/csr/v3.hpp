#pragma once
// Rows of csr by AVX2: the order of additions of csr_rows.hpp. Elements of x are loaded one by one, which is faster
// than a gather where measured (docs/notebook/HOST.md); what limits that are loads, so that columns come two by a
// load.

#include <immintrin.h>

#include <cstring>

#include "layouts/csr/rows.hpp"

namespace spmvpack::host_loader::layouts {

/// Four neighbouring columns.
struct FourColumns {
  std::uint32_t a, b, c, d;
  SPMVPACK_INLINE explicit FourColumns(const std::uint32_t* p) {
    std::uint64_t low = 0, high = 0;
    std::memcpy(&low, p, sizeof low);
    std::memcpy(&high, p + 2, sizeof high);
    a = static_cast<std::uint32_t>(low);
    b = static_cast<std::uint32_t>(low >> 32U);
    c = static_cast<std::uint32_t>(high);
    d = static_cast<std::uint32_t>(high >> 32U);
  }
};

/// Four lanes, by type of vectors.
template <class V>
struct FourLanes;
template <>
struct FourLanes<double> {
  using Register = __m256d;
  __m256d v;
  SPMVPACK_INLINE_V3 FourLanes() : v(_mm256_setzero_pd()) {}
  SPMVPACK_INLINE_V3 static __m256d load(const double* p) { return _mm256_loadu_pd(p); }
  SPMVPACK_INLINE_V3 static __m256d load(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  SPMVPACK_INLINE_V3 static __m256d gather(const double* x, FourColumns i) {
    const __m128d low = _mm_loadh_pd(_mm_load_sd(x + i.a), x + i.b);
    const __m128d high = _mm_loadh_pd(_mm_load_sd(x + i.c), x + i.d);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
  }
  template <class A>
  SPMVPACK_INLINE_V3 void add(const A* values, const std::uint32_t* columns, const double* x) {
    v = _mm256_fmadd_pd(load(values), gather(x, FourColumns(columns)), v);
  }
  /// The first n of four, all of which are read.
  template <class A>
  SPMVPACK_INLINE_V3 void add(const A* values, const std::uint32_t* columns, const double* x, std::uint64_t n) {
    const __m256d sums = _mm256_fmadd_pd(load(values), gather(x, FourColumns(columns)), v);
    const __m256i first =
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(n)), _mm256_setr_epi64x(0, 1, 2, 3));
    v = _mm256_blendv_pd(v, sums, _mm256_castsi256_pd(first));
  }
  SPMVPACK_INLINE_V3 void add(__m256d a, const double* x) { v = _mm256_fmadd_pd(a, _mm256_loadu_pd(x), v); }
  /// Of four rows' next four entries: in place of the first of each row, and so on.
  SPMVPACK_INLINE_V3 static void transpose(__m256d& a, __m256d& b, __m256d& c, __m256d& d) {
    const __m256d ab = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
    const __m256d cd = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
    a = _mm256_permute2f128_pd(ab, cd, 0x20);
    b = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20);
    c = _mm256_permute2f128_pd(ab, cd, 0x31);
    d = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31);
  }
  SPMVPACK_INLINE_V3 static __m256d of(double a, double b, double c, double d) { return _mm256_setr_pd(a, b, c, d); }
  SPMVPACK_INLINE_V3 void plus(FourLanes others) { v = _mm256_add_pd(v, others.v); }
  SPMVPACK_INLINE_V3 void store_product(double alpha, double* y) const {
    _mm256_storeu_pd(y, _mm256_fmadd_pd(_mm256_set1_pd(alpha), v, _mm256_setzero_pd()));
  }
  SPMVPACK_INLINE_V3 void store(double* p) const { _mm256_storeu_pd(p, v); }
  /// Of eight lanes, whose others are these.
  [[nodiscard]] SPMVPACK_INLINE_V3 double sum(FourLanes others) const {
    const __m256d four = _mm256_add_pd(v, others.v);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
};
template <>
struct FourLanes<float> {
  using Register = __m128;
  __m128 v;
  SPMVPACK_INLINE_V3 FourLanes() : v(_mm_setzero_ps()) {}
  SPMVPACK_INLINE_V3 static __m128 gather(const float* x, FourColumns i) {
    const __m128 low = _mm_unpacklo_ps(_mm_load_ss(x + i.a), _mm_load_ss(x + i.b));
    return _mm_movelh_ps(low, _mm_unpacklo_ps(_mm_load_ss(x + i.c), _mm_load_ss(x + i.d)));
  }
  SPMVPACK_INLINE_V3 void add(const float* values, const std::uint32_t* columns, const float* x) {
    v = _mm_fmadd_ps(_mm_loadu_ps(values), gather(x, FourColumns(columns)), v);
  }
  SPMVPACK_INLINE_V3 void add(const float* values, const std::uint32_t* columns, const float* x, std::uint64_t n) {
    const __m128 sums = _mm_fmadd_ps(_mm_loadu_ps(values), gather(x, FourColumns(columns)), v);
    const __m128i first = _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(n)), _mm_setr_epi32(0, 1, 2, 3));
    v = _mm_blendv_ps(v, sums, _mm_castsi128_ps(first));
  }
  SPMVPACK_INLINE_V3 static __m128 load(const float* p) { return _mm_loadu_ps(p); }
  SPMVPACK_INLINE_V3 void add(__m128 a, const float* x) { v = _mm_fmadd_ps(a, _mm_loadu_ps(x), v); }
  SPMVPACK_INLINE_V3 static void transpose(__m128& a, __m128& b, __m128& c, __m128& d) {
    _MM_TRANSPOSE4_PS(a, b, c, d);
  }
  SPMVPACK_INLINE_V3 static __m128 of(float a, float b, float c, float d) { return _mm_setr_ps(a, b, c, d); }
  SPMVPACK_INLINE_V3 void plus(FourLanes others) { v = _mm_add_ps(v, others.v); }
  SPMVPACK_INLINE_V3 void store_product(float alpha, float* y) const {
    _mm_storeu_ps(y, _mm_fmadd_ps(_mm_set1_ps(alpha), v, _mm_setzero_ps()));
  }
  SPMVPACK_INLINE_V3 void store(float* p) const { _mm_storeu_ps(p, v); }
  [[nodiscard]] SPMVPACK_INLINE_V3 float sum(FourLanes others) const {
    const __m128 four = _mm_add_ps(v, others.v);
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
};

/// A row's eight lanes.
template <class V>
struct EightSums {
  FourLanes<V> low, high;
  SPMVPACK_INLINE_V3 EightSums() {}  // NOLINT(modernize-use-equals-default): the default would lack the target

  /// Entries [at, at + 8).
  template <bool fetches, class Rows>
  SPMVPACK_INLINE_V3 void add(const Rows& a, std::uint64_t at) {
    if constexpr (fetches) a.fetch(at);
    low.add(a.values + at, a.col_idx + at, a.operands.x);
    high.add(a.values + at + 4, a.col_idx + at + 4, a.operands.x);
  }
  /// The last entries [at, at + n) of an even number of fours: 5 to 8, of which 8 are read; or of an odd one: 1 to 4.
  template <bool fetches, class Rows>
  SPMVPACK_INLINE_V3 V finish(const Rows& a, std::uint64_t at, std::uint64_t n, bool even) {
    if constexpr (fetches) a.fetch(at);
    if (even) {
      low.add(a.values + at, a.col_idx + at, a.operands.x);
      high.add(a.values + at + 4, a.col_idx + at + 4, a.operands.x, n - 4);
    } else {
      low.add(a.values + at, a.col_idx + at, a.operands.x, n);
    }
    return low.sum(high);
  }
  /// The last 1 to 8 entries, of which whole fours are read unless they end behind the matrix's.
  template <class Rows>
  SPMVPACK_INLINE_V3 V finish(const Rows& a, std::uint64_t at, std::uint64_t n, std::uint64_t entries) {
    if (at + (n + 3) / 4 * 4 <= entries) return finish<false>(a, at, n, n > 4);
    std::array<V, 8> lanes;
    store(lanes.data());
    for (std::uint64_t i = 0; i < n; ++i) a.add(lanes[i], at + i);
    load(lanes.data());
    return low.sum(high);
  }
  SPMVPACK_INLINE_V3 void load(const V* lanes) {
    low.v = FourLanes<V>::load(lanes);
    high.v = FourLanes<V>::load(lanes + 4);
  }
  SPMVPACK_INLINE_V3 void store(V* lanes) const {
    low.store(lanes);
    high.store(lanes + 4);
  }
};

/// Two rows of so many fours of entries side by side: one's chain of fma and its sum do not keep a processor busy.
template <class How, class Rows>
SPMVPACK_INLINE_V3 void two_rows_v3(const Rows& a, std::uint64_t fours, std::uint64_t r, std::uint64_t s) {
  const std::uint64_t full = (fours - 1) / 2 * 8, at = a.row_ptr[r], other = a.row_ptr[s];
  EightSums<typename Rows::Vector> sums, others;
  for (std::uint64_t k = 0; k < full; k += 8) {
    sums.template add<How::fetches>(a, at + k);
    others.template add<How::fetches>(a, other + k);
  }
  const bool even = fours % 2 == 0;
  a.template put<How::plain>(r, sums.template finish<How::fetches>(a, at + full, a.row_ptr[r + 1] - at - full, even));
  a.template put<How::plain>(
      s, others.template finish<How::fetches>(a, other + full, a.row_ptr[s + 1] - other - full, even));
}

/// The sum of n entries, of which whole fours are read.
template <bool fetches, class Rows>
SPMVPACK_INLINE_V3 auto sum_v3(const Rows& a, std::uint64_t at, std::uint64_t n) {
  const std::uint64_t fours = (n + 3) / 4, full = (fours - 1) / 2 * 8;
  EightSums<typename Rows::Vector> sums;
  for (std::uint64_t k = 0; k < full; k += 8) sums.template add<fetches>(a, at + k);
  return sums.template finish<fetches>(a, at + full, n - full, fours % 2 == 0);
}

/// Fetches n values that are so many ahead.
template <class A>
SPMVPACK_INLINE void fetch_v3(const A* values, std::uint64_t n, std::uint64_t ahead) {
  for (std::uint64_t k = 0; k < n; k += cache_line / sizeof(A)) prefetch(values, (ahead + k) * sizeof(A));
}

/// Four rows' values that are n apart, beginning with these.
template <class V, class A>
SPMVPACK_INLINE_V3 auto column_v3(const A* values, std::uint64_t n) {
  return FourLanes<V>::of(values[0], values[n], values[2 * n], values[3 * n]);
}

/// Adds the next four entries of four rows of n: these values, these columns of the first row.
template <class V, class A>
SPMVPACK_INLINE_V3 void add_four_v3(const A* values, const std::uint32_t* columns, const V* x, std::uint64_t n,
                                    FourLanes<V>& p, FourLanes<V>& q, FourLanes<V>& r, FourLanes<V>& s) {
  using Four = FourLanes<V>;
  auto a = Four::load(values), b = Four::load(values + n), c = Four::load(values + 2 * n),
       d = Four::load(values + 3 * n);
  Four::transpose(a, b, c, d);
  p.add(a, x + columns[0]);
  q.add(b, x + columns[1]);
  r.add(c, x + columns[2]);
  s.add(d, x + columns[3]);
}

template <class How, class V, class Rows>
SPMVPACK_INLINE_V3 void put_four_v3(const Rows& a, std::uint64_t r, const FourLanes<V>& sums) {
  if constexpr (How::plain) {
    sums.store_product(a.operands.alpha, a.operands.y + r);
  } else {
    std::array<V, 4> of_rows;
    sums.store(of_rows.data());
    for (std::uint64_t i = 0; i < of_rows.size(); ++i) a.operands.put(r + i, of_rows[i]);
  }
}

/// Rows of n entries, 1 to 7, that follow each other with columns one higher in each: four at a time, so that elements
/// of x are neighbours.
template <class How, std::uint64_t n, class Rows>
SPMVPACK_INLINE_V3 void shifted_few_v3(const Rows& a, std::uint64_t r, std::uint64_t count) {
  using V = typename Rows::Vector;
  const std::uint64_t at = a.row_ptr[r], end = r + count;
  const auto* values = a.values + at;
  const std::uint32_t* const columns = a.col_idx + at;
  const V* x = a.operands.x;
  for (; r + 4 <= end; r += 4, values += 4 * n, x += 4) {
    if constexpr (How::fetches) fetch_v3(values, 4 * n, a.ahead);
    FourLanes<V> sums;
    if constexpr (n >= 4) add_four_v3<V>(values, columns, x, n, sums, sums, sums, sums);
    for (std::uint64_t k = n / 4 * 4; k < n; ++k) sums.add(column_v3<V>(values + k, n), x + columns[k]);
    put_four_v3<How>(a, r, sums);
  }
  a.template of_length<n>(How(), r, end - r);
}
template <class How, std::uint64_t n = 1, class Rows>
SPMVPACK_INLINE_V3 void shifted_v3(const Rows& a, std::uint64_t length, std::uint64_t r, std::uint64_t count) {
  if constexpr (n + 1 < RowOrder::by_fours)
    if (length != n) return shifted_v3<How, n + 1>(a, length, r, count);
  shifted_few_v3<How, n>(a, r, count);
}

/// The same for rows of 8 entries and more, n: lane k of each of four rows side by side.
template <class How, class Rows>
SPMVPACK_INLINE_V3 std::uint64_t shifted_many_v3(const Rows& a, std::uint64_t n, std::uint64_t r, std::uint64_t count) {
  using V = typename Rows::Vector;
  const std::uint64_t at = a.row_ptr[r], end = r + count;
  const auto* values = a.values + at;
  const std::uint32_t* const columns = a.col_idx + at;
  const V* x = a.operands.x;
  for (; r + 4 <= end; r += 4, values += 4 * n, x += 4) {
    if constexpr (How::fetches) fetch_v3(values, 4 * n, a.ahead);
    FourLanes<V> s0, s1, s2, s3, s4, s5, s6, s7;
    std::uint64_t k = 0;
    for (; k + 8 <= n; k += 8) {
      add_four_v3<V>(values + k, columns + k, x, n, s0, s1, s2, s3);
      add_four_v3<V>(values + k + 4, columns + k + 4, x, n, s4, s5, s6, s7);
    }
    const auto one = [&](FourLanes<V>& s) SPMVPACK_LAMBDA_V3 {
      if (k == n) return;
      s.add(column_v3<V>(values + k, n), x + columns[k]);
      ++k;
    };
    if (k + 4 <= n) {
      add_four_v3<V>(values + k, columns + k, x, n, s0, s1, s2, s3);
      k += 4;
      one(s4), one(s5), one(s6);
    } else {
      one(s0), one(s1), one(s2);
    }
    s0.plus(s4), s1.plus(s5), s2.plus(s6), s3.plus(s7);
    s0.plus(s2), s1.plus(s3), s0.plus(s1);
    put_four_v3<How>(a, r, s0);
  }
  return r;
}

/// Rows of any lengths that follow each other, which a processor fetches ahead by itself. A function of its own, with a
/// copy, so that registers hold what its loops need.
template <class How, class Rows>
[[gnu::noinline]] SPMVPACK_TARGET_V3 void mixed_v3(const Rows& all, std::uint64_t r, std::uint64_t end) {
  const Rows a = all;
  for (; r < end; ++r) {
    const std::uint64_t at = a.row_ptr[r], n = a.row_ptr[r + 1] - at;
    typename Rows::Vector sum = 0;
    if (n >= RowOrder::by_fours) {
      sum = sum_v3<false>(a, at, n);
    } else if (n != 0) {
      for (std::uint64_t k = at; k < at + n; ++k) a.add(sum, k);
    } else if constexpr (How::plain) {
      a.operands.y[r] = 0;
      continue;
    } else {
      a.operands.scale(r, r + 1);
      continue;
    }
    a.template put<How::plain>(r, sum);
  }
}

template <class How, class Rows>
SPMVPACK_TARGET_V3 void all_runs_v3(How how, Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end) {
  for (; begin < end; ++begin) {
    const RowOrder::Run run = order.runs[begin];
    const std::uint8_t* const row = order.row.data() + run.first;
    const std::uint64_t first = run.first - run.first % RowOrder::window, count = run.rows_less_1 + std::uint64_t{1};
    if (run.shape == RowOrder::shifted && run.kind != 0 && run.kind < RowOrder::by_fours) {
      shifted_v3<How>(a, run.kind, first + row[0], count);
    } else if (run.kind < RowOrder::by_fours) {
      a.few(how, run, row, first);
    } else if (run.kind == RowOrder::mixed) {
      mixed_v3<How>(a, first + row[0], first + row[0] + count);
    } else if (run.kind == RowOrder::at_end) [[unlikely]] {
      a.any(row, count, first);
    } else {
      const std::uint64_t fours = run.kind - std::uint64_t{RowOrder::by_fours};
      std::uint64_t i = 0;
      if (run.shape == RowOrder::shifted) {
        const std::uint64_t r = first + row[0];
        i = shifted_many_v3<How>(a, a.row_ptr[r + 1] - a.row_ptr[r], r, count) - r;
      }
      for (; i + 2 <= count; i += 2) two_rows_v3<How>(a, fours, first + row[i], first + row[i + 1]);
      if (i == count) continue;
      const std::uint64_t r = first + row[i], at = a.row_ptr[r];
      a.template put<How::plain>(r, sum_v3<How::fetches>(a, at, a.row_ptr[r + 1] - at));
    }
  }
}

template <class Rows>
void runs_v3(Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end) {
  const bool plain = a.operands.beta == 0 && a.operands.rows == nullptr;
  if (!plain)
    all_runs_v3(How<true, false>(), a, order, begin, end);  // 0 ahead, what is fetched is what is read next
  else if (a.ahead != 0)
    all_runs_v3(How<true, true>(), a, order, begin, end);
  else
    all_runs_v3(How<false, true>(), a, order, begin, end);
}
/// The sums of pieces that follow each other, whose columns begin alike: some entries of each in turn, so that what
/// they take of x is in the nearest cache.
template <class Rows>
SPMVPACK_INLINE_V3 void together_v3(const Rows& a, const RowOrder::Piece* pieces, std::uint64_t count,
                                    std::uint64_t entries, typename Rows::Vector* sums) {
  using V = typename Rows::Vector;
  const std::uint64_t in_turn =
      count == 1 ? RowOrder::piece : entries_in_turn(a.entries_of(*pieces).second, a.columns_of(*pieces));
  std::array<std::array<V, 8>, most_together> lanes;
  for (std::uint64_t from = 0; from < RowOrder::piece; from += in_turn) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto [first, n] = a.entries_of(pieces[i]);
      if (n <= from) continue;
      if (n < RowOrder::by_fours) {  // a last piece, which is added up in turn
        sums[pieces[i].place] = a.sum(first, n);
        continue;
      }
      const std::uint64_t full = (n - 1) / 8 * 8, to = std::min(from + in_turn, full);
      const std::uint64_t next = i + 1 < count ? a.entries_of(pieces[i + 1]).first : first + in_turn;
      EightSums<V> mine;
      if (from != 0) mine.load(lanes[i].data());
      for (std::uint64_t k = from; k < to; k += 8) {
        prefetch(a.values + next, k * sizeof *a.values);
        prefetch(a.col_idx + next, k * sizeof *a.col_idx);
        mine.template add<false>(a, first + k);
      }
      if (full < from + in_turn)
        sums[pieces[i].place] = mine.finish(a, first + full, n - full, entries);
      else
        mine.store(lanes[i].data());
    }
  }
}

/// The sums of pieces [begin, end).
template <class Rows>
SPMVPACK_TARGET_V3 void pieces_v3(Rows a, const RowOrder& order, std::uint64_t begin, std::uint64_t end,
                                  typename Rows::Vector* sums) {
  while (begin < end) {
    const RowOrder::Piece* const pieces = &order.pieces[begin];
    const auto [first, n] = a.entries_of(*pieces);
    const std::uint64_t count =
        pieces_together(end - begin, n, [&](std::uint64_t i) { return a.columns_of(pieces[i]); });
    if (count == 1 && n == RowOrder::piece)  // which reads no entry but its own
      sums[pieces->place] = sum_v3<true>(a, first, n);
    else
      together_v3(a, pieces, count, order.entries, sums);
    begin += count;
  }
}

}  // namespace spmvpack::host_loader::layouts
