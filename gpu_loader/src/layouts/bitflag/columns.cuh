#pragma once
// bitflag by several columns. As by one, a warp takes a chunk and a team of warps a tile; the chunk's lanes, each of
// which has up to eight entries, are taken a few at a time, with a thread for each of their column lanes.

#include "kernels/columns.cuh"
#include "layouts/bitflag/chunk.cuh"
#include "layouts/bitflag/tiles.cuh"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

/// A chunk's sums of rows that other chunks of the tile have, in shared memory: a Pack for each column lane.
template <class V>
struct SharedColumns {
  Pack<V>*head, *open;  ///< of the row that it continues; of its last row, if that goes on
};

/// Packs in shared memory that a warp needs: what its chunk's lanes have of rows that lanes before begin, by column
/// lane; and the sums of the rows that start in the lanes of a pass.
constexpr SPMVPACK_HOST_DEVICE std::uint32_t head_packs(std::uint32_t column_lanes) { return lanes * column_lanes; }
constexpr SPMVPACK_HOST_DEVICE std::uint32_t sum_packs(std::uint32_t column_lanes) {
  return lanes * lane_entries + column_lanes;
}
/// Of a block: of its warps, and the SharedColumns of its teams' tiles, turn by turn.
template <class V>
constexpr std::uint64_t column_bytes(std::uint32_t column_lanes, unsigned warps, unsigned chunks) {
  return (std::uint64_t{warps} * (head_packs(column_lanes) + sum_packs(column_lanes)) +
          std::uint64_t{4} * chunks * column_lanes) *
         sizeof(Pack<V>);
}

/// The tree over n neighbouring sums, by one thread; the first becomes their sum.
template <class V>
__device__ __forceinline__ Pack<V> sum_in_place(Pack<V>* first, std::uint32_t stride, std::uint32_t n) {
  for (std::uint32_t distance = 1; distance < n; distance *= 2)
    for (std::uint32_t i = 0; i + distance < n; i += 2 * distance)
      first[i * stride] = first[i * stride] + first[(i + distance) * stride];
  return *first;
}

/// A part's sums that tiles leave of rows that they share: by column, of a tile's first row and of its last.
template <class V>
struct TileSums {
  V* sums;
  std::uint64_t tiles;
  [[nodiscard]] __device__ V* first(std::uint32_t column) const { return sums + column * 2 * tiles; }
  [[nodiscard]] __device__ V* last(std::uint32_t column) const { return first(column) + tiles; }
};

template <class V>
struct ColumnTiles {
  ColumnOperands<V> operands;
  TileSums<V> sums;
  std::uint32_t table_values;
};

/// Writes rows without entries, by a warp.
template <class V>
__device__ void scale_rows(const ColumnOperands<V>& o, std::uint32_t begin, std::uint32_t count, V beta) {
  for (std::uint32_t i = lane_id(); i < count * o.lanes; i += 32)
    ColumnLane<V>(o, i % o.lanes).put(begin + i / o.lanes, Pack<V>{}, false, V{0}, beta);
}

