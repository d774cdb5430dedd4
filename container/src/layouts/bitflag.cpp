#include "spmvpack/container/layouts/bitflag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::bitflag {
namespace {

constexpr std::uint64_t chunks_per_task = 256;

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", bitflag::parameters.at(param), p.at(param)); });
  };
  require(p[param_source] < source_names.size(), param_source);
  require(p[param_tile_chunks] >= 1 && p[param_tile_chunks] <= max_tile_chunks, param_tile_chunks);
  require(p[param_chunks] < 0xFFFFFFFF && p[param_chunks] % p[param_tile_chunks] == 0, param_chunks);
  require(p[param_stream] <= 0xFFFFFFFF, param_stream);
  require(p[param_hot] <= max_hot && (p[param_hot] == 0 || part.cols() <= hot_bit), param_hot);
  const std::uint64_t segments = p[param_segments];
  require(segments == 1 || (segments >= 2 && segments <= part.cols() && p[param_hot] == 0 &&
                            segment_columns(part.info()) <= max_segment &&
                            (segments - 1) * segment_columns(part.info()) < part.cols()),
          param_segments);
  require(segments == 1 || segment_rows(part.info()) <= max_segment_rows(part.info().nnz), param_segments);
  const std::uint64_t values = p[param_values];
  switch (source_of(part.info())) {
    case Source::raw:
      return require(values == 0, param_values);
    case Source::table:
      return require(values >= 1 && values <= max_table, param_values);
    case Source::single:
      return require(values == 1, param_values);
    case Source::window:
      return require(values >= 1 && values <= max_window_values, param_values);
    case Source::decimal:
      require(part.info().value_type == ValueType::f64, param_source);
      return require(values == 0, param_values);
  }
}

/// Where everything lies, so that reading a chunk afterwards stays in its sections.
template <class T>
void check_places(const PartView& part, const View<T>& v) {
  const auto& p = part.info().params;
  const std::uint64_t rows = segment_rows(part.info()), tiles = v.chunk_count / v.tile_chunks;
  std::uint64_t units = 0, continued = 0;
  for (std::uint64_t c = 0; c <= v.chunk_count; ++c) {
    const Chunk chunk = v.chunks[c];
    const auto require = [&](bool ok, std::string_view what) {
      part.require(ok, "chunks", [&] { return fmt::format("chunk {}: {}", c, what); });
    };
    require(chunk.info.is_sound(v.source) && (chunk.info.entries() != 0 || chunk.base == 0),
            "its numbers make no sense");
    require(chunk.place == units, "its bytes begin elsewhere");
    require(c != 0 || (chunk.row == 0 && !chunk.info.continues()), "rows before it");
    require(chunk.row <= rows, "a row out of range");
    if (c != 0) {
      const Chunk before = v.chunks[c - 1];
      const std::uint32_t first = before.begin();
      require(chunk.begin() >= first && chunk.begin() - first <= max_chunk_rows, "rows fall, or skip too many");
      require(before.info.starts() <= chunk.begin() - first, "the chunk before has more rows than there are up to it");
      require(
          before.info.row_bytes() != 0 || before.info.starts() == 0 || before.info.starts() == chunk.begin() - first,
          "the chunk before skips rows");
      require(!chunk.info.continues() || before.info.entries() != 0, "it continues nothing");
    }
    if (c == v.chunk_count) {
      require(chunk.info.entries() == 0 && chunk.row == rows, "it is not the end");
      break;
    }
    if (chunk.info.continues() && c % v.tile_chunks == 0) ++continued;
    units += chunk_layout(chunk.info, v.source, v.value_bytes).end / unit;
    require(units <= p[param_stream], "its bytes end elsewhere");
  }
  part.require(units == p[param_stream], "chunks",
               [&] { return fmt::format("the stream has {} units more", p[param_stream] - units); });
  part.require(continued == p[param_continued], "chunks", [&] {
    return fmt::format("{} tiles begin inside a row, the part table says {}", continued, p[param_continued]);
  });
  // Each segment's tiles begin with its rows.
  for (std::uint64_t s = 0; v.segment_count > 1 && s <= v.segment_count; ++s) {
    const std::uint32_t tile = v.segments[s];
    part.require(tile <= tiles && (s == 0 ? tile == 0 : tile >= v.segments[s - 1]) &&
                     (s != v.segment_count || tile == tiles) &&
                     v.chunks[std::uint64_t{tile} * v.tile_chunks].begin() == s * v.rows &&
                     !v.chunks[std::uint64_t{tile} * v.tile_chunks].info.continues(),
                 "segments", [&] { return fmt::format("segment {} does not begin with a tile", s); });
  }
  for (std::uint32_t i = 0; i < v.hot_count; ++i)
    part.require(v.hot[i] < part.cols() && (i == 0 || v.hot[i] > v.hot[i - 1]), "hot",
                 [&] { return fmt::format("column {} is out of range, or does not rise", i); });
}

