#pragma once
// Chunks of bitflag by AVX-512: eight lanes side by side, an entry of each at a time. Where rows start is a mask of the
// lanes, so that nothing branches on it. What a chunk has beyond its last entry is read, as it is 0 throughout: the
// chunk's first column and the first value of its table, which are there; but it is added to no sum. Not for decimals,
// whose divisions take most of their time.

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "layouts/bitflag/sums.hpp"
#include "layouts/eight_lanes.hpp"

namespace spmvpack::host_loader::layouts::bitflag_v4 {

using namespace bitflag_sums;

// GCC 12 takes what its own header leaves undefined on purpose for a mistake (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

constexpr std::uint32_t together = 8, groups = lanes / together;

/// A chunk's sums.
template <class V>
struct ChunkSums {
  /// [k * lanes + l] is what lane l's row has in the lane before entry k; with k = 8: at the end of the lane, then what
  /// the row that starts last in lane l has in the chunk. One array, as rows find theirs by a single number.
  alignas(cache_line) std::array<V, (lane_entries + 1) * lanes> at{};
  /// Of each lane what the row that reaches it has there.
  alignas(cache_line) std::array<V, lanes> head{};
};

/// The numbers that eight lanes of a chunk have, as slot_of() places them: the first four lanes' from `low` on, the
/// others' from `high` on. Of lanes that the chunk does not have, the first four stand in for the others.
template <class N>
struct EightLanes {
  static constexpr std::uint32_t side_by_side = sizeof(N) <= 2 ? lane_entries : 16 / sizeof(N);
  const N *low, *high;
  std::size_t next;  ///< from those that are side by side to those that follow in a lane
  SPMVPACK_INLINE EightLanes(const std::byte* all, std::uint32_t lane, std::uint32_t own_lanes, bool has_all)
      : low(reinterpret_cast<const N*>(all) + std::size_t{lane} * side_by_side),
        high(has_all ? low + std::size_t{4} * side_by_side : low),
        next(std::size_t{own_lanes} * side_by_side) {}
  /// That of entry k of lane i.
  [[nodiscard]] SPMVPACK_INLINE N at(std::uint32_t i, std::uint32_t k) const {
    // Two statements: of (i < 4 ? low : high)[n], GCC 12 with UBSan finds n for the first of the two alone.
    const N* const four = i < 4 ? low : high;
    return four[k / side_by_side * next + k % side_by_side + i % 4 * side_by_side];
  }
};

/// Raw values of entry k.
template <class V>
SPMVPACK_INLINE_V4 EightOf<V> raw_values(const EightLanes<double>& values, std::uint32_t k) {
  const __m512i odd_or_even = _mm512_add_epi64(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), _mm512_set1_epi64(k % 2));
  const std::size_t from = k / 2 * values.next;
  return {_mm512_permutex2var_pd(_mm512_loadu_pd(values.low + from), odd_or_even, _mm512_loadu_pd(values.high + from))};
}
template <class V>
SPMVPACK_INLINE_V4 EightOf<V> raw_values(const EightLanes<float>& values, std::uint32_t k) {
  const __m512i every_fourth = _mm512_add_epi32(_mm512_castsi256_si512(_mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)),
                                                _mm512_set1_epi32(static_cast<int>(k % 4)));
  const std::size_t from = k / 4 * values.next;
  const __m512 both =
      _mm512_permutex2var_ps(_mm512_loadu_ps(values.low + from), every_fourth, _mm512_loadu_ps(values.high + from));
  if constexpr (std::is_same_v<V, double>) {
    return {_mm512_cvtps_pd(_mm512_castps512_ps256(both))};
  } else {
    static_assert(std::is_same_v<V, float>);
    return {_mm512_castps512_ps256(both)};
  }
}

/// Where the entries of a chunk are, and what stands for their values.
template <class A, class V>
struct Entries {
  const std::byte *columns, *values;
  std::array<const V*, 2> from;  ///< x from the chunk's base on, or all of it, and its hot elements
  const A* table;                ///< or the chunk's window of one
  std::uint32_t own_lanes;
};

