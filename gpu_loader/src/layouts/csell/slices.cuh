#pragma once
// The kernel of csell: a warp per slice, or as many as the part has sums; a lane per row or block row. docs/LAYOUTS.md,
// "csell", defines the order of additions.

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <type_traits>

#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "layouts/csell/kernels.hpp"
#include "layouts/csell/mirrors.cuh"
#include "layouts/csell/operands.cuh"
#include "layouts/csell/slice_sums.cuh"
#include "layouts/csell/tuning.cuh"
#include "layouts/csell/walks.cuh"
#include "spmvpack/launch_rules/csell_tiles.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

/// The warps of one slice. Their number is a power of two.
struct Team {
  unsigned warps, number, mine;  ///< the team's number in its block, the warp's in its team
  __device__ explicit Team(unsigned sums)
      : warps(sums), number(threadIdx.x / 32 >> shift(sums)), mine(threadIdx.x / 32 & (sums - 1)) {}
  static __device__ unsigned shift(unsigned sums) { return sums / 2; }  ///< of 1, 2 and 4 warps
  __device__ void wait() const { asm volatile("bar.sync %0, %1;" ::"r"(number + 1), "r"(warps * 32) : "memory"); }
};

/// The sums of the warps of each team, and the lanes with entries.
template <class K, class V>
struct Partial {
  V sum[K::max_warps][K::block][32];
  std::uint32_t seen[K::max_warps];
};

/// Tiles in pieces, which are dealt to blocks. One tile is not cut: the grid strides over all slices.
struct Tiles {
  std::uint32_t count, pieces, piece_slices;
  Tile single;  ///< the tile if it is one: with few slices no block waits for it
};

/// Of the slices [begin, end) of a tile, or of a part without tiles, those of team number `mine` of `teams`, by turns.
struct Share {
  std::uint32_t tile, begin, end, mine, teams;
};

/// The shares of a team: in each piece of a tile that its block takes; or one of all slices, if no tile is cut.
struct TileWalk {
  Tiles tiles;
  std::uint32_t tile_slices, slices;  ///< slices: of the part
  std::uint32_t team, teams;          ///< the team's number, and how many its block has

  [[nodiscard]] __device__ bool is_cut() const { return tiles.count != 1; }
  /// The block's first piece, and the end of all.
  [[nodiscard]] __device__ std::uint32_t begin() const { return is_cut() ? blockIdx.x : 0; }
  [[nodiscard]] __device__ std::uint32_t end() const { return tiles.count * tiles.pieces; }
  [[nodiscard]] __device__ Share whole() const {
    const std::uint32_t all = gridDim.x * teams;
    return {0, 0, slices, blockIdx.x * teams + team, all};
  }
  [[nodiscard]] __device__ Share operator[](std::uint32_t piece) const {
    const Share one = whole();
    const std::uint32_t tile = is_cut() ? piece / tiles.pieces : 0, in_tile = piece - tile * tiles.pieces;
    const std::uint32_t begin = is_cut() ? tile * tile_slices + in_tile * tiles.piece_slices : 0;
    const std::uint32_t tile_end = min(slices, (tile + 1) * tile_slices);
    const std::uint32_t end = is_cut() ? min(tile_end, begin + tiles.piece_slices) : slices;
    return {tile, begin, end, is_cut() ? team : one.mine, is_cut() ? teams : one.teams};
  }
};

