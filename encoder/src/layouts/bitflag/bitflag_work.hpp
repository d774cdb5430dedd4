#pragma once
// What a multiply with bitflag does, in units.

#include <cstdint>
#include <vector>

#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"
#include "spmvpack/launch_rules/columns.hpp"
#include "work.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {

// clang-format off
#define SPMVPACK_BITFLAG_UNITS(unit)            \
  unit(bitflag, carries, gpu, fixed, 0)         \
  unit(bitflag, column_entries, all, grows, 2)  \
  unit(bitflag, empty_rows, host, grows, 0)     \
  unit(bitflag, entries, all, grows, 0)         \
  unit(bitflag, few_raw_bytes, all, grows, 0)   \
  unit(bitflag, first, gpu, grows, 0)           \
  unit(bitflag, hot, gpu, fixed, 0)             \
  unit(bitflag, hot_entries, gpu, grows, 0)     \
  unit(bitflag, idle_entries, gpu, grows, 2)    \
  unit(bitflag, long_carries, gpu, fixed, 0)    \
  unit(bitflag, multiplies, all, fixed, 0)      \
  unit(bitflag, rows, host, grows, 0)           \
  unit(bitflag, run_entries, gpu, grows, 0)     \
  unit(bitflag, segment_columns, gpu, fixed, 2) \
  unit(bitflag, segment_rounds, gpu, fixed, 0)  \
  unit(bitflag, segment_rows, all, grows, 0)    \
  unit(bitflag, segments, gpu, fixed, 2)        \
  unit(bitflag, table_entries, host, grows, 2)  \
  unit(bitflag, turns, gpu, fixed, 2)           \
  unit(bitflag, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_BITFLAG_UNITS)

/// PartPlan::work.
inline std::vector<Counter> work_of(const WorkFacts& f, const Device& device) {
  const bool one = f.segments == 1, segments = !one && f.counts_segments;
  return {{Work::multiplies, 1},
          {Work::entries, f.entries},
          {Work::table_entries, f.table_entries},
          {Work::idle_entries, one ? idle_entries(f.entries, f.tiles, f.tile_chunks, device) : 0},
          {Work::turns, one ? turns(f.entries, device) : 0},
          {Work::few_raw_bytes, f.entries < device.small_entries ? f.raw_bytes : 0},
          {Work::carries, f.carries ? 1U : 0U},
          {Work::long_carries, f.long_carries ? 1U : 0U},
          {Work::hot, f.hot_columns != 0 ? 1U : 0U},
          {Work::hot_entries, f.hot_entries},
          {Work::segments, segments ? 1U : 0U},
          {Work::segment_columns, segments ? div_up(f.cols, f.segments) : 0},
          {Work::segment_rows, one ? 0 : f.segment_rows},
          {Work::segment_rounds, segments ? (f.segments - 1) / device_blocks(device) : 0},
          {Work::run_entries, f.run_entries},
          {Work::rows, f.rows},
          {Work::empty_rows, one ? f.empty_rows : 0}};
}

/// PartPlan::columns.
inline ColumnsWork columns_of(std::uint64_t entries, std::uint64_t segments) {
  if (segments != 1) return {};
  return {launch_rules::columns::of_bitflag, {{Work::column_entries, entries}}};
}

}  // namespace spmvpack::encoder::layouts::bitflag_plans