/// What a chunk's pieces have besides entries: nothing.
void check_unused(const ChunkView& chunk, const auto& require) {
  const std::uint32_t n = chunk.chunk.info.entries(), slots = chunk.chunk_lanes * lane_entries;
  bool clear = true;
  for (std::uint32_t e = n; e < chunk_entries; ++e) clear = clear && !chunk.starts_row(e);
  for (std::uint32_t e = n; e < slots; ++e) {
    clear = clear && chunk.word(e) == 0;
    const std::byte* const value = chunk.bytes + chunk.at.values + std::size_t{chunk.value_slot(e)} * chunk.value_bytes;
    clear = clear && std::all_of(value, value + chunk.value_bytes, [](std::byte b) { return b == std::byte{0}; });
  }
  if (chunk.at.exponents != chunk.at.rows) {
    for (std::uint32_t e = n; e < slots; ++e) clear = clear && chunk.more_exponent(e) == 0;
    clear = clear && std::all_of(chunk.bytes + chunk.at.exponents + slots * chunk.chunk.info.exponent_bits() / 8,
                                 chunk.bytes + chunk.at.rows, [](std::byte b) { return b == std::byte{0}; });
  }
  const std::byte* const rows = chunk.bytes + chunk.at.rows;
  clear = clear && std::all_of(rows + std::size_t{chunk.chunk.info.starts()} * chunk.chunk.info.row_bytes(),
                               chunk.bytes + chunk.at.end, [](std::byte b) { return b == std::byte{0}; });
  require(clear, "something beyond its last entry");
}

template <class T>
void check_chunk(const PartView& part, const View<T>& v, std::uint64_t c) {
  const ChunkView chunk = ChunkView::of(v, c);
  const Info info = chunk.chunk.info;
  const std::uint32_t n = info.entries();
  if (n == 0) return;
  const auto require = [&](bool ok, std::string_view what) {
    part.require(ok, "stream", [&] { return fmt::format("chunk {}: {}", c, what); });
  };
  const std::uint32_t first = chunk.chunk.begin(), end = v.chunks[c + 1].begin();
  // Its columns are those of its rows' segment.
  std::uint64_t end_column = part.cols();
  if (v.segment_count > 1) {
    const std::uint64_t segment = chunk.chunk.row / v.rows;
    require(chunk.chunk.base == segment * v.segment_columns && info.column_shift() <= 1,
            "its columns do not count from its segment's first");
    end_column = std::min<std::uint64_t>(end_column, chunk.chunk.base + std::uint64_t{v.segment_columns});
  }
  std::uint32_t starts = 0, before = 0;
  for (std::uint32_t e = 0; e < n; ++e) {
    if (chunk.starts_row(e)) {
      require(starts < info.starts(), "more rows start than its numbers say");
      const std::uint32_t row = chunk.start_row(starts);
      require(row >= first && row < end && (starts == 0 || row > chunk.start_row(starts - 1)),
              "a row out of range, or that does not rise");
      ++starts;
    } else {
      require(e != 0 || info.continues(), "its first entry starts no row");
    }
    const std::uint32_t column = chunk.column(e);
    require(column >= chunk.chunk.base && column < end_column, "a column out of range");
    require(e == 0 || chunk.starts_row(e) || column > before, "columns do not rise");
    before = column;
    require(chunk.has_value(e, part.info().params[param_values]),
            chunk.source == Source::decimal ? "an exponent out of range" : "an id out of range");
  }
  require(starts == info.starts(), "fewer rows start than its numbers say");
  require(!chunk.starts_row(0) || !info.continues(), "its first entry starts a row, but continues one");
  if (info.continues()) {
    // What it continues is the last row of the chunk before, whose columns go on here.
    const ChunkView last = ChunkView::of(v, c - 1);
    const Info of_last = last.chunk.info;
    const std::uint32_t row = of_last.starts() == 0 ? last.chunk.row : last.start_row(of_last.starts() - 1);
    require(chunk.chunk.row == row, "it does not continue the row before");
    require(chunk.column(0) > last.column(of_last.entries() - 1), "columns do not rise");
  }
  require(info.row_bytes() == 0 || info.starts() < end - first, "a list of rows that are consecutive");
  check_unused(chunk, require);
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    check_places(part, v);
    std::atomic<std::uint64_t> entries{0};
    parallel_pieces(v.chunk_count, chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t c = first; c < last; ++c) {
        check_chunk(part, v, c);
        sum += v.chunks[c].info.entries();
      }
      entries += sum;
    });
    part.require(entries == part.info().nnz, {},
                 [&] { return fmt::format("{} entries, the part table says {}", entries.load(), part.info().nnz); });
  });
}

