#include "layouts/bitflag/chunks.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {
namespace {

/// Splits the entries into chunks.
class Chunker {
 public:
  Chunker(const CsrView& a, const ChunkOptions& options)
      : a_(a),
        segment_rows_(options.segment_rows),
        segment_columns_(options.segment_columns),
        tile_(options.tile_chunks),
        hot_(options.hot) {
    out_.all.reserve(a.nnz() / chunk_entries + a.nnz() / chunk_entries / 16 + 2);
  }

  Chunks run() {
    for (std::uint64_t begin = 0; begin < a_.rows(); begin += segment_rows_) {
      const std::uint64_t end = begin + segment_rows_;
      out_.segments.push_back(static_cast<std::uint32_t>(out_.all.size() / tile_));
      segment_base_ = begin / segment_rows_ * segment_columns_;
      for (std::uint64_t r = begin; r < end; ++r) add_row(r, a_.row_ptr(r), a_.row_ptr(r + 1));
      // What is left: the open chunk, empty rows at the end, and the rest of the tile.
      close();
      cover_rows(end, 0);
      fill_tile(end);
    }
    out_.segments.push_back(static_cast<std::uint32_t>(out_.all.size() / tile_));
    put_empty(a_.rows());
    return std::move(out_);
  }

 private:
  void add_row(std::uint64_t row, std::uint64_t entry, std::uint64_t end) {
    if (entry == end) return;
    // A chunk's own rows begin where those of the one before end, which is at next_row_ while it has no entries.
    if (entries_ != 0 && row - begin_ >= most_chunk_rows) close();
    if (entries_ == 0) cover_rows(row, most_chunk_rows - 1);
    // A tile ends before a row that it has no room for, unless none has.
    const std::uint64_t n = end - entry, room = (tile_ - out_.all.size() % tile_) * chunk_entries - entries_;
    if (n > room && n <= std::uint64_t{tile_} * chunk_entries) {
      close();
      fill_tile(next_row_);
    }
    bool continues = false;
    while (entry < end) {
      if (entries_ == 0) open(row, entry, continues);
      const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(end - entry, chunk_entries - entries_));
      if (!continues) add_start(row);
      smallest_ = std::min(smallest_, a_.col_idx()[entry]);
      largest_ = std::max(largest_, a_.col_idx()[entry + taken - 1]);
      entries_ += taken;
      entry += taken;
      if (entries_ == chunk_entries) close();
      continues = true;
    }
  }

  /// Chunks without entries for the empty rows before `row`, but for so many before it.
  void cover_rows(std::uint64_t row, std::uint64_t but) {
    while (row - next_row_ > but) {
      put_empty(next_row_);
      next_row_ = std::min<std::uint64_t>(row, next_row_ + most_chunk_rows);
    }
  }
  /// A chunk without entries, whose own rows, if any, begin at `row`.
  void put_empty(std::uint64_t row) {
    out_.all.push_back({{static_cast<std::uint32_t>(row), 0, 0, Info{0}}, first_entry_});
  }

  /// Chunks without entries and rows to the end of the tile.
  void fill_tile(std::uint64_t row) {
    while (out_.all.size() % tile_ != 0) put_empty(row);
  }

  void open(std::uint64_t row, std::uint64_t entry, bool continues) {
    first_entry_ = entry;
    continues_ = continues;
    row_ = continues ? row : next_row_;
    begin_ = next_row_;
    starts_ = 0;
    smallest_ = ~0U;
    largest_ = 0;
    if (continues && out_.all.size() % tile_ == 0) ++out_.continued;
  }
  void add_start(std::uint64_t row) {
    ++starts_;
    last_start_ = row;
    next_row_ = row + 1;
  }
  void close() {
    if (entries_ == 0) return;
    const bool gaps = next_row_ - begin_ != starts_;
    const std::uint32_t row_bytes = !gaps ? 0 : last_start_ - row_ <= 0xFF ? 1 : 2;
    const bool segmented = segment_rows_ != a_.rows();
    const std::uint32_t base = hot_ ? 0 : segmented ? static_cast<std::uint32_t>(segment_base_) : smallest_;
    const std::uint32_t span = largest_ - base;
    const std::uint32_t bytes = hot_ ? hot_column_bytes(a_.cols()) : column_bytes(span);
    const Info info = Info::make(entries_, starts_, bytes, row_bytes, continues_);
    out_.all.push_back({{static_cast<std::uint32_t>(row_), base, 0, info}, first_entry_});
    out_.padding += info.lanes() * lane_entries - entries_;
    ++out_.of_column_bytes.at(bytes - 1);
    first_entry_ += entries_;
    entries_ = 0;
  }

  const CsrView& a_;
  std::uint64_t segment_rows_, segment_columns_, segment_base_ = 0;
  std::uint32_t tile_;
  bool hot_;
  Chunks out_;
  // The open chunk, if it has entries; the row after the last that has been given to a chunk.
  std::uint32_t entries_ = 0, starts_ = 0, smallest_ = 0, largest_ = 0;
  std::uint64_t first_entry_ = 0, row_ = 0, begin_ = 0, last_start_ = 0, next_row_ = 0;
  bool continues_ = false;
};
}  // namespace

