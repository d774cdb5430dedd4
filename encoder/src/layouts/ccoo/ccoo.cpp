#include "spmvpack/container/layouts/ccoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "layouts/ccoo/ccoo_rules.hpp"
#include "layouts/ccoo/chunks.hpp"
#include "layouts/ccoo/published.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::encoder::layouts {
namespace ccoo_plans {
namespace {

enum SectionIndex : std::uint8_t { encoding, row_base, col_base, blob_offset, blob, lut };
constexpr std::array<Setting, 3> settings{
    Setting{"ccoo.k", "auto, 1, 2, 4 or 8", "slots per lane (K); auto minimises device bytes"},
    Setting{"ccoo.b", "auto, 8, 16, 32, 64, 128 or 256", "lanes of a chunk (B), 256 unless set; GPUs take 32 and more"},
    Setting{"ccoo.values", "auto or lut", "lut: ids as in the paper, even if all values are the same"}};

/// A power of two from `least` to `most`; none if the setting is absent or "auto".
std::optional<std::uint32_t> power_setting(const PlanOptions& options, const std::string& name, std::uint32_t least,
                                           std::uint32_t most) {
  const auto value = read_setting(options, name, least, most, "auto");
  if (!value) return {};
  if (!std::has_single_bit(*value))
    refuse_setting(name, options.settings.at(name), fmt::format("auto or a power of two from {} to {}", least, most));
  return static_cast<std::uint32_t>(*value);
}

bool wants_ids(const PlanOptions& options) {
  constexpr std::string_view name = "lut";
  if (!has_name(options, settings[2], name)) return false;
  check_values_setting(options, settings[2].name, name, values_are(Values::ids));
  return true;
}

/// A part split into chunks.
class ChunkedPart {
 public:
  ChunkedPart(const PartMatrix& part, const PlanOptions& options)
      : values_(values_of(part.a, part.values, options, true)),
        table_(values_->frequent_keys()),
        ids_(table_),
        lanes_(power_setting(options, "ccoo.b", 8, default_lanes).value_or(default_lanes)),
        single_(usual_values(values_->distinct(), wants_ids(options)) == Values::single) {
    const std::optional<std::uint32_t> wanted = power_setting(options, "ccoo.k", 1, 8);
    const CsrView& a = part.a;
    const RawEntries raw(a, ids_, values_->covered(lut_capacity) != a.nnz(), options.threads);
    const std::uint64_t lut_bytes = table_.size() * size_of(a.value_type());

    std::array<Chunking, slot_choices.size()> all;
    std::array<ChunkingFacts, slot_choices.size()> ways;
    parallel_for(all.size(), options.threads, [&](std::uint64_t i) {
      all[i] = split_into_chunks(a, raw, lanes_, slot_choices[i], single_ ? Values::single : Values::ids);
      ways[i] = all[i].facts(lut_bytes);
      if (single_ || !may_not_pay_for_table(ways[i])) return;
      Chunking plain = split_into_chunks(a, raw, lanes_, slot_choices[i], Values::raw);
      if (device_bytes(plain.facts(0)) > device_bytes(ways[i])) return;
      ways[i] = plain.facts(0);
      all[i] = std::move(plain);
    });
    for (const ChunkingFacts& way : ways)
      considered_.emplace_back(fmt::format("k{}.device_bytes", way.slots), device_bytes(way));
    chunking_ = std::move(all.at(choose_slots(ways, wanted)));
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
        fill_table(a.value_type(), table_, begin, out);
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
    plan.counters = {main_choice("k", c.slots),
                     main_choice("b", lanes_),
                     {"chunks", chunks},
                     {"chunks.one_row", one_row},
                     {"chunks.columns_8", columns[0]},
                     {"chunks.columns_16", columns[1]},
                     {"chunks.columns_32", columns[2]},
                     {"chunks.values_lut", single_ ? 0 : with_lut},
                     {"chunks.values_raw", chunks - with_lut}};
    if (single_) plan.counters.emplace_back("chunks.values_single", chunks);
    if (published_bytes_) plan.counters.emplace_back("published.bytes", *published_bytes_);
    plan.counters.insert(plan.counters.end(), considered_.begin(), considered_.end());
    plan.work = work_of({.rows = a.rows(),
                         .empty_rows = a.rows() - filled_rows(a, threads),
                         .longest_row = a.longest_row(threads),
                         .lanes = lanes_,
                         .slots = c.slots,
                         .chunks = chunks,
                         .stored_slots = c.stored_slots,
                         .raw_bytes = c.raw_bytes,
                         .lut_size = lut_size(),
                         .run_entries = c.slots == 1 ? 0 : entries_in_runs(a, c.slots, threads)},
                        device);
  }
  [[nodiscard]] std::uint64_t blob_bytes() const { return chunking_.blob_bytes(); }
  [[nodiscard]] std::uint64_t lut_size() const { return chunking_.uses_lut ? table_.size() : 0; }

 private:
  void fill_blob(const CsrView& a, std::uint64_t begin, std::span<std::byte> out) const {
    const CountedVector<Chunk>& chunks = chunking_.chunks;
    fill_pieces(
        chunks.size(),
        [&](std::uint64_t c) { return c < chunks.size() ? chunks[c].blob_offset : chunking_.blob_bytes(); }, begin, out,
        [&](std::uint64_t c, std::span<std::byte> bytes) { fill_chunk(a, c, bytes.data()); });
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
  std::vector<ValueKey> table_;
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
  plan.in_chunks = true;
  plan.fetch_limit = launch_rules::prefetch::usual_limit;
  chunked->describe(plan, part.a, device_of(options), options.threads);
  for (const SectionShape& map : plan.sections) plan.byte_shares.emplace_back(map.name, map.raw_bytes());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    add_section(plan, sections[i]);
    if (i == section_blob) plan.sections.back().filter_width = static_cast<std::uint8_t>(size_of(part.a.value_type()));
  }
  keep_choices(plan, chunked);
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
          {{Work::multiplies, 1},
           {Work::slots, nnz},
           {Work::lanes, std::max(s.filled_rows, nnz / slot_choices.back())},
           {Work::raw_bytes, raw_bytes},
           {Work::empty_rows, s.a.rows() - s.filled_rows}}};
}

}  // namespace
}  // namespace ccoo_plans

extern const LayoutEncoder ccoo{
    .name = "ccoo",
    .summary = "compressed COO: chunks with 8/16/32-bit columns and a table of 256 values",
    .suits = "irregular rows, columns near each other, few distinct values",
    .settings = ccoo_plans::settings,
    .plan = ccoo_plans::plan,
    .fill = ccoo_plans::fill,
    .traits = {.least = ccoo_plans::least, .update_multiplies = 3, .empty_rows = EmptyRows::in_turn}};

}  // namespace spmvpack::encoder::layouts
