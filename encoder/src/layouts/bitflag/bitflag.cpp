#include "spmvpack/container/layouts/bitflag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "layouts/bitflag/bitflag_work.hpp"
#include "layouts/bitflag/chunks.hpp"
#include "layouts/bitflag/values.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::encoder::layouts {
namespace bitflag_plans {
namespace {

constexpr std::array<Setting, 4> settings{
    Setting{"bitflag.values", "auto, raw, table, single, window or decimal",
            "where values are; auto takes the last two only with --optimize bytes"},
    Setting{"bitflag.tile", "auto, or 1 to 32", "chunks of a tile; with few entries, auto keeps rows in one tile"},
    Setting{"bitflag.hot", "auto, or 0 to 32768", "most used columns to hold in shared memory; auto: many, or none"},
    Setting{"bitflag.segments", "auto, or 1 and more",
            "segments of columns, with separate sums; auto: if rows are long"}};

/// What is stored of a part, but for what its entries say.
struct Flags {
  Source source = Source::raw;
  CountedVector<ValueKey> table;
  std::optional<ValueIds> ids;
  CountedVector<std::uint16_t> window_ids;  ///< of the entries
  Hot hot;
  CountedVector<std::uint32_t> hot_words;  ///< of each column: how it is stored if it is hot, else 0
  std::uint64_t segments = 1;
  CsrMatrix segmented;  ///< what is planned instead of the part if there are several
  Chunks chunks;
};

/// Writes the sections.
class BitflagWriter {
 public:
  BitflagWriter(const Flags& plan, const CsrView& part)
      : p_(plan), a_(plan.segments == 1 ? part : CsrView(plan.segmented)) {}

