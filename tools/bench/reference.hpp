#pragma once
/// What is right: a product in extended precision, and how far from it a multiply may be, row by row.

#include <span>
#include <vector>

#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::bench {

/// x for a benchmark: entries in [-1, 1), scattered by a bijection of 53 bits and therefore all distinct (in f32 as far
/// as rounding leaves them so), so that a wrong column shows. The same for the same seed everywhere.
template <class T>
std::vector<T> make_x(std::uint64_t size, std::uint64_t seed);

/// The power of two that column j of X is x multiplied by: neighbours differ, and the reference serves all of them.
constexpr unsigned column_factor(std::uint64_t j) { return 1U << (j % 8); }
/// X of so many columns, row-major: x(i) column_factor(j).
template <class T>
std::vector<T> make_columns(std::span<const T> x, std::uint64_t columns);

/// A x in long double and, for each row i, (n_i + 4) u sum_j |a_ij x_j|, which the product of any order of additions in
/// T, the type of x, keeps to, whichever type the values of A have: n_i entries, u = 2^-53 (f64) or 2^-24 (f32). Where
/// products are denormal, each of them may be off by the smallest number of T besides. Of several columns, each is
/// checked after a division by its factor.
class Reference {
 public:
  template <class T>
  Reference(const CsrView& a, std::span<const T> x, int threads = 0, std::uint64_t columns = 1);

  /// The largest |y_i - reference_i| / bound_i; 0 if both are 0, infinite if the bound is 0 and the difference is
  /// not. y is right where this is at most 1. A y_i that is not finite is infinitely wrong, but where the reference is
  /// NaN or that infinity too, or sum_j |a_ij x_j|, times the largest factor, is more than T holds, which may then
  /// overflow on the way. `y` is row-major, of the reference's columns.
  template <class T>
  [[nodiscard]] double worst(std::span<const T> y, int threads = 0) const;

 private:
  template <class Value, class T>
  void fill(const CsrView& a, const Value* values, std::span<const T> x, int threads);

  Array<long double> y_;
  Array<double> bound_;
  std::uint64_t columns_;
};

}  // namespace spmvpack::bench