/// One slice, by a team of v.sums warps.
template <class K, class A, class V, class Walk, class Table>
__device__ void multiply_slice(const View<A>& v, std::uint32_t s, const Slice& slice, std::uint32_t id_bytes,
                               const Team& team, const Table* values, const Operands<V>& operands,
                               Partial<K, V>& partial) {
  constexpr Source source = K::source;
  constexpr int block = K::block;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Walk walk(slice, v.patterns, v.stream, source == Source::mirror ? slice.reference_bytes() : id_bytes);
  const std::uint32_t row = s * lanes + lane;
  V sum[block] = {};
  std::uint32_t seen = 0;
  if constexpr (source == Source::raw) values += std::uint64_t{slice.values} * (unit / sizeof(A));
  if constexpr (source == Source::step) values += std::uint64_t{slice.pattern} * (group_steps * block * block);
  if constexpr (source == Source::mirror) {
    mirror_sums<K>(v, walk, slice.values, team.mine, team.warps, row, operands.x, operands.once, sum, seen);
  } else {
    // Where raw values begin is added up from group to group, unless it is scanned: a warp that does not take all
    // groups cannot load several. An AnyWalk takes so many registers that there are none for a second group.
    constexpr bool one = std::is_same_v<Walk, AnyWalk> && K::size != Size::few;
    if (!one && (K::size == Size::few || K::policy.depth == 1 || team.warps == 1))
      slice_sums<SumsPolicy<K, false>>(walk, team.mine, team.warps, row, values, operands.x, operands.once, sum, seen);
    else
      slice_sums<SumsPolicy<K, true>>(walk, team.mine, team.warps, row, values, operands.x, operands.once, sum, seen);
  }
  if (team.warps > 1) {
#pragma unroll
    for (int r = 0; r < block; ++r) partial.sum[warp][r][lane] = sum[r];
    if (lane == 0) partial.seen[warp] = seen;
    team.wait();
    if (team.mine == 0) {
      for (unsigned other = 1; other < team.warps; ++other) {
#pragma unroll
        for (int r = 0; r < block; ++r) sum[r] = sum[r] + partial.sum[warp + other][r][lane];
        seen |= partial.seen[warp + other];
      }
    }
  }
  if (team.mine == 0 && row < static_cast<std::uint32_t>(v.rows)) {
    const bool has = (seen >> lane & 1U) != 0;
    // With tables and offsets nvcc spills more for it; otherwise it is faster. docs/notebook/GPU.md, "Constants".
    constexpr bool may_be_plain = source != Source::table || tuning::is_pattern_size(K::size);
    if (may_be_plain && operands.plain) {
#pragma unroll
      for (int r = 0; r < block; ++r)
        operands.y[std::uint64_t{row} * block + r] = has ? fma(operands.alpha.value, sum[r], V{0}) : V{0};
    } else {
      const V alpha = operands.alpha.get(), beta = operands.beta.get();  // here, so that no register keeps them
#pragma unroll
      for (int r = 0; r < block; ++r) {
        V* const at = operands.y + operands.map(std::uint64_t{row} * block + r);
        const V before = scaled(beta, at);
        *at = has ? fma(alpha, sum[r], before) : before;
      }
    }
  }
  if (team.warps > 1) team.wait();
}

__device__ inline Slice load_slice(const Slice* slices, std::uint32_t s, std::uint32_t count) {
  const uint4 header = s < count ? __ldg(reinterpret_cast<const uint4*>(slices) + s) : uint4{};
  return {header.x, header.y, header.z, header.w};
}
/// The same, of a slice that has been loaded.
__device__ inline const Slice& load_slice(const Slice* /*slices*/, std::uint32_t /*s*/, std::uint32_t /*count*/,
                                          const Slice& loaded) {
  return loaded;
}

/// Copies a table to shared memory. All loads are on their way together, and none holds a register, if types allow.
template <class A, class V>
__device__ void stage(const A* from, std::uint32_t count, V* to) {
  if constexpr (std::is_same_v<A, V>) {
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      __pipeline_memcpy_async(to + i, from + i, sizeof(V));
    __pipeline_commit();
    __pipeline_wait_prior(0);
  } else {
#pragma unroll 8
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = static_cast<V>(__ldg(from + i));
  }
}

