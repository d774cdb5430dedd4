#pragma once
// What ccoo decides, from counts alone.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layouts/ccoo/ccoo_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/launch_rules/ccoo.hpp"

namespace spmvpack::encoder::layouts::ccoo_plans {

using namespace spmvpack::layouts::ccoo;  // what the bytes mean

inline constexpr std::uint64_t header_bytes = 1 + 4 + 4 + 8;  ///< of a chunk, over the four arrays
inline constexpr std::array<std::uint32_t, 4> slot_choices{1, 2, 4, 8};

/// Of the chunks: none, as all are the one of the table; ids where the table has all of a chunk's; raw.
enum class Values : std::uint8_t { single, ids, raw };

/// Whose they are.
constexpr spmvpack::layouts::ValuesAre values_are(Values values) {
  return values == Values::raw ? spmvpack::layouts::ValuesAre::own : spmvpack::layouts::ValuesAre::shared;
}

/// Where values are. `wants_ids`: even if all are the same.
constexpr Values usual_values(std::uint64_t distinct_values, bool wants_ids) {
  return distinct_values == 1 && !wants_ids ? Values::single : Values::ids;
}

/// A part in chunks.
struct ChunkingFacts {
  std::uint64_t slots = 1;  ///< K
  std::uint64_t chunks = 0, blob_bytes = 0;
  std::uint64_t lut_bytes = 0;  ///< 0: no chunk has ids
};
constexpr std::uint64_t device_bytes(const ChunkingFacts& f) {
  return f.blob_bytes + f.chunks * header_bytes + f.lut_bytes;
}

/// Whether the same chunks with raw values may take fewer bytes: a few small ones may not pay for the table.
constexpr bool may_not_pay_for_table(const ChunkingFacts& with_ids) {
  return with_ids.lut_bytes != 0 && with_ids.chunks <= lut_capacity;
}

/// The number of the chunking with the fewest bytes, of equals the first; or with the `wanted` slots, which one has.
constexpr std::size_t choose_slots(std::span<const ChunkingFacts> chunkings, std::optional<std::uint32_t> wanted) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < chunkings.size(); ++i)
    if (wanted ? chunkings[i].slots == *wanted : device_bytes(chunkings[i]) < device_bytes(chunkings[best])) best = i;
  return best;
}

/// What a multiply goes through.
struct WorkFacts {
  std::uint64_t rows = 0, empty_rows = 0, longest_row = 0;
  std::uint64_t lanes = 0, slots = 1, chunks = 0;  ///< B, K
  std::uint64_t stored_slots = 0, raw_bytes = 0, lut_size = 0;
  std::uint64_t run_entries = 0;  ///< entries_in_runs()
};
/// PartPlan::work.
inline std::vector<Counter> work_of(const WorkFacts& f, const Device& device) {
  return {{Work::multiplies, 1},
          {Work::slots, f.stored_slots},
          {Work::lanes, f.stored_slots / f.slots},
          {Work::raw_bytes, f.raw_bytes},
          {Work::long_rows, has_long_row(f.longest_row, f.lanes * f.slots)},
          {Work::serial,
           launch_rules::ccoo::serial_entries(f.rows, f.chunks, f.lanes, f.slots, f.lut_size, device.multiprocessors)},
          {Work::empty_rows, f.empty_rows},
          {Work::run_entries, f.run_entries}};
}

}  // namespace spmvpack::encoder::layouts::ccoo_plans
