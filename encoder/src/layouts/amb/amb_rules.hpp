#pragma once
// What amb decides, from counts alone.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "layouts/amb/amb_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/launch_rules/amb.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"

namespace spmvpack::encoder::layouts::amb_plans {

using namespace spmvpack::layouts::amb;  // what the bytes mean

inline constexpr std::uint64_t default_chunk_rows = 32, default_sigma = 32768;

/// For every block size from 1 to max_block.
using PerBlock = std::array<std::uint64_t, max_block>;

/// A part cut into chunks.
struct PartFacts {
  std::uint64_t cols = 0, segment_cols = max_segment_cols;
  std::uint64_t chunk_rows = default_chunk_rows, value_size = 8;
  std::uint64_t partial_sums = 0;
  PerBlock steps{};  ///< of all chunks
};

constexpr std::uint64_t segments_of(const PartFacts& f) { return div_up(f.cols, f.segment_cols); }

/// Bytes of a block of so many columns: 2 for the first of them, and its values.
constexpr std::uint64_t bytes_of_block(std::uint64_t block, std::uint64_t value_size) { return 2 + block * value_size; }
/// Bytes of the part's columns and values with such blocks.
constexpr std::uint64_t bytes_with(const PartFacts& f, std::uint64_t block) {
  return f.steps.at(block - 1) * f.chunk_rows * bytes_of_block(block, f.value_size);
}

/// A block stays inside its segment: the narrowest, which is the last, must have room for it.
constexpr std::uint64_t widest_block(const PartFacts& f) {
  const std::uint64_t segments = segments_of(f);
  return segments == 0 ? 1 : std::min(f.segment_cols, f.cols - (segments - 1) * f.segment_cols);
}

/// Columns of a block: those of the fewest bytes; of equals the fewest.
constexpr std::uint64_t usual_block(const PartFacts& f) {
  std::uint64_t best = 1;
  for (std::uint64_t b = 2; b <= std::min(max_block, widest_block(f)); ++b)
    if (bytes_with(f, b) < bytes_with(f, best)) best = b;
  return best;
}

/// Whether 32 bits number what there is of a part with such blocks.
constexpr bool can_be_numbered(const PartFacts& f, std::uint64_t block) {
  return f.partial_sums <= max_shared && f.steps.at(block - 1) <= max_steps;
}

/// What a multiply goes through.
struct WorkFacts {
  std::uint64_t rows = 0, empty_rows = 0;
  bool is_single = false;  ///< whether values are f32
  std::uint64_t block = 1;
  std::uint64_t chunks = 0, lanes = 0, longest = 0;  ///< longest: steps of the longest chunk
  std::uint64_t jumps = 0;                           ///< lanes whose row does not follow that of the lane before
  bool x_fits_cache = false;                         ///< all of x, that of a multiprocessor
  std::uint64_t lane_steps = 0;                      ///< blocks of all lanes, padding among them
  std::uint64_t partial_sums = 0, most_of_a_row = 1;
  std::uint64_t bytes = 0;  ///< of columns and values
};
/// What arrives in the 0.45 us that a lane waits. docs/notebook/GPU.md, "Constants".
inline constexpr std::uint64_t bytes_of_load = 2'500'000;
/// PartPlan::work.
inline std::vector<Counter> work_of(const WorkFacts& f) {
  namespace rules = launch_rules::amb;
  namespace host_tasks = launch_rules::host_tasks;
  const std::uint64_t slots = f.lane_steps * f.block;
  const bool takes_rows =
      f.most_of_a_row <= rules::most_lanes_of_thread && rules::may_take_rows(f.rows, f.lanes, f.block, f.is_single);
  const bool adds = f.partial_sums != 0 && !takes_rows;  // by another kernel
  const std::uint64_t loads = chain_of(f.longest * f.block, rules::values_in_flight) * (adds ? 1 : f.most_of_a_row);
  return {{Work::multiplies, 1},
          {Work::slots, slots},
          {Work::steps, f.lane_steps},
          {Work::lanes, f.lanes},
          {Work::jumped_slots, f.lanes == 0 || f.x_fits_cache ? 0 : div_up(slots, f.lanes) * f.jumps},
          {Work::partial_sums, f.partial_sums},
          {Work::chain, chain_beside(loads, f.bytes, bytes_of_load)},
          {Work::sum_multiplies, std::uint64_t{adds ? 1U : 0U}},
          {Work::added_sums, adds ? f.partial_sums : 0},
          {Work::sum_chain, adds ? chain_of(f.most_of_a_row, rules::sums_in_flight) : 0},
          {Work::alone, host_tasks::alone(slots, f.chunks, host_tasks::amb_chunks)},
          {Work::empty_rows, f.empty_rows}};
}

}  // namespace spmvpack::encoder::layouts::amb_plans
