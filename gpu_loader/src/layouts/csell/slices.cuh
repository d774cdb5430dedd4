#pragma once
// The kernel of csell: a warp per slice, or as many as the part has sums; a lane per row or block row. docs/LAYOUTS.md,
// "csell", defines the order of additions.

#include <algorithm>
#include <type_traits>

#include "kernels/launch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/vectors.hpp"
#include "layouts/csell/kernels.hpp"
#include "layouts/csell/tuning.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// Steps whose values and elements of x are on their way together.
template <int block>
inline constexpr int batch = block == 1   ? 4
                             : block == 2 ? 2
                                          : 1;

/// Four steps as a lane sees them.
struct LaneGroup {
  std::uint32_t mask[group_steps], column[group_steps];
};

/// What a warp needs to walk over a slice. Addresses follow from the header alone, so that all loads of a group are on
/// their way at the same time.
class Walk {
 public:
  __device__ Walk(const Slice& h, const Group* patterns, const std::byte* stream, std::uint32_t id_bytes)
      : patterns_(reinterpret_cast<const uint4*>(patterns + h.pattern)), id_bytes_(id_bytes) {
    const std::byte* const begin = stream + std::uint64_t{h.stream} * unit;
    const bool many = h.counts == SliceGroups::many;
    const SliceGroups n = many ? *reinterpret_cast<const SliceGroups*>(begin) : SliceGroups::from(h.counts);
    const StreamLayout at = stream_layout(n, many, id_bytes);
    groups_ = reinterpret_cast<const uint4*>(begin + at.groups * unit);
    words_ = begin + at.words[0] * unit;
    ids_ = begin + at.ids * unit;
    end_[0] = n.of[0];
    end_[1] = end_[0] + n.of[1];
    end_[2] = end_[1] + n.of[2];
    end_[3] = end_[2] + n.of[3];
  }
  [[nodiscard]] __device__ std::uint32_t groups() const { return end_[3]; }
  [[nodiscard]] __device__ uint4 masks(std::uint32_t g) const { return __ldg(header(g) + 1); }
  [[nodiscard]] __device__ LaneGroup load(std::uint32_t g, std::uint32_t lane, std::uint32_t row) const {
    const uint4 base = __ldg(header(g)), mask = __ldg(header(g) + 1);
    LaneGroup r{{mask.x, mask.y, mask.z, mask.w}, {base.x, base.y, base.z, base.w}};
    if (g < end_[0]) {
#pragma unroll
      for (auto& column : r.column) column += row;
    } else if (g < end_[1]) {
      const std::uint32_t word = __ldcs(reinterpret_cast<const std::uint32_t*>(words_) + (g - end_[0]) * lanes + lane);
#pragma unroll
      for (std::uint32_t k = 0; k < group_steps; ++k) r.column[k] += word >> 8 * k & 0xFF;
    } else if (g < end_[2]) {
      const std::byte* const words = words_ + (end_[1] - end_[0]) * (lanes * group_steps);
      const uint2 word = __ldcs(reinterpret_cast<const uint2*>(words) + (g - end_[1]) * lanes + lane);
      r.column[0] += word.x & 0xFFFF;
      r.column[1] += word.x >> 16;
      r.column[2] += word.y & 0xFFFF;
      r.column[3] += word.y >> 16;
    } else {
      const std::byte* const words =
          words_ + (end_[1] - end_[0]) * (lanes * group_steps) + (end_[2] - end_[1]) * (lanes * group_steps * 2);
      const uint4 word = __ldcs(reinterpret_cast<const uint4*>(words) + (g - end_[2]) * lanes + lane);
      r.column[0] += word.x;
      r.column[1] += word.y;
      r.column[2] += word.z;
      r.column[3] += word.w;
    }
    return r;
  }
  /// The ids of a lane's four steps, two to a word.
  [[nodiscard]] __device__ uint2 ids(std::uint32_t g, std::uint32_t lane) const {
    if (id_bytes_ == 1) {
      const std::uint32_t word = __ldcs(reinterpret_cast<const std::uint32_t*>(ids_) + g * lanes + lane);
      return {__byte_perm(word, 0, 0x4140), __byte_perm(word, 0, 0x4342)};
    }
    return __ldcs(reinterpret_cast<const uint2*>(ids_) + g * lanes + lane);
  }

 private:
  [[nodiscard]] __device__ const uint4* header(std::uint32_t g) const {
    return g < end_[0] ? patterns_ + 2 * g : groups_ + 2 * (g - end_[0]);
  }
  const uint4 *patterns_, *groups_;
  const std::byte *words_, *ids_;
  std::uint32_t end_[4];  ///< where the groups of each kind of columns end
  std::uint32_t id_bytes_;
};

