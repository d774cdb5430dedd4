#pragma once
// One chunk of Compressed COO by a block of a few warps, for matrices with large or few chunks. The order of additions
// is the same as with one warp.

#include "layouts/ccoo/chunk.cuh"

namespace spmvpack::gpu_loader::layouts::ccoo_kernels {

/// Shared memory of a block that works on a chunk.
template <class V>
struct TeamScratch {
  Scratch<V> chunk;
  unsigned used, rows;  ///< lanes up to the last with entries; number of rows
};

/// Whether the raw values of a lane have 64 bytes, the case for StagedValues.
template <class F>
inline constexpr bool is_staged = !F::lut && F::K * sizeof(typename F::A) == 64;

/// The raw values of a group whose lanes have 64 bytes each. If each lane loaded its own, the first loads would request
/// every other sector of each line and later ones the rest: twice the requests to the second-level cache, whose number
/// limits matrices with scattered columns. Therefore the warp loads whole lines, and shared memory distributes the
/// words to their lanes. The exclusive or avoids bank conflicts on both sides. docs/notebook/GPU.md, "Constants".
struct StagedValues {
  static constexpr unsigned lane_words = 4;
  using Stage = uint4[32 * lane_words];  ///< in shared memory, one per warp
  uint4 words[lane_words];

  __device__ void load(const std::byte* group, ReadOnce once) {
#pragma unroll
    for (unsigned i = 0; i < lane_words; ++i)
      words[i] = once(reinterpret_cast<const uint4*>(group) + (i * 32 + lane_id()));
  }
  __device__ void to_lanes(Stage& stage) {
    __syncwarp();  // the previous group has been read
#pragma unroll
    for (unsigned i = 0; i < lane_words; ++i) stage[place(i * 32 + lane_id())] = words[i];
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < lane_words; ++i) words[i] = stage[place(lane_id() * lane_words + i)];
  }
  __device__ static unsigned place(unsigned word) { return word ^ (word / 8 & 3U); }
};

/// lane_sums() of one group, through StagedValues.
template <class F>
__device__ typename F::V staged_sum(const Blob& blob, const typename F::V* __restrict__ x, unsigned group,
                                    StagedValues::Stage& stage, std::uint32_t& first, std::uint32_t& last) {
  using V = typename F::V;
  constexpr int K = F::K;
  constexpr unsigned offset_bytes = K * sizeof(typename F::Offset), value_bytes = K * sizeof(typename F::A);
  std::uint32_t offset[K];
  load<typename F::Offset, K>(blob.columns + (group * 32 + lane_id()) * offset_bytes, blob.once, offset);
  StagedValues staged;
  staged.load(blob.values + group * 32 * value_bytes, blob.once);
  V of_x[K];
#pragma unroll
  for (int k = 0; k < K; ++k) of_x[k] = __ldg(x + offset[k]);
  staged.to_lanes(stage);
  typename F::A value[K];
  memcpy(value, staged.words, sizeof value);
  V sum = fma(static_cast<V>(value[0]), of_x[0], V{0});
#pragma unroll
  for (int k = 1; k < K; ++k)
    if (offset[k] != offset[k - 1]) sum = fma(static_cast<V>(value[k]), of_x[k], sum);
  first = offset[0];
  last = offset[K - 1];
  return sum;
}

/// Multiplies one chunk, and writes the empty rows from its last row to the next chunk's, by a block of two warps or
/// more. All of them must pass a barrier between two chunks with the same scratch. `stages`: for each warp.
template <class A, class V, int K>
__device__ void team_chunk(const ChunkHeader& header, const std::byte* bytes, bool single, const V* lut,
                           const V* __restrict__ x, ReadOnce once, TeamScratch<V>& scratch, StagedValues::Stage* stages,
                           const RowSums<V>& to) {
  const unsigned lane = lane_id(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const Encoding e = header.encoding;
  const bool one_row = e.one_row();
  const unsigned groups = e.groups(), lanes = groups * 32;
  const Blob blob = Blob::of<A, K>(e, bytes, lanes, single, once);
  std::uint64_t row_bytes = 0;
  if (warp == 0 && !one_row && lane * 8 < lanes)
    row_bytes = once(reinterpret_cast<const unsigned long long*>(blob.rows) + lane);
  x += header.col_base;
  with_format<A, V, K>(e, [&]<class F>(F) {
    // As in chunk(): ids of several groups may be in flight, but not raw values.
    constexpr unsigned share = chunk_lanes / 32 / 2, unroll = F::lut ? share : 1;
#pragma unroll unroll
    for (unsigned i = 0; i < share; ++i) {
      const unsigned g = i * warps + warp;
      if (g >= groups) break;
      V sums[1];
      std::uint32_t first = 0, last = 0;
      if constexpr (is_staged<F>)
        sums[0] = staged_sum<F>(blob, x, g, stages[warp], first, last);
      else
        lane_sums<F, 1>(blob, lut, x, g * 32 + lane, sums, first, last);
      scratch.chunk.sums[padded(g * 32 + lane)] = sums[0];
      if (g + 1 == groups) {
        const unsigned used = used_lanes(lanes, 0, first, last);
        if (lane == 0) scratch.used = used;
      }
    }
  });
  if (warp == 0 && !one_row) {
    const unsigned rows = find_rows(row_bytes, lanes, scratch.chunk);
    if (lane == 0) scratch.rows = rows;
  }
  __syncthreads();
  std::uint32_t last_row = header.row_base;
  if (one_row) {
    if (warp == 0) {
      V place = 0;
      for (unsigned j = lane; j < scratch.used; j += 32) place = place + scratch.chunk.sums[padded(j)];
      finish_one_row(header, place, to);
    }
  } else {
    const unsigned start = scratch.chunk.starts[scratch.rows - 1], last_start = start & 255U;
    const unsigned used = scratch.used > last_start ? scratch.used : last_start + 1;
    sum_rows(header, scratch.rows, used, scratch.chunk, to, warp * 32, warps * 32);
    last_row += start >> 8U;
  }
  for (std::uint64_t r = std::uint64_t{last_row} + 1 + threadIdx.x; r < header.next_row_base; r += warps * 32)
    to.scale(r);
}

}  // namespace spmvpack::gpu_loader::layouts::ccoo_kernels
