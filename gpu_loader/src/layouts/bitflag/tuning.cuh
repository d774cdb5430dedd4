#pragma once
// Launch numbers of bitflag. No result depends on them.

#include <cstdint>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/launch_rules/bitflag.hpp"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels::tuning {

using namespace launch_rules::bitflag;
inline constexpr unsigned gather_threads = 128, add_threads = 128;

/// A block has 16 barriers: one for all its threads, and one for each team of warps that has a tile.
inline constexpr unsigned most_teams = 15;

/// Of a block that multiplies by several columns, at most; and blocks that a multiprocessor holds.
inline constexpr unsigned column_threads = 256, column_blocks = 3;
/// Warps of a tile.
constexpr SPMVPACK_HOST_DEVICE unsigned column_warps(unsigned tile_chunks) {
  return tile_chunks < column_threads / 32 ? tile_chunks : column_threads / 32;
}

/// Whether the numbers of a part's tiles have 32 bits, and those that a grid's last step leads to.
constexpr bool tiles_fit(std::uint64_t tiles, std::uint64_t multiprocessors) noexcept {
  return tiles + multiprocessors * (multiprocessor_threads / 32) <= 0xFFFFFFFF;
}

/// Of a block's shared memory, what is not for sums of rows and near elements. Where these do not fit, as on devices
/// with less, near elements are read through the caches.
inline constexpr std::uint32_t other_shared_bytes = 8U << 10U;

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels::tuning
