#pragma once
// Sorts rows, columns or lanes by falling length.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::encoder {

/// Sorts items by falling key; items with the same key keep their order. Keeps its memory between sorts.
class FallingSort {
 public:
  template <class Key>
  void operator()(std::span<std::uint32_t> items, Key&& key) {
    std::uint64_t largest = 0, before = std::numeric_limits<std::uint64_t>::max();
    bool sorted = true;
    for (const std::uint32_t i : items) {
      const std::uint64_t k = key(i);
      sorted = sorted && k <= before;
      largest = std::max(largest, k);
      before = k;
    }
    if (sorted) return;
    // A counting sort, unless keys are spread far more widely than items.
    constexpr std::uint64_t spread = 4, few = 1024;
    if (largest > spread * items.size() + few) {
      std::stable_sort(items.begin(), items.end(), [&](std::uint32_t i, std::uint32_t j) { return key(i) > key(j); });
      return;
    }
    unsorted_.assign(items.begin(), items.end());
    place_.assign(largest + 2, 0);  // of the first item with the key largest - i
    for (const std::uint32_t i : unsorted_) ++place_[largest - key(i) + 1];
    for (std::size_t i = 1; i < place_.size(); ++i) place_[i] += place_[i - 1];
    for (const std::uint32_t i : unsorted_) items[place_[largest - key(i)]++] = i;
  }

 private:
  CountedVector<std::uint32_t> unsorted_, place_;
};

}  // namespace spmvpack::encoder
