#pragma once
// amb's order of additions (docs/LAYOUTS.md), from the matrix alone.

#include <algorithm>
#include <cmath>
#include <vector>

#include "spmvpack/container/csr_matrix.hpp"

namespace spmvpack::test {

/// A x + 0 with segments of `width` columns and blocks of `block`.
template <class A, class V>
std::vector<V> multiply_in_order_of_amb(const CsrMatrix& a, std::uint64_t width, std::uint64_t block,
                                        const std::vector<V>& x) {
  std::vector<V> y(a.rows);
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    std::vector<V> partial;
    for (std::uint64_t begin = 0; begin < a.cols; begin += width) {
      const std::uint64_t end = std::min(a.cols, begin + width);
      std::vector<V> dense(end - begin);
      std::vector<bool> open(end - begin);  // entries that no block holds yet
      bool any = false;
      for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
        if (a.col_idx[k] >= begin && a.col_idx[k] < end) {
          dense[a.col_idx[k] - begin] = std::get<Array<A>>(a.values)[k];
          open[a.col_idx[k] - begin] = any = true;
        }
      if (!any) continue;
      V sum = 0;
      for (std::uint64_t c = 0; c < dense.size(); ++c) {
        if (!open[c]) continue;
        const std::uint64_t first = std::min(c, dense.size() - block);
        for (std::uint64_t i = first; i < first + block; ++i) {
          sum = std::fma(open[i] ? dense[i] : V{0}, x[begin + i], sum);
          open[i] = false;
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
