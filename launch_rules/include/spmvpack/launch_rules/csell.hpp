#pragma once
// csell: when its kernel for few slices runs.

#include <cstdint>

namespace spmvpack::launch_rules::csell {

/// With fewer warps than 16 for each multiprocessor, all run at once, and the kernel is that for few slices, which has
/// four groups on their way together. Twice as many in turn take longer than with any other kernel: rail_79841 13.4 us
/// instead of 10.5 (H200).
constexpr bool are_few(std::uint64_t slices, std::uint64_t sums, std::uint64_t multiprocessors) {
  constexpr std::uint64_t warps = 16;
  return slices * sums < warps * multiprocessors;
}
inline constexpr int groups_of_few = 4;

}  // namespace spmvpack::launch_rules::csell
