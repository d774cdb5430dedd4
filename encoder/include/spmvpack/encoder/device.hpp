#pragma once
/// The limits of a machine that plans depend on, besides its prices.

#include <cstdint>

namespace spmvpack::encoder {

/// Numbers of a GPU, or for a host of the GPU that may load its files: how kernels are launched, and from which sizes
/// on a technique pays. The defaults are those of an H100 and an H200.
struct Device {
  std::uint64_t multiprocessors = 132;
  /// Parts of fewer entries are bound by latency: in csell a table for each tile makes them slower, whatever it saves;
  /// in bitflag they have no second launch for rows in several tiles, no copy of hot columns, no segments.
  /// docs/notebook/GPU.md, "Constants".
  std::uint64_t small_entries = std::uint64_t{1} << 21;
  /// For csell's mirrors, which are read while the slices that contain them are still in the L2 cache. If the slices in
  /// flight together exceed this, several warps share a slice, so that fewer are. docs/notebook/GPU.md, "Constants".
  std::uint64_t in_flight_bytes = 40'000'000;
  /// Values of a csell tile at most: they are in the shared memory of a block, 64 KiB.
  std::uint64_t table_values = 8192;
  /// What a block could have loaded while it waits for a tile's table: 0.7 us at its share of 4 TB/s.
  std::uint64_t staging_bytes = 8192;
  /// Columns of a bitflag segment at most: half of a multiprocessor's shared memory holds their x and what else a block
  /// needs, so that it has two such blocks.
  std::uint64_t segment_columns = 9600;
  /// Bytes of x in bitflag's hot columns that a block holds in shared memory.
  std::uint64_t hot_bytes = 98304;

  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace spmvpack::encoder
