#pragma once
// The order of additions of ccoo, on the host and on the GPU.

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "orders/tree.hpp"
#include "spmvpack/container/csr_matrix.hpp"

namespace spmvpack::test {

/// The order of additions of ccoo, written down a second time as slowly as it can be: a list of additions by lane,
/// group and chunk, straight from docs/LAYOUTS.md.
template <class T>
class OrderOfCcoo {
 public:
  OrderOfCcoo(const CsrMatrix& a, std::uint32_t lanes, std::uint32_t slots) : a_(a), lanes_(lanes), slots_(slots) {}

  std::vector<T> multiply(const std::vector<T>& x) {
    const auto& values = std::get<Array<T>>(a_.values);
    std::vector<T> y(a_.rows, T{0});
    std::vector<std::vector<T>> by_chunk(a_.rows);  // each row's sums, one for each chunk that it is in
    std::uint64_t used = 0, base = 0;
    std::map<std::uint64_t, std::vector<T>> chunk;  // row -> lane sums
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
        T lane = 0;
        for (std::uint32_t s = 0; s < slots_ && k < a_.row_ptr[r + 1]; ++s, ++k)
          lane = std::fma(values[k], x[a_.col_idx[k]], lane);
        chunk[r].push_back(lane);
        ++used;
      }
    close();
    for (std::uint64_t r = 0; r < a_.rows; ++r) {
      T sum = 0;
      for (std::size_t i = 0; i < by_chunk[r].size(); i += 32) {
        const auto first = by_chunk[r].begin() + static_cast<std::ptrdiff_t>(i);
        sum = sum + tree(std::vector<T>(first, std::min(first + 32, by_chunk[r].end())));
      }
      y[r] = by_chunk[r].empty() ? T{0} : std::fma(T{1}, sum, T{0});
    }
    return y;
  }

 private:
  static T in_sequence(const std::vector<T>& v) {
    T sum = 0;
    for (const T x : v) sum = sum + x;
    return sum;
  }
  /// Lanes of a one-row chunk: those at the same place of each group, then the places by the tree.
  T by_column(const std::vector<T>& v) const {
    const std::uint64_t group = std::min<std::uint64_t>(lanes_, 32);
    std::vector<T> places(group, T{0});
    for (std::size_t i = 0; i < v.size(); ++i) places[i % group] = places[i % group] + v[i];
    return tree(places);
  }

  const CsrMatrix& a_;
  std::uint64_t lanes_;
  std::uint32_t slots_;
};

}  // namespace spmvpack::test
