// bitflag for several columns at once: the sums of bitflag.cpp for each.

#include "layouts/bitflag/columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "layouts/bitflag/chunk.hpp"
#include "spmvpack/container/base/parallel.hpp"

#if SPMVPACK_HAS_V3

#include "layouts/columns_v3.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using namespace bitflag_sums;

/// A chunk's entries.
template <class V>
struct ChunkEntries {
  std::array<const V*, chunk_entries> x;  ///< rows of X
  std::array<V, chunk_entries> values;
};

/// Rows of X that words name: of all columns, and of the hot ones.
template <class V>
struct WordRows {
  const V *x, *hot;
  std::int64_t x_stride, hot_stride;
};

template <Source source, Word word, class A, class V>
SPMVPACK_INLINE_V3 void find_entries(const View<A>& v, const Chunk& chunk, const std::byte* bytes,
                                     const WordRows<V>& from, ChunkEntries<V>& found) {
  const ChunkLayout at = chunk_layout(chunk.info, source, v.value_bytes);
  const ChunkValues<source, A, V> values(v, chunk.info, bytes, at);
  const ChunkElements<word, V> elements{bytes + at.columns, {}, chunk.info.lanes()};
  const V* const x = from.x + std::int64_t{chunk.base} * from.x_stride;
  const auto find = [&](std::uint32_t lane, std::uint32_t k) SPMVPACK_LAMBDA_V3 {
    const std::uint32_t e = lane * lane_entries + k, stored = elements.stored(lane, k);
    constexpr std::uint32_t hot = hot_bit(is_of_24_bits(word) ? 3 : 4);
    if (is_hot(word) && stored >= hot)
      found.x[e] = from.hot + std::int64_t{stored - hot} * from.hot_stride;
    else
      found.x[e] = x + std::int64_t{stored} * from.x_stride;
    found.values[e] = values.of(lane, k);
  };
  const std::uint32_t entries = chunk.info.entries(), full = entries / lane_entries;
  for (std::uint32_t lane = 0; lane < full; ++lane) {
    prefetch_share(bytes, at.end, lane);
#pragma GCC unroll 8
    for (std::uint32_t k = 0; k < lane_entries; ++k) find(lane, k);
  }
  for (std::uint32_t k = 0; k < entries % lane_entries; ++k) find(full, k);
}

template <class A, class V>
using FindEntries = void (*)(const View<A>& v, const Chunk& chunk, const std::byte* bytes, const WordRows<V>& from,
                             ChunkEntries<V>& found);

template <Source source, class A, class V>
SPMVPACK_TARGET_V3 void find_entries_of(const View<A>& v, const Chunk& chunk, const std::byte* bytes,
                                        const WordRows<V>& from, ChunkEntries<V>& found) {
  switch (word_of(chunk.info, v.hot_count != 0)) {
    case Word::offset_8:
      return find_entries<source, Word::offset_8>(v, chunk, bytes, from, found);
    case Word::offset_16:
      return find_entries<source, Word::offset_16>(v, chunk, bytes, from, found);
    case Word::offset_24:
      return find_entries<source, Word::offset_24>(v, chunk, bytes, from, found);
    case Word::offset_32:
      return find_entries<source, Word::offset_32>(v, chunk, bytes, from, found);
    case Word::hot_24:
      return find_entries<source, Word::hot_24>(v, chunk, bytes, from, found);
    case Word::hot_32:
      return find_entries<source, Word::hot_32>(v, chunk, bytes, from, found);
  }
}

/// A chunk's sums along its lanes.
template <class V, std::uint32_t registers>
struct LaneColumns {
  using Sums = ColumnSums<V, registers>;
  /// Of each lane what the row that reaches it has there, and what the row that starts last in it has there.
  alignas(cache_line) std::array<V, lanes * Sums::width> head, tail;
  std::array<std::uint32_t, lanes> last_start;  ///< its number in the chunk
  std::uint32_t with_start = 0;                 ///< lanes in which rows start

  SPMVPACK_INLINE_V3 V* head_of(std::uint32_t lane) { return head.data() + lane * Sums::width; }
  SPMVPACK_INLINE_V3 V* tail_of(std::uint32_t lane) { return tail.data() + lane * Sums::width; }

