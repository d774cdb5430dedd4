#pragma once
// The order of additions of sjds, written down a second time as slowly as it can be, straight from docs/LAYOUTS.md. It
// is the matrix's and the window's alone. A: type of the matrix's values; V: of vectors, products and sums.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "orders/tree.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::test {

template <class A, class V>
class OrderOfSjds {
 public:
  OrderOfSjds(const CsrMatrix& a, std::uint64_t window_rows)
      : a_(a), values_(std::get<Array<A>>(a.values)), window_rows_(window_rows) {}

  [[nodiscard]] std::vector<V> multiply(const std::vector<V>& x) const {
    std::vector<V> y(a_.rows, V{0});
    for (std::uint64_t begin = 0; begin < a_.rows; begin += window_rows_) {
      std::vector<std::uint64_t> rows(std::min(window_rows_, a_.rows - begin));
      std::iota(rows.begin(), rows.end(), begin);
      std::stable_sort(rows.begin(), rows.end(),
                       [&](std::uint64_t r, std::uint64_t s) { return length(r) > length(s); });
      while (!rows.empty() && length(rows.back()) == 0) rows.pop_back();
      while (!rows.empty() && is_long(rows)) {
        y[rows[0]] = by_pieces(rows[0], x);
        rows.erase(rows.begin());
      }
      for (std::size_t i = 0; i < rows.size(); i += 8)
        add_slice({rows.begin() + static_cast<long>(i), rows.begin() + static_cast<long>(std::min(rows.size(), i + 8))},
                  x, y);
    }
    return y;
  }

 private:
  [[nodiscard]] std::uint64_t length(std::uint64_t r) const { return a_.row_ptr[r + 1] - a_.row_ptr[r]; }
  /// Whether the first of the rows that are left is longer than 1.25 times what it and the next seven have on average.
  [[nodiscard]] bool is_long(const std::vector<std::uint64_t>& rows) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, rows.size()); ++i) sum += length(rows[i]);
    const std::uint64_t n = length(rows[0]);
    return n > 4096 || (n >= 32 && static_cast<double>(n) > 1.25 * static_cast<double>(sum) / 8);
  }
  [[nodiscard]] V fused(std::uint64_t k, const std::vector<V>& x, V sum) const {
    return std::fma(static_cast<V>(values_[k]), x[a_.col_idx[k]], sum);
  }
  /// Whether these entries' columns lie within 16.
  [[nodiscard]] bool near(const std::vector<std::uint64_t>& entries) const {
    std::uint32_t least = ~0U, greatest = 0;
    for (const std::uint64_t k : entries) {
      least = std::min(least, a_.col_idx[k]);
      greatest = std::max(greatest, a_.col_idx[k]);
    }
    return a_.cols >= 16 && entries.size() == 8 && greatest - least < 16;
  }
  /// Eight lanes: first the steps whose eight columns are near each other, then the others.
  [[nodiscard]] std::array<V, 8> sums(const std::vector<std::vector<std::uint64_t>>& steps,
                                      const std::vector<V>& x) const {
    std::array<V, 8> sum{};
    for (const bool are_near : {true, false})
      for (const std::vector<std::uint64_t>& entries : steps)
        if (near(entries) == are_near)
          for (std::size_t lane = 0; lane < entries.size(); ++lane)
            sum.at(lane) = fused(entries[lane], x, sum.at(lane));
    return sum;
  }
  void add_slice(const std::vector<std::uint64_t>& rows, const std::vector<V>& x, std::vector<V>& y) const {
    std::vector<std::vector<std::uint64_t>> steps(length(rows[0]));
    for (std::size_t k = 0; k < steps.size(); ++k)
      for (const std::uint64_t r : rows)
        if (k < length(r)) steps[k].push_back(a_.row_ptr[r] + k);
    const auto sum = sums(steps, x);
    for (std::size_t lane = 0; lane < rows.size(); ++lane) y[rows[lane]] = sum.at(lane);
  }
  [[nodiscard]] V by_pieces(std::uint64_t r, const std::vector<V>& x) const {
    V all = 0;
    for (std::uint64_t begin = a_.row_ptr[r]; begin < a_.row_ptr[r + 1]; begin += 4096) {
      const std::uint64_t end = std::min(begin + 4096, a_.row_ptr[r + 1]);
      std::vector<std::vector<std::uint64_t>> steps((end - begin + 7) / 8);
      for (std::uint64_t k = begin; k < end; ++k) steps[(k - begin) / 8].push_back(k);
      const auto sum = sums(steps, x);
      const V piece = tree(std::vector<V>(sum.begin(), sum.end()));
      all = begin == a_.row_ptr[r] ? piece : all + piece;
    }
    return all;
  }

  const CsrMatrix& a_;
  const Array<A>& values_;
  std::uint64_t window_rows_;
};

}  // namespace spmvpack::test
