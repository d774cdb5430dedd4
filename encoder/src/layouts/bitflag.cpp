#include "spmvpack/container/layouts/bitflag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "layouts/layouts.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

constexpr std::array<Setting, 4> settings{
    Setting{"bitflag.values", "auto, raw, table or single", "where values are; auto minimises device bytes"},
    Setting{"bitflag.tile", "auto, or 1 to 32",
            "chunks of a tile; auto avoids rows in several if there are few entries"},
    Setting{"bitflag.hot", "auto, or 0 to 32768", "most used columns to hold in shared memory; auto: many, or none"},
    Setting{"bitflag.segments", "auto, or 1 and more",
            "segments of columns, each with sums of its own; auto: if rows are long"}};

/// Parts of fewer entries are bound by latency: no second launch for rows in several tiles, no copy of hot columns.
constexpr std::uint64_t small_entries = std::uint64_t{1} << 21;
/// Warps of a tile wait for one another: rmat takes 73.5 us with two, 76.7 with four, 80 with 16 (H200).
constexpr std::uint64_t least_tile = 2;
/// As many doubles as leave enough of an H200's shared memory to the first-level cache; and what the entries of these
/// columns must be, of all and in all, so that fewer misses pay for the copies.
constexpr std::uint64_t hot_columns = 16384, least_hot_entries = std::uint64_t{1} << 21;
constexpr double least_hot_share = 1.0 / 3;

/// A segment of x fits half of the shared memory of an H200's multiprocessor, which has two such blocks. A segment's
/// sums of all rows pass through memory: there must be so many entries for each.
constexpr std::uint64_t segment_of_x = 9600, device_blocks = 264, least_segment_entries = 8;

/// A chunk and where its entries begin.
struct PlannedChunk {
  Chunk chunk;
  std::uint64_t first_entry = 0;
};

struct Chunks {
  std::vector<PlannedChunk> all;        ///< and the end
  std::vector<std::uint32_t> segments;  ///< the first tile of each, and their number
  std::uint64_t continued = 0, padding = 0, units = 0;
  std::array<std::uint64_t, 3> by_column_shift{};
  std::uint64_t column_bytes = 0, value_bytes = 0, row_bytes = 0;
};

/// Splits the entries into chunks. O(rows + chunks).
class Chunker {
 public:
  /// `a`: the rows of all segments, each of so many rows and columns.
  Chunker(const CsrView& a, std::uint64_t segment_rows, std::uint64_t segment_columns, std::uint32_t tile_chunks,
          std::uint32_t value_bytes, bool hot)
      : a_(a),
        segment_rows_(segment_rows),
        segment_columns_(segment_columns),
        tile_(tile_chunks),
        value_bytes_(value_bytes),
        hot_(hot) {
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
    if (entries_ != 0 && row - begin_ >= max_chunk_rows) close();
    if (entries_ == 0) cover_rows(row, max_chunk_rows - 1);
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
      next_row_ = std::min<std::uint64_t>(row, next_row_ + max_chunk_rows);
    }
  }
  /// A chunk without entries, whose own rows, if any, begin at `row`.
  void put_empty(std::uint64_t row) {
    out_.all.push_back(
        {{static_cast<std::uint32_t>(row), 0, static_cast<std::uint32_t>(out_.units), Info{0}}, first_entry_});
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
    const std::uint32_t shift = hot_ ? 2 : span <= 0xFF ? 0 : span <= 0xFFFF ? 1 : 2;
    const Info info = Info::make(entries_, starts_, shift, row_bytes, continues_);
    const ChunkLayout at = chunk_layout(info, value_bytes_);
    out_.all.push_back(
        {{static_cast<std::uint32_t>(row_), base, static_cast<std::uint32_t>(out_.units), info}, first_entry_});
    out_.units += at.end / unit;
    if (out_.units > 0xFFFFFFFF)
      throw Error(errc::unsupported, "bitflag: a stream of more than 2^32 units of 32 bytes", {}, "use another layout");
    out_.padding += info.lanes() * lane_entries - entries_;
    ++out_.by_column_shift.at(shift);
    out_.column_bytes += at.values - at.columns;
    out_.value_bytes += at.rows - at.values;
    out_.row_bytes += at.end - at.rows;
    first_entry_ += entries_;
    entries_ = 0;
  }

  const CsrView& a_;
  std::uint64_t segment_rows_, segment_columns_, segment_base_ = 0;
  std::uint32_t tile_, value_bytes_;
  bool hot_;
  Chunks out_;
  // The open chunk, if it has entries; the row after the last that has been given to a chunk.
  std::uint32_t entries_ = 0, starts_ = 0, smallest_ = 0, largest_ = 0;
  std::uint64_t first_entry_ = 0, row_ = 0, begin_ = 0, last_start_ = 0, next_row_ = 0;
  bool continues_ = false;
};

