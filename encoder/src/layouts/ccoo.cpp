#include "spmvpack/container/layouts/ccoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "layouts/ccoo_published.hpp"
#include "layouts/ccoo_values.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/ccoo.hpp"

namespace spmvpack::encoder::layouts {
namespace ccoo_plans {
namespace {

using namespace spmvpack::layouts::ccoo;  // what the bytes mean

enum SectionIndex : std::uint8_t { encoding, row_base, col_base, blob_offset, blob, lut };
constexpr std::uint64_t header_bytes = 1 + 4 + 4 + 8;  ///< of a chunk, over the four arrays
constexpr std::array<std::uint32_t, 4> slot_choices{1, 2, 4, 8};
constexpr std::array<Setting, 3> settings{
    Setting{"ccoo.k", "auto, 1, 2, 4 or 8", "slots per lane (K); auto minimises device bytes"},
    Setting{"ccoo.b", "auto, 8, 16, 32, 64, 128 or 256", "lanes of a chunk (B), 256 unless set; GPUs take 32 and more"},
    Setting{"ccoo.values", "auto or lut", "lut: ids as in the paper, even if all values are the same"}};

/// Of the chunks: none, as all are the one of the table; ids where the table has all of a chunk's; raw.
enum class Values : std::uint8_t { single, ids, raw };

struct Chunk {
  std::uint64_t first_entry = 0, blob_offset = 0;
  std::uint32_t row_base = 0, col_base = 0;
  Encoding encoding;
};

/// All chunks for one K, and their cost.
struct Chunking {
  std::uint32_t slots = 1;  ///< K
  CountedVector<Chunk> chunks;
  std::uint64_t row_bytes = 0, column_bytes = 0, value_bytes = 0, stored_slots = 0;
  std::uint64_t raw_bytes = 0;  ///< of value_bytes, those that are not ids
  bool uses_lut = false;

  [[nodiscard]] std::uint64_t blob_bytes() const { return row_bytes + column_bytes + value_bytes; }
  [[nodiscard]] std::uint64_t device_bytes(std::uint64_t lut_bytes) const {
    return blob_bytes() + chunks.size() * header_bytes + (uses_lut ? lut_bytes : 0);
  }
};

/// The first row from `row` on that has entries; a.rows() if none has. O(log of the number of rows skipped).
std::uint64_t next_row(const CsrView& a, std::uint64_t row) {
  if (row >= a.rows()) return a.rows();
  const std::uint64_t entry = a.row_ptr(row);
  std::uint64_t step = 1;
  while (row < a.rows() && a.row_ptr(row + 1) == entry) {
    // Rows `row` to row + step - 1 are empty if row + step starts where `row` does.
    if (step > a.rows() - row || a.row_ptr(row + step) != entry) {
      step /= 2;
      continue;
    }
    row += step;
    step *= 2;
  }
  return row;
}

/// Splits the entries into chunks and determines every chunk's encoding, for one K. O(rows + chunks).
class Chunker {
 public:
  /// `values`: how chunks may have them; ids takes raw ones where the table lacks any.
  Chunker(const CsrView& a, const RawEntries& raw, std::uint32_t lanes, std::uint32_t slots, Values values)
      : a_(a),
        raw_(raw),
        lanes_(lanes),
        value_size_(static_cast<std::uint32_t>(size_of(a.value_type()))),
        values_(values) {
    out_.slots = slots;
  }

  Chunking run() {
    for (std::uint64_t r = next_row(a_, 0); r < a_.rows(); r = next_row(a_, r + 1))
      add_row(static_cast<std::uint32_t>(r), a_.row_ptr(r), a_.row_ptr(r + 1));
    close();
    return std::move(out_);
  }

