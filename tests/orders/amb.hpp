#pragma once
// amb's order of additions (docs/LAYOUTS.md), from the matrix alone.

#include <algorithm>
#include <cmath>
#include <vector>

#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::test {

/// A x + 0 with segments of `width` columns and blocks of `block`.
template <class A, class V>
std::vector<V> multiply_in_order_of_amb(const CsrMatrix& a, std::uint64_t width, std::uint64_t block,
                                        const std::vector<V>& x) {
  std::vector<V> y(a.rows);
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    std::vector<V> partial;
    const std::uint64_t stop = a.row_ptr[r + 1];
    for (std::uint64_t k = a.row_ptr[r]; k < stop;) {
      const std::uint64_t begin = a.col_idx[k] / width * width, end = std::min(a.cols, begin + width);
      V sum = 0;
      while (k < stop && a.col_idx[k] < end) {
        const std::uint64_t first = std::min<std::uint64_t>(a.col_idx[k], end - block);
        for (std::uint64_t c = first; c < first + block; ++c) {
          const bool entry = k < stop && a.col_idx[k] == c;
          sum = std::fma(entry ? std::get<Array<A>>(a.values)[k] : V{0}, x[c], sum);
          if (entry) ++k;
        }
      }
      partial.push_back(sum);
    }
    if (partial.empty()) continue;
    V sum = partial[0];
    for (std::size_t i = 1; i < partial.size(); ++i) sum = sum + partial[i];
    y[r] = std::fma(V{1}, sum, V{0});
  }
  return y;
}

}  // namespace spmvpack::test
