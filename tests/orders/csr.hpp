#pragma once
// The orders of additions of csr on the host and of csr's and coo's kernels on the GPU, written down a second time as
// slowly as they can be, straight from docs/LAYOUTS.md. A: type of the matrix's values; V: of vectors, products and
// sums.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "orders/scalars.hpp"
#include "orders/tree.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::test {

template <class A, class V>
class Orders {
 public:
  Orders(const CsrMatrix& a, const std::vector<V>& x) : a_(a), values_(std::get<Array<A>>(a.values)), x_(x) {}

  /// Whether by() has the kernel's order. Others add as the host does.
  [[nodiscard]] bool knows(const std::string& kernel) const {
    return kernel.starts_with("csr/") || kernel == "coo/balanced";
  }
  std::vector<V> by(const std::string& kernel) const {
    if (kernel == "csr/scalar") return in_turn();
    if (kernel == "csr/vector") return lanes(mean_lanes());
    if (kernel == "csr/vector32") return lanes(32);
    if (kernel == "csr/long") return lanes(long_lanes());
    if (kernel == "csr/pcsr") return products_in_turn();
    if (kernel == "csr/ipcsr") return row_blocks(2048);
    if (kernel == "csr/ipcsr_printed") return row_blocks(8192 / sizeof(A));
    return chunks();  // coo's balanced, csr's merge
  }
  /// Each row's entries in turn, as the host adds with coo.
  std::vector<V> in_turn() const { return lanes(1); }
  /// As the host adds with csr: each row by_eight(), or, of more than 4,096 entries, each piece of so many.
  std::vector<V> on_host() const {
    std::vector<V> y(a_.rows, V{0});
    for (std::uint64_t r = 0; r < a_.rows; ++r) {
      const std::uint64_t first = a_.row_ptr[r], last = a_.row_ptr[r + 1];
      for (std::uint64_t k = first; k < last; k += 4096) {
        const V sum = by_eight(k, std::min<std::uint64_t>(k + 4096, last));
        y[r] = k == first ? sum : y[r] + sum;
      }
    }
    return y;
  }

 private:
  V product(std::uint64_t k) const { return static_cast<V>(values_[k]) * x_[a_.col_idx[k]]; }
  V fused(std::uint64_t k, V sum) const { return orders::fma(static_cast<V>(values_[k]), x_[a_.col_idx[k]], sum); }

  /// Up to 7 entries in turn; of more, lane i has entries i, i + 8, ..., and then takes in the lane 4 after it, 2 after
  /// it, 1 after it.
  V by_eight(std::uint64_t begin, std::uint64_t end) const {
    if (end - begin < 8) {
      V sum = 0;
      for (std::uint64_t k = begin; k < end; ++k) sum = fused(k, sum);
      return sum;
    }
    std::vector<V> lane(8, V{0});
    for (std::uint64_t k = begin; k < end; ++k) lane[(k - begin) % 8] = fused(k, lane[(k - begin) % 8]);
    for (const std::size_t distance : {4U, 2U, 1U})
      for (std::size_t i = 0; i < distance; ++i) lane[i] = lane[i] + lane[i + distance];
    return lane[0];
  }

  std::size_t mean_lanes() const {
    std::size_t lanes = 1;
    while (lanes < 32 && a_.rows != 0 && lanes * 2 * a_.rows <= a_.nnz()) lanes *= 2;
    return lanes;
  }
  std::size_t long_lanes() const {
    std::uint64_t longest = 0;
    for (std::uint64_t r = 0; r < a_.rows; ++r) longest = std::max(longest, a_.row_ptr[r + 1] - a_.row_ptr[r]);
    std::size_t lanes = 8192;
    if (longest <= a_.nnz() / 16) return lanes;
    while (lanes < 262144 && longest > lanes * (lanes * a_.rows <= 131072 ? 4 : 16)) lanes *= 2;
    return lanes;
  }
  V row_by_lanes(std::uint64_t r, std::size_t lanes) const {
    std::vector<V> v(lanes, V{0});
    for (std::uint64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1]; ++k) {
      V& lane = v[(k - a_.row_ptr[r]) % lanes];
      lane = fused(k, lane);
    }
    return tree(v);
  }
  std::vector<V> lanes(std::size_t lanes) const {
    std::vector<V> y;
    for (std::uint64_t r = 0; r < a_.rows; ++r) y.push_back(row_by_lanes(r, lanes));
    return y;
  }

  std::vector<V> products_in_turn() const {
    std::vector<V> y(a_.rows, V{0});
    for (std::uint64_t r = 0; r < a_.rows; ++r)
      for (std::uint64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1]; ++k) y[r] = y[r] + product(k);
    return y;
  }

  /// Blocks of up to 256 rows and so many entries; a row alone has 256 threads.
  std::vector<V> row_blocks(std::uint64_t entries) const {
    std::vector<V> y(a_.rows, V{0});
    for (std::uint64_t first = 0, last = 0; first < a_.rows; first = last) {
      last = first + 1;
      while (last < a_.rows && last - first < 256 && a_.row_ptr[last + 1] - a_.row_ptr[first] <= entries &&
             a_.row_ptr[last] - a_.row_ptr[first] < entries)
        ++last;
      const std::uint64_t rows = last - first;
      if (rows == 1) {
        y[first] = row_by_lanes(first, 256);
        continue;
      }
      std::size_t each = 128;
      while (each > 1 && each * rows > 256) each /= 2;
      for (std::uint64_t r = first; r < last; ++r) {
        std::vector<V> v(each, V{0});
        for (std::uint64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1]; ++k) {
          V& thread = v[(k - a_.row_ptr[r]) % each];
          thread = thread + product(k);
        }
        y[r] = tree(v);
      }
    }
    return y;
  }

  /// Chunks of 256 entries, groups of 32.
  std::vector<V> chunks() const {
    std::vector<V> y(a_.rows, V{0});
    for (std::uint64_t r = 0; r < a_.rows; ++r) {
      std::vector<V> of_chunks;
      for (std::uint64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1];) {
        V of_chunk = 0;
        for (bool first = true; k < a_.row_ptr[r + 1] && (first || k % 256 != 0); first = false) {
          std::vector<V> group;
          do group.push_back(fused(k++, V{0}));
          while (k < a_.row_ptr[r + 1] && k % 32 != 0);
          of_chunk = first ? tree(group) : of_chunk + tree(group);
        }
        of_chunks.push_back(of_chunk);
      }
      if (of_chunks.size() == 1) {
        y[r] = of_chunks[0];
        continue;
      }
      for (std::size_t i = 0; i < of_chunks.size(); i += 32) {
        const auto first = of_chunks.begin() + static_cast<std::ptrdiff_t>(i);
        const auto count = std::min<std::size_t>(32, of_chunks.size() - i);
        y[r] = y[r] + tree(std::vector<V>(first, first + static_cast<std::ptrdiff_t>(count)));
      }
    }
    return y;
  }

  const CsrMatrix& a_;
  const Array<A>& values_;
  const std::vector<V>& x_;
};

}  // namespace spmvpack::test
