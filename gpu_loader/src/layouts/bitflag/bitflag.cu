// Layout `bitflag` on the GPU: a warp takes a chunk, a lane up to eight consecutive entries, and a team of warps a
// tile. docs/LAYOUTS.md, "bitflag", defines the order of additions.

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <type_traits>

#include "kernels/carries.cuh"
#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/bitflag/kernels.hpp"
#include "layouts/bitflag/lane_data.cuh"
#include "layouts/bitflag/tuning.cuh"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace bitflag_kernels {
namespace {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

/// The tiles as chunks of carries.cuh.
struct SharedTiles {
  static constexpr bool in_workspace = false;
  std::uint64_t count;
  const Chunk* chunks;
  std::uint32_t tile_chunks;
  __device__ std::uint32_t first_row(std::uint64_t t) const { return __ldg(&chunks[t * tile_chunks].row); }
  __device__ bool continues(std::uint64_t t) const {
    return Info{__ldg(&chunks[t * tile_chunks].info.bits)}.continues();
  }
};

/// Which elements of x multiplies read from shared memory: none; those of the hot columns; those of a segment.
enum class Near : std::uint8_t { none, hot, segment };

/// Hot elements are in shared memory if it has room for them, and read from their copy otherwise. Those of a segment
/// always are: where they do not fit, the kernel without near elements makes the segments' sums.
template <class V>
struct NearElements {
  const V* copy;
  std::uint32_t count;
  bool staged;
};

/// A chunk's sums of rows that other chunks of the tile have, in shared memory, by warp of the team.
template <class V>
struct Shared {
  V head, open;        ///< of the row that it continues; of its last row, if that goes on
  std::uint32_t ends;  ///< whether the row that it continues ends in it
};

__device__ inline Chunk load_chunk(const Chunk* chunks, std::uint64_t c) {
  const uint4 word = __ldg(reinterpret_cast<const uint4*>(chunks) + c);
  return {word.x, word.y, word.z, {word.w}};
}

/// Values that a block holds in shared memory.
constexpr std::uint32_t table_size(Source source) {
  return source == Source::table ? max_table : source == Source::decimal ? max_exponent + 1 : 1;
}

/// For each lane, the sum of n, at most 15, over the lanes before.
__device__ inline std::uint32_t exclusive_sum_of_4_bits(std::uint32_t n, std::uint32_t lane) {
  const std::uint32_t below = (1U << lane) - 1;
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned bit = 0; bit < 4; ++bit)
    sum += static_cast<std::uint32_t>(__popc(__ballot_sync(full_warp, (n >> bit & 1U) != 0) & below)) << bit;
  return sum;
}

inline constexpr std::uint32_t no_row = ~0U;

/// A warp's sums in shared memory: those of the rows that start in its chunk, and one before them.
inline constexpr std::uint32_t warp_slots = chunk_entries + 1;

/// The sum of a row through chunks of a tile, and whether it ends there.
template <class V>
struct SumThrough {
  V sum;
  bool ends;
};

/// The rows that start in a chunk.
struct ChunkRows {
  Chunk chunk;
  const std::byte* offsets;
  __device__ std::uint32_t offset(std::uint32_t start) const {
    return chunk.info.row_bytes() == 1 ? __ldg(reinterpret_cast<const std::uint8_t*>(offsets) + start)
                                       : __ldg(reinterpret_cast<const std::uint16_t*>(offsets) + start);
  }
  __device__ std::uint32_t operator()(std::uint32_t start) const {
    return chunk.info.row_bytes() == 0 ? chunk.begin() + start : chunk.row + offset(start);
  }
};

/// Writes a chunk's rows as if all were without entries, by a warp: there may be thousands, which nothing but their
/// writes should delay. Of a segment they are -0, which changes no sum; a sum of entries never is.
template <Near near, class V>
__device__ void put_empty(const RowSums<V>& to, std::uint32_t begin, std::uint32_t count) {
  const unsigned lane = lane_id();
  if (near == Near::segment || (to.beta == V{0} && to.map.list == nullptr)) {
    const V nothing = near == Near::segment ? -V{0} : V{0};
    V* const y = to.y + begin;
#pragma unroll 4
    for (std::uint32_t r = lane; r < count; r += 32) y[r] = nothing;
  } else {
#pragma unroll 1
    for (std::uint32_t r = lane; r < count; r += 32) to.scale(begin + r);
  }
}

