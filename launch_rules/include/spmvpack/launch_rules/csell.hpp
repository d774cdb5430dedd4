#pragma once
// csell: when its kernel for few slices runs.

#include <cstdint>

namespace spmvpack::launch_rules::csell {

/// With fewer warps than these on each multiprocessor, all run at once, in one block, by the kernel for few slices,
/// which has four groups in flight together. Twice as many, in turn, are slower than with any other kernel.
/// docs/notebook/GPU.md, "Constants".
inline constexpr unsigned warps_of_few = 16;
constexpr bool are_few(std::uint64_t slices, std::uint64_t sums, std::uint64_t multiprocessors) {
  return slices * sums < warps_of_few * multiprocessors;
}
inline constexpr int groups_of_few = 4;

/// With blocks of 2 x 2 and more, and with mirrors: steps of a group whose values and elements of x are in flight
/// together, unless values are in tables.
constexpr int steps_of_blocks(std::uint32_t block, bool few) { return block == 2 || (block == 3 && few) ? 2 : 1; }
constexpr int steps_of_mirrors(std::uint32_t block) { return block == 1 ? 4 : block == 2 ? 2 : 1; }

/// Warps of a multiprocessor if slices are not few: a warp of each of a slice's sums, with 64 registers for each
/// thread, or half of that if all slices are patterns with tables; with several of those as many warps as else, as
/// blocks wait for theirs.
constexpr std::uint64_t warps(bool one_table, bool patterns_only) { return one_table && patterns_only ? 64 : 32; }

}  // namespace spmvpack::launch_rules::csell
