#pragma once
// The places of chunks, and the bytes of their stream.

#include "layouts/bitflag/chunks.hpp"
#include "layouts/bitflag/values.hpp"

namespace spmvpack::gpu_encoder::bitflag {

using layouts::bitflag::ChunkLayout;
using layouts::bitflag::lane_entries;
using layouts::bitflag::slot_of;
using layouts::bitflag::Source;

/// Gives all chunks their places, the end as well; returns the units of the stream.
template <class Execution>
std::uint64_t place_chunks(const Execution& run, const Chunks& all, Source source, std::uint32_t value_bytes) {
  const std::uint64_t count = all.count + 1;
  const Buffer<std::uint64_t> places = run.template allocate<std::uint64_t>(count);
  std::uint64_t* const place = places.data();
  Chunk* const chunks = all.chunks.data();
  run.each(count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t c) {
    place[c] = layouts::bitflag::chunk_layout(chunks[c].info, source, value_bytes).end / layouts::bitflag::unit;
  });
  run.sum_before(place, place, count);
  run.each(count,
           [=] SPMVPACK_HOST_DEVICE(std::uint64_t c) { chunks[c].place = static_cast<std::uint32_t>(place[c]); });
  return run.read(place + all.count);
}

/// What chunks are written from.
template <class Bits>
struct StreamSource {
  Csr a;
  const Chunk* chunks;
  const std::uint64_t* first_entry;
  Source source;
  ValueSlots slots;                ///< of a table
  const std::uint8_t* ids;         ///< of these
  const std::uint32_t* hot_words;  ///< of each column: how it is stored if it is hot, else 0; null: none is hot

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t word_of(std::uint64_t k, std::uint32_t base) const {
    const std::uint32_t column = a.col_idx[k], hot = hot_words == nullptr ? 0 : hot_words[column];
    return hot != 0 ? hot : column - base;
  }
  /// Writes columns and values of a chunk, whose bytes are 0.
  SPMVPACK_HOST_DEVICE void write_entries(std::uint64_t c, Group group, std::byte* out) const {
    const Info info = chunks[c].info;
    const std::uint32_t own_lanes = info.lanes(), bytes = info.column_bytes();
    const ChunkLayout at = layouts::bitflag::chunk_layout(info, source, stored_bytes(source, sizeof(Bits)));
    std::byte* const columns = out + at.columns;
    for (std::uint32_t e = group.lane; e < info.entries(); e += Group::lanes()) {
      const std::uint64_t k = first_entry[c] + e;
      const std::uint32_t word = word_of(k, chunks[c].base), lane = e / lane_entries, place = e % lane_entries;
      const std::uint32_t slot = slot_of(bytes == 3 ? 2 : bytes, own_lanes, lane, place);
      if (bytes == 1) columns[slot] = static_cast<std::byte>(word);
      if (bytes == 2 || bytes == 3) reinterpret_cast<std::uint16_t*>(columns)[slot] = static_cast<std::uint16_t>(word);
      if (bytes == 3) columns[layouts::bitflag::highest_bytes(own_lanes) + e] = static_cast<std::byte>(word >> 16U);
      if (bytes == 4) reinterpret_cast<std::uint32_t*>(columns)[slot] = word;
      const auto* const values = a.template values<Bits>();
      if (source == Source::raw)
        reinterpret_cast<Bits*>(
            out + at.values)[slot_of(static_cast<std::uint32_t>(sizeof(Bits)), own_lanes, lane, place)] = values[k];
      if (source == Source::table)
        out[at.values + slot_of(1U, own_lanes, lane, place)] = static_cast<std::byte>(ids[slots.find(values[k])]);
    }
  }
  /// Writes where rows start.
  SPMVPACK_HOST_DEVICE void write_rows(std::uint64_t c, Group group, std::byte* out) const {
    const Chunk chunk = chunks[c];
    const Info info = chunk.info;
    const ChunkLayout at = layouts::bitflag::chunk_layout(info, source, stored_bytes(source, sizeof(Bits)));
    const std::uint64_t first = first_entry[c];
    std::uint32_t found = 0;
    for (std::uint64_t base = chunk.begin(); found < info.starts(); base += Group::lanes()) {
      const std::uint64_t row = base + group.lane;
      const std::uint64_t begin = row < a.rows ? a.row_ptr(row) : 0;
      const bool starts = row < a.rows && begin < first + info.entries() && a.row_ptr(row + 1) != begin;
      const std::uint32_t number = found + group.sum_before(starts ? 1U : 0U);
      if (starts) {
        const auto e = static_cast<std::uint32_t>(begin - first);
        atomic_or(reinterpret_cast<std::uint32_t*>(out) + e / 32, 1U << e % 32);
        const auto offset = static_cast<std::uint32_t>(row - chunk.row);
        if (info.row_bytes() == 1) out[at.rows + number] = static_cast<std::byte>(offset);
        if (info.row_bytes() == 2)
          reinterpret_cast<std::uint16_t*>(out + at.rows)[number] = static_cast<std::uint16_t>(offset);
      }
      found += group.sum(starts ? 1U : 0U);
    }
  }
};

template <class Bits, class Execution>
void write_stream(const Execution& run, const StreamSource<Bits>& source, std::uint64_t chunks, std::byte* stream) {
  run.each_group(chunks, [=] SPMVPACK_HOST_DEVICE(std::uint64_t c, Group group) {
    if (source.chunks[c].info.entries() == 0) return;
    std::byte* const out = stream + std::uint64_t{source.chunks[c].place} * layouts::bitflag::unit;
    source.write_entries(c, group, out);
    source.write_rows(c, group, out);
  });
}

}  // namespace spmvpack::gpu_encoder::bitflag