 private:
  void add_row(std::uint32_t row, std::uint64_t entry, std::uint64_t end) {
    if (used_ != 0 && entry < end && row - chunk_.row_base > max_row_span) close();
    while (entry < end) {
      if (used_ == 0) open(row, entry);
      const std::uint64_t needed = div_up(end - entry, out_.slots);
      const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(needed, lanes_ - used_));
      const std::uint64_t stop = std::min(end, entry + std::uint64_t{taken} * out_.slots);
      smallest_ = std::min(smallest_, a_.col_idx()[entry]);
      largest_ = std::max(largest_, a_.col_idx()[stop - 1]);
      has_raw_ = has_raw_ || raw_.any(entry, stop);
      used_ += taken;
      last_row_ = row;
      entry = stop;
      if (used_ == lanes_) close();
    }
  }

  void open(std::uint32_t row, std::uint64_t entry) {
    chunk_.first_entry = entry;
    chunk_.row_base = row;
    continues_ = !out_.chunks.empty() && row == last_row_;
    smallest_ = ~0U;
    largest_ = 0;
    has_raw_ = values_ == Values::raw;
  }

  void close() {
    if (used_ == 0) return;
    const std::uint32_t group = group_lanes(lanes_), groups = (used_ + group - 1) / group, stored = groups * group;
    chunk_.col_base = smallest_;
    chunk_.encoding = make_encoding(last_row_ == chunk_.row_base, column_code_for(largest_ - smallest_), !has_raw_,
                                    groups, continues_);
    chunk_.blob_offset = out_.blob_bytes();
    const BlobLayout at =
        blob_layout(chunk_.encoding, stored, out_.slots, value_size_, values_ == Values::single ? 0 : 1);
    out_.row_bytes += at.columns;
    out_.column_bytes += at.values - at.columns;
    out_.value_bytes += at.end - at.values;
    out_.raw_bytes += has_raw_ ? at.end - at.values : 0;
    out_.stored_slots += std::uint64_t{stored} * out_.slots;
    out_.uses_lut = out_.uses_lut || !has_raw_;
    out_.chunks.push_back(chunk_);
    used_ = 0;
  }

  const CsrView& a_;
  const RawEntries& raw_;
  std::uint32_t lanes_, value_size_;
  Values values_;
  Chunking out_;
  Chunk chunk_;
  std::uint32_t used_ = 0, last_row_ = 0, smallest_ = 0, largest_ = 0;
  bool has_raw_ = false, continues_ = false;
};

/// A power of two from `least` to `most`; none if the setting is absent or "auto".
std::optional<std::uint32_t> power_setting(const PlanOptions& options, const std::string& name, std::uint32_t least,
                                           std::uint32_t most) {
  const auto value = read_setting(options, name, least, most, "auto");
  if (!value) return {};
  if (!std::has_single_bit(*value))
    refuse_setting(name, options.settings.at(name), fmt::format("auto or a power of two from {} to {}", least, most));
  return static_cast<std::uint32_t>(*value);
}

/// A part split into chunks.
class ChunkedPart {
 public:
  ChunkedPart(const PartMatrix& part, const PlanOptions& options)
      : values_(part.values ? part.values : ValueTable::count(part.a, options.threads)),
        ids_(lut_bits(*values_)),
        lanes_(power_setting(options, "ccoo.b", 8, default_lanes).value_or(default_lanes)),
        single_(!wants_ids(options) && values_->distinct() == 1) {
    const std::optional<std::uint32_t> chosen = power_setting(options, "ccoo.k", 1, 8);
    const CsrView& a = part.a;
    const RawEntries raw(a, ids_, values_->covered(lut_capacity) != a.nnz(), options.threads);
    const std::uint64_t lut_bytes = values_->most_frequent().size() * size_of(a.value_type());

    std::array<Chunking, slot_choices.size()> all;
    parallel_for(all.size(), options.threads, [&](std::uint64_t i) {
      all[i] = Chunker(a, raw, lanes_, slot_choices[i], single_ ? Values::single : Values::ids).run();
      // A few small chunks may not pay for the table.
      Chunking plain;
      if (!single_ && all[i].uses_lut && all[i].chunks.size() <= lut_capacity) {
        plain = Chunker(a, raw, lanes_, slot_choices[i], Values::raw).run();
        if (plain.device_bytes(lut_bytes) <= all[i].device_bytes(lut_bytes)) all[i] = std::move(plain);
      }
    });
    std::size_t best = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool better = all[i].device_bytes(lut_bytes) < all[best].device_bytes(lut_bytes);
      if (chosen ? all[i].slots == *chosen : better) best = i;
    }
    for (const Chunking& c : all)
      considered_.push_back({fmt::format("k{}.device_bytes", c.slots), c.device_bytes(lut_bytes)});
    chunking_ = std::move(all[best]);
    if (options.for_report)
      published_bytes_ = published_bytes(a, *values_, raw, lanes_, chunking_.slots, options.threads);
  }

