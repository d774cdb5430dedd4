#pragma once
// The order of additions of ccoo, on the host and on the GPU.

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "orders/tree.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::test {

/// The order of additions of ccoo, written down a second time as slowly as it can be: a list of additions by lane,
/// group and chunk, straight from docs/LAYOUTS.md. A: type of the matrix's values; V: of vectors, products and sums.
/// y = 1 A x + 0.
template <class A, class V>
class OrderOfCcoo {
 public:
  OrderOfCcoo(const CsrMatrix& a, std::uint32_t lanes, std::uint32_t slots) : a_(a), lanes_(lanes), slots_(slots) {}

  std::vector<V> multiply(const std::vector<V>& x) {
    const auto& values = std::get<Array<A>>(a_.values);
    std::vector<V> y(a_.rows, V{0});
    std::vector<std::vector<V>> by_chunk(a_.rows);  // each row's sums, one for each chunk that it is in
    std::uint64_t used = 0, base = 0;
    std::map<std::uint64_t, std::vector<V>> chunk;  // row -> lane sums
    const auto close = [&] {
      for (const auto& [row, lane_sums] : chunk)
        by_chunk[row].push_back(chunk.size() == 1 ? by_column(lane_sums) : in_sequence(lane_sums));
      chunk.clear();
      used = 0;
    };
    for (std::uint64_t r = 0; r < a_.rows; ++r)
      for (std::uint64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1];) {
        if (used == lanes_ || (used != 0 && r - base > 255)) close();
        if (used == 0) base = r;
        V lane = 0;
        for (std::uint32_t s = 0; s < slots_ && k < a_.row_ptr[r + 1]; ++s, ++k)
          lane = std::fma(static_cast<V>(values[k]), x[a_.col_idx[k]], lane);
        chunk[r].push_back(lane);
        ++used;
      }
    close();
    for (std::uint64_t r = 0; r < a_.rows; ++r) {
      V sum = 0;
      for (std::size_t i = 0; i < by_chunk[r].size(); i += 32) {
        const auto first = by_chunk[r].begin() + static_cast<std::ptrdiff_t>(i);
        sum = sum + tree(std::vector<V>(first, std::min(first + 32, by_chunk[r].end())));
      }
      y[r] = by_chunk[r].empty() ? V{0} : std::fma(V{1}, sum, V{0});
    }
    return y;
  }

 private:
  static V in_sequence(const std::vector<V>& v) {
    V sum = 0;
    for (const V x : v) sum = sum + x;
    return sum;
  }
  /// Lanes of a one-row chunk: those at the same place of each group, then the places by the tree.
  V by_column(const std::vector<V>& v) const {
    const std::uint64_t group = std::min<std::uint64_t>(lanes_, 32);
    std::vector<V> places(group, V{0});
    for (std::size_t i = 0; i < v.size(); ++i) places[i % group] = places[i % group] + v[i];
    return tree(places);
  }

  const CsrMatrix& a_;
  std::uint64_t lanes_;
  std::uint32_t slots_;
};

}  // namespace spmvpack::test
