#pragma once
// What amb is planned from: windows of rows cut into chunks, and these put together for one size of blocks.

#include <array>

#include "layouts/amb/amb_rules.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::encoder::layouts::amb_plans {

/// How rows are cut.
struct ChunkOptions {
  std::uint64_t segment_cols, chunk_rows, sigma;
};

struct Chunk {
  std::uint32_t segment = 0;
  std::array<std::uint32_t, max_block> steps{};  ///< for each block size
};

/// What sigma rows become, before the block size is known.
struct RowWindow {
  CountedVector<Chunk> chunks;          ///< by segment
  CountedVector<std::uint32_t> lanes;   ///< chunk by chunk: LaneRow; partial sums are counted from the window's first
  CountedVector<std::uint32_t> shared;  ///< the row of each partial sum
  CountedVector<std::uint32_t> empty;   ///< rows without entries
  PerBlock steps{}, blocks{};           ///< of all chunks; of all rows

  void clear() {
    for (auto* const list : {&lanes, &shared, &empty}) list->clear();
    chunks.clear();
    steps = blocks = {};
  }
};

/// O(nnz), parallel.
CountedVector<RowWindow> cut_rows(const CsrView& a, const ChunkOptions& options, int threads);

/// A part cut into chunks: the sections but for columns and values.
struct Blocked {
  std::uint64_t segment_cols = 0, chunk_rows = 0, block = 1;
  CountedVector<std::uint32_t> cl, cs, lanes, shared, empty;
  CountedVector<std::uint64_t> zeros;
};

/// The windows' chunks, segment by segment: neighbours in time then read the same part of x. `zeros` is left empty.
Blocked join_windows(CountedVector<RowWindow> windows, const ChunkOptions& options, std::uint64_t block);

}  // namespace spmvpack::encoder::layouts::amb_plans