/// A team of warps for each slice. The grid strides over the slices, or over tiles of them, so that neighbours are
/// multiplied at the same time, and a block stages a table once.
template <class K, class A, class V>
__global__ void __launch_bounds__(K::policy.threads, tuning::bound_blocks(K::policy))
    slices_kernel(View<A> v, Tiles tiles, std::uint32_t staged, Operands<V> operands, Prefetch prefetch) {
  extern __shared__ __align__(16)
      std::byte shared_bytes[];  // a table of `staged` bytes; if there are teams, their sums
  auto& partial = *reinterpret_cast<Partial<K, V>*>(shared_bytes + staged);
  if (operands.alpha.get() == V{0}) return operands.scale_all(v.rows * K::block);  // x must not be read
  if constexpr (tuning::fetches_ahead(K::size, K::block)) prefetch(V{1});
  const Team team(v.sums);
  const std::uint32_t teams = blockDim.x / 32 >> Team::shift(v.sums);
  // The slices of a share. Headers are loaded ahead; that of the first slice may be on its way.
  const auto each = [&](const Share& share, std::uint32_t id_bytes, const auto* values, const auto&... first) {
    Slice next = load_slice(v.slices, share.begin + share.mine, share.end, first...);
    for (std::uint32_t s = share.begin + share.mine; s < share.end; s += share.teams) {
      const Slice slice = next;
      next = load_slice(v.slices, s + share.teams, share.end);
      if (tuning::is_pattern_size(K::size) || slice.is_pattern())
        multiply_slice<K, A, V, PatternWalk>(v, s, slice, id_bytes, team, values, operands, partial);
      else if constexpr (!tuning::is_pattern_size(K::size)) {
        if (NarrowWalk::suits(slice))
          multiply_slice<K, A, V, NarrowWalk>(v, s, slice, id_bytes, team, values, operands, partial);
        else
          multiply_slice<K, A, V, AnyWalk>(v, s, slice, id_bytes, team, values, operands, partial);
      }
    }
  };
  const TileWalk walk{tiles, v.tile_slices, static_cast<std::uint32_t>(v.slice_count), team.number, teams};
  if constexpr (K::source != Source::table) {
    each(walk.whole(), 0, v.values);
  } else {
    V* const table = reinterpret_cast<V*>(shared_bytes);
    std::uint32_t in_shared = ~0U;  // the tile whose table is there
    for (std::uint32_t piece = walk.begin(); piece < walk.end(); piece += gridDim.x) {
      const Share share = walk[piece];
      if constexpr (K::size == Size::few) {
        // The header of the first slice is loaded with the one table, not behind it. Where slices are many, it would
        // take registers of the loop over groups. docs/notebook/GPU.md, "Constants".
        const Slice slice = load_slice(v.slices, share.begin + share.mine, share.end);
        if (staged == 0) {
          each(share, tiles.single.id_bytes(), v.values, slice);
        } else {
          stage(v.values, tiles.single.count, table);
          __syncthreads();
          each(share, tiles.single.id_bytes(), static_cast<const V*>(table), slice);
        }
      } else {
        const Tile tile = v.tiles[share.tile];
        if (staged == 0) {
          each(share, tile.id_bytes(), v.values + tile.begin);
        } else {
          if (share.tile != in_shared) {
            __syncthreads();
            stage(v.values + tile.begin, tile.count, table);
            in_shared = share.tile;
            __syncthreads();
          }
          each(share, tile.id_bytes(), static_cast<const V*>(table));
        }
      }
      if (!walk.is_cut()) break;
    }
  }
}

/// Lets the kernel have tables of any size. At load, as it takes away the last error of the runtime, which may be the
/// caller's; and to the most, as the limit is the kernel's, and others may be multiplied at the same time.
template <class K, class A, class V>
void reserve_shared() {
  constexpr std::size_t partial_bytes = sizeof(Partial<K, V>);
  require_cuda(cudaFuncSetAttribute(slices_kernel<K, A, V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(launch_rules::csell::max_staged_bytes + partial_bytes)),
               "reserving shared memory");
}

/// How a kernel is launched.
struct Grid {
  Tiles tiles;
  std::uint64_t staged, shared;  ///< bytes of a block: of the table, if it is staged; and of the sums of teams, too
  unsigned blocks, threads;
  std::uint64_t resident;  ///< blocks that are on a multiprocessor at once, as far as there are so many
};

