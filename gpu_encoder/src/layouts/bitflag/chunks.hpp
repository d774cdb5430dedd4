#pragma once
// The chunks of a matrix's entries, without their places in the stream: as encoder cuts them, row after row.

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "memory.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"

namespace spmvpack::gpu_encoder::bitflag {

namespace rules = encoder::layouts::bitflag_plans;
using layouts::bitflag::Chunk;
using layouts::bitflag::chunk_entries;
using layouts::bitflag::Info;

/// How entries are cut: encoder's ChunkOptions.
struct Cut {
  std::uint64_t segment_rows, segment_columns, cols;
  std::uint32_t tile_chunks;
  bool hot;        ///< some columns are
  bool segmented;  ///< there are several segments

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t tile_entries() const {
    return std::uint64_t{tile_chunks} * chunk_entries;
  }
};

struct Chunks {
  std::uint64_t count = 0;            ///< without the end
  Buffer<Chunk> chunks;               ///< and the end
  Buffer<std::uint64_t> first_entry;  ///< of each
  Buffer<std::uint32_t> segments;     ///< the first tile of each, and their number
  std::uint64_t continued = 0;        ///< tiles that begin within a row
};

/// What a chunk has, once its entries and rows are known.
struct ChunkFacts {
  std::uint32_t entries, starts;
  bool continues;
  std::uint64_t row;         ///< the row that it continues, or its first own one
  std::uint64_t begin;       ///< its first own row
  std::uint64_t last_start;  ///< the last row that starts in it, if any does
  std::uint32_t smallest, largest;
};
SPMVPACK_HOST_DEVICE inline Chunk chunk_of(const ChunkFacts& f, const Cut& cut) {
  const bool gaps = f.starts != 0 && f.last_start + 1 - f.begin != f.starts;
  const std::uint32_t row_bytes = !gaps ? 0 : f.last_start - f.row <= 0xFF ? 1 : 2;
  const std::uint64_t segment = cut.segmented ? f.row / cut.segment_rows : 0;
  const std::uint32_t base = cut.hot         ? 0
                             : cut.segmented ? static_cast<std::uint32_t>(segment * cut.segment_columns)
                                             : f.smallest;
  const std::uint32_t bytes = cut.hot ? rules::hot_column_bytes(cut.cols) : rules::column_bytes(f.largest - base);
  return {static_cast<std::uint32_t>(f.row), base, 0, Info::make(f.entries, f.starts, bytes, row_bytes, f.continues)};
}

/// Cuts one segment, row after row. Writes to `chunks` and `first`, unless they are null.
class Chunker {
 public:
  SPMVPACK_HOST_DEVICE Chunker(const Csr& a, const Cut& cut, std::uint64_t segment, Chunk* chunks, std::uint64_t* first)
      : a_(a),
        cut_(cut),
        begin_row_(segment * cut.segment_rows),
        chunks_(chunks),
        first_(first),
        first_entry_(a.row_ptr(begin_row_)),
        next_row_(begin_row_) {}