/// Entries of the groups [begin, end), as far as there are so many.
__device__ inline std::uint32_t entries_of(const Walk& walk, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t n = 0;
  for (std::uint32_t g = begin; g < end && g < walk.groups(); ++g) {
    const uint4 m = walk.masks(g);
    n += static_cast<std::uint32_t>(__popc(m.x) + __popc(m.y) + __popc(m.z) + __popc(m.w));
  }
  return n;
}

/// The sums of a lane's rows over the groups `first`, first + every, ... of a slice. `values`: raw: the slice's; table:
/// the tile's table; step: of the slice's first pattern; single: the value. Masks of all steps seen go to `seen`.
template <Source source, int block, class A, class V, class Table>
__device__ void slice_sums(const Walk& walk, std::uint32_t first, std::uint32_t every, std::uint32_t row,
                           const Table* __restrict__ values, const V* __restrict__ x, V (&sum)[block],
                           std::uint32_t& seen) {
  constexpr int block_values = block * block, steps = batch<block>;
  const std::uint32_t lane = threadIdx.x % 32, below = (1U << lane) - 1, groups = walk.groups();
  if (first >= groups) return;
  V single = 0;
  if constexpr (source == Source::single) single = static_cast<V>(__ldg(values));
  LaneGroup next = walk.load(first, lane, row);
  uint2 next_ids{};
  if constexpr (source == Source::table) next_ids = walk.ids(first, lane);
  if constexpr (source == Source::raw) values += entries_of(walk, 0, first) * block_values;
  for (std::uint32_t g = first; g < groups; g += every) {
    const LaneGroup group = next;
    const uint2 ids = next_ids;
    if (g + every < groups) {
      next = walk.load(g + every, lane, row);
      if constexpr (source == Source::table) next_ids = walk.ids(g + every, lane);
    }
#pragma unroll
    for (int k0 = 0; k0 < static_cast<int>(group_steps); k0 += steps) {
      if (group.mask[k0] == 0) break;
      V value[steps][block_values], element[steps][block];
#pragma unroll
      for (int i = 0; i < steps; ++i) {
        const std::uint32_t mask = group.mask[k0 + i];
        const bool on = (mask >> lane & 1U) != 0;
        const V* const elements = x + std::uint64_t{group.column[k0 + i]} * block;
        const auto n = static_cast<std::uint32_t>(__popc(mask));
        const auto rank = static_cast<std::uint32_t>(__popc(mask & below));
#pragma unroll
        for (int e = 0; e < block_values; ++e) {
          value[i][e] = 0;
          if constexpr (source == Source::raw) {
            if (on) value[i][e] = static_cast<V>(__ldcs(values + e * n + rank));
          } else if constexpr (source == Source::table) {
            const std::uint32_t pair = k0 + i < 2 ? ids.x : ids.y;
            if (on) value[i][e] = static_cast<V>(values[(k0 + i) % 2 == 0 ? pair & 0xFFFF : pair >> 16]);
          } else if constexpr (source == Source::step) {
            value[i][e] = static_cast<V>(__ldg(values + (g * group_steps + k0 + i) * block_values + e));
          } else {
            value[i][e] = single;
          }
        }
#pragma unroll
        for (int c = 0; c < block; ++c) element[i][c] = on ? __ldg(elements + c) : V{0};
        if constexpr (source == Source::raw) values += n * block_values;
      }
      issue_loads();
#pragma unroll
      for (int i = 0; i < steps; ++i) {
        if ((group.mask[k0 + i] >> lane & 1U) == 0) continue;
#pragma unroll
        for (int r = 0; r < block; ++r)
#pragma unroll
          for (int c = 0; c < block; ++c) sum[r] = fma(value[i][r * block + c], element[i][c], sum[r]);
      }
    }
    seen |= group.mask[0] | group.mask[1] | group.mask[2] | group.mask[3];
    // The values of groups that other warps add up are skipped by counting them.
    if constexpr (source == Source::raw) values += entries_of(walk, g + 1, g + every) * block_values;
  }
}

/// Threads of a team, the warps of one slice, wait for each other.
__device__ inline void team_barrier(unsigned team, unsigned warps) {
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "r"(warps * 32) : "memory");
}

