#pragma once
// What sell decides, from counts alone. ell decides nothing: its slots follow from its longest row.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "spmvpack/container/layouts/sell.hpp"

namespace spmvpack::encoder::layouts {

/// Bytes of a slot: a column and a value of so many bytes.
constexpr std::uint64_t slot_bytes(std::uint64_t value_size) { return sizeof(std::uint32_t) + value_size; }

namespace sell_plans {

using namespace spmvpack::layouts::sell;  // what the bytes mean

/// Rows of a slice (C) where `sell.c` is not set: those of a warp.
inline constexpr std::uint64_t default_slice_rows = 32;

/// What auto tries besides 1: windows in windows. Beyond, little padding is left to save, and neighbouring rows are far
/// apart.
inline constexpr std::array<std::uint64_t, 3> sigmas{256, 4096, 32768};

struct SellFacts {
  std::uint64_t rows = 0, entries = 0, value_size = 8;
  std::uint64_t slice_rows = default_slice_rows;
  std::uint64_t steps = 0;                                                ///< of all slices, with rows as they are
  std::optional<std::array<std::uint64_t, sigmas.size()>> steps_of = {};  ///< with rows sorted in windows of `sigmas`
};
struct SellDecision {
  std::uint64_t sigma = 1;  ///< 1: rows stay as they are
};
static_assert(std::is_trivially_copyable_v<SellFacts> && std::is_trivially_copyable_v<SellDecision>);

constexpr std::uint64_t bytes_of_steps(const SellFacts& f, std::uint64_t steps) {
  return steps * f.slice_rows * slot_bytes(f.value_size);
}
/// Bytes of the list of rows that sorted rows have.
constexpr std::uint64_t bytes_of_order(const SellFacts& f) { return f.rows * sizeof(std::uint32_t); }

/// Whether sorted rows may take fewer bytes, so that SellFacts::steps_of is counted: the list of rows may take more
/// than all padding of unsorted slices.
constexpr bool may_be_sorted(const SellFacts& f) {
  return bytes_of_steps(f, f.steps) - f.entries * slot_bytes(f.value_size) > bytes_of_order(f);
}
/// Rows are sorted only if this saves a fiftieth of the bytes, as y is then written in scattered places. A wider window
/// must save a tenth: rows of a slice are then far apart and share less of x. docs/notebook/GPU.md, "Constants".
constexpr SellDecision decide(const SellFacts& f) {
  SellDecision best;
  if (!f.steps_of) return best;
  const std::uint64_t unsorted = bytes_of_steps(f, f.steps);
  std::uint64_t enough = unsorted - unsorted / 50;
  for (std::size_t i = 0; i < sigmas.size(); ++i) {
    const std::uint64_t bytes = bytes_of_steps(f, f.steps_of->at(i)) + bytes_of_order(f);
    if (bytes >= enough) continue;
    best.sigma = sigmas.at(i);
    enough = bytes - bytes / 10;
  }
  return best;
}

}  // namespace sell_plans
}  // namespace spmvpack::encoder::layouts
