#pragma once
// The cache that gathers of x are simulated with (x_traffic.hpp), on hosts and devices: sets of four lines, the most
// recently used first.

#include <cstdint>

#include "spmvpack/container/base/host_device.hpp"

namespace spmvpack::encoder::x_cache {

inline constexpr std::uint64_t ways = 4;
inline constexpr std::uint32_t no_line = ~0U;  ///< more lines than x can have

/// The set of a line. Multiples of the golden ratio: neighbouring lines go to sets far apart, and a range of lines
/// fills all evenly.
SPMVPACK_HOST_DEVICE constexpr std::uint64_t set_of(std::uint32_t line, std::uint64_t sets) {
  return std::uint64_t{line * 2'654'435'769U} * sets >> 32U;
}

/// Makes the line its set's most recent one. Returns the line if it was there, else the one that had to go, or no_line.
/// Free of branches: whether a gather hits cannot be predicted.
SPMVPACK_HOST_DEVICE constexpr std::uint32_t touch(std::uint32_t* set, std::uint32_t line) {
  const std::uint32_t l0 = set[0], l1 = set[1], l2 = set[2], l3 = set[3];
  const bool in0 = l0 == line, in1 = in0 || l1 == line, in2 = in1 || l2 == line;
  set[0] = line;
  set[1] = in0 ? l1 : l0;
  set[2] = in1 ? l2 : l1;
  set[3] = in2 ? l3 : l2;
  return in2 ? line : l3;
}

}  // namespace spmvpack::encoder::x_cache