/// Calls f(c, chunk) for all chunks in parallel.
template <class T, class F>
void each_chunk(const View<T>& v, int threads, F&& f) {
  parallel_pieces(v.chunk_count, chunks_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t c = begin; c < end; ++c)
      if (v.chunks[c].info.entries() != 0) f(c, ChunkView::of(v, c));
  });
}

CsrMatrix unpack(const PartView& part, int threads) {
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  const std::uint64_t rows = segment_rows(part.info());
  dispatch(m.value_type(), [&]<class T>(T) {
    const View<T> v = view<T>(part);
    auto& to = std::get<Array<T>>(m.values);
    // Where the entries of each row of a segment begin among the chunks', then where they belong.
    CountedVector<std::uint64_t> first_entry(v.chunk_count + 1), begin(rows + 1, part.info().nnz);
    for (std::uint64_t c = 0; c < v.chunk_count; ++c) first_entry[c + 1] = first_entry[c] + v.chunks[c].info.entries();
    parallel_pieces(v.chunk_count, chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t c = first; c < last; ++c) {
        // A row starts where its entry does; an empty one where the next does.
        const ChunkView chunk = ChunkView::of(v, c);
        std::uint32_t starts = 0;
        std::uint64_t row = chunk.chunk.begin();
        for (std::uint32_t e = 0; e < chunk.chunk.info.entries(); ++e)
          if (chunk.starts_row(e))
            for (const std::uint64_t end = chunk.start_row(starts++); row <= end; ++row)
              begin[row] = first_entry[c] + e;
        for (; row < v.chunks[c + 1].begin(); ++row) begin[row] = first_entry[c + 1];
      }
    });
    CountedVector<std::uint64_t> place(rows);
    std::uint64_t at = 0;
    for (std::uint64_t r = 0; r < m.rows; ++r) {
      m.row_ptr[r] = at;
      for (std::uint64_t row = r; row < rows; row += m.rows) {
        place[row] = at;
        at += begin[row + 1] - begin[row];
      }
    }
    m.row_ptr[m.rows] = at;
    each_chunk(v, threads, [&](std::uint64_t c, const ChunkView& chunk) {
      const std::byte* const values = chunk.bytes + chunk.at.values;
      std::uint32_t starts = 0;
      std::uint64_t row = chunk.chunk.row;
      for (std::uint32_t e = 0; e < chunk.chunk.info.entries(); ++e) {
        if (chunk.starts_row(e)) row = chunk.start_row(starts++);
        const std::uint64_t target = place[row] + (first_entry[c] + e - begin[row]);
        m.col_idx[target] = chunk.column(e);
        const T* from = v.values;
        if (chunk.source == Source::decimal) {
          to[target] =
              static_cast<T>(chunk.integer(e) / powers_of_ten[chunk.chunk.info.exponent() + chunk.more_exponent(e)]);
          continue;
        }
        if (chunk.source == Source::raw) from = reinterpret_cast<const T*>(values) + chunk.value_slot(e);
        if (chunk.source == Source::table || chunk.source == Source::window) from += chunk.id(e);
        std::memcpy(&to[target], from, sizeof(T));
      }
    });
  });
  return m;
}

}  // namespace

const Layout layout{.name = "bitflag",
                    .sections = sections,
                    .parameters = parameters,
                    .check_shape = check_shape,
                    .check = check,
                    .unpack = unpack,
                    .source_names = source_names};

}  // namespace spmvpack::layouts::bitflag