/// Shared memory by address, as a pointer's is found again at every use.
__device__ inline void put_shared(std::uint32_t address, double v) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(address), "d"(v));
}
__device__ inline void put_shared(std::uint32_t address, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(v));
}

template <class V>
__device__ V get_shared(std::uint32_t address) {
  V v;
  if constexpr (std::is_same_v<V, double>) {
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(address));
  } else {
    static_assert(std::is_same_v<V, float>);
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
  }
  return v;
}

/// The elements of x, sums and rows of one chunk, by a warp. Writes the rows that are the chunk's alone to y, and what
/// others need to `shared`; returns the row that goes on if one starts here, else no_row.
template <Source source, Near near, bool full, class A, class V>
__device__ std::uint32_t multiply_chunk(const View<A>& v, const Chunk& chunk, bool goes_on, std::uint32_t own_rows,
                                        const V* table, const V* x, const NearElements<V>& elements, const V* staged,
                                        V* of_starts, const RowSums<V>& to, Shared<V>& shared) {
  const Info info = chunk.info;
  const unsigned lane = lane_id();
  const std::byte* const bytes = v.stream + std::uint64_t{chunk.place} * unit;
  const ChunkLayout at = chunk_layout(info, source, stored_bytes(source, sizeof(A)));
  const std::uint32_t chunk_lanes = full ? lanes : info.lanes(),
                      used = full ? lanes : (info.entries() + lane_entries - 1) / lane_entries;
  const std::uint32_t n = full               ? lane_entries
                          : lane + 1 < used  ? lane_entries
                          : lane + 1 == used ? info.entries() - lane * lane_entries
                                             : 0;
  std::uint32_t flags = 0;
  LaneColumns columns = {};
  LaneValues<source, A> values = {};
  const ChunkRows row{chunk, bytes + at.rows};
  if (full || lane < chunk_lanes) {
    flags = static_cast<std::uint32_t>(bytes[lane]);
    columns.load(bytes + at.columns, info.column_shift(), chunk_lanes, lane);
    values.load(bytes + at.values, chunk_lanes, lane);
  }
  // Where registers are left, the row that the lane writes first is on its way, too.
  constexpr bool row_ahead = source != Source::raw && source != Source::decimal && near != Near::segment;
  std::uint32_t offset = 0;
  if (row_ahead && info.row_bytes() != 0 && lane < info.starts()) offset = row.offset(lane);
  __syncwarp();  // as issue_loads()
  std::uint32_t word[lane_entries];
  columns.get(info.column_shift(), word);
  if constexpr (source == Source::window || source == Source::decimal)
    values.load_more(v, info, bytes + at.exponents, lane);
  V element[lane_entries];
  if constexpr (near == Near::segment) {
#pragma unroll
    for (unsigned k = 0; k < lane_entries; ++k) element[k] = full || k < n ? staged[word[k]] : V{0};
  } else {
    x += chunk.base;
    asm("" : "+l"(x));  // not base + word each time
    __builtin_assume(__isGlobal(x));
    // What a lane does not have is not loaded, without a branch, so that all loads are on their way together. As x is
    // not __restrict__, none is a load of constants, which the compiler moves down to its use, past any barrier.
#pragma unroll
    for (unsigned k = 0; k < lane_entries; ++k) {
      element[k] = 0;
      const bool is_near = near == Near::hot && (word[k] & hot_bit) != 0;
      if ((full || k < n) && !is_near) element[k] = x[word[k]];
    }
  }
  if constexpr (near == Near::hot) {
    const auto fetch = [&](const V* from) {
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k) {
        const bool is_near = (word[k] & hot_bit) != 0;
        if ((full || k < n) && is_near) element[k] = from[word[k] & ~hot_bit];
      }
    };
    if (elements.staged)
      fetch(staged);
    else
      fetch(elements.copy);
  }
  __syncwarp();
  // All entries are of a row that another chunk begins: there is nothing but their sum. Elsewhere this takes registers
  // that other loads need, or time (lp-wide 42.8 us instead of 41.8).
  if (source == Source::raw && near == Near::segment && info.starts() == 0) {
    V sum = 0;
#pragma unroll
    for (unsigned k = 0; k < lane_entries; ++k)
      if (full || k < n) sum = fma(values.get(k, table), element[k], sum);
    sum = segment_sum(sum, lane, used);
    if (own_rows != 0) put_empty<near>(to, chunk.begin(), own_rows);
    if (lane == 0) {
      shared.head = sum;
      shared.ends = goes_on ? 0 : 1;
    }
    __syncwarp();
    return no_row;
  }
  // The sums of the rows that start in the lanes, in their order, pass through shared memory: all lanes then write
  // them. A lane's first one goes where that of the row before belongs, and is read again: its head.
  const std::uint32_t before = exclusive_sum_of_4_bits(static_cast<std::uint32_t>(__popc(flags)), lane);
  V value[lane_entries];
