#include "bench/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::bench {
namespace {

// The reference's own rounding must not matter beside that of a double.
static_assert(std::numeric_limits<long double>::digits >= 64);

constexpr std::uint64_t rows_at_once = 4096;

/// |value - reference| over the bound. A negative bound: sums on the way may be too large for the type.
double share(long double value, long double reference, double bound) {
  const auto wrong_unless = [](bool right) {
    if (right) return 0.0;
    return std::numeric_limits<double>::infinity();
  };
  if (value == reference) return 0;
  // NaN is due where the reference is NaN; where it is infinite, finite terms may have met it with an overflow.
  if (!std::isfinite(reference)) return wrong_unless(std::isnan(value));
  if (!std::isfinite(value)) return wrong_unless(bound < 0);
  return static_cast<double>(std::fabs(value - reference)) / std::fabs(bound);
}

}  // namespace

template <class T>
std::vector<T> make_x(std::uint64_t size, std::uint64_t seed) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 53U) - 1;
  std::vector<T> x(size);
  for (std::uint64_t j = 0; j < size; ++j) {
    // Odd multipliers (those of splitmix64) and shifted exclusive ors can be undone: each step is a bijection.
    std::uint64_t k = (j ^ (seed * 0x9E3779B97F4A7C15U)) & mask;
    k = (k * 0xBF58476D1CE4E5B9U) & mask;
    k ^= k >> 27U;
    k = (k * 0x94D049BB133111EBU) & mask;
    k ^= k >> 31U;
    x[j] = static_cast<T>(static_cast<double>(k) * 0x1p-52 - 1.0);
  }
  return x;
}

template <class T>
std::vector<T> make_columns(std::span<const T> x, std::uint64_t columns) {
  std::vector<T> all;
  all.reserve(x.size() * columns);
  for (const T element : x)
    for (std::uint64_t j = 0; j < columns; ++j) all.push_back(element * static_cast<T>(column_factor(j)));
  return all;
}

template <class T>
Reference::Reference(const CsrView& a, std::span<const T> x, int threads, std::uint64_t columns)
    : y_(a.rows()), bound_(a.rows()), columns_(columns) {
  dispatch(a.value_type(), [&]<class Value>(Value) { fill(a, a.values<Value>(), x, threads); });
}

template <class Value, class T>
void Reference::fill(const CsrView& a, const Value* values, std::span<const T> x, int threads) {
  constexpr long double unit = std::numeric_limits<T>::epsilon() / 2, smallest = std::numeric_limits<T>::denorm_min();
  unsigned largest_factor = 1;
  for (std::uint64_t j = 0; j < columns_; ++j) largest_factor = std::max(largest_factor, column_factor(j));
  parallel_pieces(a.rows(), rows_at_once, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      long double sum = 0, size = 0;
      for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
        const long double product = static_cast<long double>(values[k]) * static_cast<long double>(x[a.col_idx()[k]]);
        sum += product;
        size += std::fabs(product);
      }
      y_[i] = sum;
      const auto n = static_cast<long double>(a.row_length(i));
      const auto bound = static_cast<double>((n + 4) * unit * size + n * smallest);
      bound_[i] = size * largest_factor <= static_cast<long double>(std::numeric_limits<T>::max()) ? bound : -bound;
    }
  });
}

template <class T>
double Reference::worst(std::span<const T> y, int threads) const {
  double largest = 0;
  std::mutex guard;
  parallel_pieces(y_.size(), rows_at_once, threads, [&](std::uint64_t first, std::uint64_t last) {
    double local = 0;
    for (std::uint64_t i = first; i < last; ++i)
      for (std::uint64_t j = 0; j < columns_; ++j) {
        const auto value = static_cast<long double>(y[i * columns_ + j]);
        local = std::max(local, share(value / column_factor(j), y_[i], bound_[i]));
      }
    const std::lock_guard lock(guard);
    largest = std::max(largest, local);
  });
  return largest;
}

#define SPMVPACK_INSTANTIATE(T)                                                          \
  template std::vector<T> make_x(std::uint64_t, std::uint64_t);                          \
  template std::vector<T> make_columns(std::span<const T>, std::uint64_t);               \
  template Reference::Reference(const CsrView&, std::span<const T>, int, std::uint64_t); \
  template double Reference::worst(std::span<const T>, int) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::bench
