// y = alpha A x + beta y with bitflag, in the order of additions of docs/LAYOUTS.md ("bitflag"), which is also the
// GPU's: fma along a lane; the lanes of a row by a tree; its chunks in a tile in sequence; its tiles by trees of 32, in
// sequence.

#include "spmvpack/container/layouts/bitflag.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "layouts/bitflag/chunk.hpp"
#include "layouts/bitflag/columns.hpp"
#include "layouts/bitflag/sums.hpp"
#if SPMVPACK_HAS_V3
#include "layouts/bitflag/v4.hpp"
#endif
#include "layouts/compiled.hpp"
#include "layouts/kernels.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using namespace bitflag_sums;

/// Sums along a chunk's lanes.
template <class V>
struct LaneSums {
  /// Of lane l, [l][k] is its row's, in the lane, before entry k, and the last one its row's at the end of the lane.
  std::array<std::array<V, lane_entries + 1>, lanes> at{};
  /// Of each lane what the row that reaches it has there; then, by trees, there and in the lanes that follow.
  std::array<V, lanes> head{};
};

/// A branch on flags would often be taken otherwise than foreseen. So they become numbers: 1 where one of four is set.
template <class V>
inline constexpr auto as_numbers = [] {
  std::array<std::array<V, 4>, 16> all{};
  for (std::uint32_t flags = 0; flags < 16; ++flags)
    for (std::uint32_t k = 0; k < 4; ++k) all[flags][k] = static_cast<V>(flags >> k & 1U);
  return all;
}();
template <class V>
SPMVPACK_INLINE bool is_set(std::uint32_t flags, std::uint32_t k) {
  return as_numbers<V>[flags >> k / 4 * 4 & 15][k % 4] > 0;
}

/// Adds up the products of a chunk along its lanes. `from`: x, and its hot elements. Returns the lanes in which rows
/// start.
template <class A, class V, Source source, Word word>
SPMVPACK_INLINE std::uint32_t multiply_lanes(const View<A>& v, const Chunk& chunk, const std::byte* bytes,
                                             const std::array<const V*, 2>& from, LaneSums<V>& sums) {
  const ChunkLayout at = chunk_layout(chunk.info, source, v.value_bytes);
  const std::uint32_t entries = chunk.info.entries();
  const ChunkValues<source, A, V> values(v, chunk.info, bytes, at);
  const ChunkElements<word, V> elements{bytes + at.columns, {from[0] + chunk.base, from[1]}, chunk.info.lanes()};
  const auto product = [&](std::size_t lane, std::uint32_t k, V sum) __attribute__((always_inline)) {
    return std::fma(values.of(lane, k), elements.of(lane, k), sum);
  };
  std::uint32_t with_start = 0;
  for (std::size_t lane = 0; lane < entries / lane_entries; ++lane) {
    prefetch_share(bytes, at.end, lane);
    const auto flags = static_cast<std::uint32_t>(bytes[lane]);
    V sum = 0;
    if (flags == 0) {
#pragma GCC unroll 8
      for (std::uint32_t k = 0; k < lane_entries; ++k) sum = product(lane, k, sum);
      sums.head[lane] = sum;
    } else {
      with_start |= 1U << lane;
#pragma GCC unroll 8
      for (std::uint32_t k = 0; k < lane_entries; ++k) {
        sums.at[lane][k] = sum;
        sum = product(lane, k, is_set<V>(flags, k) ? V{0} : sum);
      }
      sums.head[lane] = sums.at[lane][static_cast<std::uint32_t>(std::countr_zero(flags))];
    }
    sums.at[lane][lane_entries] = sum;
  }
  if (entries % lane_entries != 0) {
    const std::size_t lane = entries / lane_entries;
    const auto flags = static_cast<std::uint32_t>(bytes[lane]);
    V sum = 0;
    for (std::uint32_t k = 0; k < entries % lane_entries; ++k) {
      sums.at[lane][k] = sum;
      sum = product(lane, k, (flags >> k & 1U) != 0 ? V{0} : sum);
    }
    sums.at[lane][lane_entries] = sum;
    sums.head[lane] = flags == 0 ? sum : sums.at[lane][static_cast<std::uint32_t>(std::countr_zero(flags))];
    with_start |= (flags != 0 ? 1U : 0U) << lane;
  }
  return with_start;
}

/// Adds to each head those that follow up to the next lane in which a row starts, or up to the last of `used` lanes: by
/// the tree, all rows at once.
template <class V>
SPMVPACK_INLINE void add_heads(std::uint32_t with_start, std::uint32_t used, std::array<V, lanes>& head) {
  std::uint32_t goes_on = ~with_start & ((1U << (used - 1)) - 1);  // lanes whose row goes on `distance` lanes farther
  for (std::uint32_t distance = 1; goes_on != 0; distance *= 2) {
    for (std::uint32_t left = goes_on; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      head[lane] = head[lane] + head[lane + distance];
    }
    goes_on &= goes_on >> distance;
  }
}