#pragma unroll
  for (unsigned k = 0; k < lane_entries; ++k) value[k] = values.get(k, table);
  const auto first_slot =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(of_starts + before)) - static_cast<std::uint32_t>(sizeof(V));
  std::uint32_t slot = first_slot;
  V sum = 0;
#pragma unroll
  for (unsigned k = 0; k < lane_entries; ++k) {
    if ((flags >> k & 1U) != 0) {
      put_shared(slot, sum);
      slot += sizeof(V);
      sum = 0;
    }
    if (full || k < n) sum = fma(value[k], element[k], sum);
  }
  const bool seen = flags != 0;
  V head = sum;
  if (seen) head = get_shared<V>(first_slot);
  const unsigned with_start = __ballot_sync(full_warp, seen);
  if (with_start != full_warp)
    head = segment_sum(head, lane, segment_end(with_start << 1 | 1, lane, used), ~with_start);
  const V following = __shfl_down_sync(full_warp, head, 1);
  __syncwarp();  // heads have been read
  if (seen) put_shared(slot, lane + 1 < used ? sum + following : sum);
  __syncwarp();
  // A last row that goes on is another warp's to write.
  const std::uint32_t count = info.starts(), whole = count - (goes_on && count != 0 ? 1 : 0);
  RowSums<V> own = to;
  if (count != own_rows) {  // rows without entries are among its own: all of them first become beta y
    put_empty<near>(to, chunk.begin(), own_rows - (count - whole));
    own.beta = to.beta == V{0} ? V{0} : V{1};
    __syncwarp();
  }
  for (std::uint32_t i = lane; i < whole; i += 32)
    own.put(row_ahead && i == lane && info.row_bytes() != 0 ? chunk.row + offset : row(i), of_starts[i]);
  if (lane == 0) {
    shared.head = head;
    shared.ends = count != 0 || !goes_on ? 1 : 0;
    if (whole != count) shared.open = of_starts[whole];
  }
  __syncwarp();  // before the next chunk's sums
  return whole != count ? row(whole) : no_row;
}