  /// Writes the bytes [begin, begin + out.size()) of section `index`.
  void fill(const CsrView& a, std::size_t index, std::uint64_t begin, std::span<std::byte> out) const {
    const auto of_chunks = [&]<class T>(T, auto member) {
      compute_elements<T>(begin, out, [&](std::uint64_t c) { return member(chunking_.chunks[c]); });
    };
    switch (index) {
      case encoding:
        return of_chunks(std::uint8_t{}, [](const Chunk& c) { return c.encoding.bits; });
      case row_base:
        return of_chunks(std::uint32_t{}, [](const Chunk& c) { return c.row_base; });
      case col_base:
        return of_chunks(std::uint32_t{}, [](const Chunk& c) { return c.col_base; });
      case blob_offset:
        return of_chunks(std::uint64_t{}, [](const Chunk& c) { return c.blob_offset; });
      case blob:
        return fill_blob(a, begin, out);
      default:
        dispatch(a.value_type(), [&]<class T>(T) {
          compute_elements<bits_of<T>>(
              begin, out, [&](std::uint64_t i) { return static_cast<bits_of<T>>(values_->most_frequent()[i].bits); });
        });
    }
  }

  /// Adds what the plan says about the chunks.
  void describe(PartPlan& plan, const CsrView& a, const Device& device, int threads) const {
    const Chunking& c = chunking_;
    const std::uint64_t chunks = c.chunks.size();
    plan.info.params[param_lanes] = lanes_;
    plan.info.params[param_slots] = c.slots;
    plan.info.params[param_single] = single_ ? 1 : 0;
    plan.info.counts[section_encoding] = chunks;
    plan.info.counts[section_blob] = blob_bytes();
    plan.info.counts[section_lut] = lut_size();
    plan.padding = c.stored_slots - a.nnz();
    plan.byte_shares = {{"row_offsets", c.row_bytes},
                        {"columns", c.column_bytes},
                        {"values", c.value_bytes},
                        {"chunk_headers", chunks * header_bytes},
                        {"lut", lut_size() * size_of(a.value_type())}};
    std::array<std::uint64_t, 3> columns{};
    std::uint64_t one_row = 0, with_lut = 0;
    for (const Chunk& chunk : c.chunks) {
      ++columns.at(chunk.encoding.column_code());
      one_row += chunk.encoding.one_row() ? 1 : 0;
      with_lut += chunk.encoding.lut() ? 1 : 0;
    }
    plan.counters = {{"k", c.slots},
                     {"b", lanes_},
                     {"chunks", chunks},
                     {"chunks.one_row", one_row},
                     {"chunks.columns_8", columns[0]},
                     {"chunks.columns_16", columns[1]},
                     {"chunks.columns_32", columns[2]},
                     {"chunks.values_lut", single_ ? 0 : with_lut},
                     {"chunks.values_raw", chunks - with_lut}};
    if (single_) plan.counters.push_back({"chunks.values_single", chunks});
    if (published_bytes_) plan.counters.push_back({"published.bytes", *published_bytes_});
    plan.counters.insert(plan.counters.end(), considered_.begin(), considered_.end());
    plan.work = {{"ccoo.multiplies", 1},
                 {"ccoo.slots", c.stored_slots},
                 {"ccoo.lanes", c.stored_slots / c.slots},
                 {"ccoo.raw_bytes", c.raw_bytes},
                 {"ccoo.long_rows", has_long_row(a.longest_row(threads), std::uint64_t{lanes_} * c.slots)},
                 {"ccoo.serial", launch_rules::ccoo::serial_entries(a.rows(), chunks, lanes_, c.slots, lut_size(),
                                                                    device.multiprocessors)},
                 {"ccoo.empty_rows", a.rows() - filled_rows(a, threads)},
                 {"ccoo.run_entries", c.slots == 1 ? 0 : entries_in_runs(a, c.slots, threads)}};
  }
  [[nodiscard]] std::uint64_t blob_bytes() const { return chunking_.blob_bytes(); }
  [[nodiscard]] std::uint64_t lut_size() const { return chunking_.uses_lut ? values_->most_frequent().size() : 0; }

