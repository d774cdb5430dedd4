#pragma once
// Columns that lie side by side, by AVX2: the lanes of a register are columns, and each has the additions of a multiply
// with that column alone.

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "layouts/kernels.hpp"

namespace spmvpack::host_loader::layouts {

/// A register of columns, by type of vectors. The last one of a row may have fewer: no others are read or written.
template <class V>
struct ColumnRegister;
template <>
struct ColumnRegister<double> {
  static constexpr std::uint32_t width = 4;
  using Mask = __m256i;
  __m256d v;
  SPMVPACK_INLINE_V3 static Mask first(std::uint32_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  SPMVPACK_INLINE_V3 static ColumnRegister zero() { return {_mm256_setzero_pd()}; }
  SPMVPACK_INLINE_V3 static ColumnRegister all(double value) { return {_mm256_set1_pd(value)}; }
  SPMVPACK_INLINE_V3 static ColumnRegister all(float value) { return {_mm256_cvtps_pd(_mm_set1_ps(value))}; }
  SPMVPACK_INLINE_V3 static ColumnRegister load(const double* p) { return {_mm256_loadu_pd(p)}; }
  SPMVPACK_INLINE_V3 static ColumnRegister load(const double* p, Mask last) { return {_mm256_maskload_pd(p, last)}; }
  SPMVPACK_INLINE_V3 void store(double* p) const { _mm256_storeu_pd(p, v); }
  /// The first n, not all: masked stores are slow on some processors.
  SPMVPACK_INLINE_V3 void store(double* p, std::uint32_t n) const {
    const __m128d low = _mm256_castpd256_pd128(v);
    if (n == 1) return _mm_store_sd(p, low);
    _mm_storeu_pd(p, low);
    if (n == 3) _mm_store_sd(p + 2, _mm256_extractf128_pd(v, 1));
  }
  SPMVPACK_INLINE_V3 void add(ColumnRegister other) { v = _mm256_add_pd(v, other.v); }
  SPMVPACK_INLINE_V3 void add_product(ColumnRegister a, ColumnRegister b) { v = _mm256_fmadd_pd(a.v, b.v, v); }
  SPMVPACK_INLINE_V3 static ColumnRegister product(ColumnRegister a, ColumnRegister b) {
    return {_mm256_mul_pd(a.v, b.v)};
  }
};
template <>
struct ColumnRegister<float> {
  static constexpr std::uint32_t width = 8;
  using Mask = __m256i;
  __m256 v;
  SPMVPACK_INLINE_V3 static Mask first(std::uint32_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  SPMVPACK_INLINE_V3 static ColumnRegister zero() { return {_mm256_setzero_ps()}; }
  SPMVPACK_INLINE_V3 static ColumnRegister all(float value) { return {_mm256_set1_ps(value)}; }
  SPMVPACK_INLINE_V3 static ColumnRegister load(const float* p) { return {_mm256_loadu_ps(p)}; }
  SPMVPACK_INLINE_V3 static ColumnRegister load(const float* p, Mask last) { return {_mm256_maskload_ps(p, last)}; }
  SPMVPACK_INLINE_V3 void store(float* p) const { _mm256_storeu_ps(p, v); }
  SPMVPACK_INLINE_V3 void store(float* p, std::uint32_t n) const {
    __m128 next = _mm256_castps256_ps128(v);
    if (n >= 4) {
      _mm_storeu_ps(p, next);
      next = _mm256_extractf128_ps(v, 1);
      p += 4;
    }
    if ((n & 2U) != 0) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), next);
      next = _mm_movehl_ps(next, next);
      p += 2;
    }
    if ((n & 1U) != 0) _mm_store_ss(p, next);
  }
  SPMVPACK_INLINE_V3 void add(ColumnRegister other) { v = _mm256_add_ps(v, other.v); }
  SPMVPACK_INLINE_V3 void add_product(ColumnRegister a, ColumnRegister b) { v = _mm256_fmadd_ps(a.v, b.v, v); }
  SPMVPACK_INLINE_V3 static ColumnRegister product(ColumnRegister a, ColumnRegister b) {
    return {_mm256_mul_ps(a.v, b.v)};
  }
};

/// A number for each of so many registers of columns.
template <class V, std::uint32_t registers>
struct ColumnSums {
  using Register = ColumnRegister<V>;
  static constexpr std::uint32_t width = registers * Register::width;  ///< elements, of columns or of none
  std::array<Register, registers> of;