/// Multiplies one chunk, by a warp. Returns the row that starts here and goes on, else no_row. `heads`, `sums`: the
/// warp's, see column_bytes(). `own`: what other chunks need.
template <Source source, bool hot, class A, class V>
__device__ __forceinline__ std::uint32_t multiply_chunk_columns(const View<A>& v, const ChunkToDo& c,
                                                                const ColumnOperands<V>& o, V alpha, V beta,
                                                                const V* table, Pack<V>* heads, Pack<V>* sums,
                                                                const SharedColumns<V>& own) {
  using P = Pack<V>;
  const Info info = c.chunk.info;
  const std::byte* const bytes = v.stream + std::uint64_t{c.chunk.place} * unit;
  const ChunkLayout at = chunk_layout(info, source, stored_bytes(source, sizeof(A)));
  const std::uint32_t warp_lane = lane_id(), chunk_lanes = info.lanes(),
                      used = (info.entries() + lane_entries - 1) / lane_entries;
  const ChunkRows row{c.chunk, bytes + at.rows};
  // Of the chunk's lane that has this thread's number.
  const std::uint32_t flags_there = warp_lane < chunk_lanes ? static_cast<std::uint32_t>(bytes[warp_lane]) : 0;
  const std::uint32_t before_there =
      exclusive_sum_of_4_bits(static_cast<std::uint32_t>(__popc(flags_there)), warp_lane);
  const std::uint32_t with_start = __ballot_sync(full_warp, flags_there != 0);
  const std::uint32_t count = info.starts(), whole = count - (c.goes_on && count != 0 ? 1 : 0);
  V beta_of_rows = beta;
  if (count != c.own_rows) {  // rows without entries are among its own: all of them first become beta y
    scale_rows(o, c.chunk.begin(), c.own_rows - (count - whole), beta);
    beta_of_rows = beta == V{0} ? V{0} : V{1};
    __syncwarp();
  }
  // From the last lanes to the first: what lanes have of rows that begin before them is there when it is added.
  const std::uint32_t at_once = 32 / o.lanes, passes = (used + at_once - 1) / at_once;
  for (std::uint32_t pass = passes; pass-- > 0;) {
    const std::uint32_t in_pass = warp_lane / o.lanes, lane = pass * at_once + in_pass;
    const bool takes = in_pass < at_once && lane < used;
    const std::uint32_t flags_of_lane = __shfl_sync(full_warp, flags_there, lane % 32),
                        before = __shfl_sync(full_warp, before_there, lane % 32);
    const std::uint32_t column_lane = warp_lane - in_pass * o.lanes;
    const ColumnLane<V> columns(o, takes ? column_lane : 0);
    const std::uint32_t flags = takes ? flags_of_lane : 0;
    P sum{};
    const std::uint32_t first_start = __shfl_sync(full_warp, before, 0);
    // The sums of the pass's rows, in their order, each of which follows one of a row that goes on: as sum_rows() has
    // it.
    P* slot = sums + (before - first_start) * o.lanes + column_lane;
    if (takes) {
      const std::uint32_t n = lane + 1 < used ? lane_entries : info.entries() - lane * lane_entries;
      LaneColumns stored = {};
      LaneValues<source, A> values = {};
      stored.load(bytes + at.columns, info.column_bytes(), chunk_lanes, lane, o.once);
      values.load(bytes + at.values, chunk_lanes, lane, o.once);
      std::uint32_t word[lane_entries];
      stored.template get<hot>(info.column_bytes(), word);
      if constexpr (source == Source::window || source == Source::decimal)
        values.load_more(v, info, bytes + at.exponents, lane, o.once);
      if constexpr (hot) {
#pragma unroll
        for (unsigned k = 0; k < lane_entries; ++k)
          word[k] = k < n && (word[k] & hot_word) != 0 ? __ldg(v.hot + (word[k] & hot_place)) : c.chunk.base + word[k];
      }
      P element[lane_entries];
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k)
        element[k] = columns.load(hot ? word[k] : c.chunk.base + word[k], k < n);
      issue_loads();
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k) {
        if ((flags >> k & 1U) != 0) {
          *slot = sum;
          slot += o.lanes;
          sum = P{};
        }
        if (k < n) sum.add_product(values.get(k, table), element[k]);
      }
      // What it has of the row before its first: at first where that row's sum belongs.
      heads[lane * o.lanes + column_lane] = flags != 0 ? sums[(before - first_start) * o.lanes + column_lane] : sum;
    }
    __syncwarp();
    if (flags != 0) {
      if (lane + 1 < used) {
        const std::uint32_t end = min(used, segment_end(with_start << 1 | 1, lane + 1, used));
        sum = sum + sum_in_place(heads + (lane + 1) * o.lanes + column_lane, o.lanes, end - (lane + 1));
      }
      *slot = sum;
    }
    __syncwarp();
    const std::uint32_t end_start =
        pass + 1 == passes ? count : __shfl_sync(full_warp, before_there, (pass + 1) * at_once % 32);
    const std::uint32_t done = min(end_start, whole) - min(first_start, whole);
    for (std::uint32_t j = warp_lane; j < done * o.lanes; j += 32)
      ColumnLane<V>(o, j % o.lanes).put(row(first_start + j / o.lanes), sums[o.lanes + j], true, alpha, beta_of_rows);
    if (whole < end_start && whole >= first_start && warp_lane < o.lanes)
      own.open[warp_lane] = sums[(whole - first_start + 1) * o.lanes + warp_lane];
    __syncwarp();
  }
  // The tree of what the chunk has of the row before it, by all threads: of a long row, it is that of all lanes.
  const std::uint32_t head_lanes = min(used, segment_end(with_start << 1 | 1, 0, used));
  for (std::uint32_t distance = 1; distance < head_lanes; distance *= 2) {
    for (std::uint32_t j = warp_lane; j < head_lanes / (2 * distance) * o.lanes + o.lanes; j += 32) {
      const std::uint32_t left = j / o.lanes * 2 * distance, right = left + distance;
      if (right < head_lanes) {
        P& at_left = heads[left * o.lanes + j % o.lanes];
        at_left = at_left + heads[right * o.lanes + j % o.lanes];
      }
    }
    __syncwarp();
  }
  if (warp_lane < o.lanes) own.head[warp_lane] = heads[warp_lane];
  __syncwarp();  // before the next chunk's
  return whole != count ? row(whole) : no_row;
}

/// The warps of one tile: as many as it has chunks, but no more than a block has; each takes every so many of them.
struct ColumnTeam : Team {
  std::uint32_t chunks;  ///< of a tile
  __device__ explicit ColumnTeam(std::uint32_t tile_chunks)
      : Team(tuning::column_warps(tile_chunks)), chunks(tile_chunks) {}
};

/// What the chunks of a tile leave for others, in shared memory, turn by turn: one barrier separates writing from
/// reading. By chunk of the block's tiles.
template <class V>
struct TileShared {
  Pack<V>* packs;             ///< for each column lane, head and open, see SharedColumns
  std::uint32_t *ends, *row;  ///< whether the row that the chunk continues ends in it; the row that goes on, or no_row
};