/// Adds up products along lanes [lane, lane + 8), of which `full` have all of their entries and the next one `rest`.
template <class A, class V, Source source, Word word>
SPMVPACK_INLINE_V4 void multiply_group(const Entries<A, V>& e, std::uint64_t flags, std::uint32_t lane,
                                       std::uint32_t full, std::uint32_t rest, EightOf<V> single, ChunkSums<V>& sums) {
  using Column = WordOf<word>;
  const __m512i starts = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(static_cast<long long>(flags)));
  const __m512i lowest = _mm512_and_si512(starts, _mm512_sub_epi64(_mm512_setzero_si512(), starts));
  const auto of_full = static_cast<std::uint32_t>((1U << full) - 1), and_rest = 2 * of_full + 1;
  using Id = std::conditional_t<source == Source::table, std::uint8_t,
                                std::conditional_t<source == Source::window, std::uint16_t, A>>;
  const bool has_all = lane + 4 < e.own_lanes;
  const EightLanes<Column> columns(e.columns, lane, e.own_lanes, has_all);
  const EightLanes<std::uint8_t> highest(e.columns + highest_bytes(e.own_lanes), lane, e.own_lanes, has_all);
  const EightLanes<Id> values(e.values, lane, e.own_lanes, has_all);
  V* const at = sums.at.data() + lane;
  EightOf<V> sum = EightOf<V>::all(0), head = sum;
#pragma GCC unroll 8
  for (std::uint32_t k = 0; k < lane_entries; ++k) {
    const auto element = EightOf<V>::of([&](std::uint32_t i) __attribute__((always_inline)) {
      std::uint32_t stored = columns.at(i, k);
      if constexpr (is_of_24_bits(word)) stored |= std::uint32_t{highest.at(i, k)} << 16U;
      return element_of<word>(e.from, stored);
    });
    EightOf<V> value = single;
    if constexpr (source == Source::raw) value = raw_values<V>(values, k);
    if constexpr (source == Source::table || source == Source::window) {
      value =
          EightOf<V>::of([&](std::uint32_t i) __attribute__((always_inline)) { return V{e.table[values.at(i, k)]}; });
    }
    const __m512i bit = _mm512_set1_epi64(1LL << k);
    sum.store(at + k * lanes);
    head.take(sum, _mm512_test_epi64_mask(lowest, bit));
    sum.keep(_mm512_testn_epi64_mask(starts, bit));
    sum.add_product(value, element, static_cast<__mmask8>(k < rest ? and_rest : of_full));
  }
  sum.store(at + lane_entries * lanes);
  head.take(sum, _mm512_testn_epi64_mask(starts, starts));
  head.store(&sums.head[lane]);
}

/// Adds up products along a chunk's lanes. Returns the lanes in which rows start.
template <class A, class V, Source source, Word word>
SPMVPACK_INLINE_V4 std::uint32_t multiply_lanes(const View<A>& v, const Chunk& chunk, const std::byte* bytes,
                                                std::array<const V*, 2> from, ChunkSums<V>& sums) {
  const ChunkLayout at = chunk_layout(chunk.info, source, v.value_bytes);
  const std::uint32_t entries = chunk.info.entries(), own_lanes = chunk.info.lanes();
  const Entries<A, V> e{bytes + at.columns,
                        bytes + at.values,
                        {from[0] + chunk.base, from[1]},
                        table_of<source>(v, chunk.info),
                        own_lanes};
  const EightOf<V> single = EightOf<V>::all(single_of<source, V>(v));
  const std::size_t ahead = at.end / ((own_lanes + together - 1) / together);  // a group's share
  for (std::uint32_t lane = 0; lane < own_lanes; lane += together) {
    for (std::size_t i = 0; i < ahead; i += cache_line) prefetch(bytes, ahead_bytes + lane / together * ahead + i);
    std::uint64_t flags = 0;
    std::memcpy(&flags, bytes + lane, sizeof flags);
    const std::uint32_t here = std::min(entries - lane * lane_entries, together * lane_entries);
    multiply_group<A, V, source, word>(e, flags, lane, here / lane_entries, here % lane_entries, single, sums);
  }
  const __m256i flags = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  return _mm256_test_epi8_mask(flags, flags);
}

