#pragma once
// The kernel of bitflag's tiles: a warp takes a chunk, and a team of warps a tile.

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/scalar.cuh"
#include "layouts/bitflag/chunk.cuh"
#include "layouts/bitflag/tuning.cuh"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

/// What a multiply reads and writes beside the matrix: y = alpha A x + beta y. Not in one structure with the View: the
/// compiler loads a parameter of up to 128 bytes at the start, but what it needs of a larger one where it is used,
/// which takes registers that loads of entries need.
template <class V>
struct TilesOperands {
  std::uint32_t table_values;  ///< elements of `values`, if they are a table
  std::uint32_t pieces;        ///< of all segments
  std::uint64_t cols;
  DeviceScalar<V> alpha;
  const V* x;
  DeviceScalar<V> beta;
  V* y;  ///< with segments, their sums
  RowMap map;
  V *first_sum, *last_sum;  ///< by tile, see RowSums
  NearElements<V> near;
  ReadOnce once;

  /// Where the sums of rows go. `factor`: alpha. Sums of segments are scaled when they are added up.
  template <Near kind>
  [[nodiscard]] __device__ __forceinline__ RowSums<V> to(V factor) const {
    constexpr bool segments = kind == Near::segment;
    return {.alpha = segments ? V{1} : factor,
            .beta = segments ? V{0} : beta.get(),
            .y = y,
            .map = segments ? RowMap{nullptr} : map,
            .first = first_sum,
            .last = last_sum};
  }
};
static_assert(sizeof(TilesOperands<double>) <= 128 && sizeof(View<double>) <= 128);

/// The tiles begin, begin + step, ... below end.
struct TileRange {
  std::uint32_t begin, end, step;
};

/// The warps of one tile, a chunk for each.
struct Team {
  std::uint32_t warps, warp;   ///< of the team; this one's number in its block
  std::uint32_t number, mine;  ///< the team's number in its block; the warp's in its team
  std::uint32_t teams;         ///< of a block
  __device__ explicit Team(std::uint32_t of_tile) : warps(of_tile), warp(threadIdx.x / 32) {
    number = warp / warps;
    mine = warp - number * warps;
    teams = blockDim.x / 32 / warps;
  }
  __device__ __forceinline__ void wait() const {
    if (warps == 1)
      __syncwarp();
    else
      asm volatile("bar.sync %0, %1;" ::"r"(number + 1), "r"(warps * 32) : "memory");
  }
};

__device__ inline Chunk load_chunk(const Chunk* chunks, std::uint64_t c) {
  const uint4 word = __ldg(reinterpret_cast<const uint4*>(chunks) + c);
  return {word.x, word.y, word.z, {word.w}};
}

/// y = beta y, for the rows of this warp's chunks.
template <class A, class V>
__device__ __forceinline__ void scale_rows(const View<A>& v, const Team& team, const TileRange& range,
                                           const RowSums<V>& to) {
  for (std::uint32_t t = range.begin; t < range.end; t += range.step) {
    const std::uint32_t c = t * team.warps + team.mine;
    const std::uint32_t begin = load_chunk(v.chunks, c).begin(), end = load_chunk(v.chunks, c + 1).begin();
    for (std::uint32_t r = begin + lane_id(); r < end; r += 32) to.scale(r);
  }
}

/// Copies elements of x to shared memory, by a block.
template <class V>
__device__ __forceinline__ void stage(const V* from, std::uint32_t count, V* to) {
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) __pipeline_memcpy_async(to + i, from + i, sizeof(V));
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/// Values that a block holds in shared memory.
constexpr std::uint32_t table_size(Source source) {
  return source == Source::table ? max_table : source == Source::decimal ? max_exponent + 1 : 1;
}
constexpr bool has_table(Source source) { return table_size(source) > 1; }

template <Source source, class A, class V>
__device__ __forceinline__ void load_table(const A* values, std::uint32_t count, V* table) {
  if constexpr (source == Source::decimal) {
    if (threadIdx.x <= max_exponent) table[threadIdx.x] = power_of_ten(threadIdx.x);
  } else {
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) table[i] = static_cast<V>(__ldg(values + i));
  }
}

