#pragma once
// One chunk of Compressed COO by a warp (by a block: team.cuh), in the order of additions of docs/LAYOUTS.md ("ccoo"),
// which is also the host's, bit for bit.

#include <cuda_runtime.h>

#include "kernels/carries.cuh"
#include "kernels/read_once.cuh"
#include "kernels/reduce.cuh"
#include "spmvpack/container/layouts/ccoo.hpp"

namespace spmvpack::gpu_loader::layouts::ccoo_kernels {

using spmvpack::layouts::ccoo::BlobLayout;
using spmvpack::layouts::ccoo::Encoding;

inline constexpr unsigned chunk_lanes = spmvpack::layouts::ccoo::default_lanes;

/// The position of a lane's sum in shared memory: padding after every 16 avoids bank conflicts between rows of 2, 4, 8
/// or 16 lanes.
__device__ inline unsigned padded(unsigned lane) { return lane + lane / 16; }
inline constexpr unsigned padded_lanes = chunk_lanes + chunk_lanes / 16;

/// Scratch for a chunk, in shared memory.
template <class V>
struct Scratch {
  V sums[padded_lanes];               ///< by lane, at padded(lane)
  std::uint16_t starts[chunk_lanes];  ///< by row of the chunk: its first lane, and its row byte above
};

/// What a warp knows about its chunk before it reads the blob.
struct ChunkHeader {
  std::uint64_t chunk = 0, offset = 0;
  Encoding encoding, next_encoding;  ///< next_encoding is 0 after the last chunk
  std::uint32_t row_base = 0, col_base = 0;
  std::uint64_t next_row_base = 0;  ///< the part's rows after the last chunk

  __device__ bool continues() const { return encoding.continues(); }
  __device__ bool goes_on() const { return next_encoding.continues(); }
};

/// Loads `count` numbers of type From from `from`, which is aligned to their total size or to 16, by loads of up to 16
/// bytes.
template <class From, int count, class To>
__device__ void load(const std::byte* from, ReadOnce once, To (&to)[count]) {
  constexpr int bytes = count * static_cast<int>(sizeof(From));
  From raw[count];
  if constexpr (count == 1) {
    raw[0] = once(reinterpret_cast<const From*>(from));
  } else if constexpr (bytes == 2) {
    const auto word = once(reinterpret_cast<const unsigned short*>(from));
    memcpy(raw, &word, sizeof raw);
  } else if constexpr (bytes == 4) {
    const auto word = once(reinterpret_cast<const unsigned*>(from));
    memcpy(raw, &word, sizeof raw);
  } else if constexpr (bytes == 8) {
    const auto word = once(reinterpret_cast<const uint2*>(from));
    memcpy(raw, &word, sizeof raw);
  } else {
    uint4 words[bytes / 16];
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i) words[i] = once(reinterpret_cast<const uint4*>(from) + i);
    memcpy(raw, words, sizeof raw);
  }
#pragma unroll
  for (int i = 0; i < count; ++i) to[i] = static_cast<To>(raw[i]);
}

/// How a kernel's chunks are stored. A: values; V: vectors and sums; K: slots of a lane.
template <class A_, class V_, int K_, class Offset_, bool lut_>
struct Format {
  using A = A_;
  using V = V_;
  using Offset = Offset_;
  static constexpr int K = K_;
  static constexpr bool lut = lut_;
};

/// Calls f with the Format of a chunk.
template <class A, class V, int K, class Function>
__device__ void with_format(Encoding e, Function&& f) {
  switch (e.column_code() * 2 + (e.lut() ? 1 : 0)) {
    case 0:
      return f(Format<A, V, K, std::uint8_t, false>{});
    case 1:
      return f(Format<A, V, K, std::uint8_t, true>{});
    case 2:
      return f(Format<A, V, K, std::uint16_t, false>{});
    case 3:
      return f(Format<A, V, K, std::uint16_t, true>{});
    case 4:
      return f(Format<A, V, K, std::uint32_t, false>{});
    default:
      return f(Format<A, V, K, std::uint32_t, true>{});
  }
}

/// The ids of a chunk that has none, as all entries have the table's first value: they stay in caches, and no kernel
/// has a format more.
__device__ constexpr std::uint64_t no_ids[spmvpack::layouts::ccoo::most_slots / 8] = {};

/// The arrays of a chunk's blob.
struct Blob {
  const std::byte *rows, *columns, *values;
  ReadOnce once;

  /// `bytes`: the blob of a chunk with `lanes` stored lanes of K slots.
  template <class A, int K>
  static __device__ Blob of(Encoding e, const std::byte* bytes, unsigned lanes, bool single, ReadOnce once) {
    const BlobLayout at = blob_layout(e, lanes, K, sizeof(A), 1);  // only where values begin
    return {bytes, bytes + at.columns, single ? reinterpret_cast<const std::byte*>(no_ids) : bytes + at.values, once};
  }
};

