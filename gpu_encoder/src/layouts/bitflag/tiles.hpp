#pragma once
// The same chunks in parallel, where no chunk is closed for its rows. Chunks are then full up to the end of their tile,
// and where a tile ends follows from where it begins: at a row, which may be any, so that every row is asked. The rows
// at which tiles do begin are found by jumping from the first along that chain.

#include <utility>

#include "layouts/bitflag/chunks.hpp"
#include "row_chain.hpp"

namespace spmvpack::gpu_encoder::bitflag {

/// Whether chunks are closed when they are full or their tile ends, and not for their rows. Reads the row pointers.
template <class Execution>
bool chunks_are_full(const Execution& run, const Csr& a, const Cut& cut) {
  const Buffer<std::uint32_t> found = run.template allocate<std::uint32_t>(1);
  run.zero(found.data(), found.bytes());
  std::uint32_t* const sparse = found.data();
  run.each(a.rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    constexpr std::uint64_t rows = rules::most_chunk_rows;
    const std::uint64_t entry = a.row_ptr(r);
    if (a.row_ptr(r + 1) == entry || r % cut.segment_rows < rows) return;
    // The chunk of the entry has its first own row after that of the entry 256 before, at the earliest.
    if (a.row_ptr(r - rows) + chunk_entries > entry) *sparse = 1;
  });
  return run.read(sparse) == 0;
}

/// A row at which a tile begins: the next such row, or that of the next segment, or the end; and the chunks until
/// there, which are whole tiles.
struct Step {
  std::uint64_t next, chunks;
};
class Tiles {
 public:
  SPMVPACK_HOST_DEVICE Tiles(const Csr& a, const Cut& cut) : a_(a), cut_(cut) {}

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t segment_end(std::uint64_t row) const {
    return row - row % cut_.segment_rows + cut_.segment_rows;
  }
  /// The row of entry k, which is not before `row`.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_of(std::uint64_t k, std::uint64_t row) const {
    std::uint64_t low = row, step = 1, high = row + 1;  // row_ptr(low) <= k
    while (high < a_.rows && a_.row_ptr(high) <= k) {
      low = high;
      step *= 2;
      high = a_.rows - low < step ? a_.rows : low + step;
    }
    return last_at_most(low, high, k, [&](std::uint64_t r) { return a_.row_ptr(r); });
  }
  /// The row after the last that starts before entry k, or the first of the segment; the segment is that of `row`.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t row_after(std::uint64_t k, std::uint64_t row) const {
    const std::uint64_t begin = row - row % cut_.segment_rows;
    if (k == a_.row_ptr(begin)) return begin;
    return row_of(k - 1, k > a_.row_ptr(row) ? row : begin) + 1;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE Step step_from(std::uint64_t row) const {
    const std::uint64_t end = segment_end(row), last = a_.row_ptr(end), tile = cut_.tile_entries();
    std::uint64_t base = a_.row_ptr(row), chunks = 0, at = row;
    while (base + tile < last) {
      chunks += cut_.tile_chunks;
      const std::uint64_t next = base + tile;
      at = row_of(next, at);
      const std::uint64_t start = a_.row_ptr(at);
      // It ends where a row does, or before one that has room in another; a longer one goes on.
      if (start == next || (start > base && a_.row_ptr(at + 1) - start <= tile)) return {at, chunks};
      base = next;
    }
    const std::uint64_t covered = div_up(end - row_after(last, row), rules::most_chunk_rows);
    const std::uint64_t rest = div_up(last - base, chunk_entries) + covered;
    return {end, chunks + round_up(rest, cut_.tile_chunks)};
  }

  /// The chunk number `place` of those from a tile that begins at `row` to the next at a row.
  /// Called by a group. *first: its first entry; *continued: counts tiles that begin within rows.
  [[nodiscard]] SPMVPACK_HOST_DEVICE Chunk chunk(Group group, std::uint64_t row, std::uint64_t next,
                                                 std::uint64_t place, std::uint64_t* first,
                                                 std::uint64_t* continued) const {
    const std::uint64_t base = a_.row_ptr(row), end = a_.row_ptr(next), begin = base + place * chunk_entries;
    if (begin >= end) {
      *first = end;
      std::uint64_t own = row_after(end, row);
      if (next == segment_end(row)) {  // empty rows at the end
        own += (place - div_up(end - base, chunk_entries)) * rules::most_chunk_rows;
        own = own < next ? own : next;
      }
      return {static_cast<std::uint32_t>(own), 0, 0, Info{0}};
    }
    *first = begin;
    const auto entries = static_cast<std::uint32_t>(end - begin < chunk_entries ? end - begin : chunk_entries);
    const std::uint64_t of_first = row_of(begin, row), of_last = row_of(begin + entries - 1, of_first);
    ChunkFacts f{entries, 0, a_.row_ptr(of_first) < begin, of_first, of_first + 1, of_last, ~0U, 0};
    if (!f.continues) f.row = f.begin = row_after(begin, row);
    for (std::uint64_t r = f.begin + group.lane; r <= of_last; r += Group::lanes())
      f.starts += a_.row_ptr(r) != a_.row_ptr(r + 1) ? 1 : 0;
    f.starts = group.sum(f.starts);
    for (std::uint32_t e = group.lane; e < entries; e += Group::lanes()) {
      const std::uint32_t column = a_.col_idx[begin + e];
      f.smallest = column < f.smallest ? column : f.smallest;
      f.largest = column > f.largest ? column : f.largest;
    }
    f.smallest = group.min(f.smallest);
    f.largest = group.max(f.largest);
    if (group.lane == 0 && f.continues && place % cut_.tile_chunks == 0) atomic_add(continued, std::uint64_t{1});
    return chunk_of(f, cut_);
  }

 private:
  Csr a_;
  Cut cut_;
};