/// A team of warps for each tile, a warp for each chunk. The grid strides over the tiles, or over pieces of segments,
/// whose elements of x a block stages. Headers are loaded ahead.
template <Source source, Near near, class A, class V>
__global__ void __launch_bounds__(tuning::max_threads, 1)
    tiles_kernel(View<A> v, std::uint32_t table_values, std::uint32_t pieces, std::uint64_t cols, DeviceScalar<V> alpha,
                 const V* x, DeviceScalar<V> beta, V* y, RowMap map, V* first_sum, V* last_sum,
                 NearElements<V> elements) {
  extern __shared__ __align__(16) std::byte shared_bytes[];  // sums of rows for each warp, near elements
  __shared__ V table[table_size(source)];
  __shared__ Shared<V> shared[2][max_tile_chunks];  // turn by turn: one barrier separates writing from reading
  V* const staged = reinterpret_cast<V*>(shared_bytes) + blockDim.x / 32 * warp_slots;
  if constexpr (near == Near::hot) wait_for_last_kernel();  // which makes the copy
  allow_next_kernel();
  const V factor = alpha.get();
  constexpr bool segments = near == Near::segment;  // y: their sums
  const RowSums<V> to{
      segments ? V{1} : factor, segments ? V{0} : beta.get(), y, segments ? RowMap{nullptr} : map, first_sum, last_sum};
  const std::uint32_t team_warps = v.tile_chunks, warp = threadIdx.x / 32, team = warp / team_warps,
                      mine = warp - team * team_warps, teams = blockDim.x / 32 / team_warps;
  const std::uint32_t first_of_team = team * team_warps;
  V* const of_starts = reinterpret_cast<V*>(shared_bytes) + warp * warp_slots + 1;
  const auto tiles = static_cast<std::uint32_t>(v.chunk_count / team_warps);
  if (factor == V{0}) {  // x must not be read; of segments, what adds them up does all
    if constexpr (near != Near::segment) {
      for (std::uint32_t t = blockIdx.x * teams + team; t < tiles; t += gridDim.x * teams) {
        const std::uint32_t c = t * team_warps + mine;
        const std::uint32_t begin = load_chunk(v.chunks, c).begin(), end = load_chunk(v.chunks, c + 1).begin();
        for (std::uint32_t r = begin + lane_id(); r < end; r += 32) to.scale(r);
      }
    }
    return;
  }
  const auto stage = [&](const V* from, std::uint32_t count) {
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      __pipeline_memcpy_async(staged + i, from + i, sizeof(V));
    __pipeline_commit();
    __pipeline_wait_prior(0);
  };
  V single = 0;
  if constexpr (source == Source::single) single = static_cast<V>(__ldg(v.values));
  const V* const values = source == Source::single ? &single : table;

  unsigned turn = 0;
  // The tiles begin, begin + step, ... below end. All warps of a team have the same number of turns.
  const auto run = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t step, auto&& prepare) {
    std::uint32_t t = begin;
    Chunk next{}, after{};
    const auto load_ahead = [&](std::uint32_t tile) {
      if (tile >= end) return;
      next = load_chunk(v.chunks, tile * team_warps + mine);
      after = load_chunk(v.chunks, tile * team_warps + mine + 1);
    };
    load_ahead(t);
    prepare();
    for (; t < end; t += step, turn ^= 1) {
      const Chunk chunk = next;
      const std::uint32_t own_rows = after.begin() - chunk.begin();
      const bool goes_on = after.info.continues();
      load_ahead(t + step);
      Shared<V>* const of_team = shared[turn] + first_of_team;
      std::uint32_t row = no_row;  // that goes on, if one starts here
      if (chunk.info.entries() == chunk_entries) {
        row = multiply_chunk<source, near, true, A>(v, chunk, goes_on, own_rows, values, x, elements, staged, of_starts,
                                                    to, of_team[mine]);
      } else if (chunk.info.entries() != 0) {
        row = multiply_chunk<source, near, false, A>(v, chunk, goes_on, own_rows, values, x, elements, staged,
                                                     of_starts, to, of_team[mine]);
      } else {
        put_empty<near>(to, chunk.begin(), own_rows);
      }
      if (team_warps == 1)
        __syncwarp();
      else
        asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "r"(team_warps * 32) : "memory");
      // Rows that go on, from left to right through the tile.
      if (lane_id() == 0) {
        const auto through = [&](V sum, bool ends, std::uint32_t i) {  // the sum before chunk i of the tile
          for (; !ends && i < team_warps; ++i) {
            sum = sum + of_team[i].head;
            ends = of_team[i].ends != 0;
          }
          return SumThrough<V>{sum, ends};
        };
        if (mine == 0 && chunk.info.continues()) to.first[t] = through(of_team[0].head, of_team[0].ends != 0, 1).sum;
        if (row != no_row) {
          const SumThrough<V> all = through(of_team[mine].open, false, mine + 1);
          if (all.ends)
            to.put(row, all.sum);
          else
            to.last[t] = all.sum;
        }
      }
      __syncwarp();
    }
  };
  constexpr bool has_table = table_size(source) > 1;
  const auto load_table = [&] {
    if constexpr (source == Source::decimal) {
      if (threadIdx.x <= max_exponent) table[threadIdx.x] = power_of_ten(threadIdx.x);
    } else {
      for (std::uint32_t i = threadIdx.x; i < table_values; i += blockDim.x)
        table[i] = static_cast<V>(__ldg(v.values + i));
    }
  };
  if constexpr (near == Near::segment) {
    if constexpr (has_table) load_table();
    for (std::uint32_t item = blockIdx.x; item < v.segment_count * pieces; item += gridDim.x) {
      const std::uint32_t s = item / pieces, piece = item - s * pieces;
      const std::uint32_t first = __ldg(v.segments + s);
      const std::uint64_t count = __ldg(v.segments + s + 1) - first;
      const std::uint64_t column = std::uint64_t{s} * v.segment_columns;
      const auto place = [&](std::uint32_t p) { return first + static_cast<std::uint32_t>(count * p / pieces); };
      run(place(piece) + team, place(piece + 1), teams, [&] {
        __syncthreads();  // the segment before has been read
        stage(x + column, static_cast<std::uint32_t>(min(std::uint64_t{v.segment_columns}, cols - column)));
        __syncthreads();
      });
    }
  } else {
    run(blockIdx.x * teams + team, tiles, gridDim.x * teams, [&] {
      if constexpr (has_table) load_table();
      if constexpr (near == Near::hot) {
        if (elements.staged) stage(elements.copy, elements.count);
      }
      if constexpr (near == Near::hot || has_table) __syncthreads();
    });
  }
}

