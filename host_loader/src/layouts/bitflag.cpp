// y = alpha A x + beta y with bitflag, in the order of additions of docs/LAYOUTS.md ("bitflag"), which is also the
// GPU's: fma along a lane; the lanes of a row by a tree; its chunks in a tile in sequence; its tiles by trees of 32, in
// sequence.

#include "spmvpack/container/layouts/bitflag.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

constexpr std::uint64_t chunks_per_task = 64, rows_per_task = 1024;
constexpr std::uint32_t tree_width = 32;

/// The tree over n values: at distances 1, 2, 4, ... each takes in the one that far to its right. Overwrites them.
template <class V>
SPMVPACK_INLINE V tree_sum(V* v, std::uint32_t n) {
  for (std::uint32_t distance = 1; distance < n; distance *= 2)
    for (std::uint32_t i = 0; i + distance < n; i += 2 * distance) v[i] = v[i] + v[i + distance];
  return v[0];
}

/// Sums of rows that tiles share, by tile: of the row that it continues; of its last row, if that goes on.
template <class V>
struct Carries {
  std::vector<V> first, last;
};

/// What a tile's chunks leave to one another: the sum of the row that goes on.
template <class V>
struct OpenRow {
  bool continued;  ///< it began in an earlier tile
  std::uint32_t row;
  V sum;
};

/// How a chunk's columns are stored.
enum class Word : std::uint8_t { offset_8, offset_16, offset_32, hot };

template <Word word>
using WordOf = std::conditional_t<word == Word::offset_8, std::uint8_t,
                                  std::conditional_t<word == Word::offset_16, std::uint16_t, std::uint32_t>>;

/// Multiplies one chunk. `open`: the row that it continues, if it does; afterwards the row that goes on, if any does.
template <class A, class V, Source source, Word word>
SPMVPACK_INLINE void multiply_chunk(const View<A>& v, std::uint64_t c, Operands<V> to, OpenRow<V>& open,
                                    Carries<V>& carries) {
  using Column = WordOf<word>;
  const Chunk chunk = v.chunks[c];
  const Info info = chunk.info;
  const std::byte* const bytes = v.stream + std::uint64_t{chunk.place} * unit;
  const ChunkLayout at = chunk_layout(info, v.value_bytes);
  const std::uint32_t entries = info.entries(), own_lanes = info.lanes(), row_bytes = info.row_bytes();
  const std::uint32_t used = (entries + lane_entries - 1) / lane_entries;
  const auto* const words = reinterpret_cast<const Column*>(bytes + at.columns);
  const V* const x = to.x + chunk.base;
  const auto start_row = [&](std::uint32_t k) __attribute__((always_inline)) {
    return row_bytes == 0 ? chunk.begin() + k : chunk.row + ChunkView::number(bytes + at.rows, row_bytes, k);
  };
  const auto product = [&](std::uint32_t lane, std::uint32_t k, V sum) __attribute__((always_inline)) {
    const std::uint32_t stored = words[slot_of(sizeof(Column), own_lanes, lane, k)];
    const V element = word == Word::hot && (stored & hot_bit) != 0 ? to.x[v.hot[stored & ~hot_bit]] : x[stored];
    A value;
    if constexpr (source == Source::raw)
      std::memcpy(&value, bytes + at.values + slot_of(sizeof(A), own_lanes, lane, k) * sizeof(A), sizeof(A));
    else if constexpr (source == Source::table)
      value = v.values[static_cast<std::uint8_t>(bytes[at.values + slot_of(1, own_lanes, lane, k)])];
    else
      value = v.values[0];
    return std::fma(V{value}, element, sum);
  };
  // Ends the row that is open, whose last part is in this chunk.
  const auto end_open = [&](V part) __attribute__((always_inline)) {
    const V sum = c % v.tile_chunks == 0 ? part : open.sum + part;
    if (open.continued)
      carries.first[c / v.tile_chunks] = sum;
    else
      to.put(open.row, sum);
  };

  std::array<V, lanes> heads;
  V tail = 0;
  std::uint32_t tail_lane = lanes, starts = 0;  // the lane in which the last row so far starts; none: `lanes`
  for (std::uint32_t lane = 0; lane < used; ++lane) {
    const std::uint32_t n = std::min(lane_entries, entries - lane * lane_entries);
    auto flags = static_cast<std::uint32_t>(bytes[lane]);
    V sum = 0;
    std::uint32_t k = 0;
    for (bool first = true; flags != 0; flags &= flags - 1, first = false) {
      for (const auto end = static_cast<std::uint32_t>(std::countr_zero(flags)); k < end; ++k)
        sum = product(lane, k, sum);
      if (first) {
        heads[lane] = sum;
        if (tail_lane != lanes)
          to.put(start_row(starts - 1), tail + tree_sum(heads.data() + tail_lane + 1, lane - tail_lane));
        else if (info.continues())
          end_open(tree_sum(heads.data(), lane + 1));
        tail_lane = lane;
      } else {
        to.put(start_row(starts - 1), sum);
      }
      ++starts;
      sum = 0;
    }
    for (; k < n; ++k) sum = product(lane, k, sum);
    (tail_lane == lane ? tail : heads[lane]) = sum;
  }
  const bool goes_on = v.chunks[c + 1].info.continues();
  if (tail_lane != lanes) {
    const V sum = tail_lane + 1 < used ? tail + tree_sum(heads.data() + tail_lane + 1, used - 1 - tail_lane) : tail;
    if (goes_on)
      open = {false, start_row(starts - 1), sum};
    else
      to.put(start_row(starts - 1), sum);
  } else {
    const V part = tree_sum(heads.data(), used);
    if (goes_on)
      open.sum = c % v.tile_chunks == 0 ? part : open.sum + part;
    else
      end_open(part);
  }
  // Rows without entries. Those of segments are what they are.
  if (v.segment_count > 1) return;
  const std::uint32_t begin = chunk.begin(), end = v.chunks[c + 1].begin();
  if (starts == end - begin) return;
  std::uint32_t row = begin;
  for (std::uint32_t k = 0; k < starts; ++k) {
    to.scale(row, start_row(k));
    row = start_row(k) + 1;
  }
  to.scale(row, end);
}