SPMVPACK_INLINE_V4 __mmask8 of_group(std::uint32_t mask, std::uint32_t group) {
  return static_cast<__mmask8>(mask >> group * together);
}

/// A step of the tree: adds to each head that goes on for so many lanes the one that far away.
template <int distance, class E>
SPMVPACK_INLINE_V4 void add_at_distance(std::array<E, groups + 1>& head, std::uint32_t& goes_on) {
#pragma GCC unroll 4
  for (std::uint32_t g = 0; g < groups; ++g) {
    if constexpr (distance < static_cast<int>(together))
      head[g].add(head[g].template shifted<distance>(head[g + 1]), of_group(goes_on, g));
    else if (g + distance / together < groups)
      head[g].add(head[g + distance / together], of_group(goes_on, g));
  }
  goes_on &= goes_on >> static_cast<std::uint32_t>(distance);
}

/// Adds to each head those that follow, by the tree, and to each lane's last sum the head that follows. Returns the
/// first head.
template <class V>
SPMVPACK_INLINE_V4 V add_heads(std::uint32_t with_start, std::uint32_t used, ChunkSums<V>& sums) {
  using E = EightOf<V>;
  std::array<E, groups + 1> head;
#pragma GCC unroll 4
  for (std::uint32_t g = 0; g < groups; ++g) head[g] = E::load(&sums.head[g * together]);
  head[groups] = E::all(0);
  const std::uint32_t follow = (1U << (used - 1)) - 1;  // lanes that another one follows
  std::uint32_t goes_on = ~with_start & follow;
  if (goes_on != 0) {
    add_at_distance<1>(head, goes_on);
    add_at_distance<2>(head, goes_on);
    add_at_distance<4>(head, goes_on);
    if (goes_on != 0) {
      add_at_distance<8>(head, goes_on);
      add_at_distance<16>(head, goes_on);
    }
  }
#pragma GCC unroll 4
  for (std::uint32_t g = 0; g < groups; ++g) {
    V* const last = sums.at.data() + lane_entries * lanes + g * together;
    E sum = E::load(last);
    sum.add(head[g].template shifted<1>(head[g + 1]), of_group(follow, g));
    sum.store(last);
  }
  return head[0].first();
}

/// The sums of the rows that start in a chunk, in their order.
template <class V>
SPMVPACK_INLINE_V4 void row_sums(const std::byte* bytes, std::uint32_t used, const ChunkSums<V>& sums, V* to) {
  for (std::uint32_t lane = 0; lane < used; lane += together) {
    std::uint64_t flags = 0;
    std::memcpy(&flags, bytes + lane, sizeof flags);
    const V* const at = sums.at.data() + lane;
    for (std::uint64_t next = _tzcnt_u64(flags); flags != 0; ++to) {
      const std::uint64_t entry = next;
      flags = _blsr_u64(flags);
      next = _tzcnt_u64(flags);  // 64 if there is none
      // The row ends where the next one starts, if that is in its lane.
      const std::uint64_t k = std::min<std::uint64_t>(next - entry / lane_entries * lane_entries, lane_entries);
      *to = at[k * lanes + entry / lane_entries];
    }
  }
}

