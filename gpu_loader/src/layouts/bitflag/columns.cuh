#pragma once
// bitflag by several columns. As by one, a warp takes a chunk and a team of warps a tile; the chunk's lanes, each of
// which has up to eight entries, are taken a few at a time, with a thread for each of their column lanes.

#include "kernels/columns.cuh"
#include "layouts/bitflag/chunk.cuh"
#include "layouts/bitflag/tiles.cuh"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

/// A chunk's sums of rows that other chunks of the tile have, in shared memory, by warp of the team: a Pack for each
/// column lane.
template <class V>
struct SharedColumns {
  Pack<V>*head, *open;  ///< of the row that it continues; of its last row, if that goes on
};

/// Shared memory of a block: for each warp what lanes have of rows that lanes before begin, and SharedColumns, turn by
/// turn.
template <class V>
constexpr std::uint64_t column_bytes_of_warp(std::uint32_t column_lanes) {
  return std::uint64_t{lanes + 4} * column_lanes * sizeof(Pack<V>);
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

/// Multiplies one chunk, by a warp. Returns the row that starts here and goes on, else no_row. `heads`: of the warp's
/// lanes, by column lane. `own`: what other chunks need.
template <Source source, bool hot, class A, class V>
__device__ __forceinline__ std::uint32_t multiply_chunk_columns(const View<A>& v, const ChunkToDo& c,
                                                                const ColumnOperands<V>& o, V alpha, V beta,
                                                                const V* table, Pack<V>* heads,
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
    P sum{}, head{};
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
        element[k] = k < n ? columns.load(hot ? word[k] : c.chunk.base + word[k]) : P{};
      issue_loads();
      std::uint32_t start = before;
      bool seen = false;
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k) {
        if ((flags >> k & 1U) != 0) {
          if (seen)
            columns.put(row(start++), sum, true, alpha, beta_of_rows);
          else
            head = sum;
          seen = true;
          sum = P{};
        }
        if (k < n) sum.add_product(values.get(k, table), element[k]);
      }
      heads[lane * o.lanes + column_lane] = seen ? head : sum;
    }
    __syncwarp();
    if (flags != 0) {
      const std::uint32_t start = before + static_cast<std::uint32_t>(__popc(flags)) - 1;
      if (lane + 1 < used) {
        const std::uint32_t end = min(used, segment_end(with_start << 1 | 1, lane + 1, used));
        sum = sum + sum_in_place(heads + (lane + 1) * o.lanes + column_lane, o.lanes, end - (lane + 1));
      }
      if (start < whole)
        columns.put(row(start), sum, true, alpha, beta_of_rows);
      else
        own.open[column_lane] = sum;
    }
  }
  if (warp_lane < o.lanes)
    own.head[warp_lane] =
        sum_in_place(heads + warp_lane, o.lanes, min(used, segment_end(with_start << 1 | 1, 0, used)));
  __syncwarp();  // before the next chunk's
  return whole != count ? row(whole) : no_row;
}

/// What goes on through the chunks of tile t, by the column lanes of each warp: see finish_rows().
template <class V>
__device__ __forceinline__ void finish_columns(const Team& team, std::uint32_t t, const Chunk& chunk, std::uint32_t row,
                                               const Pack<V>* of_team, const std::uint32_t* ends,
                                               const ColumnTiles<V>& a, V alpha, V beta) {
  const ColumnOperands<V>& o = a.operands;
  const std::uint32_t lane = lane_id();
  const auto through = [&](Pack<V> sum, bool& ended, std::uint32_t i) {  // the sum before chunk i of the tile
    for (; !ended && i < team.warps; ++i) {
      sum = sum + of_team[2 * i * o.lanes + lane];
      ended = ends[i] != 0;
    }
    return sum;
  };
  const auto leave = [&](const Pack<V>& sum, auto&& to) {
#pragma unroll
    for (unsigned c = 0; c < Pack<V>::size; ++c)
      if (lane * Pack<V>::size + c < o.columns) to(lane * Pack<V>::size + c)[t] = sum.of[c];
  };
  if (team.mine == 0 && chunk.info.continues()) {
    bool ended = ends[0] != 0;
    leave(through(of_team[lane], ended, 1), [&](std::uint32_t column) { return a.sums.first(column); });
  }
  if (row != no_row) {
    bool ended = false;
    const Pack<V> sum = through(of_team[(2 * team.mine + 1) * o.lanes + lane], ended, team.mine + 1);
    if (ended)
      ColumnLane<V>(o, lane).put(row, sum, true, alpha, beta);
    else
      leave(sum, [&](std::uint32_t column) { return a.sums.last(column); });
  }
}

template <Source source, bool hot, class A, class V>
__global__ void __launch_bounds__(tuning::max_threads, 1) columns_kernel(View<A> v, ColumnTiles<V> a) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ V table[table_size(source)];
  __shared__ std::uint32_t ends[2][max_tile_chunks];
  allow_next_kernel();
  const ColumnOperands<V>& o = a.operands;
  const V alpha = o.alpha.get(), beta = o.beta.get();
  const Team team(v.tile_chunks);
  const auto tiles = static_cast<std::uint32_t>(v.chunk_count / team.warps);
  const TileRange range{blockIdx.x * team.teams + team.number, tiles, gridDim.x * team.teams};
  if (alpha == V{0}) {  // X must not be read
    for (std::uint32_t t = range.begin; t < range.end; t += range.step) {
      const std::uint32_t c = t * team.warps + team.mine, begin = load_chunk(v.chunks, c).begin();
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
  const std::uint32_t warps = blockDim.x / 32;
  auto* const packs = reinterpret_cast<Pack<V>*>(shared_bytes);
  Pack<V>* const heads = packs + team.warp * lanes * o.lanes;
  Pack<V>* const of_turns = packs + warps * lanes * o.lanes;
  unsigned turn = 0;
  for (std::uint32_t t = range.begin; t < range.end; t += range.step, turn ^= 1) {
    const std::uint32_t number = t * team.warps + team.mine;
    const Chunk chunk = load_chunk(v.chunks, number), after = load_chunk(v.chunks, number + 1);
    const ChunkToDo todo{chunk, after.begin() - chunk.begin(), after.info.continues()};
    Pack<V>* const of_team = of_turns + (turn * warps + team.number * team.warps) * 2 * o.lanes;
    std::uint32_t* const team_ends = ends[turn] + team.number * team.warps;
    const SharedColumns<V> own{of_team + 2 * team.mine * o.lanes, of_team + (2 * team.mine + 1) * o.lanes};
    std::uint32_t row = no_row;
    if (chunk.info.entries() != 0)
      row = multiply_chunk_columns<source, hot>(v, todo, o, alpha, beta, source == Source::single ? &single : table,
                                                heads, own);
    else
      scale_rows(o, chunk.begin(), todo.own_rows, beta);
    if (lane_id() == 0) team_ends[team.mine] = chunk.info.starts() != 0 || !todo.goes_on ? 1 : 0;
    team.wait();
    if (lane_id() < o.lanes) finish_columns(team, t, chunk, row, of_team, team_ends, a, alpha, beta);
    __syncwarp();
  }
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