template <class K, class A, class V>
Grid grid_of(const DevicePart& part, const MultiplyCall& call) {
  constexpr tuning::Policy policy = K::policy;
  const PartInfo& info = part.view.info();
  const std::uint64_t slices = slices_of(info), sums = info.params[param_sums], tile_count = tiles_of(info),
                      tile_slices = info.params[param_tile_slices];
  const std::uint64_t all_threads = slices * sums * 32, multiprocessors = call.device.multiprocessors;
  const auto largest_table = static_cast<std::uint32_t>(info.params[param_largest_tile]);
  Tiles tiles{static_cast<std::uint32_t>(tile_count), 1, 0, {0, largest_table}};
  const std::uint64_t staged =
                          K::source == Source::table ? launch_rules::csell::staged_bytes(largest_table, sizeof(V)) : 0,
                      shared = staged + (sums > 1 ? sizeof(Partial<K, V>) : 0),
                      room = launch_rules::csell::blocks_by_shared(shared, call.device.shared_bytes);
  const unsigned held =
      launch_rules::csell::held_threads(policy.threads, policy.blocks, call.device.multiprocessor_threads);
  unsigned threads = tuning::threads_limit(policy.threads, static_cast<unsigned>(sums));
  std::uint64_t resident = 0, work = 0;
  if (K::source == Source::table && tile_count > 1) {
    const auto pieces = launch_rules::csell::pieces_of({slices, info.nnz, sums, tile_count, tile_slices, staged != 0},
                                                       {held, room, multiprocessors});
    threads = pieces.threads;
    resident = pieces.resident;
    tiles.pieces = static_cast<std::uint32_t>(pieces.of_tile);
    tiles.piece_slices = div_up(static_cast<std::uint32_t>(tile_slices), tiles.pieces);
    work = tile_count * pieces.of_tile;
  } else {
    if (all_threads <= multiprocessors * held)
      threads = launch_rules::even_threads(all_threads, threads, multiprocessors, static_cast<unsigned>(sums) * 32);
    else  // so that no multiprocessor has none
      while (threads > tuning::least_threads && all_threads < 2 * multiprocessors * threads) threads /= 2;
    resident = std::min(policy.blocks * (policy.threads / threads), held / threads);
    work = div_up(slices, threads / 32 / sums);
  }
  const auto blocks = static_cast<unsigned>(std::min(work, multiprocessors * resident));
  resident = std::min({resident, div_up(std::uint64_t{blocks}, multiprocessors), room});
  return {tiles, staged, shared, blocks, threads, resident};
}

template <class K, class A, class V>
void launch_slices(const DevicePart& part, const MultiplyCall& call, const Grid& grid) {
  cudaLaunchConfig_t config = launch_config(grid.blocks, grid.threads, call.stream);
  config.dynamicSmemBytes = grid.shared;
  launch(config, slices_kernel<K, A, V>, view<A>(part.view), grid.tiles, static_cast<std::uint32_t>(grid.staged),
         Operands<V>(call),
         Prefetch::of<V>(config.gridDim.x, call, part.view, bytes_of(part.view.get<std::uint32_t>("stream")),
                         bytes_of(part.view.get<A>("values"))));
}
template <class K, class A, class V>
void launch_slices(const DevicePart& part, const MultiplyCall& call) {
  launch_slices<K, A, V>(part, call, grid_of<K, A, V>(part, call));
}

template <Source source, int block, class A, class V>
void launch_blocks(const DevicePart& part, const MultiplyCall& call) {
  const bool few = launch_rules::csell::are_few(slices_of(part.view.info()), part.view.info().params[param_sums],
                                                call.device.multiprocessors);
  const bool patterns_only = part.view.info().params[param_patterns_only] != 0;
  const bool tiled = tiles_of(part.view.info()) > 1;
  if constexpr (source == Source::step) {
    // A pattern of more than 255 groups is no is_pattern(): so rare that the kernel for few slices serves for any
    // number.
    if (patterns_only && !few) return launch_slices<SliceKernel<source, block, Size::patterns>, A, V>(part, call);
    launch_slices<SliceKernel<source, block, Size::few>, A, V>(part, call);
  } else {
    if constexpr (source != Source::mirror && (source != Source::table || block == 1)) {
      if (few && !tiled) return launch_slices<SliceKernel<source, block, Size::few>, A, V>(part, call);
    }
    if (patterns_only) {
      using Usual = SliceKernel<source, block, Size::patterns>;
      const Grid grid = grid_of<Usual, A, V>(part, call);
      if constexpr (source == Source::table && block != 1) {
        if (tuning::suits_few_patterns(grid.resident * grid.threads, grid.resident * grid.shared))
          return launch_slices<SliceKernel<source, block, Size::few_patterns>, A, V>(part, call);
      }
      return launch_slices<Usual, A, V>(part, call, grid);
    }
    if constexpr (source == Source::table) {
      if (block != 1 || tiled) return launch_slices<SliceKernel<source, block, Size::tiled>, A, V>(part, call);
    }
    if constexpr (source != Source::table || block == 1)
      launch_slices<SliceKernel<source, block, Size::any>, A, V>(part, call);
  }
}

static_assert(max_block == 4, "multiply_source() and reserve_tables() list the sizes of blocks");
template <Source source>
void multiply_source(const DevicePart& part, const MultiplyCall& call) {
  dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    dispatch_constant<1, 2, 3, 4>(static_cast<int>(part.view.info().params[param_block]),
                                  [&](auto block) { launch_blocks<source, block(), A, V>(part, call); });
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
