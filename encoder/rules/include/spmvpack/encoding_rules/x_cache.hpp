#pragma once
// The cache that gathers of x are simulated with (x_traffic.hpp), on hosts and devices: sets of four lines, the most
// recently used first.

#include <algorithm>
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

/// Which of many groups that have a cache each are simulated: all, or one in `stride`, and each that is large. Of a
/// group with very many entries only the first are, which fill its cache often.
struct Sample {
  std::uint64_t stride = 1;
  std::uint64_t large = ~std::uint64_t{0};  ///< a group of more entries is: it does not stand for others
  std::uint64_t most = ~std::uint64_t{0};   ///< entries of a group that are simulated

  /// About so many entries of nnz. `lines`: of a cache, 0 if all of x fits.
  static constexpr Sample of(std::uint64_t nnz, std::uint64_t groups, std::uint64_t entries, std::uint64_t lines) {
    constexpr std::uint64_t least_groups = 128, far_more = 4, fillings = 64;
    Sample sample;
    sample.stride = std::max<std::uint64_t>(std::min(nnz / entries, groups / least_groups), 1);
    if (sample.stride != 1) sample.large = far_more * (nnz / groups + 1);
    if (lines != 0) sample.most = fillings * lines;
    return sample;
  }
  /// How many of a group's entries are simulated.
  [[nodiscard]] SPMVPACK_HOST_DEVICE constexpr std::uint64_t simulated(std::uint64_t entries) const {
    return entries < most ? entries : most;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE constexpr bool is_large(std::uint64_t entries) const { return entries > large; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE constexpr bool takes(std::uint64_t group, std::uint64_t entries) const {
    return group % stride == stride / 2 || is_large(entries);
  }
};

/// Entries of groups, and how many of these are simulated.
struct SampledEntries {
  std::uint64_t all = 0, simulated = 0;

  constexpr SampledEntries& operator+=(const SampledEntries& other) {
    all += other.all;
    simulated += other.simulated;
    return *this;
  }
  /// What all load, if those that were simulated load so many lines. If none was, each loads a line.
  [[nodiscard]] constexpr std::uint64_t lines(std::uint64_t of_simulated) const {
    if (simulated == all) return of_simulated;
    if (simulated == 0) return all;
    return static_cast<std::uint64_t>(static_cast<double>(of_simulated) *
                                      (static_cast<double>(all) / static_cast<double>(simulated)));
  }
};

/// Those of groups that are not large, and of large ones.
struct SampledGroups {
  SampledEntries regular, large;

  constexpr SampledGroups& operator+=(const SampledGroups& other) {
    regular += other.regular;
    large += other.large;
    return *this;
  }
  /// Adds groups [first, last), which have so many entries each.
  constexpr void add(const Sample& sample, std::uint64_t first, std::uint64_t last, std::uint64_t entries) {
    // Numbers below n that leave stride / 2: those of the sample.
    const auto taken_below = [&](std::uint64_t n) {
      return (n + (sample.stride - 1) - sample.stride / 2) / sample.stride;
    };
    const bool is_large = sample.is_large(entries);
    const std::uint64_t taken = is_large ? last - first : taken_below(last) - taken_below(first);
    SampledEntries& of = is_large ? large : regular;
    of.all += (last - first) * entries;
    of.simulated += taken * sample.simulated(entries);
  }
  [[nodiscard]] constexpr std::uint64_t lines(std::uint64_t of_regular, std::uint64_t of_large) const {
    return regular.lines(of_regular) + large.lines(of_large);
  }
};

}  // namespace spmvpack::encoder::x_cache
