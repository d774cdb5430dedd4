#pragma once
// What a warp does with one chunk: a lane takes up to eight consecutive entries. docs/LAYOUTS.md, "bitflag", defines
// the order of additions.

#include <cstdint>
#include <type_traits>

#include "kernels/carries.cuh"
#include "kernels/reduce.cuh"
#include "layouts/bitflag/lane_data.cuh"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

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

/// What multiplies a chunk's entries, beside what the chunk has.
template <class V>
struct Factors {
  const V* table;  ///< values that entries share; of decimals, powers of ten
  const V* x;
  NearElements<V> near;
  const V* staged;  ///< the near elements in shared memory
  ReadOnce once;
};

/// A chunk, and what follows from the header after it.
struct ChunkToDo {
  Chunk chunk;
  std::uint32_t own_rows;  ///< empty ones among them
  bool goes_on;            ///< whether its last row goes on in the next chunk
};

/// A chunk's sums of rows that other chunks of the tile have, in shared memory, by warp of the team.
template <class V>
struct Shared {
  V head, open;        ///< of the row that it continues; of its last row, if that goes on
  std::uint32_t ends;  ///< whether the row that it continues ends in it
};

/// A warp's sums in shared memory: those of the rows that start in its chunk, and one before them.
inline constexpr std::uint32_t warp_slots = chunk_entries + 1;

/// Where a chunk's sums go.
template <class V>
struct ChunkSums {
  V* of_starts;  ///< the warp's, in shared memory: of the rows that start in the chunk
  const RowSums<V>& to;
  Shared<V>& shared;
};

inline constexpr std::uint32_t no_row = ~0U;

/// Of an entry's word, if the bit that says that its column is hot is set: the column's place, whatever lies between.
inline constexpr std::uint32_t hot_word = 1U << 31U, hot_place = max_hot - 1;
static_assert((max_hot & hot_place) == 0);

/// For each lane, the sum of n, at most 15, over the lanes before.
__device__ inline std::uint32_t exclusive_sum_of_4_bits(std::uint32_t n, std::uint32_t lane) {
  const std::uint32_t below = (1U << lane) - 1;
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned bit = 0; bit < 4; ++bit)
    sum += static_cast<std::uint32_t>(__popc(__ballot_sync(full_warp, (n >> bit & 1U) != 0) & below)) << bit;
  return sum;
}

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

/// A lane's share of a chunk. `full`: the chunk has as many entries as there can be.
template <bool full>
struct LaneShare {
  std::uint32_t lane;
  std::uint32_t chunk_lanes, used;  ///< lanes that the stream has; those with entries
  std::uint32_t n;                  ///< this lane's entries

  __device__ explicit LaneShare(Info info)
      : lane(lane_id()),
        chunk_lanes(full ? lanes : info.lanes()),
        used(full ? lanes : (info.entries() + lane_entries - 1) / lane_entries),
        n(full               ? lane_entries
          : lane + 1 < used  ? lane_entries
          : lane + 1 == used ? info.entries() - lane * lane_entries
                             : 0) {}
  [[nodiscard]] __device__ bool is_stored() const { return full || lane < chunk_lanes; }
  [[nodiscard]] __device__ bool has(unsigned k) const { return full || k < n; }
};

/// The elements of a lane's hot columns, from shared memory or from their copy.
template <bool full, class V>
__device__ __forceinline__ void load_near(const LaneShare<full>& share, const std::uint32_t (&word)[lane_entries],
                                          const V* from, V (&element)[lane_entries]) {
#pragma unroll
  for (unsigned k = 0; k < lane_entries; ++k) {
    const bool is_near = (word[k] & hot_word) != 0;
    if (share.has(k) && is_near) element[k] = from[word[k] & hot_place];
  }
}