 private:
  static bool wants_ids(const PlanOptions& options) {
    const auto found = options.settings.find("ccoo.values");
    if (found == options.settings.end() || found->second == "auto") return false;
    if (found->second != "lut") refuse_setting(found->first, found->second, "auto or lut");
    return true;
  }
  static std::vector<ValueKey> lut_bits(const ValueTable& table) {
    std::vector<ValueKey> bits;
    for (const ValueCount& v : table.most_frequent()) bits.push_back(v.bits);
    return bits;
  }

  void fill_blob(const CsrView& a, std::uint64_t begin, std::span<std::byte> out) const {
    const CountedVector<Chunk>& chunks = chunking_.chunks;
    const std::uint64_t end = begin + out.size();
    auto after = std::upper_bound(chunks.begin(), chunks.end(), begin,
                                  [](std::uint64_t at, const Chunk& c) { return at < c.blob_offset; });
    std::vector<std::byte> whole;
    for (std::size_t c = static_cast<std::size_t>(after - chunks.begin()) - 1; c < chunks.size(); ++c) {
      const std::uint64_t first = chunks[c].blob_offset;
      const std::uint64_t last = c + 1 < chunks.size() ? chunks[c + 1].blob_offset : chunking_.blob_bytes();
      if (first >= end) break;
      if (begin <= first && last <= end) {
        fill_chunk(a, c, out.data() + (first - begin));
        continue;
      }
      // The requested bytes cover only part of this chunk.
      whole.resize(last - first);
      fill_chunk(a, c, whole.data());
      copy_overlap(begin, out, first, whole);
    }
  }

  void fill_chunk(const CsrView& a, std::size_t c, std::byte* out) const {
    dispatch(a.value_type(), [&]<class T>(T) {
      switch (chunking_.chunks[c].encoding.column_code()) {
        case 0:
          return write_chunk<T, std::uint8_t>(a, c, out);
        case 1:
          return write_chunk<T, std::uint16_t>(a, c, out);
        default:
          return write_chunk<T, std::uint32_t>(a, c, out);
      }
    });
  }