  /// Adds up. put(k, sum) completes the row that starts as number k, in the lane in which it ends.
  template <class Put>
  SPMVPACK_INLINE_V3 void add(const ColumnRows<V, registers>& rows, const std::byte* flag_bytes, std::uint32_t entries,
                              const ChunkEntries<V>& of, Put&& put) {
    with_start = 0;
    for (std::uint32_t e = 0, started = 0; e < entries;) {
      const std::uint32_t lane = e / lane_entries, end = std::min(e + lane_entries, entries);
      const auto flags = static_cast<std::uint32_t>(flag_bytes[lane]);
      Sums sum = Sums::zero();
      bool own = false;  // the sum is of a row that starts in this lane
      for (; e < end; ++e) {
        if ((flags >> e % lane_entries & 1U) != 0) {
          if (own)
            put(started - 1, sum);
          else
            sum.store(head_of(lane));
          own = true;
          ++started;
          sum = Sums::zero();
        }
        sum.add_product(ColumnRegister<V>::all(of.values[e]), rows.load(of.x[e]));
      }
      if (own) {
        with_start |= 1U << lane;
        last_start[lane] = started - 1;
        sum.store(tail_of(lane));
      } else {
        sum.store(head_of(lane));
      }
    }
  }
  /// As add_heads() of one column.
  SPMVPACK_INLINE_V3 void add_heads(std::uint32_t used) {
    std::uint32_t goes_on = ~with_start & ((1U << (used - 1)) - 1);
    for (std::uint32_t distance = 1; goes_on != 0; distance *= 2) {
      for (std::uint32_t left = goes_on; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        Sums sum = Sums::load(head_of(lane));
        sum.add(Sums::load(head_of(lane + distance)));
        sum.store(head_of(lane));
      }
      goes_on &= goes_on >> distance;
    }
  }
};

/// The tiles [begin, end): as tiles() of one column.
template <std::uint32_t registers, class A, class V>
SPMVPACK_TARGET_V3 void columns_of_tiles(View<A> v, FindEntries<A, V> find, WordRows<V> from, ColumnOperands<V> to,
                                         std::uint64_t begin, std::uint64_t end, Carries<V>& carries) {
  using Sums = ColumnSums<V, registers>;
  const ColumnRows<V, registers> rows(to);
  to.beta = to.beta == 0 ? V{0} : V{1};
  const ColumnRows<V, registers> scaled_rows(to);
  LaneColumns<V, registers> sums;
  ChunkEntries<V> entries;
  const Chunk* chunk = v.chunks + begin * v.tile_chunks;
  for (std::uint64_t tile = begin; tile < end; ++tile) {
    bool continued = chunk->info.continues();  // of the row that goes on: it began in an earlier tile
    std::uint32_t open_row = chunk->row;
    Sums open = Sums::zero();
    for (std::uint32_t c = 0; c < v.tile_chunks; ++c, ++chunk) {
      const Info info = chunk->info;
      const std::uint32_t first = chunk->begin(), last = chunk[1].begin();
      if (info.entries() == 0) {
        if (v.segment_count == 1) rows.scale(first, last);
        continue;
      }
      const std::byte* const bytes = v.stream + std::uint64_t{chunk->place} * unit;
      const std::byte* const offsets = bytes + chunk_layout(info, v.source, v.value_bytes).rows;
      const std::uint32_t starts = info.starts(), used = (info.entries() + lane_entries - 1) / lane_entries;
      const bool goes_on = chunk[1].info.continues();
      // Rows without entries are among its own: all of them first become beta y. Those of segments are what they are.
      const bool scales = starts != last - first && v.segment_count == 1;
      if (scales) rows.scale(first, last - (goes_on && starts != 0 ? 1 : 0));
      const ColumnRows<V, registers>& own = scales ? scaled_rows : rows;
      const auto start_row = [&](std::uint32_t k) SPMVPACK_LAMBDA_V3 {
        return info.row_bytes() == 0 ? first + k : chunk->row + ChunkView::number(offsets, info.row_bytes(), k);
      };
      find(v, *chunk, bytes, from, entries);
      sums.add(rows, bytes, info.entries(), entries,
               [&](std::uint32_t k, const Sums& sum) SPMVPACK_LAMBDA_V3 { own.put(start_row(k), sum); });
      sums.add_heads(used);
      if (info.continues()) {
        Sums sum = Sums::load(sums.head_of(0));
        if (c != 0) {
          Sums both = open;
          both.add(sum);
          sum = both;
        }
        if (starts == 0 && goes_on)
          open = sum;
        else if (continued)
          sum.store(&carries.first[tile * Sums::width]);
        else
          rows.put(open_row, sum);
      }
      for (std::uint32_t left = sums.with_start; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        Sums sum = Sums::load(sums.tail_of(lane));
        if (lane + 1 != used) sum.add(Sums::load(sums.head_of(lane + 1)));
        const std::uint32_t row = start_row(sums.last_start[lane]);
        if (goes_on && sums.last_start[lane] == starts - 1) {
          continued = false;
          open_row = row;
          open = sum;
        } else {
          own.put(row, sum);
        }
      }
    }
    // The sum of a row that goes on in the next tile.
    if (chunk->info.continues()) open.store(&(continued ? carries.first : carries.last)[tile * Sums::width]);
  }
}