/// Writes the sum of a row's segments; it is -0 if none has entries, or alpha is 0.
template <class V>
__device__ void put_sum(V sum, V alpha, V beta, V* at) {
  const V before = scaled(beta, at);
  const bool has_entries = sum != V{0} || !signbit(sum);
  *at = has_entries && alpha != V{0} ? fma(alpha, sum, before) : before;
}

/// y = alpha A x + beta y from the sums of the rows of all segments: trees over 32 segments each, in sequence. A block
/// of 32 warps takes 32 rows: to read them, a warp has a segment, to add them up, a row.
template <class V>
__global__ void __launch_bounds__(1024)
    add_segments_kernel(const V* sums, std::uint32_t segments, std::uint64_t rows, DeviceScalar<V> alpha_in,
                        DeviceScalar<V> beta_in, V* y, RowMap map) {
  __shared__ V of_segment[32][33];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const unsigned lane = lane_id(), warp = threadIdx.x / 32;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * 32;
  wait_for_last_kernel();
  V total = -V{0};
  for (std::uint32_t begin = 0; begin < segments && alpha != V{0}; begin += 32) {
    const std::uint32_t s = begin + warp;
    of_segment[warp][lane] = s < segments && first + lane < rows ? sums[s * rows + first + lane] : -V{0};
    __syncthreads();
    total = total + segment_sum(of_segment[lane][warp], lane, 32);
    __syncthreads();
  }
  if (const std::uint64_t row = first + warp; lane == 0 && row < rows) put_sum(total, alpha, beta, y + map(row));
}

/// The same of few segments, by a thread for each row, whose tree is that of a warp.
template <class V>
__global__ void __launch_bounds__(tuning::add_threads)
    add_few_segments_kernel(const V* sums, std::uint32_t segments, std::uint64_t rows, DeviceScalar<V> alpha_in,
                            DeviceScalar<V> beta_in, V* y, RowMap map) {
  const V alpha = alpha_in.get(), beta = beta_in.get();
  wait_for_last_kernel();
  const std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  static_assert(tuning::few_segments == 32);
  V sum[32];
#pragma unroll
  for (std::uint32_t s = 0; s < 32; ++s) sum[s] = s < segments && alpha != V{0} ? sums[s * rows + row] : -V{0};
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2)
#pragma unroll
    for (unsigned s = 0; s < 32; s += 2 * distance) sum[s] = sum[s] + sum[s + distance];
  put_sum(sum[0], alpha, beta, y + map(row));
}

/// Makes the sums of segments those of no entries, to which the kernel without near elements may then add with beta
/// = 1. The element after them is its alpha: 0 if that of the multiply is, so that x is not read.
template <class V>
__global__ void __launch_bounds__(tuning::add_threads)
    clear_segments_kernel(V* sums, std::uint64_t count, DeviceScalar<V> alpha) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) sums[i] = -V{0};
  if (i == count) sums[i] = alpha.get() == V{0} ? V{0} : V{1};
}

