#pragma once
// Policies of a GPU's L2 cache, as loads name them.

#include <cstdint>

namespace spmvpack::test {

struct CachePolicies {
  std::uint64_t evict_first = 0, evict_normal = 0;
  bool operator==(const CachePolicies&) const = default;
};

/// Those that kernels are launched with where a matrix does not stay and where it does, and what the device at hand
/// makes; false if it fails.
CachePolicies used_policies();
bool made_policies(CachePolicies& policies);

}  // namespace spmvpack::test
