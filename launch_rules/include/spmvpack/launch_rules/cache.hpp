#pragma once
// What a multiply leaves in the L2 cache of a GPU.

#include <algorithm>
#include <cstdint>

namespace spmvpack::launch_rules::cache {

/// The largest share of the cache that a matrix may take, with x and y, so that it stays there where the next multiply
/// comes soon. Beyond, entries would push each other out: of 48 to 80 MB, multiplies that follow each other take 1.08
/// times as long (H200, an L2 cache of 52 MB).
inline constexpr double most_share = 0.9;

/// Whether entries stay: `bytes` are those of a multiply by one column, matrix and vectors; of several, the next one
/// comes at once. `share`: DeviceLoadOptions::cache_share.
constexpr bool keeps(std::uint64_t bytes, std::uint64_t columns, std::uint64_t l2_bytes, double share) {
  if (columns > 1 && share > 0) share = std::max(share, most_share);
  return static_cast<double>(bytes) <= share * static_cast<double>(l2_bytes);
}

}  // namespace spmvpack::launch_rules::cache