  SPMVPACK_INLINE_V3 static ColumnSums zero() {
    ColumnSums sums;
    for (std::uint32_t i = 0; i < registers; ++i) sums.of[i] = Register::zero();
    return sums;
  }
  SPMVPACK_INLINE_V3 static ColumnSums load(const V* p) {
    ColumnSums sums;
    for (std::uint32_t i = 0; i < registers; ++i) sums.of[i] = Register::load(p + i * Register::width);
    return sums;
  }
  SPMVPACK_INLINE_V3 void store(V* p) const {
    for (std::uint32_t i = 0; i < registers; ++i) of[i].store(p + i * Register::width);
  }
  SPMVPACK_INLINE_V3 void add(const ColumnSums& others) {
    for (std::uint32_t i = 0; i < registers; ++i) of[i].add(others.of[i]);
  }
  SPMVPACK_INLINE_V3 void add_product(Register value, const ColumnSums& x) {
    for (std::uint32_t i = 0; i < registers; ++i) of[i].add_product(value, x.of[i]);
  }
};

/// Operands whose columns fill so many registers, the last one perhaps in part.
template <class V, std::uint32_t registers>
struct ColumnRows {
  using Register = ColumnRegister<V>;
  using Sums = ColumnSums<V, registers>;
  ColumnOperands<V> operands;
  typename Register::Mask last;
  std::uint32_t in_last;  ///< columns of the last register

  SPMVPACK_INLINE_V3 explicit ColumnRows(const ColumnOperands<V>& o)
      : operands(o), last(Register::first(in_last_of(o))), in_last(in_last_of(o)) {}

  /// A row of X or Y.
  [[nodiscard]] SPMVPACK_INLINE_V3 Sums load(const V* p) const {
    Sums row;
    for (std::uint32_t i = 0; i + 1 < registers; ++i) row.of[i] = Register::load(p + i * Register::width);
    row.of[registers - 1] = Register::load(p + (registers - 1) * Register::width, last);
    return row;
  }
  SPMVPACK_INLINE_V3 void store(const Sums& row, V* p) const {
    if (in_last == Register::width) return row.store(p);
    for (std::uint32_t i = 0; i + 1 < registers; ++i) row.of[i].store(p + i * Register::width);
    row.of[registers - 1].store(p + (registers - 1) * Register::width, in_last);
  }
  [[nodiscard]] SPMVPACK_INLINE_V3 const V* x(std::uint64_t column) const {
    return operands.x + static_cast<std::int64_t>(column) * operands.x_stride;
  }
  SPMVPACK_INLINE_V3 void add_product(Sums& sums, V value, std::uint64_t column) const {
    sums.add_product(Register::all(value), load(x(column)));
  }
  [[nodiscard]] SPMVPACK_INLINE_V3 V* y(std::uint64_t row) const {
    if (operands.rows != nullptr) row = operands.rows[row];
    return operands.y + static_cast<std::int64_t>(row) * operands.y_stride;
  }
  /// Completes a row that has entries.
  SPMVPACK_INLINE_V3 void put(std::uint64_t row, const Sums& sums) const {
    V* const to = y(row);
    Sums result = Sums::zero();
    if (operands.beta != 0) result = scaled(to);
    result.add_product(Register::all(operands.alpha), sums);
    store(result, to);
  }
  /// Rows [begin, end), which have none.
  SPMVPACK_INLINE_V3 void scale(std::uint64_t begin, std::uint64_t end) const {
    for (; begin < end; ++begin) {
      V* const to = y(begin);
      store(operands.beta == 0 ? Sums::zero() : scaled(to), to);
    }
  }

 private:
  static std::uint32_t in_last_of(const ColumnOperands<V>& o) { return o.count - (registers - 1) * Register::width; }
  [[nodiscard]] SPMVPACK_INLINE_V3 Sums scaled(const V* p) const {
    Sums row = load(p);
    const Register beta = Register::all(operands.beta);
    for (std::uint32_t i = 0; i < registers; ++i) row.of[i] = Register::product(beta, row.of[i]);
    return row;
  }
};

/// Calls f(n), n the registers of so many columns as a std::integral_constant.
template <class V, class F>
decltype(auto) dispatch_registers(std::uint32_t columns, F&& f) {
  constexpr std::uint32_t width = ColumnRegister<V>::width;
  const std::uint32_t registers = (columns + width - 1) / width;
  if constexpr (most_columns / width == 2)
    return dispatch_constant<1U, 2U>(registers, f);
  else
    return dispatch_constant<1U, 2U, 3U, most_columns / width>(registers, f);
}

}  // namespace spmvpack::host_loader::layouts