/// The sums of `U` lanes that are 32 apart, starting with `lane`; all loads come before all sums. `first` and `last`
/// are the column offsets of the last lane's first and last slot. Padding at a lane's end is skipped; even a lane that
/// is all padding has a sum.
template <class F, int U, class L>
__device__ void lane_sums(const Blob& blob, const L* lut, const typename F::V* __restrict__ x, unsigned lane,
                          typename F::V (&sums)[U], std::uint32_t& first, std::uint32_t& last) {
  using V = typename F::V;
  constexpr int K = F::K;
  std::uint32_t offset[U][K];
  V value[U][K];
#pragma unroll
  for (int u = 0; u < U; ++u)
    load<typename F::Offset, K>(
        blob.columns + (lane + 32U * u) * (K * static_cast<unsigned>(sizeof(typename F::Offset))), blob.once,
        offset[u]);
  if constexpr (F::lut) {
    std::uint32_t id[U][K];
#pragma unroll
    for (int u = 0; u < U; ++u) load<std::uint8_t, K>(blob.values + (lane + 32U * u) * K, blob.once, id[u]);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < K; ++k) value[u][k] = static_cast<V>(lut[id[u][k]]);
  } else {
#pragma unroll
    for (int u = 0; u < U; ++u)
      load<typename F::A, K>(blob.values + (lane + 32U * u) * (K * static_cast<unsigned>(sizeof(typename F::A))),
                             blob.once, value[u]);
  }
  V of_x[U][K];
#pragma unroll
  for (int u = 0; u < U; ++u)
#pragma unroll
    for (int k = 0; k < K; ++k) of_x[u][k] = __ldg(x + offset[u][k]);
#pragma unroll
  for (int u = 0; u < U; ++u) {
    V sum = fma(value[u][0], of_x[u][0], V{0});
#pragma unroll
    for (int k = 1; k < K; ++k)
      if (offset[u][k] != offset[u][k - 1]) sum = fma(value[u][k], of_x[u][k], sum);
    sums[u] = sum;
  }
  first = offset[U - 1][0];
  last = offset[U - 1][K - 1];
}

/// How many of the chunk's lanes hold entries, from the first and last column offsets of the lanes in its last group:
/// the lanes after them repeat the previous column. A row may start with the column that the previous row ends with, so
/// lanes up to `last_start` are not padding.
__device__ inline unsigned used_lanes(unsigned lanes, unsigned last_start, std::uint32_t first, std::uint32_t last) {
  const unsigned lane = lane_id();
  const std::uint32_t before = __shfl_up_sync(full_warp, last, 1);
  const unsigned entries = __ballot_sync(full_warp, lane == 0 || first != before);
  const unsigned used = lanes - static_cast<unsigned>(__clz(static_cast<int>(entries)));
  return used > last_start ? used : last_start + 1;
}

/// Finds the rows of a chunk in its row bytes, eight per lane. Returns their number.
template <class V>
__device__ unsigned find_rows(std::uint64_t row_bytes, unsigned lanes, Scratch<V>& scratch) {
  const unsigned lane = lane_id();
  const auto before =
      static_cast<std::uint8_t>(__shfl_up_sync(full_warp, static_cast<std::uint32_t>(row_bytes >> 56U), 1));
  std::uint32_t starts = spmvpack::layouts::ccoo::row_starts(row_bytes, before);
  if (lane == 0) starts |= 1U;  // the chunk's first lane
  if (lane * 8 >= lanes) starts = 0;
  const auto count = static_cast<unsigned>(__popc(starts));
  unsigned row = count;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned left = __shfl_up_sync(full_warp, row, distance);
    if (lane >= distance) row += left;
  }
  const unsigned rows = __shfl_sync(full_warp, row, 31);
  row -= count;
  for (; starts != 0; starts &= starts - 1) {
    const auto byte = static_cast<unsigned>(__ffs(static_cast<int>(starts))) - 1;
    scratch.starts[row++] =
        static_cast<std::uint16_t>((lane * 8 + byte) | (static_cast<unsigned>(row_bytes >> (8 * byte)) & 255U) << 8U);
  }
  return rows;
}

