#pragma once

#include <vector>

namespace spmvpack::test {

/// The tree: at distance 1, 2, 4, ... each value takes in the one that far to its right.
template <class V>
V tree(std::vector<V> v) {
  for (std::size_t distance = 1; distance < v.size(); distance *= 2) {
    const std::vector<V> before = v;
    for (std::size_t i = 0; i + distance < v.size(); ++i) v[i] = before[i] + before[i + distance];
  }
  return v.empty() ? V{0} : v[0];
}

}  // namespace spmvpack::test