/// Rows that go on through the chunks of tile t, from left to right, by one lane of each warp: the row that starts in
/// this warp's chunk and goes on (`row`, else no_row), and by the first warp the row that the tile continues. A row
/// that goes on in the next tile is left to add_carries().
template <class V>
__device__ __forceinline__ void finish_rows(const Team& team, std::uint32_t t, const Chunk& chunk, std::uint32_t row,
                                            const Shared<V>* of_team, const RowSums<V>& to) {
  struct Through {
    V sum;
    bool ends;
  };
  const auto through = [&](V sum, bool ends, std::uint32_t i) {  // the sum before chunk i of the tile
    for (; !ends && i < team.warps; ++i) {
      sum = sum + of_team[i].head;
      ends = of_team[i].ends != 0;
    }
    return Through{sum, ends};
  };
  if (team.mine == 0 && chunk.info.continues()) to.first[t] = through(of_team[0].head, of_team[0].ends != 0, 1).sum;
  if (row != no_row) {
    const Through all = through(of_team[team.mine].open, false, team.mine + 1);
    if (all.ends)
      to.put(row, all.sum);
    else
      to.last[t] = all.sum;
  }
}

/// Headers that are on their way: of this warp's chunk of the next tile, and of the chunk after it.
struct Ahead {
  Chunk next{}, after{};
  /// Of tile t, if it is below `end`.
  __device__ __forceinline__ void load(const Chunk* chunks, std::uint32_t t, std::uint32_t end, const Team& team) {
    if (t >= end) return;
    next = load_chunk(chunks, t * team.warps + team.mine);
    after = load_chunk(chunks, t * team.warps + team.mine + 1);
  }
};

/// A warp that takes its team's tiles one after the other. All warps of a team have the same number of turns.
template <Source source, Near near, class A, class V>
struct TileWarp {
  const View<A>& v;
  const Team& team;
  const Factors<V>& factors;
  const RowSums<V>& to;
  V* of_starts;                          ///< see ChunkSums
  Shared<V> (*shared)[max_tile_chunks];  ///< of the block's warps, turn by turn
  unsigned turn = 0;

  /// Multiplies this warp's chunk. Returns the row that starts here and goes on, else no_row.
  __device__ __forceinline__ std::uint32_t multiply(const ChunkToDo& c, Shared<V>& own) const {
    const ChunkSums<V> sums{of_starts, to, own};
    if (c.chunk.info.entries() == chunk_entries) return multiply_chunk<source, near, true>(v, c, factors, sums);
    if (c.chunk.info.entries() != 0) return multiply_chunk<source, near, false>(v, c, factors, sums);
    put_empty<near>(to, c.chunk.begin(), c.own_rows);
    return no_row;
  }

  /// Multiplies tiles, unless prepare() says that they are the wrong ones: it is called while the first headers are on
  /// their way.
  template <class Prepare>
  __device__ __forceinline__ void multiply(const TileRange& range, Prepare&& prepare) {
    std::uint32_t t = range.begin;
    Ahead ahead;
    ahead.load(v.chunks, t, range.end, team);
    if (!prepare()) return;
    for (; t < range.end; t += range.step, turn ^= 1) {
      const Chunk chunk = ahead.next;
      const std::uint32_t own_rows = ahead.after.begin() - chunk.begin();
      const bool goes_on = ahead.after.info.continues();
      ahead.load(v.chunks, t + range.step, range.end, team);
      Shared<V>* const of_team = shared[turn] + team.number * team.warps;
      const std::uint32_t row = multiply(ChunkToDo{chunk, own_rows, goes_on}, of_team[team.mine]);
      team.wait();
      if (lane_id() == 0) finish_rows(team, t, chunk, row, of_team, to);
      __syncwarp();
    }
  }
};

/// A piece of a segment: neighbouring tiles, for a block.
struct SegmentPiece {
  std::uint32_t segment, begin, end;  ///< tiles
};

/// All pieces. Segments have as many each, unless one has far more tiles than others: then they are dealt by tiles, at
/// least one to each. Where a few columns have most entries, as of words in documents, one multiprocessor in seven did
/// four fifths of the work before.
struct SegmentPieces {
  const std::uint32_t* segments;  ///< the first tile of each, and their number
  std::uint32_t count, tiles, pieces;

  /// A piece if all segments have as many. Pieces are left over: they are empty, of the last segment.
  [[nodiscard]] __device__ SegmentPiece even(std::uint32_t piece) const {
    const std::uint32_t of_each = pieces / count, segment = piece / of_each;
    if (segment >= count) return {count - 1, 0, 0};
    return place(segment, piece - segment * of_each, of_each);
  }
  /// The same, if they are dealt by tiles. All threads of a block look for it together.
  [[nodiscard]] __device__ SegmentPiece dealt(std::uint32_t piece) const {
    std::uint32_t segment = 0;
    for (std::uint32_t first = 0; first < count; first += blockDim.x) {
      const std::uint32_t s = first + threadIdx.x;
      segment += __syncthreads_count(s < count && before(s + 1) <= piece);
    }
    const std::uint32_t first = before(segment);
    return place(segment, piece - first, before(segment + 1) - first);
  }
  /// Whether no segment has more than one and a half times its share of the tiles. All threads of a block ask together,
  /// and wait for one another.
  [[nodiscard]] __device__ bool are_even() const {
    bool even = true;
    for (std::uint32_t first = 0; first < count; first += blockDim.x) {
      const std::uint32_t s = first + threadIdx.x;
      const std::uint64_t n = s < count ? __ldg(segments + s + 1) - __ldg(segments + s) : 0;
      even = __syncthreads_and(even && 2 * n * count <= 3 * std::uint64_t{tiles}) != 0;
    }
    return even;
  }