/// Completes the rows of chunk c. `open`: the row that it continues, if it does; afterwards the row that goes on, if
/// any does.
template <class A, class V>
SPMVPACK_INLINE void put_rows(const View<A>& v, std::uint64_t c, const std::byte* bytes, std::uint32_t with_start,
                              LaneSums<V>& sums, Operands<V> to, OpenRow<V>& open, Carries<V>& carries) {
  const Chunk chunk = v.chunks[c];
  const Info info = chunk.info;
  const std::uint32_t row_bytes = info.row_bytes(), starts = info.starts(),
                      used = (info.entries() + lane_entries - 1) / lane_entries;
  const bool goes_on = v.chunks[c + 1].info.continues();
  add_heads(with_start, used, sums.head);
  if (info.continues()) {
    const V sum = c % v.tile_chunks == 0 ? sums.head[0] : open.sum + sums.head[0];
    if (starts == 0 && goes_on)
      open.sum = sum;
    else if (open.continued)
      carries.first[c / v.tile_chunks] = sum;
    else
      to.put(open.row, sum);
  }
  const std::uint32_t begin = chunk.begin(), end = v.chunks[c + 1].begin();
  // Rows without entries are among its own: all of them first become beta y. Those of segments are what they are.
  if (starts != end - begin && v.segment_count == 1) {
    to.scale(begin, end - (goes_on && starts != 0 ? 1 : 0));
    to.beta = to.beta == 0 ? V{0} : V{1};
  }
  if (starts == 0) return;
  const std::byte* const rows = bytes + chunk_layout(info, v.source, v.value_bytes).rows;
  const auto start_row = [&](std::uint32_t k) __attribute__((always_inline)) {
    return row_bytes == 0 ? begin + k : chunk.row + ChunkView::number(rows, row_bytes, k);
  };
  // What the chunk has of the row that starts in `lane` and ends before entry k of lane `last`: its first lane's sum
  // and those of the lanes that follow. If none do, -0 takes their place, which leaves every sum as it is.
  sums.head[0] = -V{0};
  const auto row_sum = [&](std::uint32_t lane, std::uint32_t last, std::uint32_t k) __attribute__((always_inline)) {
    return sums.at[lane][lane == last ? k : lane_entries] + sums.head[lane == last ? 0 : lane + 1];
  };
  std::uint32_t k = 0, lane = 0;  // the row that has started last, and where
  for (std::uint32_t piece = 0; piece < used; piece += 8) {
    std::uint64_t flags = 0;
    std::memcpy(&flags, bytes + piece, sizeof flags);
    for (; flags != 0; flags &= flags - 1) {
      const auto entry = static_cast<std::uint32_t>(std::countr_zero(flags));
      const std::uint32_t next_lane = piece + entry / lane_entries;
      if (k != 0) to.put(start_row(k - 1), row_sum(lane, next_lane, entry % lane_entries));
      lane = next_lane;
      ++k;
    }
  }
  const V sum = row_sum(lane, used - 1, lane_entries);
  if (goes_on)
    open = {false, start_row(starts - 1), sum};
  else
    to.put(start_row(starts - 1), sum);
}

template <class A, class V, Source source>
SPMVPACK_INLINE void tiles(View<A> v, const V* hot_x, Operands<V> to, std::uint64_t begin, std::uint64_t end,
                           Carries<V>& carries) {
  OpenRow<V> open{};
  LaneSums<V> sums;
  std::uint32_t with_start = 0;
  const std::array<const V*, 2> from{to.x, hot_x};
  for (std::uint64_t c = begin * v.tile_chunks; c < end * v.tile_chunks; ++c) {
    const Chunk chunk = v.chunks[c];
    if (c % v.tile_chunks == 0) open = {chunk.info.continues(), chunk.row, V{0}};
    if (chunk.info.entries() == 0) {
      if (v.segment_count == 1) to.scale(chunk.begin(), v.chunks[c + 1].begin());
      continue;
    }
    const std::byte* const bytes = v.stream + std::uint64_t{chunk.place} * unit;
    switch (word_of(chunk.info, v.hot_count != 0)) {
      case Word::offset_8:
        with_start = multiply_lanes<A, V, source, Word::offset_8>(v, chunk, bytes, from, sums);
        break;
      case Word::offset_16:
        with_start = multiply_lanes<A, V, source, Word::offset_16>(v, chunk, bytes, from, sums);
        break;
      case Word::offset_24:
        with_start = multiply_lanes<A, V, source, Word::offset_24>(v, chunk, bytes, from, sums);
        break;
      case Word::offset_32:
        with_start = multiply_lanes<A, V, source, Word::offset_32>(v, chunk, bytes, from, sums);
        break;
      case Word::hot_24:
        with_start = multiply_lanes<A, V, source, Word::hot_24>(v, chunk, bytes, from, sums);
        break;
      case Word::hot_32:
        with_start = multiply_lanes<A, V, source, Word::hot_32>(v, chunk, bytes, from, sums);
        break;
    }
    put_rows(v, c, bytes, with_start, sums, to, open, carries);
    // The sum of a row that goes on in the next tile.
    if ((c + 1) % v.tile_chunks == 0 && v.chunks[c + 1].info.continues())
      (open.continued ? carries.first : carries.last)[c / v.tile_chunks] = open.sum;
  }
}