/// Adds up what goes on from chunk i of tile t, by a thread for each column lane: see finish_rows().
template <class V>
__device__ __forceinline__ void finish_columns(std::uint32_t chunks, std::uint32_t t, std::uint32_t i, bool continues,
                                               const TileShared<V>& of_tile, const ColumnTiles<V>& a, V alpha, V beta) {
  const ColumnOperands<V>& o = a.operands;
  const std::uint32_t lane = lane_id();
  const auto through = [&](Pack<V> sum, bool& ended, std::uint32_t next) {  // the sum before chunk `next`
    for (; !ended && next < chunks; ++next) {
      sum = sum + of_tile.packs[2 * next * o.lanes + lane];
      ended = of_tile.ends[next] != 0;
    }
    return sum;
  };
  const auto leave = [&](const Pack<V>& sum, auto&& to) {
#pragma unroll
    for (unsigned c = 0; c < Pack<V>::size; ++c)
      if (lane * Pack<V>::size + c < o.columns) to(lane * Pack<V>::size + c)[t] = sum.of[c];
  };
  if (i == 0 && continues) {
    bool ended = of_tile.ends[0] != 0;
    leave(through(of_tile.packs[lane], ended, 1), [&](std::uint32_t column) { return a.sums.first(column); });
  }
  if (const std::uint32_t row = of_tile.row[i]; row != no_row) {
    bool ended = false;
    const Pack<V> sum = through(of_tile.packs[(2 * i + 1) * o.lanes + lane], ended, i + 1);
    if (ended)
      ColumnLane<V>(o, lane).put(row, sum, true, alpha, beta);
    else
      leave(sum, [&](std::uint32_t column) { return a.sums.last(column); });
  }
}

template <Source source, bool hot, class A, class V>
__global__ void __launch_bounds__(tuning::column_threads, tuning::column_blocks)
    columns_kernel(View<A> v, ColumnTiles<V> a) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ V table[table_size(source)];
  __shared__ std::uint32_t ends[2][max_tile_chunks], rows[2][max_tile_chunks];
  allow_next_kernel();
  const ColumnOperands<V>& o = a.operands;
  const V alpha = o.alpha.get(), beta = o.beta.get();
  const ColumnTeam team(v.tile_chunks);
  const auto tiles = static_cast<std::uint32_t>(v.chunk_count / team.chunks);
  const TileRange range{blockIdx.x * team.teams + team.number, tiles, gridDim.x * team.teams};
  if (alpha == V{0}) {  // X must not be read
    for (std::uint32_t t = range.begin; t < range.end; t += range.step)
      for (std::uint32_t i = team.mine; i < team.chunks; i += team.warps) {
        const std::uint32_t c = t * team.chunks + i, begin = load_chunk(v.chunks, c).begin();
        scale_rows(o, begin, load_chunk(v.chunks, c + 1).begin() - begin, beta);
      }
    return;
  }
  if constexpr (has_table(source)) {
    load_table<source>(v.values, a.table_values, table);
    __syncthreads();
  }
  V single = 0;
  if constexpr (source == Source::single) single = static_cast<V>(__ldg(v.values));
  auto* const packs = reinterpret_cast<Pack<V>*>(shared_bytes);
  Pack<V>* const heads = packs + team.warp * (head_packs(o.lanes) + sum_packs(o.lanes));
  Pack<V>* const of_turns = packs + blockDim.x / 32 * (head_packs(o.lanes) + sum_packs(o.lanes));
  unsigned turn = 0;
  for (std::uint32_t t = range.begin; t < range.end; t += range.step, turn ^= 1) {
    const std::uint32_t place = team.number * team.chunks;
    const TileShared<V> of_tile{of_turns + (turn * team.teams * team.chunks + place) * 2 * o.lanes, ends[turn] + place,
                                rows[turn] + place};
    for (std::uint32_t i = team.mine; i < team.chunks; i += team.warps) {
      const std::uint32_t number = t * team.chunks + i;
      const Chunk chunk = load_chunk(v.chunks, number), after = load_chunk(v.chunks, number + 1);
      const ChunkToDo todo{chunk, after.begin() - chunk.begin(), after.info.continues()};
      std::uint32_t row = no_row;
      if (chunk.info.entries() != 0) {
        Pack<V>* const own = of_tile.packs + 2 * i * o.lanes;
        row = multiply_chunk_columns<source, hot>(v, todo, o, alpha, beta, source == Source::single ? &single : table,
                                                  heads, heads + head_packs(o.lanes),
                                                  SharedColumns<V>{own, own + o.lanes});
      } else {
        scale_rows(o, chunk.begin(), todo.own_rows, beta);
      }
      if (lane_id() == 0) {
        of_tile.ends[i] = chunk.info.starts() != 0 || !todo.goes_on ? 1 : 0;
        of_tile.row[i] = row;
      }
    }
    team.wait();
    if (lane_id() < o.lanes)
      for (std::uint32_t i = team.mine; i < team.chunks; i += team.warps)
        finish_columns(team.chunks, t, i, i == 0 && load_chunk(v.chunks, t * team.chunks).info.continues(), of_tile, a,
                       alpha, beta);
    __syncwarp();
  }
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
