#pragma once
// What rules of several layouts count of a multiply: loads that wait for one another, and turns of a device.

#include <algorithm>
#include <cstdint>

#include "spmvpack/container/base/types.hpp"

namespace spmvpack::encoder::layouts {

/// The unit NAME.chain of PartPlan::work: loads that wait for one another in a lane with so many steps, `at_once` of
/// which are loaded together: their columns or places, then what these name.
constexpr std::uint64_t chain_of(std::uint64_t steps, std::uint64_t at_once) { return 2 * div_up(steps, at_once); }
/// How many of such loads count where a thread takes those of a row in turn, few at a time. While it waits for one,
/// `bytes_of_load` bytes of other rows arrive, and all loads take at least as long as the memory needs for the bytes. A
/// quarter always counts.
constexpr std::uint64_t chain_beside(std::uint64_t loads, std::uint64_t bytes, std::uint64_t bytes_of_load) {
  return std::max(loads - std::min(loads, bytes / bytes_of_load), div_up(loads, 4));
}
/// How often a device has as much as it holds at once, and there is more. The third turn and those after it begin while
/// others' loads are on their way.
constexpr std::uint64_t turns_of(std::uint64_t all, std::uint64_t at_once) {
  constexpr std::uint64_t most = 2;
  return all == 0 ? 0 : std::min(most, (all - 1) / at_once);
}

}  // namespace spmvpack::encoder::layouts