/// Copies the hot elements of x to where they lie side by side.
template <class V>
__global__ void __launch_bounds__(tuning::gather_threads)
    gather_hot_kernel(const std::uint32_t* columns, std::uint32_t count, DeviceScalar<V> alpha, const V* x, V* to) {
  allow_next_kernel();
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && alpha.get() != V{0}) to[i] = x[columns[i]];
}

/// A launch of the tiles.
struct TilesLaunch {
  cudaLaunchConfig_t config;
  unsigned pieces;  ///< of each segment
  bool staged;      ///< whether near elements fit shared memory
};

template <Near near, class A, class V>
TilesLaunch tiles_launch(const View<A>& v, const MultiplyCall& call) {
  // Small parts are spread over all multiprocessors.
  const std::uint64_t tiles = v.chunk_count / v.tile_chunks;
  const unsigned team_threads = v.tile_chunks * 32, multiprocessors = call.device.multiprocessors;
  constexpr unsigned most_threads = near == Near::hot ? tuning::max_threads : tuning::usual_threads;
  unsigned teams =
      std::clamp(most_threads / team_threads, 1U, v.tile_chunks == 1 ? max_tile_chunks : tuning::most_teams);
  while (near == Near::none && teams > 1 && tiles < std::uint64_t{teams} * multiprocessors) teams /= 2;
  const unsigned threads = team_threads * teams;
  const std::uint64_t resident =
      std::uint64_t{multiprocessors} * std::max(1U, tuning::multiprocessor_threads / threads);
  const std::uint64_t pieces = std::max<std::uint64_t>(1, resident / v.segment_count);
  const std::uint64_t work = near == Near::segment ? v.segment_count * pieces : div_up(tiles, teams);
  cudaLaunchConfig_t config =
      launch_config(static_cast<unsigned>(std::min<std::uint64_t>(work, resident)), threads, call.stream);
  const std::uint64_t of_starts = std::uint64_t{threads} / 32 * warp_slots * sizeof(V),
                      near_elements = near == Near::hot       ? v.hot_count
                                      : near == Near::segment ? v.segment_columns
                                                              : 0,
                      with_near = of_starts + near_elements * sizeof(V);
  const bool staged = near != Near::none && with_near + tuning::other_shared_bytes <= call.device.shared_bytes;
  config.dynamicSmemBytes = staged ? with_near : of_starts;
  return {config, static_cast<unsigned>(pieces), staged};
}

template <Source source, Near near, class A, class V>
void multiply_tiles(const DevicePart& part, const MultiplyCall& call) {
  const View<A> v = view<A>(part.view);
  const auto& info = part.view.info();
  const std::uint64_t tiles = v.chunk_count / v.tile_chunks;
  const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
  const auto* const x = static_cast<const V*>(call.x);
  auto* const y = static_cast<V*>(call.y);
  const RowMap map{call.row_list};
  auto* const near_bytes = reinterpret_cast<V*>(call.workspace);
  auto* const sums = reinterpret_cast<V*>(call.workspace + near_workspace(info, call.description.vectors));
  // The sums of segments are made in the workspace.
  constexpr bool segments = near == Near::segment;
  const DeviceScalar<V> one{V{1}, nullptr}, zero{V{0}, nullptr};
  V* const target = segments ? near_bytes : y;
  const RowMap target_map = segments ? RowMap{nullptr} : map;
  const TilesLaunch how = tiles_launch<near, A, V>(v, call);
  const NearElements<V> elements{near_bytes, v.hot_count, how.staged};
  const auto start = [&](auto&& launch_kernel, const auto& kernel, DeviceScalar<V> by, DeviceScalar<V> add) {
    launch_kernel(kernel, v, static_cast<std::uint32_t>(values_of(info)), how.pieces, part.view.cols(), by, x, add,
                  target, target_map, sums, sums + tiles, elements);
  };
  if constexpr (near == Near::hot) {
    launch(gather_hot_kernel<V>, blocks_for(v.hot_count, tuning::gather_threads), tuning::gather_threads, call.stream,
           v.hot, v.hot_count, alpha, x, near_bytes);
    start([&](auto&&... arguments) { launch_early(call.device, how.config, arguments...); },
          tiles_kernel<source, near, A, V>, alpha, beta);
  } else if (segments && !how.staged) {
    const std::uint64_t rows = v.rows * v.segment_count;
    launch(clear_segments_kernel<V>, blocks_for(rows + 1, tuning::add_threads), tuning::add_threads, call.stream,
           target, rows, alpha);
    const cudaLaunchConfig_t config = tiles_launch<Near::none, A, V>(v, call).config;
    start([&](auto&&... arguments) { launch(config, arguments...); }, tiles_kernel<source, Near::none, A, V>,
          {V{}, target + rows}, one);
  } else {
    start([&](auto&&... arguments) { launch(how.config, arguments...); }, tiles_kernel<source, near, A, V>, alpha,
          beta);
  }
  if (info.params[param_continued] != 0)
    add_carries<V>(SharedTiles{tiles, v.chunks, v.tile_chunks}, sums, sums + tiles, segments ? one : alpha,
                   segments ? zero : beta, target, target_map, call);
  if constexpr (segments) {
    if (v.segment_count <= tuning::few_segments)
      launch_early(call.device, add_few_segments_kernel<V>, blocks_for(v.rows, tuning::add_threads),
                   tuning::add_threads, call.stream, target, v.segment_count, v.rows, alpha, beta, y, map);
    else
      launch_early(call.device, add_segments_kernel<V>, blocks_for(v.rows, 32), 1024, call.stream, target,
                   v.segment_count, v.rows, alpha, beta, y, map);
  }
}