  void fill(std::size_t index, std::uint64_t begin, std::span<std::byte> out) const {
    switch (index) {
      case section_chunks:
        return compute_elements<Chunk>(begin, out, [&](std::uint64_t c) { return p_.chunks.all[c].chunk; });
      case section_stream:
        return dispatch(a_.value_type(), [&]<class T>(T) { fill_stream<T>(begin, out); });
      case section_values:
        return fill_table(a_.value_type(), p_.table, begin, out);
      case section_hot:
        return compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t i) { return p_.hot.columns[i]; });
      default:
        return compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t i) { return p_.chunks.segments[i]; });
    }
  }

 private:
  template <class T>
  void fill_stream(std::uint64_t begin, std::span<std::byte> out) const {
    const CountedVector<PlannedChunk>& all = p_.chunks.all;
    fill_pieces(
        all.size() - 1, [&](std::uint64_t c) { return std::uint64_t{all[c].chunk.place} * unit; }, begin, out,
        [&](std::uint64_t c, std::span<std::byte> bytes) {
          if (bytes.empty()) return;
          std::memset(bytes.data(), 0, bytes.size());
          write_chunk<T>(all[c], bytes.data());
        });
  }

  /// What entries [0, n) of a chunk have for their columns.
  template <class Offset>
  void write_columns(const PlannedChunk& planned, std::byte* out) const {
    const std::uint32_t n = planned.chunk.info.entries(), own_lanes = planned.chunk.info.lanes();
    const std::uint32_t* const col_idx = a_.col_idx() + planned.first_entry;
    auto* const offsets = reinterpret_cast<Offset*>(out);
    for (std::uint32_t e = 0; e < n; ++e)
      offsets[slot_of(sizeof(Offset), own_lanes, e / lane_entries, e % lane_entries)] =
          static_cast<Offset>(word_of(col_idx[e], planned.chunk.base));
  }
  void write_columns(const PlannedChunk& planned, std::byte* out) const {
    const Info info = planned.chunk.info;
    switch (info.column_bytes()) {
      case 1:
        return write_columns<std::uint8_t>(planned, out);
      case 2:
        return write_columns<std::uint16_t>(planned, out);
      case 3: {
        write_columns<std::uint16_t>(planned, out);
        std::byte* const highest = out + highest_bytes(info.lanes());
        for (std::uint32_t e = 0; e < info.entries(); ++e)
          highest[e] =
              static_cast<std::byte>(word_of(a_.col_idx()[planned.first_entry + e], planned.chunk.base) >> 16U);
        return;
      }
      default:
        return write_columns<std::uint32_t>(planned, out);
    }
  }

  template <class T>
  void write_chunk(const PlannedChunk& planned, std::byte* out) const {
    const Chunk& chunk = planned.chunk;
    const Info info = chunk.info;
    const std::uint32_t n = info.entries(), own_lanes = info.lanes();
    const ChunkLayout at = chunk_layout(info, p_.source, stored_bytes(p_.source, sizeof(T)));
    const auto* const values = static_cast<const bits_of<T>*>(a_.value_bytes()) + planned.first_entry;
    write_columns(planned, out + at.columns);
    if (p_.source == Source::raw)
      for (std::uint32_t e = 0; e < n; ++e)
        std::memcpy(out + at.values + slot_of(sizeof(T), own_lanes, e / lane_entries, e % lane_entries) * sizeof(T),
                    values + e, sizeof(T));
    if (p_.source == Source::table)
      for (std::uint32_t e = 0; e < n; ++e)
        out[at.values + slot_of(1, own_lanes, e / lane_entries, e % lane_entries)] =
            static_cast<std::byte>(p_.ids->find(std::uint64_t{values[e]}));
    if (p_.source == Source::window) {
      auto* const ids = reinterpret_cast<std::uint16_t*>(out + at.values);
      for (std::uint32_t e = 0; e < n; ++e)
        ids[slot_of(2, own_lanes, e / lane_entries, e % lane_entries)] = p_.window_ids[planned.first_entry + e];
    }
    if (p_.source == Source::decimal) write_decimals(planned, at, out);
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

  void write_decimals(const PlannedChunk& planned, const ChunkLayout& at, std::byte* out) const {
    const Info info = planned.chunk.info;
    const double* const values = a_.values<double>() + planned.first_entry;
    auto* const integers = reinterpret_cast<std::int32_t*>(out + at.values);
    for (std::uint32_t e = 0; e < info.entries(); ++e) {
      const Decimal decimal = decimal_of(values[e], info.exponent(), most_exponent(info)).value();
      integers[slot_of(4, info.lanes(), e / lane_entries, e % lane_entries)] = decimal.integer;
      if (const std::uint32_t more = decimal.exponent - info.exponent(); more != 0)
        out[at.exponents + e * info.exponent_bits() / 8] |=
            static_cast<std::byte>(info.exponent_bits() == 8 ? more : more << e % 2 * 4);
    }
  }

  [[nodiscard]] std::uint32_t word_of(std::uint32_t column, std::uint32_t base) const {
    return !p_.hot_words.empty() && p_.hot_words[column] != 0 ? p_.hot_words[column] : column - base;
  }

  const Flags& p_;
  CsrView a_;
};