template <class A, class V>
using TilesKernel = void (*)(View<A> v, const V* hot_x, Operands<V> to, std::uint64_t begin, std::uint64_t end,
                             Carries<V>& carries);

template <class A, class V>
TilesKernel<A, V> tiles_kernel(Source of_part) {
  return dispatch_source(of_part, [](auto constant) -> TilesKernel<A, V> {
    constexpr Source source = exists<constant(), A> ? constant() : Source::single;
#if SPMVPACK_HAS_V4
    if constexpr (source != Source::decimal)
      if (use_v4()) return bitflag_v4::tiles<A, V, source>;
#endif
    return best_of<tiles<A, V, source>>();
  });
}

/// Adds up the sums that tiles left for the rows that they share, in the order of the tiles.
template <class A, class V>
void finish_shared_rows(const View<A>& v, const Carries<V>& carries, Operands<V> to) {
  const std::uint64_t count = carries.first.size();
  const auto continues = [&](std::uint64_t t) { return v.chunks[t * v.tile_chunks].info.continues(); };
  const auto row = [&](std::uint64_t t) { return v.chunks[t * v.tile_chunks].row; };
  for (std::uint64_t t = 1; t < count; ++t) {
    if (!continues(t)) continue;
    std::array<V, tree_width> sums{carries.last[t - 1]};
    std::uint32_t n = 1;
    V total = 0;
    for (;; ++t) {
      if (n == tree_width) {
        total += tree_sum(sums.data(), n);
        n = 0;
      }
      sums.at(n++) = carries.first[t];
      if (t + 1 == count || !continues(t + 1) || row(t + 1) != row(t)) break;
    }
    to.put(row(t), total + tree_sum(sums.data(), n));
  }
}

template <class A, class V>
void multiply_bitflag(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  const View<A> v = view<A>(part);
  const std::uint64_t count = v.chunk_count / v.tile_chunks;
  Carries<V> carries;
  if (part.info().params[param_continued] != 0) carries = {Array<V>(count), Array<V>(count)};
  Array<V> hot_x(v.hot_count);  // the hot elements of x, side by side
  for (std::uint32_t i = 0; i < v.hot_count; ++i) hot_x[i] = operands.x[v.hot[i]];
  const auto kernel = tiles_kernel<A, V>(source_of(part.info()));
  // The rows of several segments are summed up apart. One without entries is -0, which changes no sum; the sum of one
  // with entries is -0 only where its products underflow.
  Array<V> sums;
  Operands<V> rows = operands;
  if (v.segment_count > 1) {
    sums = Array<V>(segment_rows(part.info()));
    parallel_pieces(sums.size(), sums_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::fill(sums.begin() + begin, sums.begin() + end, -V{0});
    });
    rows = {V{1}, operands.x, V{0}, sums.data(), nullptr};
  }
  parallel_pieces(count, std::max<std::uint64_t>(1, chunks_per_task / v.tile_chunks), threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(v, hot_x.data(), rows, begin, end, carries); });
  finish_shared_rows(v, carries, rows);
  if (v.segment_count == 1) return;
  parallel_pieces(v.rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r) {
      V sum = -V{0};
      for (std::uint64_t row = r; row < sums.size();) {
        std::array<V, tree_width> of_segment{};
        std::uint32_t n = 0;
        for (; n < tree_width && row < sums.size(); row += v.rows) of_segment.at(n++) = sums[row];
        sum = sum + tree_sum(of_segment.data(), n);
      }
      if (sum == 0 && std::signbit(sum))
        operands.scale(r, r + 1);
      else
        operands.put(r, sum);
    }
  });
}

}  // namespace

SPMVPACK_HOST_LAYOUT_OF_COLUMNS(bitflag, multiply_bitflag, multiply_bitflag_columns)

}  // namespace spmvpack::host_loader::layouts