/// Decimals are of f64 alone.
template <Source source, class A>
inline constexpr bool exists = source != Source::decimal || std::is_same_v<A, double>;

/// Allows the kernel as much shared memory as there is: at load, as this would take from a caller the error that an
/// earlier call left behind.
template <Source source, Near near, class A, class V>
void reserve_shared(const DeviceFacts& device) {
  require_cuda(cudaFuncSetAttribute(tiles_kernel<source, near, A, V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(device.shared_bytes - tuning::other_shared_bytes)),
               "reserving shared memory");
}

/// Calls f with the part's source of values and near elements as constants.
template <class F>
void with_kind(const PartInfo& part, F&& f) {
  const auto with_near = [&](auto source) {
    if (segments_of(part) > 1)
      f(source, std::integral_constant<Near, Near::segment>{});
    else if (hot_of(part) != 0)
      f(source, std::integral_constant<Near, Near::hot>{});
    else
      f(source, std::integral_constant<Near, Near::none>{});
  };
  switch (source_of(part)) {
    case Source::raw:
      return with_near(std::integral_constant<Source, Source::raw>{});
    case Source::table:
      return with_near(std::integral_constant<Source, Source::table>{});
    case Source::window:
      return with_near(std::integral_constant<Source, Source::window>{});
    case Source::decimal:
      return with_near(std::integral_constant<Source, Source::decimal>{});
    case Source::single:
      return with_near(std::integral_constant<Source, Source::single>{});
  }
}

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  const PartInfo& info = part.info();
  if (!tuning::tiles_fit(chunks_of(info) / info.params[param_tile_chunks], context.device.multiprocessors))
    throw Error(errc::unsupported, "bitflag: nearly 2^32 tiles", {}, "use more chunks for each (bitflag.tile)");
  with_kind(part.info(), [&](auto source, auto near) {
    each_pair_of(part.info().value_type, [&]<class A, class V>(A, V) {
      if constexpr (exists<source(), A>) {
        reserve_shared<source(), near(), A, V>(context.device);
        // Which makes the sums of segments that do not fit.
        if constexpr (near() == Near::segment) reserve_shared<source(), Near::none, A, V>(context.device);
      }
    });
  });
  return nullptr;
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartInfo& info = part.view.info();
  if (chunks_of(info) == 0) return;
  with_kind(info, [&](auto source, auto near) {
    dispatch_types(info.value_type, call.description.vectors, [&]<class A, class V>(A, V) {
      if constexpr (exists<source(), A>) multiply_tiles<source(), near(), A, V>(part, call);
    });
  });
}

}  // namespace
}  // namespace bitflag_kernels

const LayoutKernels bitflag{.check_names = bitflag_kernels::check_names,
                            .check = bitflag_kernels::check,
                            .prepare = bitflag_kernels::prepare,
                            .multiply = bitflag_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