/// Completes the rows of a chunk. `open`: the row that it continues, if it does; afterwards the row that goes on, if
/// any does.
template <class A, class V>
SPMVPACK_INLINE_V4 void put_rows(const View<A>& v, const Chunk& chunk, const Chunk& next, bool first_of_tile,
                                 const std::byte* bytes, V head, const ChunkSums<V>& sums, Operands<V> to,
                                 OpenRow<V>& open, std::uint64_t tile, Carries<V>& carries) {
  const Info info = chunk.info;
  const std::uint32_t row_bytes = info.row_bytes(), starts = info.starts(),
                      used = (info.entries() + lane_entries - 1) / lane_entries;
  const bool goes_on = next.info.continues();
  if (info.continues()) {
    const V sum = first_of_tile ? head : open.sum + head;
    if (starts == 0 && goes_on)
      open.sum = sum;
    else if (open.continued)
      carries.first[tile] = sum;
    else
      to.put(open.row, sum);
  }
  const std::uint32_t begin = chunk.begin(), end = next.begin();
  // Rows without entries are among its own: all of them first become beta y. Those of segments are what they are.
  if (starts != end - begin && v.segment_count == 1) {
    to.scale(begin, end - (goes_on && starts != 0 ? 1 : 0));
    to.beta = to.beta == 0 ? V{0} : V{1};
  }
  if (starts == 0) return;
  std::array<V, chunk_entries> buffer;
  row_sums(bytes, used, sums, buffer.data());
  const std::byte* const rows = bytes + chunk_layout(info, v.source, v.value_bytes).rows;
  const std::uint32_t last = starts - 1, complete = goes_on ? last : starts;
  const auto start_row = [&](std::uint32_t k) __attribute__((always_inline)) {
    return row_bytes == 0 ? begin + k : chunk.row + ChunkView::number(rows, row_bytes, k);
  };
  if (goes_on) open = {false, start_row(last), buffer[last]};
  if (row_bytes == 0 && to.rows == nullptr) {
    V* const y = to.y + begin;
    if (to.beta == 0)
      for (std::uint32_t k = 0; k < complete; ++k) y[k] = std::fma(to.alpha, buffer[k], V{0});
    else
      for (std::uint32_t k = 0; k < complete; ++k) y[k] = std::fma(to.alpha, buffer[k], to.beta * y[k]);
  } else {
    for (std::uint32_t k = 0; k < complete; ++k) to.put(start_row(k), buffer[k]);
  }
}

/// The tiles [begin, end): as tiles() does, the same sums.
template <class A, class V, Source source>
SPMVPACK_TARGET_V4 void tiles(View<A> v, const V* hot_x, Operands<V> to, std::uint64_t begin, std::uint64_t end,
                              Carries<V>& carries) {
  ChunkSums<V> sums;
  const std::array<const V*, 2> from{to.x, hot_x};
  const Chunk* chunk = v.chunks + begin * v.tile_chunks;
  for (std::uint64_t tile = begin; tile < end; ++tile) {
    OpenRow<V> open{chunk->info.continues(), chunk->row, V{0}};
    for (std::uint32_t c = 0; c < v.tile_chunks; ++c, ++chunk) {
      if (chunk->info.entries() == 0) {
        if (v.segment_count == 1) to.scale(chunk->begin(), chunk[1].begin());
        continue;
      }
      const std::byte* const bytes = v.stream + std::uint64_t{chunk->place} * unit;
      std::uint32_t with_start = 0;
      switch (word_of(chunk->info, v.hot_count != 0)) {
        case Word::offset_8:
          with_start = multiply_lanes<A, V, source, Word::offset_8>(v, *chunk, bytes, from, sums);
          break;
        case Word::offset_16:
          with_start = multiply_lanes<A, V, source, Word::offset_16>(v, *chunk, bytes, from, sums);
          break;
        case Word::offset_24:
          with_start = multiply_lanes<A, V, source, Word::offset_24>(v, *chunk, bytes, from, sums);
          break;
        case Word::offset_32:
          with_start = multiply_lanes<A, V, source, Word::offset_32>(v, *chunk, bytes, from, sums);
          break;
        case Word::hot_24:
          with_start = multiply_lanes<A, V, source, Word::hot_24>(v, *chunk, bytes, from, sums);
          break;
        case Word::hot_32:
          with_start = multiply_lanes<A, V, source, Word::hot_32>(v, *chunk, bytes, from, sums);
          break;
      }
      const std::uint32_t used = (chunk->info.entries() + lane_entries - 1) / lane_entries;
      const V head = add_heads(with_start, used, sums);
      put_rows(v, *chunk, chunk[1], c == 0, bytes, head, sums, to, open, tile, carries);
    }
    // The sum of a row that goes on in the next tile.
    if (chunk->info.continues()) (open.continued ? carries.first : carries.last)[tile] = open.sum;
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace spmvpack::host_loader::layouts::bitflag_v4