 private:
  /// Piece `piece` of the `of` that a segment has.
  [[nodiscard]] __device__ SegmentPiece place(std::uint32_t segment, std::uint32_t piece, std::uint32_t of) const {
    const std::uint32_t first = __ldg(segments + segment);
    const std::uint64_t n = __ldg(segments + segment + 1) - first;
    const auto tile = [&](std::uint32_t p) { return first + static_cast<std::uint32_t>(n * p / of); };
    return {segment, tile(piece), tile(piece + 1)};
  }
  /// Pieces before a segment, if they are dealt by tiles, rounded.
  [[nodiscard]] __device__ std::uint32_t before(std::uint32_t segment) const {
    const std::uint64_t more = 2 * std::uint64_t{__ldg(segments + segment)} * (pieces - count) + tiles;
    return segment + static_cast<std::uint32_t>(more / (2 * std::uint64_t{tiles}));
  }
};

/// A team of warps for each tile, a warp for each chunk. The grid strides over the tiles, or over pieces of segments,
/// whose elements of x a block stages.
template <Source source, Near near, class A, class V>
__global__ void __launch_bounds__(tuning::max_threads, 1)
    tiles_kernel(View<A> v, TilesOperands<V> a, Prefetch prefetch) {
  extern __shared__ __align__(16) std::byte shared_bytes[];  // sums of rows for each warp, near elements
  __shared__ V table[table_size(source)];
  __shared__ Shared<V> shared[2][max_tile_chunks];  // turn by turn: one barrier separates writing from reading
  V* const of_warps = reinterpret_cast<V*>(shared_bytes);
  V* const staged = of_warps + blockDim.x / 32 * warp_slots;
  if constexpr (near == Near::hot) wait_for_last_kernel();  // which makes the copy
  allow_next_kernel();
  const V alpha = a.alpha.get();
  prefetch(alpha);
  const RowSums<V> to = a.template to<near>(alpha);
  const Team team(v.tile_chunks);
  const auto tiles = static_cast<std::uint32_t>(v.chunk_count / team.warps);
  const std::uint32_t first = blockIdx.x * team.teams + team.number;
  if (alpha == V{0}) {  // x must not be read; of segments, what adds them up does all
    if constexpr (near != Near::segment) scale_rows(v, team, TileRange{first, tiles, gridDim.x * team.teams}, to);
    return;
  }
  V single = 0;
  if constexpr (source == Source::single) single = static_cast<V>(__ldg(v.values));
  const Factors<V> factors{source == Source::single ? &single : table, a.x, a.near, staged, a.once};
  TileWarp<source, near, A, V> warp{v, team, factors, to, of_warps + team.warp * warp_slots + 1, shared};
  if constexpr (near == Near::segment) {
    if constexpr (has_table(source)) load_table<source>(v.values, a.table_values, table);
    const SegmentPieces pieces{v.segments, static_cast<std::uint32_t>(v.segment_count), tiles, a.pieces};
    // Whether segments are even is asked once, while the first headers and x are on their way. If they are not, the
    // block begins anew.
    bool asked = false, even = true;
    for (std::uint32_t p = blockIdx.x; p < a.pieces;) {
      const SegmentPiece piece = even ? pieces.even(p) : pieces.dealt(p);
      bool is_right = true;
      warp.multiply(TileRange{piece.begin + team.number, piece.end, team.teams}, [&] {
        __syncthreads();  // the segment before has been read
        const std::uint64_t column = std::uint64_t{piece.segment} * v.segment_columns;
        stage(a.x + column, static_cast<std::uint32_t>(min(std::uint64_t{v.segment_columns}, a.cols - column)), staged);
        if (asked)
          __syncthreads();
        else
          is_right = even = pieces.are_even();
        asked = true;
        return is_right;
      });
      if (is_right) p += gridDim.x;
    }
  } else {
    warp.multiply(TileRange{first, tiles, gridDim.x * team.teams}, [&] {
      if constexpr (has_table(source)) load_table<source>(v.values, a.table_values, table);
      if constexpr (near == Near::hot) {
        if (a.near.staged) stage(a.near.copy, a.near.count, staged);
      }
      if constexpr (near == Near::hot || has_table(source)) __syncthreads();
      return true;
    });
  }
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