Chunks plan_chunks(const CsrView& a, const ChunkOptions& options) { return Chunker(a, options).run(); }

void place_chunks(Chunks& chunks, Source source, std::uint32_t value_bytes, std::span<const std::uint16_t> of_values) {
  for (std::size_t c = 0; c < chunks.all.size(); ++c) {
    Chunk& chunk = chunks.all[c].chunk;
    chunk.place = static_cast<std::uint32_t>(chunks.units);
    if (!of_values.empty()) chunk.info = chunk.info.with_values(of_values[c]);
    const ChunkLayout at = chunk_layout(chunk.info, source, value_bytes);
    chunks.units += at.end / unit;
    if (chunks.units > 0xFFFFFFFF)
      throw Error(errc::unsupported, "bitflag: a stream of more than 2^32 units of 32 bytes", {}, "use another layout");
    chunks.column_bytes += at.values - at.columns;
    chunks.value_bytes += at.rows - at.values;
    chunks.row_bytes += at.end - at.rows;
  }
}

Hot hot_columns_of(const CsrView& a, std::uint64_t count, int threads) {
  // A table for each thread, as long as they are no larger than the matrix: atomic additions to one take five times as
  // long.
  const std::uint64_t most = a.nnz() / a.cols(), all = static_cast<std::uint64_t>(thread_count(threads));
  const std::uint64_t tables = std::clamp<std::uint64_t>(most, 1, all), length = div_up(a.nnz(), tables);
  require_memory((tables + 1) * a.cols() * sizeof(std::uint32_t), 0, "bitflag's counts of columns' uses");
  std::vector<CountedVector<std::uint32_t>> uses_of(tables);
  parallel_for(tables, threads, [&](std::uint64_t t) {
    uses_of[t].resize(a.cols());
    for (std::uint64_t k = std::min(t * length, a.nnz()); k < std::min((t + 1) * length, a.nnz()); ++k)
      ++uses_of[t][a.col_idx()[k]];
  });
  CountedVector<std::uint32_t>& uses = uses_of[0];
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  parallel_pieces(a.cols(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t t = 1; t < tables; ++t)
      for (std::uint64_t c = begin; c < end; ++c) uses[c] += uses_of[t][c];
  });
  // Columns with more uses than `least`, and the first of those with as many.
  count = std::min<std::uint64_t>(count, uses.size());
  CountedVector<std::uint32_t> falling = uses;
  const auto last = falling.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(falling.begin(), last, falling.end(), std::greater<>());
  const std::uint32_t least = *last;
  std::ptrdiff_t with_least = 1 + std::count(falling.begin(), last, least);
  Hot hot;
  for (std::uint32_t c = 0; c < uses.size(); ++c) {
    if (uses[c] == 0 || uses[c] < least || (uses[c] == least && with_least-- <= 0)) continue;
    hot.columns.push_back(c);
    hot.entries += uses[c];
  }
  return hot;
}

double bytes_of_columns(const CsrView& a) {
  constexpr std::uint64_t most_chunks = 1024;
  const std::uint64_t chunks = a.nnz() / chunk_entries,
                      stride = std::max<std::uint64_t>(1, div_up(chunks, most_chunks));
  std::uint64_t seen = 0, bytes = 0;
  for (std::uint64_t c = 0; c < chunks; c += stride, ++seen) {
    const std::uint32_t* const columns = a.col_idx() + c * chunk_entries;
    const auto [low, high] = std::minmax_element(columns, columns + chunk_entries);
    bytes += column_bytes(*high - *low);
  }
  return seen == 0 ? 4 : static_cast<double>(bytes) / static_cast<double>(seen);
}

CsrMatrix in_segments(const CsrView& a, std::uint64_t segments, int threads) {
  const std::uint64_t rows = a.rows(), columns = div_up(a.cols(), segments);
  CsrMatrix m = allocate_csr(rows * segments, a.cols(), a.nnz(), a.value_type());
  const std::uint32_t* const col_idx = a.col_idx();
  constexpr std::uint64_t rows_per_task = 1024;
  // Calls f(row of its segment, first entry, end) for each row's entries in each segment.
  const auto each = [&](auto&& f) {
    parallel_items(rows, rows_per_task, threads, [&](std::uint64_t r) {
      std::uint64_t entry = a.row_ptr(r);
      const std::uint64_t end = a.row_ptr(r + 1);
      for (std::uint64_t s = 0; s < segments; ++s) {
        const std::uint64_t begin = entry;
        while (entry < end && col_idx[entry] < (s + 1) * columns) ++entry;
        f(s * rows + r, begin, entry);
      }
    });
  };
  m.row_ptr[0] = 0;
  each([&](std::uint64_t row, std::uint64_t begin, std::uint64_t end) { m.row_ptr[row + 1] = end - begin; });
  for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
  dispatch(a.value_type(), [&]<class T>(T) {
    const T* const values = a.values<T>();
    auto& to = std::get<Array<T>>(m.values);
    each([&](std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
      std::copy(col_idx + begin, col_idx + end, m.col_idx.data() + m.row_ptr[row]);
      if (begin != end) std::memcpy(to.data() + m.row_ptr[row], values + begin, (end - begin) * sizeof(T));
    });
  });
  return m;
}
}  // namespace spmvpack::encoder::layouts::bitflag_plans