  SPMVPACK_HOST_DEVICE void run() {
    const std::uint64_t end = begin_row_ + cut_.segment_rows;
    for (std::uint64_t r = begin_row_; r < end; ++r) add_row(r, a_.row_ptr(r), a_.row_ptr(r + 1));
    // What is left: the open chunk, empty rows at the end, and the rest of the tile.
    close();
    cover_rows(end, 0);
    fill_tile(end);
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t count() const { return count_; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t continued() const { return continued_; }

 private:
  SPMVPACK_HOST_DEVICE void add_row(std::uint64_t row, std::uint64_t entry, std::uint64_t end) {
    if (entry == end) return;
    if (f_.entries != 0 && row - f_.begin >= rules::most_chunk_rows) close();
    if (f_.entries == 0) cover_rows(row, rules::most_chunk_rows - 1);
    const std::uint64_t n = end - entry,
                        room = (cut_.tile_chunks - count_ % cut_.tile_chunks) * chunk_entries - f_.entries;
    if (n > room && n <= cut_.tile_entries()) {
      close();
      fill_tile(next_row_);
    }
    for (bool continues = false; entry < end; continues = true) {
      if (f_.entries == 0) open(row, entry, continues);
      const std::uint64_t left = chunk_entries - f_.entries;
      const auto taken = static_cast<std::uint32_t>(end - entry < left ? end - entry : left);
      if (!continues) {
        ++f_.starts;
        f_.last_start = row;
        next_row_ = row + 1;
      }
      const std::uint32_t low = a_.col_idx[entry], high = a_.col_idx[entry + taken - 1];
      f_.smallest = low < f_.smallest ? low : f_.smallest;
      f_.largest = high > f_.largest ? high : f_.largest;
      f_.entries += taken;
      entry += taken;
      if (f_.entries == chunk_entries) close();
    }
  }
  /// Chunks without entries for the empty rows before `row`, but for so many before it.
  SPMVPACK_HOST_DEVICE void cover_rows(std::uint64_t row, std::uint64_t but) {
    while (row - next_row_ > but) {
      put({static_cast<std::uint32_t>(next_row_), 0, 0, Info{0}});
      next_row_ = row - next_row_ < rules::most_chunk_rows ? row : next_row_ + rules::most_chunk_rows;
    }
  }
  SPMVPACK_HOST_DEVICE void fill_tile(std::uint64_t row) {
    while (count_ % cut_.tile_chunks != 0) put({static_cast<std::uint32_t>(row), 0, 0, Info{0}});
  }
  SPMVPACK_HOST_DEVICE void put(const Chunk& chunk) {
    if (chunks_ != nullptr) {
      chunks_[count_] = chunk;
      first_[count_] = first_entry_;
    }
    ++count_;
  }
  SPMVPACK_HOST_DEVICE void open(std::uint64_t row, std::uint64_t entry, bool continues) {
    first_entry_ = entry;
    f_ = {0, 0, continues, continues ? row : next_row_, next_row_, 0, ~0U, 0};
    if (continues && count_ % cut_.tile_chunks == 0) ++continued_;
  }
  SPMVPACK_HOST_DEVICE void close() {
    if (f_.entries == 0) return;
    put(chunk_of(f_, cut_));
    first_entry_ += f_.entries;
    f_.entries = 0;
  }

  Csr a_;
  Cut cut_;
  std::uint64_t begin_row_;
  Chunk* chunks_;
  std::uint64_t* first_;
  std::uint64_t first_entry_, next_row_, count_ = 0, continued_ = 0;
  ChunkFacts f_{};  ///< of the open chunk, if it has entries
};

/// A thread for each segment: for matrices so sparse that empty rows close chunks. Takes time for each row in turn.
template <class Execution>
Chunks cut_in_turn(const Execution& run, const Csr& a, const Cut& cut, std::uint64_t segments) {
  Chunks all;
  Buffer<std::uint64_t> firsts = run.template allocate<std::uint64_t>(segments + 2);
  std::uint64_t* const first = firsts.data();
  run.zero(first, firsts.bytes());
  run.each(segments, [=] SPMVPACK_HOST_DEVICE(std::uint64_t s) {
    Chunker chunker(a, cut, s, nullptr, nullptr);
    chunker.run();
    first[s] = chunker.count();
    atomic_add(first + segments + 1, chunker.continued());
  });
  run.sum_before(first, first, segments + 1);
  const auto found = run.read(first + segments, 2);
  all.count = found[0];
  all.continued = found[1];
  all.chunks = run.template allocate<Chunk>(all.count + 1);
  all.first_entry = run.template allocate<std::uint64_t>(all.count + 1);
  all.segments = run.template allocate<std::uint32_t>(segments + 1);
  Chunk* const chunks = all.chunks.data();
  std::uint64_t* const entries = all.first_entry.data();
  std::uint32_t* const tiles = all.segments.data();
  run.each(segments + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t s) {
    tiles[s] = static_cast<std::uint32_t>(first[s] / cut.tile_chunks);
    if (s == segments) return;
    Chunker chunker(a, cut, s, chunks + first[s], entries + first[s]);
    chunker.run();
  });
  return all;
}

}  // namespace spmvpack::gpu_encoder::bitflag
