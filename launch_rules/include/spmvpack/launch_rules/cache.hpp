#pragma once
// What a multiply leaves in the L2 cache of a GPU.

#include <algorithm>
#include <cstdint>

namespace spmvpack::launch_rules::cache {

/// The largest share of the cache that a matrix may take, with x and y, so that it stays there if the next multiply
/// comes soon. Beyond, entries push each other out. docs/notebook/GPU.md, "What stays in the L2 cache".
inline constexpr double most_share = 0.7;

/// Whether entries stay: `bytes` are those of a multiply by one column, matrix and vectors; of several, the next one
/// comes at once. `share`: DeviceLoadOptions::cache_share.
constexpr bool keeps(std::uint64_t bytes, std::uint64_t columns, std::uint64_t l2_bytes, double share) {
  if (columns > 1 && share > 0) share = std::max(share, most_share);
  return static_cast<double>(bytes) <= share * static_cast<double>(l2_bytes);
}

}  // namespace spmvpack::launch_rules::cache