/// As finish_shared_rows() of one column.
template <std::uint32_t registers, class A, class V>
SPMVPACK_TARGET_V3 void finish_shared_columns(const View<A>& v, const Carries<V>& carries, std::uint64_t tiles,
                                              const ColumnOperands<V>& to) {
  using Sums = ColumnSums<V, registers>;
  const ColumnRows<V, registers> rows(to);
  const auto continues = [&](std::uint64_t t) { return v.chunks[t * v.tile_chunks].info.continues(); };
  const auto row = [&](std::uint64_t t) { return v.chunks[t * v.tile_chunks].row; };
  for (std::uint64_t t = 1; t < tiles && !carries.first.empty(); ++t) {
    if (!continues(t)) continue;
    std::array<Sums, tree_width> sums;
    sums[0] = Sums::load(&carries.last[(t - 1) * Sums::width]);
    std::uint32_t n = 1;
    Sums total = Sums::zero();
    const auto add_tree = [&]() SPMVPACK_LAMBDA_V3 {
      for (std::uint32_t distance = 1; distance < n; distance *= 2)
        for (std::uint32_t i = 0; i + distance < n; i += 2 * distance) sums[i].add(sums[i + distance]);
      total.add(sums[0]);
      n = 0;
    };
    for (;; ++t) {
      if (n == tree_width) add_tree();
      sums[n++] = Sums::load(&carries.first[t * Sums::width]);
      if (t + 1 == tiles || !continues(t + 1) || row(t + 1) != row(t)) break;
    }
    const std::uint32_t of = row(t);
    add_tree();
    rows.put(of, total);
  }
}

/// Adds up the sums of segments, of which each row has one a segment, `stride` elements apart.
template <class V>
SPMVPACK_TARGET_V3 void add_segments(const Array<V>& sums, std::uint64_t rows, std::uint64_t stride,
                                     const ColumnOperands<V>& to, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t r = begin; r < end; ++r) {
    V* const y = to.y + static_cast<std::int64_t>(to.rows != nullptr ? to.rows[r] : r) * to.y_stride;
    for (std::uint32_t j = 0; j < to.count; ++j) {
      V sum = -V{0};
      for (std::uint64_t row = r; row * stride < sums.size();) {
        std::array<V, tree_width> of_segment{};
        std::uint32_t n = 0;
        for (; n < tree_width && row * stride < sums.size(); row += rows) of_segment[n++] = sums[row * stride + j];
        sum = sum + tree_sum(of_segment.data(), n);
      }
      const V before = scaled(to.beta, y[j]);
      y[j] = sum == 0 && std::signbit(sum) ? before : std::fma(to.alpha, sum, before);
    }
  }
}

template <std::uint32_t registers, class A, class V>
void multiply(const PartView& part, const ColumnOperands<V>& operands, int threads) {
  constexpr std::uint64_t width = ColumnSums<V, registers>::width;
  const View<A> v = view<A>(part);
  const std::uint64_t tiles = v.chunk_count / v.tile_chunks;
  Carries<V> carries;
  if (part.info().params[param_continued] != 0) carries = {Array<V>(tiles * width), Array<V>(tiles * width)};
  Array<V> hot_x(std::uint64_t{v.hot_count} * operands.count);
  for (std::uint32_t i = 0; i < v.hot_count; ++i)
    std::copy_n(operands.x + std::int64_t{v.hot[i]} * operands.x_stride, operands.count,
                hot_x.data() + std::uint64_t{i} * operands.count);
  const FindEntries<A, V> find = dispatch_source(source_of(part.info()), [](auto constant) -> FindEntries<A, V> {
    return &find_entries_of < exists<constant(), A> ? constant() : Source::single, A, V > ;
  });
  Array<V> sums;  // of rows of segments, as those of one column
  ColumnOperands<V> rows = operands;
  if (v.segment_count > 1) {
    sums = Array<V>(checked_mul(segment_rows(part.info()), width, "sums of segments"));
    parallel_pieces(sums.size(), sums_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::fill(sums.begin() + begin, sums.begin() + end, -V{0});
    });
    rows.alpha = 1;
    rows.beta = 0;
    rows.y = sums.data();
    rows.rows = nullptr;
    rows.y_stride = width;
  }
  const WordRows<V> from{operands.x, hot_x.data(), operands.x_stride, operands.count};
  parallel_pieces(tiles, std::max<std::uint64_t>(1, chunks_per_task / v.tile_chunks), threads,
                  [&](std::uint64_t begin, std::uint64_t end) {
                    columns_of_tiles<registers>(v, find, from, rows, begin, end, carries);
                  });
  finish_shared_columns<registers>(v, carries, tiles, rows);
  if (v.segment_count == 1) return;
  parallel_pieces(v.rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    add_segments(sums, v.rows, width, operands, begin, end);
  });
}

}  // namespace

template <class A, class V>
void multiply_bitflag_columns(const PartView& part, const LayoutState* /*state*/, const ColumnOperands<V>& operands,
                              int threads) {
  dispatch_registers<V>(operands.count, [&](auto registers) { multiply<registers(), A>(part, operands, threads); });
}

#define SPMVPACK_INSTANTIATE(A, V) \
  template void multiply_bitflag_columns<A, V>(const PartView&, const LayoutState*, const ColumnOperands<V>&, int);
SPMVPACK_TYPE_PAIRS(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::host_loader::layouts

#endif