  template <class T, class Offset>
  void write_chunk(const CsrView& a, std::size_t c, std::byte* out) const {
    const Chunk& chunk = chunking_.chunks[c];
    const std::uint64_t stop = c + 1 < chunking_.chunks.size() ? chunking_.chunks[c + 1].first_entry : a.nnz();
    const std::uint32_t slots = chunking_.slots, stored = chunk.encoding.groups() * group_lanes(lanes_);
    const BlobLayout at = blob_layout(chunk.encoding, stored, slots, sizeof(T), single_ ? 0 : 1);
    const T* const values = a.values<T>();
    auto* const rows = reinterpret_cast<std::uint8_t*>(out);
    std::byte* const columns = out + at.columns;
    std::byte* const raw = out + at.values;
    std::uint32_t lane = 0, row = chunk.row_base;
    Offset offset = 0;
    const auto put_column = [&](std::size_t slot) {
      std::memcpy(columns + slot * sizeof(Offset), &offset, sizeof offset);
    };

    for (std::uint64_t entry = chunk.first_entry; entry < stop;) {
      while (a.row_ptr(row + std::uint64_t{1}) <= entry) ++row;
      const std::uint64_t end = std::min(stop, a.row_ptr(row + std::uint64_t{1})), n = end - entry;
      const auto taken = static_cast<std::uint32_t>(div_up(n, slots));
      const std::size_t first = std::size_t{lane} * slots, last = first + std::size_t{taken} * slots;
      if (!chunk.encoding.one_row()) std::memset(rows + lane, static_cast<int>(row - chunk.row_base), taken);
      for (std::uint64_t i = 0; i < n; ++i) {
        offset = static_cast<Offset>(a.col_idx()[entry + i] - chunk.col_base);
        put_column(first + i);
      }
      for (std::size_t slot = first + n; slot < last; ++slot) put_column(slot);
      if (single_) {
        // The table says it all.
      } else if (chunk.encoding.lut()) {
        for (std::uint64_t i = 0; i < n; ++i)
          raw[first + i] = static_cast<std::byte>(ids_.find(value_bits(values[entry + i])));
        std::memset(raw + first + n, 0, last - first - n);
      } else {
        std::memcpy(raw + first * sizeof(T), values + entry, n * sizeof(T));
        std::memset(raw + (first + n) * sizeof(T), 0, (last - first - n) * sizeof(T));
      }
      lane += taken;
      entry = end;
    }
    // Lanes that fill up the last group repeat the last row and column.
    const std::size_t first = std::size_t{lane} * slots, last = std::size_t{stored} * slots;
    const std::size_t value_size = single_ ? 0 : chunk.encoding.lut() ? 1 : sizeof(T);
    if (!chunk.encoding.one_row()) std::memset(rows + lane, static_cast<int>(row - chunk.row_base), stored - lane);
    for (std::size_t slot = first; slot < last; ++slot) put_column(slot);
    std::memset(raw + first * value_size, 0, (last - first) * value_size);
  }

  std::shared_ptr<const ValueTable> values_;
  ValueIds ids_;
  std::uint32_t lanes_;
  bool single_;  ///< whether all values have the same bits, and chunks have none
  Chunking chunking_;
  std::vector<Counter> considered_;               ///< device bytes for every K
  std::optional<std::uint64_t> published_bytes_;  ///< by the paper's rules, if a report asks
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const auto chunked = std::make_shared<const ChunkedPart>(part, options);
  PartPlan plan = begin_plan(layout, part);
  chunked->describe(plan, part.a, device_of(options), options.threads);
  for (const SectionShape& map : plan.sections) plan.byte_shares.push_back({map.name, map.raw_bytes()});
  for (std::size_t i = 0; i < sections.size(); ++i) {
    add_section(plan, sections[i]);
    if (i == section_blob) plan.sections.back().filter_width = static_cast<std::uint8_t>(size_of(part.a.value_type()));
  }
  plan.choices = chunked;
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  choices_of<ChunkedPart>(plan).fill(a, section, begin, out);
}

Least least(const Survey& s) {
  const std::uint64_t nnz = s.a.nnz(), ids = s.values->covered(lut_capacity);
  const std::uint64_t raw_bytes = (nnz - ids) * size_of(s.a.value_type());
  return {nnz + (s.values->distinct() == 1 ? 0 : ids) + raw_bytes,
          false,
          {{"ccoo.multiplies", 1},
           {"ccoo.slots", nnz},
           {"ccoo.lanes", std::max(s.filled_rows, nnz / slot_choices.back())},
           {"ccoo.raw_bytes", raw_bytes},
           {"ccoo.empty_rows", s.a.rows() - s.filled_rows}}};
}

}  // namespace
}  // namespace ccoo_plans

extern const LayoutEncoder ccoo{"ccoo",
                                "compressed COO: chunks with 8/16/32-bit columns and a table of 256 values",
                                "irregular rows, columns near each other, few distinct values",
                                ccoo_plans::settings,
                                ccoo_plans::plan,
                                ccoo_plans::fill,
                                ccoo_plans::least};

}  // namespace spmvpack::encoder::layouts