/// The elements of x that a lane's columns name. What a lane does not have is not loaded, without a branch, so that all
/// loads are on their way together. As x is not __restrict__, none is a load of constants, which the compiler moves
/// down to its use, past any barrier.
template <Near near, bool full, class V>
__device__ __forceinline__ void load_elements(const LaneShare<full>& share, std::uint32_t base,
                                              const std::uint32_t (&word)[lane_entries], const Factors<V>& factors,
                                              V (&element)[lane_entries]) {
  if constexpr (near == Near::segment) {
#pragma unroll
    for (unsigned k = 0; k < lane_entries; ++k) element[k] = share.has(k) ? factors.staged[word[k]] : V{0};
  } else {
    const V* x = factors.x + base;
    asm("" : "+l"(x));  // not base + word each time
    __builtin_assume(__isGlobal(x));
#pragma unroll
    for (unsigned k = 0; k < lane_entries; ++k) {
      element[k] = 0;
      const bool is_near = near == Near::hot && (word[k] & hot_word) != 0;
      if (share.has(k) && !is_near) element[k] = x[word[k]];
    }
  }
  if constexpr (near == Near::hot) {
    if (factors.near.staged)
      load_near(share, word, factors.staged, element);
    else
      load_near(share, word, factors.near.copy, element);
  }
}

/// The sum of a chunk whose entries are all of a row that another chunk begins.
template <Near near, bool full, class V, class Values>
__device__ __forceinline__ void put_only_sum(const LaneShare<full>& share, const ChunkToDo& c, const Values& values,
                                             const V* table, const V (&element)[lane_entries],
                                             const ChunkSums<V>& sums) {
  V sum = 0;
#pragma unroll
  for (unsigned k = 0; k < lane_entries; ++k)
    if (share.has(k)) sum = fma(values.get(k, table), element[k], sum);
  sum = segment_sum(sum, share.lane, share.used);
  if (c.own_rows != 0) put_empty<near>(sums.to, c.chunk.begin(), c.own_rows);
  if (share.lane == 0) {
    sums.shared.head = sum;
    sums.shared.ends = c.goes_on ? 0 : 1;
  }
  __syncwarp();
}

/// Puts the sums of the rows that start in a chunk to shared memory, in their order: all lanes then write them to y.
/// The lane's first one belongs at `first_slot` + 1 value; at `first_slot`, where that of the row before belongs, it
/// puts what it has of that row, and reads it again: its head. Returns, in lane 0, the sum of the row that the chunk
/// continues. `flags`: a bit for each entry that starts a row.
template <bool full, class V>
__device__ __forceinline__ V sum_rows(const LaneShare<full>& share, std::uint32_t flags, const V (&value)[lane_entries],
                                      const V (&element)[lane_entries], std::uint32_t first_slot) {
  std::uint32_t slot = first_slot;
  V sum = 0;
#pragma unroll
  for (unsigned k = 0; k < lane_entries; ++k) {
    if ((flags >> k & 1U) != 0) {
      put_shared(slot, sum);
      slot += sizeof(V);
      sum = 0;
    }
    if (share.has(k)) sum = fma(value[k], element[k], sum);
  }
  const bool seen = flags != 0;
  V head = sum;
  if (seen) head = get_shared<V>(first_slot);
  const unsigned with_start = __ballot_sync(full_warp, seen);
  if (with_start != full_warp)
    head = segment_sum(head, share.lane, segment_end(with_start << 1 | 1, share.lane, share.used), ~with_start);
  const V following = __shfl_down_sync(full_warp, head, 1);
  __syncwarp();  // heads have been read
  if (seen) put_shared(slot, share.lane + 1 < share.used ? sum + following : sum);
  __syncwarp();
  return head;
}