/// The rows at which tiles begin, and the first chunk of each; then the end of both.
struct TileRows {
  std::uint64_t count = 0;  ///< without the end
  Buffer<std::uint32_t> rows;
  Buffer<std::uint64_t> chunks;
};

template <class Execution>
TileRows tile_rows(const Execution& run, const Csr& a, const Cut& cut) {
  const Buffer<std::uint32_t> nexts = run.template allocate<std::uint32_t>(a.rows);
  std::uint32_t* const next = nexts.data();
  run.each(a.rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    // No tile begins at a row without entries, but where a segment does.
    const bool possible = a.row_ptr(r) != a.row_ptr(r + 1) || r % cut.segment_rows == 0;
    next[r] = possible ? static_cast<std::uint32_t>(Tiles(a, cut).step_from(r).next) : nowhere;
  });
  RowChain chain = chain_from_first(run, a.rows, nexts);
  TileRows found;
  found.count = chain.count;
  found.rows = std::move(chain.rows);
  found.chunks = run.template allocate<std::uint64_t>(found.count + 1);
  const std::uint32_t* const rows = found.rows.data();
  std::uint64_t *const chunks = found.chunks.data(), count = found.count;
  run.each(count + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
    chunks[i] = i == count ? 0 : Tiles(a, cut).step_from(rows[i]).chunks;
  });
  run.sum_before(chunks, chunks, count + 1);
  return found;
}

/// chunks_are_full() of the matrix.
template <class Execution>
Chunks cut_at_once(const Execution& run, const Csr& a, const Cut& cut, std::uint64_t segments) {
  const TileRows tiles = tile_rows(run, a, cut);
  Chunks all;
  const std::uint64_t* const starts = tiles.chunks.data();
  const std::uint32_t* const rows = tiles.rows.data();
  const std::uint64_t tile_count = tiles.count;
  all.count = run.read(starts + tile_count);
  all.chunks = run.template allocate<Chunk>(all.count + 1);
  all.first_entry = run.template allocate<std::uint64_t>(all.count + 1);
  all.segments = run.template allocate<std::uint32_t>(segments + 1);
  Chunk* const chunks = all.chunks.data();
  std::uint64_t* const first_entry = all.first_entry.data();
  std::uint32_t* const segment_tiles = all.segments.data();
  const Buffer<std::uint64_t> continued = run.template allocate<std::uint64_t>(1);
  std::uint64_t* const counter = continued.data();
  run.zero(counter, continued.bytes());
  run.each_group(all.count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t c, Group group) {
    std::uint64_t low = 0, high = tile_count;  // starts[low] <= c < starts[high]
    // Where no row is longer than a tile, it is found at once.
    if (const std::uint64_t usual = c / cut.tile_chunks; usual < tile_count && starts[usual] <= c) {
      low = usual;
      if (c < starts[usual + 1]) high = usual + 1;
    }
    low = last_at_most(low, high, c, [&](std::uint64_t tile) { return starts[tile]; });
    std::uint64_t first = 0;
    const Chunk chunk = Tiles(a, cut).chunk(group, rows[low], rows[low + 1], c - starts[low], &first, counter);
    if (group.lane != 0) return;
    chunks[c] = chunk;
    first_entry[c] = first;
  });
  run.each(tile_count + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
    if (rows[i] % cut.segment_rows == 0)
      segment_tiles[rows[i] / cut.segment_rows] = static_cast<std::uint32_t>(starts[i] / cut.tile_chunks);
  });
  all.continued = run.read(counter);
  return all;
}

}  // namespace spmvpack::gpu_encoder::bitflag