/// A team of `v.sums` warps for each slice. Slices come in pieces of tuning::piece_slices, which do not cross a tile: a
/// block takes one after the other, so that its slices are neighbours, and stages a tile's table once.
template <Source source, int block, class A, class V>
__global__ void __launch_bounds__(tuning::max_threads, tuning::resident_blocks)
    slices_kernel(View<A> v, Pieces pieces, std::uint32_t staged, DeviceScalar<V> alpha_in, const V* __restrict__ x,
                  DeviceScalar<V> beta_in, V* y, RowMap map) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ V partial[tuning::max_threads / 32][block][32];
  __shared__ std::uint32_t partial_seen[tuning::max_threads / 32];
  const V alpha = alpha_in.get(), beta = beta_in.get();
  if (alpha == V{0}) {  // x must not be read
    const std::uint64_t rows = v.rows * block, stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < rows; r += stride)
      y[map(r)] = scaled(beta, y + map(r));
    return;
  }
  V* const table = reinterpret_cast<V*>(shared_bytes);
  std::uint32_t loaded = ~0U;  // where the table in shared memory begins
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned mine = warp % v.sums, team = warp / v.sums, teams = blockDim.x / 32 / v.sums;
  for (std::uint64_t piece = blockIdx.x; piece < pieces.count; piece += gridDim.x) {
    const Pieces::Range range = pieces.range(piece);
    Tile tile{};
    if constexpr (source == Source::table) {
      tile = v.tiles[range.tile];
      if (staged != 0 && tile.begin != loaded) {
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < tile.count; i += blockDim.x)
          table[i] = static_cast<V>(__ldg(v.values + tile.begin + i));
        loaded = tile.begin;
        __syncthreads();
      }
    }
    for (std::uint64_t s = range.begin + team; s < range.end; s += teams) {
      const uint4 header = __ldg(reinterpret_cast<const uint4*>(v.slices + s));
      const Slice slice{header.x, header.y, header.z, header.w};
      const Walk walk(slice, v.patterns, v.stream, source == Source::table ? tile.id_bytes() : 0);
      const auto row = static_cast<std::uint32_t>(s * lanes + lane);
      V sum[block] = {};
      std::uint32_t seen = 0;
      if constexpr (source == Source::table) {
        if (staged != 0)
          slice_sums<source, block, A>(walk, mine, v.sums, row, table, x, sum, seen);
        else
          slice_sums<source, block, A>(walk, mine, v.sums, row, v.values + tile.begin, x, sum, seen);
      } else {
        const A* values = v.values;
        if constexpr (source == Source::raw) values += std::uint64_t{slice.values} * (unit / sizeof(A));
        if constexpr (source == Source::step) values += std::uint64_t{slice.pattern} * (group_steps * block * block);
        slice_sums<source, block, A>(walk, mine, v.sums, row, values, x, sum, seen);
      }
      if (v.sums > 1) {
#pragma unroll
        for (int r = 0; r < block; ++r) partial[warp][r][lane] = sum[r];
        if (lane == 0) partial_seen[warp] = seen;
        team_barrier(team, v.sums);
        if (mine == 0)
          for (unsigned other = 1; other < v.sums; ++other) {
#pragma unroll
            for (int r = 0; r < block; ++r) sum[r] = sum[r] + partial[warp + other][r][lane];
            seen |= partial_seen[warp + other];
          }
      }
      if (mine == 0 && row < v.rows) {
#pragma unroll
        for (int r = 0; r < block; ++r) {
          V* const at = y + map(std::uint64_t{row} * block + r);
          const V before = scaled(beta, at);
          *at = (seen >> lane & 1U) != 0 ? fma(alpha, sum[r], before) : before;
        }
      }
      if (v.sums > 1) team_barrier(team, v.sums);
    }
  }
}

template <Source source, int block, class A, class V>
void launch_slices(const DevicePart& part, const MultiplyCall& call) {
  const View<A> v = view<A>(part.view);
  if (v.slice_count == 0) return;
  const unsigned sms = call.device.multiprocessors;
  const std::uint64_t warps = v.slice_count * v.sums;
  const unsigned threads = tuning::threads_for(warps, sms);
  const Pieces pieces =
      Pieces::of(v.slice_count, v.tile_slices, threads / 32 / v.sums * tuning::rounds_of_a_piece(source));
  std::uint32_t staged = 0;
  if constexpr (source == Source::table) {
    staged = static_cast<std::uint32_t>(part.view.info().params[param_largest_tile] * sizeof(V));
    if (staged > tuning::max_staged_bytes) staged = 0;
  }
  const auto kernel = slices_kernel<source, block, A, V>;
  if (staged > tuning::usual_shared_bytes)
    require_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(staged)),
                 "reserving shared memory");
  const std::uint64_t resident = std::uint64_t{sms} * tuning::resident_blocks * (tuning::max_threads / threads);
  cudaLaunchConfig_t config =
      launch_config(static_cast<unsigned>(std::min(pieces.count, resident)), threads, call.stream);
  config.dynamicSmemBytes = staged;
  launch(config, kernel, v, pieces, staged, device_scalar<V>(call.alpha), static_cast<const V*>(call.x),
         device_scalar<V>(call.beta), static_cast<V*>(call.y), RowMap{call.row_list});
}

template <Source source>
void multiply_source(const DevicePart& part, const MultiplyCall& call) {
  dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    if constexpr (source == Source::table) {
      launch_slices<source, 1, A, V>(part, call);
    } else {
      switch (part.view.info().params[param_block]) {
        case 1:
          return launch_slices<source, 1, A, V>(part, call);
        case 2:
          return launch_slices<source, 2, A, V>(part, call);
        case 3:
          return launch_slices<source, 3, A, V>(part, call);
        default:
          return launch_slices<source, 4, A, V>(part, call);
      }
    }
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