/// Writes the rows that are the chunk's alone to y, from `of_starts`, and what others need to `shared`; returns the row
/// that goes on if one starts here, else no_row. `row_ahead`: of the row that this lane writes first, `offset` is its
/// offset, if rows have any.
template <Near near, bool row_ahead, class V>
__device__ __forceinline__ std::uint32_t put_rows(const ChunkToDo& c, V head, const ChunkRows& row,
                                                  std::uint32_t offset, const ChunkSums<V>& sums) {
  const unsigned lane = lane_id();
  // A last row that goes on is another warp's to write.
  const std::uint32_t count = c.chunk.info.starts(), whole = count - (c.goes_on && count != 0 ? 1 : 0);
  RowSums<V> own = sums.to;
  if (count != c.own_rows) {  // rows without entries are among its own: all of them first become beta y
    put_empty<near>(sums.to, c.chunk.begin(), c.own_rows - (count - whole));
    own.beta = sums.to.beta == V{0} ? V{0} : V{1};
    __syncwarp();
  }
  for (std::uint32_t i = lane; i < whole; i += 32)
    own.put(row_ahead && i == lane && c.chunk.info.row_bytes() != 0 ? c.chunk.row + offset : row(i), sums.of_starts[i]);
  if (lane == 0) {
    sums.shared.head = head;
    sums.shared.ends = count != 0 || !c.goes_on ? 1 : 0;
    if (whole != count) sums.shared.open = sums.of_starts[whole];
  }
  __syncwarp();  // before the next chunk's sums
  return whole != count ? row(whole) : no_row;
}

/// Multiplies one chunk, by a warp. Returns the row that starts here and goes on, else no_row.
template <Source source, Near near, bool full, class A, class V>
__device__ __forceinline__ std::uint32_t multiply_chunk(const View<A>& v, const ChunkToDo& c, const Factors<V>& factors,
                                                        const ChunkSums<V>& sums) {
  const Info info = c.chunk.info;
  const std::byte* const bytes = v.stream + std::uint64_t{c.chunk.place} * unit;
  const ChunkLayout at = chunk_layout(info, source, stored_bytes(source, sizeof(A)));
  const LaneShare<full> share(info);
  const std::uint32_t lane = share.lane;
  std::uint32_t flags = 0;
  LaneColumns columns = {};
  LaneValues<source, A> values = {};
  const ChunkRows row{c.chunk, bytes + at.rows};
  if (share.is_stored()) {
    flags = static_cast<std::uint32_t>(bytes[lane]);
    columns.load(bytes + at.columns, info.column_bytes(), share.chunk_lanes, lane, factors.once);
    values.load(bytes + at.values, share.chunk_lanes, lane, factors.once);
  }
  // Where registers are left, the row that the lane writes first is on its way, too.
  constexpr bool row_ahead = source != Source::raw && source != Source::decimal && near != Near::segment;
  std::uint32_t offset = 0;
  if (row_ahead && info.row_bytes() != 0 && lane < info.starts()) offset = row.offset(lane);
  __syncwarp();  // as issue_loads()
  std::uint32_t word[lane_entries];
  columns.template get<near == Near::hot>(info.column_bytes(), word);
  if constexpr (source == Source::window || source == Source::decimal)
    values.load_more(v, info, bytes + at.exponents, lane, factors.once);
  V element[lane_entries];
  load_elements<near>(share, c.chunk.base, word, factors, element);
  __syncwarp();
  // Elsewhere, a special case for a chunk without starts takes registers that other loads need, or time.
  // docs/notebook/GPU.md, "Constants".
  if (source == Source::raw && near == Near::segment && info.starts() == 0) {
    put_only_sum<near>(share, c, values, factors.table, element, sums);
    return no_row;
  }
  const std::uint32_t before = exclusive_sum_of_4_bits(static_cast<std::uint32_t>(__popc(flags)), lane);
  V value[lane_entries];
#pragma unroll
  for (unsigned k = 0; k < lane_entries; ++k) value[k] = values.get(k, factors.table);
  const auto first_slot = static_cast<std::uint32_t>(__cvta_generic_to_shared(sums.of_starts + before)) -
                          static_cast<std::uint32_t>(sizeof(V));
  const V head = sum_rows(share, flags, value, element, first_slot);
  return put_rows<near, row_ahead>(c, head, row, offset, sums);
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