/// The most used columns, at most `count`, and the entries that have them. O(nnz), parallel.
struct Hot {
  std::vector<std::uint32_t> columns;  ///< rising
  std::uint64_t entries = 0;
};
Hot hot_columns_of(const CsrView& a, std::uint64_t count, int threads) {
  const std::uint32_t* const col_idx = a.col_idx();
  std::vector<std::uint32_t> uses(a.cols());
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  parallel_pieces(a.nnz(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t k = begin; k < end; ++k)
      std::atomic_ref(uses[col_idx[k]]).fetch_add(1, std::memory_order_relaxed);
  });
  Hot hot;
  std::vector<std::uint32_t> columns(a.cols());
  std::iota(columns.begin(), columns.end(), 0U);
  count = std::min<std::uint64_t>(count, columns.size());
  const auto more = [&](std::uint32_t i, std::uint32_t j) { return uses[i] != uses[j] ? uses[i] > uses[j] : i < j; };
  std::nth_element(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(count), columns.end(), more);
  columns.resize(count);
  std::erase_if(columns, [&](std::uint32_t c) { return uses[c] == 0; });
  std::sort(columns.begin(), columns.end());
  for (const std::uint32_t c : columns) hot.entries += uses[c];
  hot.columns = std::move(columns);
  return hot;
}