class BitflagPlanner {
 public:
  BitflagPlanner(const PartMatrix& part, const PlanOptions& options)
      : a_(part.a), device_(device_of(options)), wanted_(read_name<Source>(options, settings[0], source_names)) {
    if (wanted_)
      check_values_setting(options, settings[0].name, source_names.at(static_cast<std::size_t>(*wanted_)),
                           values_are(*wanted_));
    const auto values = values_of(part.a, part.values, options);
    facts_ = {.rows = a_.rows(),
              .cols = a_.cols(),
              .entries = a_.nnz(),
              .value_size = size_of(a_.value_type()),
              .distinct_values = values->distinct(),
              .updatable = options.updatable};
    for (std::uint64_t r = 0; r < a_.rows() && a_.nnz() >= device_.small_entries; ++r)
      facts_.sums_of_few += std::min(a_.row_length(r), launch_rules::bitflag::few_segments);
    choose_source(*values);
    const std::uint64_t rows = a_.rows();
    choose_segments(options);
    choose_hot(options);
    if (!out_.hot.columns.empty()) {
      out_.hot_words.resize(a_.cols());
      const std::uint32_t bit = hot_bit(hot_column_bytes(a_.cols()));
      for (std::uint32_t i = 0; i < out_.hot.columns.size(); ++i) out_.hot_words[out_.hot.columns[i]] = bit | i;
    }
    if (out_.segments != 1) {
      out_.segmented = in_segments(a_, out_.segments, options.threads);
      a_ = CsrView(out_.segmented);
    }
    choose_tile(options);
    out_.chunks = plan_chunks(a_, {rows, div_up(a_.cols(), out_.segments), tile_, !out_.hot.columns.empty()});
    const auto of_values = choose_by_chunk(options);  // which may choose another source
    place_chunks(out_.chunks, out_.source, stored_bytes(out_.source, size_of(a_.value_type())), of_values);
  }

  void describe(PartPlan& plan, int threads) const {
    const std::uint64_t count = out_.chunks.all.size() - 1;
    plan.info.params[param_source] = static_cast<std::uint64_t>(out_.source);
    plan.info.params[param_tile_chunks] = tile_;
    plan.info.params[param_continued] = out_.chunks.continued;
    plan.info.counts[section_chunks] = (count + 1) * (sizeof(Chunk) / sizeof(std::uint32_t));
    plan.info.counts[section_stream] = out_.chunks.units * (unit / sizeof(std::uint32_t));
    plan.info.counts[section_values] = out_.table.size();
    plan.info.counts[section_hot] = out_.hot.columns.size();
    plan.info.counts[section_segments] = out_.segments == 1 ? 0 : out_.chunks.segments.size();
    plan.padding = out_.chunks.padding;
    const std::uint64_t headers = (count + 1) * sizeof(Chunk);
    plan.byte_shares = {{"chunks", headers},
                        {"flags", out_.chunks.units * unit - out_.chunks.column_bytes - out_.chunks.value_bytes -
                                      out_.chunks.row_bytes},
                        {"columns", out_.chunks.column_bytes},
                        {"values", out_.chunks.value_bytes + out_.table.size() * size_of(a_.value_type())},
                        {"rows", out_.chunks.row_bytes},
                        {"hot", out_.hot.columns.size() * 4},
                        {"segments", out_.segments == 1 ? 0 : out_.chunks.segments.size() * 4}};
    std::uint64_t with_entries = 0;
    for (const PlannedChunk& c : out_.chunks.all) with_entries += c.chunk.info.entries() != 0 ? 1 : 0;
    plan.counters = {main_choice(fmt::format("values.{}", source_names.at(static_cast<std::size_t>(out_.source))), 1),
                     main_choice("tile_chunks", tile_),
                     {"chunks", with_entries},
                     {"chunks.columns_8", out_.chunks.of_column_bytes[0]},
                     {"chunks.columns_16", out_.chunks.of_column_bytes[1]},
                     {"chunks.columns_24", out_.chunks.of_column_bytes[2]},
                     {"chunks.columns_32", out_.chunks.of_column_bytes[3]},
                     {"chunks.without_entries", count - with_entries},
                     {"tiles.continued", out_.chunks.continued},
                     {"segments", out_.segments},
                     {"hot.columns", out_.hot.columns.size()},
                     {"hot.entries", out_.hot.entries}};
    const std::uint64_t filled = filled_rows(a_, threads);
    describe_multiply(plan,
                      {.cols = a_.cols(),
                       .entries = a_.nnz(),
                       .table_entries = out_.source == Source::table || out_.source == Source::window ? a_.nnz() : 0,
                       .raw_bytes = out_.source == Source::raw ? out_.chunks.value_bytes : 0,
                       .tiles = count / tile_,
                       .tile_chunks = tile_,
                       .carries = out_.chunks.continued != 0,
                       .long_carries = 2 * out_.chunks.continued * tile_ > count,
                       .hot_columns = out_.hot.columns.size(),
                       .hot_entries = out_.hot.entries,
                       .segments = out_.segments,
                       .segment_rows = a_.rows(),
                       .run_entries = entries_in_runs(a_, lane_entries, threads),
                       .rows = filled,
                       .empty_rows = a_.rows() - filled},
                      device_);
  }