/// Adds up the lanes of each row of the chunk, one lane per row, and writes the results and the empty rows in between.
/// The warp handles 32 rows from `begin_row` on, and 32 more every `step` rows.
template <class V>
__device__ void sum_rows(const ChunkHeader& header, unsigned rows, unsigned used, const Scratch<V>& scratch,
                         const RowSums<V>& to, unsigned begin_row = 0, unsigned step = 32) {
  const unsigned lane = lane_id();
  for (unsigned first = begin_row; first < rows; first += step) {
    const unsigned i = first + lane;
    unsigned begin = 0, end = 0, next = 0;
    std::uint32_t row = 0;
    if (i < rows) {
      const unsigned start = scratch.starts[i];
      begin = start & 255U;
      row = start >> 8U;
      next = row + 1;
      end = used;
      if (i + 1 < rows) {
        const unsigned after = scratch.starts[i + 1];
        end = after & 255U;
        next = after >> 8U;
      }
    }
    V sum = 0;
    for (unsigned j = begin; j < end; ++j) sum = sum + scratch.sums[padded(j)];
    __syncwarp();  // so that rows are written together
    if (i < rows) {
      if (i == 0 && header.continues())
        to.first[header.chunk] = sum;
      else if (i + 1 == rows && header.goes_on())
        to.last[header.chunk] = sum;
      else
        to.put(header.row_base + row, sum);
      for (std::uint32_t r = row + 1; r < next; ++r) to.scale(header.row_base + r);
    }
  }
}

/// The sum of a one-row chunk, from the sums at each position of a group.
template <class V>
__device__ void finish_one_row(const ChunkHeader& header, V place, const RowSums<V>& to) {
  const V sum = segment_sum(place, lane_id(), 32);
  if (lane_id() != 0) return;
  if (header.continues())
    to.first[header.chunk] = sum;
  else if (header.goes_on())
    to.last[header.chunk] = sum;
  else
    to.put(header.row_base, sum);
}

/// Multiplies the groups [0, groups) of a chunk with `lanes` lanes, U at a time, in a loop that is unrolled so many
/// times. For a chunk of several rows, lane sums go to the scratch; for a one-row chunk, the sum at the lane's position
/// is returned.
template <class F, int U, int unroll>
__device__ typename F::V sum_lanes(const Blob& blob, bool one_row, unsigned groups, const typename F::V* lut,
                                   const typename F::V* __restrict__ x, Scratch<typename F::V>& scratch,
                                   std::uint32_t& first, std::uint32_t& last) {
  using V = typename F::V;
  const unsigned lane = lane_id();
  V place = 0;
#pragma unroll unroll
  for (unsigned g = 0; g < groups; g += U) {
    V sums[U];
    lane_sums<F, U>(blob, lut, x, g * 32 + lane, sums, first, last);
    if (one_row) {
      const unsigned used = g + U < groups ? ~0U : used_lanes(groups * 32, 0, first, last);
#pragma unroll
      for (unsigned u = 0; u < U; ++u)
        if ((g + u) * 32 + lane < used) place = place + sums[u];
    } else {
#pragma unroll
      for (unsigned u = 0; u < U; ++u) scratch.sums[padded((g + u) * 32 + lane)] = sums[u];
    }
  }
  return place;
}

/// Multiplies one chunk, and writes the empty rows from its last row to the next chunk's. What formats share is outside
/// of them: six times the code would take as much longer to compile.
template <class A, class V, int K>
__device__ void chunk(const ChunkHeader& header, const std::byte* bytes, bool single, const V* lut,
                      const V* __restrict__ x, ReadOnce once, Scratch<V>& scratch, const RowSums<V>& to) {
  const unsigned lane = lane_id();
  const Encoding e = header.encoding;
  const bool one_row = e.one_row();
  const unsigned lanes = e.groups() * 32;
  const Blob blob = Blob::of<A, K>(e, bytes, lanes, single, once);
  std::uint64_t row_bytes = 0;
  if (!one_row && lane * 8 < lanes) row_bytes = once(reinterpret_cast<const unsigned long long*>(blob.rows) + lane);
  std::uint32_t first = 0, last = 0, last_row = header.row_base;
  x += header.col_base;
  V place = 0;
  with_format<A, V, K>(e, [&]<class F>(F) {
    constexpr unsigned groups = chunk_lanes / 32, U = K < groups ? groups / K : 1;
    // Raw values of many slots fill registers, and the first-level cache while their sectors are in flight: with
    // several groups in flight, some sectors would be fetched again. docs/notebook/GPU.md, "Constants".
    constexpr int unroll = K >= 4 && !F::lut ? 1 : 8;
    if (lanes == chunk_lanes)  // nearly all chunks: positions and counts are constants
      place = sum_lanes<F, U, unroll>(blob, one_row, groups, lut, x, scratch, first, last);
    else
      place = sum_lanes<F, 1, 1>(blob, one_row, e.groups(), lut, x, scratch, first, last);
  });
  if (one_row) {
    finish_one_row(header, place, to);
  } else {
    const unsigned rows = find_rows(row_bytes, lanes, scratch);
    __syncwarp();
    const unsigned start = scratch.starts[rows - 1];
    sum_rows(header, rows, used_lanes(lanes, start & 255U, first, last), scratch, to);
    last_row += start >> 8U;
  }
  for (std::uint64_t r = std::uint64_t{last_row} + 1 + lane; r < header.next_row_base; r += 32) to.scale(r);
  __syncwarp();  // before the next chunk overwrites the scratch
}

}  // namespace spmvpack::gpu_loader::layouts::ccoo_kernels