template <class A, class V, Source source>
SPMVPACK_INLINE void tiles(View<A> v, Operands<V> to, std::uint64_t begin, std::uint64_t end, Carries<V>& carries) {
  OpenRow<V> open{};
  for (std::uint64_t c = begin * v.tile_chunks; c < end * v.tile_chunks; ++c) {
    const Info info = v.chunks[c].info;
    if (c % v.tile_chunks == 0) open = {info.continues(), v.chunks[c].row, V{0}};
    if (info.entries() == 0) {
      if (v.segment_count == 1) to.scale(v.chunks[c].begin(), v.chunks[c + 1].begin());
      continue;
    }
    switch (info.column_shift()) {
      case 0:
        multiply_chunk<A, V, source, Word::offset_8>(v, c, to, open, carries);
        break;
      case 1:
        multiply_chunk<A, V, source, Word::offset_16>(v, c, to, open, carries);
        break;
      default:
        if (v.hot_count == 0)
          multiply_chunk<A, V, source, Word::offset_32>(v, c, to, open, carries);
        else
          multiply_chunk<A, V, source, Word::hot>(v, c, to, open, carries);
    }
    // The sum of a row that goes on in the next tile.
    if ((c + 1) % v.tile_chunks == 0 && v.chunks[c + 1].info.continues())
      (open.continued ? carries.first : carries.last)[c / v.tile_chunks] = open.sum;
  }
}

template <class A, class V, Source source>
SPMVPACK_TARGET_V3 void tiles_v3(View<A> v, Operands<V> to, std::uint64_t begin, std::uint64_t end,
                                 Carries<V>& carries) {
  tiles<A, V, source>(v, to, begin, end, carries);
}
template <class A, class V, Source source>
void tiles_generic(View<A> v, Operands<V> to, std::uint64_t begin, std::uint64_t end, Carries<V>& carries) {
  tiles<A, V, source>(v, to, begin, end, carries);
}

template <class A, class V>
auto tiles_kernel(Source source) {
  const bool v3 = use_v3();
  switch (source) {
    case Source::raw:
      return v3 ? tiles_v3<A, V, Source::raw> : tiles_generic<A, V, Source::raw>;
    case Source::table:
      return v3 ? tiles_v3<A, V, Source::table> : tiles_generic<A, V, Source::table>;
    default:
      return v3 ? tiles_v3<A, V, Source::single> : tiles_generic<A, V, Source::single>;
  }
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

}  // namespace

template <class A, class V>
void multiply_bitflag(const PartView& part, const Operands<V>& operands, int threads) {
  const View<A> v = view<A>(part);
  const std::uint64_t count = v.chunk_count / v.tile_chunks;
  Carries<V> carries;
  if (part.info().params[param_continued] != 0) carries = {std::vector<V>(count), std::vector<V>(count)};
  const auto kernel = tiles_kernel<A, V>(source_of(part.info()));
  // The rows of several segments are summed up apart. One without entries is -0, which changes no sum; the sum of one
  // with entries is never -0, as it is added to +0.
  std::vector<V> sums;
  Operands<V> rows = operands;
  if (v.segment_count > 1) {
    sums.assign(segment_rows(part.info()), -V{0});
    rows = {V{1}, operands.x, V{0}, sums.data(), nullptr};
  }
  parallel_pieces(count, std::max<std::uint64_t>(1, chunks_per_task / v.tile_chunks), threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(v, rows, begin, end, carries); });
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
SPMVPACK_INSTANTIATE(multiply_bitflag)

}  // namespace spmvpack::host_loader::layouts