  /// Once it is described.
  Flags take() { return std::move(out_); }

 private:
  [[noreturn]] void refuse_values(std::string_view because) const {
    const std::string_view wanted = source_names.at(static_cast<std::size_t>(*wanted_));
    throw Error(errc::unsupported, fmt::format("bitflag: bitflag.values is {}, but {}", wanted, because), {},
                "use bitflag.values=raw, or auto");
  }

  void choose_source(const ValueTable& values) {
    if (wanted_ && !fit(facts_, *wanted_)) refuse_values("the values do not repeat like that");
    out_.source = wanted_.value_or(usual_source(facts_));
    if (out_.source == Source::table || out_.source == Source::single)
      for (const ValueKey key : values.frequent_keys()) out_.table.push_back(key);
    if (out_.source == Source::table) out_.ids.emplace(out_.table);
  }

  /// The sources that are planned chunk by chunk: one that is wanted; or, if only bytes count, the one of fewest bytes
  /// if it takes fewer than what has been chosen. Returns what is common to the values of each chunk.
  CountedVector<std::uint16_t> choose_by_chunk(const PlanOptions& options) {
    if (out_.source == Source::window) {
      auto windows = plan_windows(a_, out_.chunks, max_window_values);
      if (!windows) refuse_values("the values do not repeat like that");
      return take(std::move(*windows));
    }
    if (out_.source == Source::decimal) {
      auto decimals = plan_decimals(a_, out_.chunks, options.threads);
      if (!decimals) refuse_values("a value is no f64 that is an integer of 32 bits over a power of ten");
      return std::move(decimals->of_chunks);
    }
    if (wanted_ || options.aim.optimize != Objective::bytes || out_.source == Source::single) return {};
    const std::uint64_t size = facts_.value_size;
    ValueFacts facts{a_.nnz() + out_.chunks.padding, size, 0};
    facts.bytes = facts.slots * stored_bytes(out_.source, size) + out_.table.size() * size;
    std::optional<Decimals> decimals;
    if (fit(facts_, Source::decimal)) decimals = plan_decimals(a_, out_.chunks, options.threads);
    if (decimals) facts.exponent_bytes = decimals->exponent_bytes;
    if (const std::uint64_t most = most_window_values(facts); most != 0 && fit(facts_, Source::window))
      if (auto windows = plan_windows(a_, out_.chunks, most)) return take(std::move(*windows));
    if (!worth_decimals(facts)) return {};
    out_.source = Source::decimal;
    out_.table.clear();
    return std::move(decimals->of_chunks);
  }

  CountedVector<std::uint16_t> take(ValueWindows windows) {
    out_.source = Source::window;
    out_.table = std::move(windows.values);
    out_.window_ids = std::move(windows.ids);
    return std::move(windows.of_chunks);
  }

  static std::optional<std::uint64_t> hot_wanted(const PlanOptions& options) {
    return read_setting(options, "bitflag.hot", 0, max_hot, "auto");
  }

