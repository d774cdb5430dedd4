#pragma once
// What bitflag is planned from: the chunks of a matrix's entries, its most used columns, its columns in segments.

#include <array>
#include <span>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {

using spmvpack::layouts::bitflag::Source;  // not encoder::Source, which a group may include, too

/// A chunk and where its entries begin.
struct PlannedChunk {
  Chunk chunk;
  std::uint64_t first_entry = 0;
};

struct Chunks {
  CountedVector<PlannedChunk> all;        ///< and the end
  CountedVector<std::uint32_t> segments;  ///< the first tile of each, and their number
  std::uint64_t continued = 0, padding = 0, units = 0;
  std::array<std::uint64_t, 4> of_column_bytes{};  ///< chunks whose columns have 1, 2, 3 and 4
  std::uint64_t column_bytes = 0, value_bytes = 0, row_bytes = 0;
};

/// How entries are split into chunks.
struct ChunkOptions {
  std::uint64_t segment_rows, segment_columns;  ///< of each segment
  std::uint32_t tile_chunks;
  bool hot;  ///< some columns are
};
/// The chunks of a matrix whose rows are those of all segments, without places. O(rows + chunks).
Chunks plan_chunks(const CsrView& a, const ChunkOptions& options);

/// Gives them their places. `of_values`: of each chunk what Info has for its values; empty if that is nothing.
void place_chunks(Chunks& chunks, Source source, std::uint32_t value_bytes, std::span<const std::uint16_t> of_values);

/// The most used columns, at most `count`, and the entries that have them. O(nnz), parallel.
struct Hot {
  CountedVector<std::uint32_t> columns;  ///< rising
  std::uint64_t entries = 0;
};
Hot hot_columns_of(const CsrView& a, std::uint64_t count, int threads);

/// Bytes of a column, on average: as wide as each of some chunks of 256 entries here and there needs it.
double bytes_of_columns(const CsrView& a);

/// The matrix whose rows are those of all segments: row r of segment s is row s * rows + r. O(nnz + rows * segments),
/// parallel.
CsrMatrix in_segments(const CsrView& a, std::uint64_t segments, int threads);

}  // namespace spmvpack::encoder::layouts::bitflag_plans
