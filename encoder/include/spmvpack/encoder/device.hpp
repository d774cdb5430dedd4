#pragma once
/// What of a machine plans go by, beside what its work costs.

#include <cstdint>

namespace spmvpack::encoder {

/// Numbers of a GPU, on a host of that to which its files may come: how kernels are launched there, and from which
/// sizes on what pays. The defaults are those of an H100 and an H200.
struct Device {
  std::uint64_t multiprocessors = 132;
  /// Parts of fewer entries are bound by latency: in csell a table for each tile makes them slower, whatever it saves;
  /// in bitflag they have no second launch for rows in several tiles, no copy of hot columns, no segments.
  /// docs/notebook/GPU.md, "Constants".
  std::uint64_t small_entries = std::uint64_t{1} << 21;
  /// For csell's mirrors, which are read while the slices that contain them are still in the L2 cache. If the slices in
  /// flight together exceed this, several warps share a slice, so that fewer are. docs/notebook/GPU.md, "Constants".
  std::uint64_t in_flight_bytes = 40'000'000;
  /// Of a tile of csell: its values are in the shared memory of a block, 64 KiB.
  std::uint64_t table_values = 8192;
  /// What a block could have loaded while it waits for a tile's table: 0.7 us at its share of 4 TB/s.
  std::uint64_t staging_bytes = 8192;
  /// Of a segment of bitflag at most: half of the shared memory of a multiprocessor, which has two such blocks, holds
  /// that x and what else they need.
  std::uint64_t segment_columns = 9600;
  /// Of x in bitflag's hot columns: what a block holds of it in shared memory.
  std::uint64_t hot_bytes = 98304;

  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace spmvpack::encoder