  void choose_hot(const PlanOptions& options) {
    const auto wanted = hot_wanted(options);
    if (out_.segments != 1) {
      if (wanted.value_or(0) != 0)
        throw Error(errc::usage,
                    fmt::format("bitflag.hot is {} and bitflag.segments {}: segments have no hot columns", *wanted,
                                out_.segments),
                    {}, "leave out one of them");
      return;
    }
    if (wanted) {
      if (*wanted != 0 && a_.cols() <= most_hot_cols && a_.nnz() != 0)
        out_.hot = hot_columns_of(a_, *wanted, options.threads);
      return;
    }
    const std::uint64_t count = hot_columns_to_count(facts_, options.aim, device_);
    if (count == 0) return;
    Hot hot = hot_columns_of(a_, count, options.threads);
    if (worth_hot_columns(facts_, hot.entries, bytes_of_columns(a_))) out_.hot = std::move(hot);
  }

  void choose_segments(const PlanOptions& options) {
    if (const auto wanted = read_setting(options, "bitflag.segments", 1, 0xFFFFFFFF, "auto")) {
      if (*wanted == 1 || a_.rows() == 0) return;
      if (!can_have_segments(facts_, *wanted))
        throw Error(errc::unsupported,
                    fmt::format("bitflag: bitflag.segments is {}, the part has {} rows and {} columns", *wanted,
                                a_.rows(), a_.cols()),
                    {},
                    "use another number, of segments of 1 to 65536 columns, whose rows are at most 2^24 in all or the "
                    "nonzeros; or auto");
      out_.segments = *wanted;
      return;
    }
    if (hot_wanted(options).value_or(0) == 0) out_.segments = usual_segments(facts_, options.aim, device_);
  }

  void choose_tile(const PlanOptions& options) {
    if (const auto wanted = read_setting(options, "bitflag.tile", 1, max_tile_chunks, "auto")) {
      tile_ = static_cast<std::uint32_t>(*wanted);
    } else {
      tile_ = usual_tile(a_.nnz(), a_.longest_row(options.threads), device_);
    }
  }

  CsrView a_;
  const Device& device_;
  std::optional<Source> wanted_;
  PartFacts facts_;
  Flags out_;
  std::uint32_t tile_ = 0;
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  BitflagPlanner planner(part, options);
  PartPlan plan = begin_plan(layout, part);
  planner.describe(plan, options.threads);
  for (const SectionShape& map : plan.sections) plan.byte_shares.emplace_back(map.name, map.raw_bytes());
  add_sections(plan, sections);
  keep_choices(plan, std::make_shared<Flags>(planner.take()));
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  BitflagWriter(choices_of<Flags>(plan), a).fill(section, begin, out);
}

Least least(const Survey& s) {
  const std::uint64_t nnz = s.a.nnz(), distinct = s.values->distinct();
  const std::uint64_t size = size_of(s.a.value_type());
  std::uint64_t value_bytes = distinct > max_table ? nnz * size : distinct > 1 ? nnz : 0;
  // Windows and decimals, that of the fewest bytes.
  if (s.fewest_bytes) value_bytes = std::min({value_bytes, nnz * 2 + distinct * size, nnz * 4});
  return {nnz + value_bytes + nnz / 8, true, {{Work::multiplies, 1}, {Work::entries, nnz}}, {}, columns_of(nnz, 1)};
}

}  // namespace

void describe_multiply(PartPlan& plan, const WorkFacts& f, const Device& device) {
  plan.near_entries = f.segments != 1 ? f.entries : f.hot_entries;
  plan.in_chunks = true;
  plan.fetch_limit = launch_rules::prefetch::usual_limit;
  plan.work = work_of(f, device);
  plan.columns = columns_of(f.entries, f.segments);
}

}  // namespace bitflag_plans

extern const LayoutEncoder bitflag{"bitflag",
                                   "equal chunks of entries, a bit where a row starts; hot columns separate",
                                   "graphs and other irregular rows of any length",
                                   bitflag_plans::settings,
                                   bitflag_plans::plan,
                                   bitflag_plans::fill,
                                   {.least = bitflag_plans::least, .aims = true, .update_multiplies = 2}};

}  // namespace spmvpack::encoder::layouts