/// The matrix whose rows are those of all segments: row r of segment s is row s * rows + r. O(nnz + rows * segments),
/// parallel.
CsrMatrix in_segments(const CsrView& a, std::uint64_t segments, int threads) {
  const std::uint64_t rows = a.rows(), columns = div_up(a.cols(), segments);
  CsrMatrix m = allocate_csr(rows * segments, a.cols(), a.nnz(), a.value_type());
  const std::uint32_t* const col_idx = a.col_idx();
  constexpr std::uint64_t rows_per_task = 1024;
  // Calls f(row of its segment, first entry, end) for each row's entries in each segment.
  const auto each = [&](auto&& f) {
    parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t r = first; r < last; ++r) {
        std::uint64_t entry = a.row_ptr(r);
        const std::uint64_t end = a.row_ptr(r + 1);
        for (std::uint64_t s = 0; s < segments; ++s) {
          const std::uint64_t begin = entry;
          while (entry < end && col_idx[entry] < (s + 1) * columns) ++entry;
          f(s * rows + r, begin, entry);
        }
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

class Flagged {
 public:
  Flagged(const PartMatrix& part, const PlanOptions& options) : owner_(part.owner), a_(part.a) {
    const auto values = part.values ? part.values : ValueTable::count(part.a, options.threads);
    choose_source(*values, options);
    const std::uint64_t rows = a_.rows();
    choose_segments(options);
    choose_hot(options);
    if (!hot_.columns.empty()) {
      hot_words_.resize(a_.cols());
      for (std::uint32_t i = 0; i < hot_.columns.size(); ++i) hot_words_[hot_.columns[i]] = hot_bit | i;
    }
    const std::uint32_t value_bytes = stored_bytes(source_, size_of(a_.value_type()));
    if (segments_ != 1) {
      segmented_ = in_segments(a_, segments_, options.threads);
      a_ = CsrView(segmented_);
    }
    choose_tile(options);
    chunks_ = Chunker(a_, rows, div_up(a_.cols(), segments_), tile_, value_bytes, !hot_.columns.empty()).run();
  }

  void describe(PartPlan& plan) const {
    const std::uint64_t count = chunks_.all.size() - 1;
    plan.info.params = {static_cast<std::uint64_t>(source_),
                        tile_,
                        count,
                        chunks_.units,
                        table_.size(),
                        chunks_.continued,
                        hot_.columns.size(),
                        segments_};
    plan.padding = chunks_.padding;
    plan.near_entries = segments_ != 1 ? a_.nnz() : hot_.entries;
    const std::uint64_t headers = (count + 1) * sizeof(Chunk);
    plan.byte_shares = {
        {"chunks", headers},
        {"flags", chunks_.units * unit - chunks_.column_bytes - chunks_.value_bytes - chunks_.row_bytes},
        {"columns", chunks_.column_bytes},
        {"values", chunks_.value_bytes + table_.size() * size_of(a_.value_type())},
        {"rows", chunks_.row_bytes},
        {"hot", hot_.columns.size() * 4},
        {"segments", segments_ == 1 ? 0 : chunks_.segments.size() * 4}};
    std::uint64_t with_entries = 0;
    for (const PlannedChunk& c : chunks_.all) with_entries += c.chunk.info.entries() != 0 ? 1 : 0;
    plan.counters = {{fmt::format("values.{}", source_names.at(static_cast<std::size_t>(source_))), 1},
                     {"tile_chunks", tile_},
                     {"chunks", with_entries},
                     {"chunks.columns_8", chunks_.by_column_shift[0]},
                     {"chunks.columns_16", chunks_.by_column_shift[1]},
                     {"chunks.columns_32", chunks_.by_column_shift[2]},
                     {"chunks.without_entries", count - with_entries},
                     {"tiles.continued", chunks_.continued},
                     {"segments", segments_},
                     {"hot.columns", hot_.columns.size()},
                     {"hot.entries", hot_.entries}};
    plan.work = {
        {"bitflag.multiplies", 1},
        {"bitflag.entries", a_.nnz()},
        {"bitflag.few_raw_bytes", source_ == Source::raw && a_.nnz() < small_entries ? chunks_.value_bytes : 0},
        {"bitflag.carries", chunks_.continued != 0 ? 1U : 0U},
        {"bitflag.hot", hot_.columns.empty() ? 0U : 1U},
        {"bitflag.hot_entries", hot_.entries},
        {"bitflag.segment_rows", segments_ == 1 ? 0 : a_.rows()}};
  }

  void fill(std::size_t index, std::uint64_t begin, std::span<std::byte> out) const {
    switch (index) {
      case 0:
        return compute_elements<Chunk>(begin, out, [&](std::uint64_t c) { return chunks_.all[c].chunk; });
      case 1:
        return dispatch(a_.value_type(), [&]<class T>(T) { fill_stream<T>(begin, out); });
      case 2:
        return dispatch(a_.value_type(), [&]<class T>(T) {
          compute_elements<bits_of<T>>(begin, out, [&](std::uint64_t i) { return static_cast<bits_of<T>>(table_[i]); });
        });
      case 3:
        return compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t i) { return hot_.columns[i]; });
      default:
        return compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t i) { return chunks_.segments[i]; });
    }
  }

 private:
  void choose_source(const ValueTable& values, const PlanOptions& options) {
    const auto found = options.settings.find("bitflag.values");
    const std::string wanted = found == options.settings.end() ? "auto" : found->second;
    const bool one = values.distinct() == 1, few = values.distinct() <= max_table && a_.nnz() != 0;
    const std::uint64_t size = size_of(a_.value_type());
    if (wanted == "auto")
      source_ = one                                                            ? Source::single
                : few && values.distinct() * size + a_.nnz() < a_.nnz() * size ? Source::table
                                                                               : Source::raw;
    else if (wanted == "raw")
      source_ = Source::raw;
    else if (wanted == "table" && few)
      source_ = Source::table;
    else if (wanted == "single" && one)
      source_ = Source::single;
    else if (wanted == "table" || wanted == "single")
      throw Error(errc::unsupported,
                  fmt::format("bitflag: bitflag.values is {}, but the values do not repeat like that", wanted), {},
                  "use bitflag.values=raw, or auto");
    else
      refuse_setting("bitflag.values", wanted, settings[0].values);
    if (source_ != Source::raw)
      for (const ValueCount& v : values.most_frequent()) table_.push_back(v.bits);
    if (source_ == Source::table) ids_.emplace(table_);
  }

  static std::optional<std::uint64_t> hot_wanted(const PlanOptions& options) {
    return read_setting(options, "bitflag.hot", 0, max_hot, "auto");
  }

  void choose_hot(const PlanOptions& options) {
    const auto wanted = hot_wanted(options);
    if (segments_ != 1) {
      if (wanted.value_or(0) != 0)
        throw Error(
            errc::usage,
            fmt::format("bitflag.hot is {} and bitflag.segments {}: segments have no hot columns", *wanted, segments_),
            {}, "leave out one of them");
      return;
    }
    if (wanted) {
      if (*wanted != 0 && a_.cols() <= hot_bit && a_.nnz() != 0) hot_ = hot_columns_of(a_, *wanted, options.threads);
      return;
    }
    if (a_.nnz() < least_hot_entries || a_.cols() <= 2 * hot_columns || a_.cols() > hot_bit) return;
    Hot hot = hot_columns_of(a_, hot_columns, options.threads);
    if (hot.entries >= least_hot_entries &&
        static_cast<double>(hot.entries) >= least_hot_share * static_cast<double>(a_.nnz()))
      hot_ = std::move(hot);
  }

  void choose_segments(const PlanOptions& options) {
    if (const auto wanted = read_setting(options, "bitflag.segments", 1, 0xFFFFFFFF, "auto")) {
      if (*wanted == 1 || a_.rows() == 0) return;
      const std::uint64_t columns = div_up(a_.cols(), *wanted);
      if (*wanted > a_.cols() || columns > max_segment || (*wanted - 1) * columns >= a_.cols() ||
          a_.rows() * *wanted > max_segment_rows(a_.nnz()))
        throw Error(errc::unsupported,
                    fmt::format("bitflag: bitflag.segments is {}, the part has {} rows and {} columns", *wanted,
                                a_.rows(), a_.cols()),
                    {},
                    "use another number, of segments of 1 to 65536 columns, whose rows are at most 2^24 in all or the "
                    "nonzeros; or auto");
      segments_ = *wanted;
      return;
    }
    if (a_.nnz() < small_entries || hot_wanted(options).value_or(0) != 0) return;
    const std::uint64_t least = div_up(a_.cols(), segment_of_x);
    if (least < 4 || least * a_.rows() * least_segment_entries > a_.nnz()) return;
    // As many as keep all multiprocessors busy to the end.
    std::uint64_t segments = least > device_blocks ? least : device_blocks / (device_blocks / least);
    while (segments > least && (segments - 1) * div_up(a_.cols(), segments) >= a_.cols()) --segments;
    segments_ = segments;
  }

  void choose_tile(const PlanOptions& options) {
    if (const auto wanted = read_setting(options, "bitflag.tile", 1, max_tile_chunks, "auto")) {
      tile_ = static_cast<std::uint32_t>(*wanted);
    } else {
      std::uint64_t longest = 0, tile = least_tile;
      for (std::uint64_t r = 0; r < a_.rows(); ++r) longest = std::max(longest, a_.row_length(r));
      if (a_.nnz() < small_entries && longest <= std::uint64_t{max_tile_chunks} * chunk_entries)
        while (tile * chunk_entries < longest) tile *= 2;
      tile_ = static_cast<std::uint32_t>(tile);
    }
  }

  template <class T>
  void fill_stream(std::uint64_t begin, std::span<std::byte> out) const {
    if (out.empty()) return;
    const std::vector<PlannedChunk>& all = chunks_.all;
    const std::uint64_t end = begin + out.size();
    auto c = static_cast<std::size_t>(
        std::upper_bound(all.begin(), all.end(), begin / unit,
                         [](std::uint64_t at, const PlannedChunk& p) { return at < p.chunk.place; }) -
        all.begin() - 1);
    std::vector<std::byte> bytes;
    for (; c + 1 < all.size() && std::uint64_t{all[c].chunk.place} * unit < end; ++c) {
      const std::uint64_t at = std::uint64_t{all[c].chunk.place} * unit,
                          size = std::uint64_t{all[c + 1].chunk.place} * unit - at;
      if (size == 0 || at + size <= begin) continue;
      if (begin <= at && at + size <= end) {
        std::memset(out.data() + (at - begin), 0, size);
        write_chunk<T>(all[c], out.data() + (at - begin));
        continue;
      }
      bytes.assign(size, {});
      write_chunk<T>(all[c], bytes.data());
      copy_overlap(begin, out, at, bytes);
    }
  }

  template <class T>
  void write_chunk(const PlannedChunk& planned, std::byte* out) const {
    switch (planned.chunk.info.column_shift()) {
      case 0:
        return write_chunk<T, std::uint8_t>(planned, out);
      case 1:
        return write_chunk<T, std::uint16_t>(planned, out);
      default:
        return write_chunk<T, std::uint32_t>(planned, out);
    }
  }

  template <class T, class Offset>
  void write_chunk(const PlannedChunk& planned, std::byte* out) const {
    const Chunk& chunk = planned.chunk;
    const Info info = chunk.info;
    const std::uint32_t n = info.entries(), own_lanes = info.lanes();
    const ChunkLayout at = chunk_layout(info, stored_bytes(source_, sizeof(T)));
    const std::uint32_t* const col_idx = a_.col_idx() + planned.first_entry;
    const auto* const values = static_cast<const bits_of<T>*>(a_.value_bytes()) + planned.first_entry;
    auto* const offsets = reinterpret_cast<Offset*>(out + at.columns);
    for (std::uint32_t e = 0; e < n; ++e)
      offsets[slot_of(sizeof(Offset), own_lanes, e / lane_entries, e % lane_entries)] =
          static_cast<Offset>(word_of(col_idx[e], chunk.base));
    if (source_ == Source::raw)
      for (std::uint32_t e = 0; e < n; ++e)
        std::memcpy(out + at.values + slot_of(sizeof(T), own_lanes, e / lane_entries, e % lane_entries) * sizeof(T),
                    values + e, sizeof(T));
    if (source_ == Source::table)
      for (std::uint32_t e = 0; e < n; ++e)
        out[at.values + slot_of(1, own_lanes, e / lane_entries, e % lane_entries)] =
            static_cast<std::byte>(ids_->find(std::uint64_t{values[e]}));
    // Where rows start.
    std::uint64_t row = info.continues() ? a_.row_of(planned.first_entry) : chunk.row;
    if (info.continues()) ++row;
    for (std::uint32_t k = 0; k < info.starts(); ++row) {
      const std::uint64_t entry = a_.row_ptr(row);
      if (a_.row_ptr(row + 1) == entry) continue;
      const auto e = static_cast<std::uint32_t>(entry - planned.first_entry);
      out[e / 8] |= static_cast<std::byte>(1U << e % 8);
      const std::uint64_t offset = row - chunk.row;
      if (info.row_bytes() != 0) std::memcpy(out + at.rows + k * info.row_bytes(), &offset, info.row_bytes());
      ++k;
    }
  }

  [[nodiscard]] std::uint32_t word_of(std::uint32_t column, std::uint32_t base) const {
    return !hot_words_.empty() && hot_words_[column] != 0 ? hot_words_[column] : column - base;
  }

  std::shared_ptr<const void> owner_;
  CsrView a_;
  Source source_ = Source::raw;
  std::vector<std::uint64_t> table_;
  std::optional<ValueIds> ids_;
  Hot hot_;
  std::vector<std::uint32_t> hot_words_;  ///< of each column: how it is stored if it is hot, else 0
  std::uint64_t segments_ = 1;
  CsrMatrix segmented_;  ///< what a_ is if there are several
  std::uint32_t tile_ = 0;
  Chunks chunks_;
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const auto flagged = std::make_shared<const Flagged>(part, options);
  PartPlan plan = begin_plan(layout, part);
  flagged->describe(plan);
  for (const SectionSource& map : plan.sections) plan.byte_shares.push_back({map.name, map.raw_bytes()});
  for (std::size_t i = 0; i < sections.size(); ++i)
    plan.sections.push_back(section(plan, sections[i], [flagged, i](std::uint64_t begin, std::span<std::byte> out) {
      flagged->fill(i, begin, out);
    }));
  return plan;
}

}  // namespace

extern const LayoutEncoder bitflag{"bitflag", "equal chunks of entries, a bit for each row's start; hot columns apart",
                                   settings, plan};

}  // namespace spmvpack::encoder::layouts
