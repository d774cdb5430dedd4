#pragma once
// bitflag: values are counted, then chunks cut, then the stream is written.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "layouts/bitflag/columns.hpp"
#include "layouts/bitflag/counts.hpp"
#include "layouts/bitflag/stream.hpp"
#include "layouts/bitflag/tiles.hpp"
#include "layouts/layouts.hpp"
#include "longest_row.hpp"
#include "spmvpack/encoder/settings.hpp"

namespace spmvpack::gpu_encoder {
namespace bitflag {

/// The layout's settings, in the order in which encoder has them.
const encoder::Setting& setting(std::size_t place);
[[noreturn]] void refuse_source(Source source);  ///< planned on the host alone
[[noreturn]] void refuse_fewest_bytes();         ///< for which the host tries those
[[noreturn]] void refuse_values(Source source);  ///< values do not repeat like that
[[noreturn]] void refuse_hot(std::uint64_t hot, std::uint64_t segments);
[[noreturn]] void refuse_segments(std::uint64_t segments, const Csr& a);
[[noreturn]] void refuse_stream();

/// The decisions of encoder's planner, in its order.
template <class Execution>
class Planner {
 public:
  Planner(const Execution& run, const Csr& a, const PartOptions& options)
      : run_(run), a_(a), options_(options.plan), device_(encoder::device_of(options.plan)) {
    const auto wanted = encoder::read_name<Source>(options_, setting(0), layouts::bitflag::source_names);
    if (wanted) {
      encoder::check_values_setting(options_, setting(0).name,
                                    layouts::bitflag::source_names.at(static_cast<std::size_t>(*wanted)),
                                    layouts::bitflag::values_are(*wanted));
      if (*wanted == Source::window || *wanted == Source::decimal) refuse_source(*wanted);
    }
    choose_source(wanted);
    choose_segments();
    choose_hot();
    if (segments != 1) {
      segmented_ = in_segments(run_, a_, segments);
      a_ = segmented_.a;
    }
    const auto tile_wanted =
        encoder::read_setting(options_, "bitflag.tile", 1, layouts::bitflag::max_tile_chunks, "auto");
    tile = tile_wanted ? static_cast<std::uint32_t>(*tile_wanted)
                       : rules::usual_tile(a_.nnz, longest_row(run_, a_), device_);
    cut();
  }

  Source source = Source::raw;
  DistinctValues values;
  Hot hot;
  std::uint64_t segments = 1;
  std::uint32_t tile = 0;
  Chunks chunks;
  /// The matrix whose entries chunks have: of all segments.
  [[nodiscard]] const Csr& entries() const { return a_; }

 private:
  void choose_source(std::optional<Source> wanted) {
    facts_ = {.rows = a_.rows, .cols = a_.cols, .entries = a_.nnz, .value_size = size_of(a_.type)};
    facts_.updatable = options_.updatable;
    facts_.distinct_values = encoder::ValueTable::max_distinct + 1;
    if (!options_.updatable && wanted != Source::raw) {
      values = distinct_values_of(run_, a_);
      if (values.count <= layouts::bitflag::max_table) facts_.distinct_values = values.count;
    }
    if (a_.nnz >= device_.small_entries) facts_.sums_of_few = sum_of_few(run_, a_, launch_rules::bitflag::few_segments);
    if (wanted && !rules::fit(facts_, *wanted)) refuse_values(*wanted);
    source = wanted.value_or(rules::usual_source(facts_));
    if (!wanted && options_.aim.optimize == encoder::Objective::bytes && source != Source::single)
      refuse_fewest_bytes();
    if (source == Source::raw) values.table.clear();
  }
  [[nodiscard]] std::optional<std::uint64_t> hot_wanted() const {
    return encoder::read_setting(options_, "bitflag.hot", 0, layouts::bitflag::max_hot, "auto");
  }
  void choose_segments() {
    if (const auto wanted = encoder::read_setting(options_, "bitflag.segments", 1, 0xFFFFFFFF, "auto")) {
      if (*wanted == 1 || a_.rows == 0) return;
      if (!rules::can_have_segments(facts_, *wanted)) refuse_segments(*wanted, a_);
      segments = *wanted;
      return;
    }
    if (hot_wanted().value_or(0) == 0) segments = rules::usual_segments(facts_, options_.aim, device_);
  }
  void choose_hot() {
    const auto wanted = hot_wanted();
    if (segments != 1) {
      if (wanted.value_or(0) != 0) refuse_hot(*wanted, segments);
      return;
    }
    if (wanted) {
      if (*wanted != 0 && a_.cols <= layouts::bitflag::most_hot_cols && a_.nnz != 0)
        hot = hot_columns_of(run_, a_, *wanted);
      return;
    }
    const std::uint64_t count = rules::hot_columns_to_count(facts_, options_.aim, device_);
    if (count == 0) return;
    Hot found = hot_columns_of(run_, a_, count);
    if (rules::worth_hot_columns(facts_, found.entries, bytes_of_columns(run_, a_))) hot = std::move(found);
  }
  void cut() {
    const Cut how{a_.rows / segments, div_up(a_.cols, segments), a_.cols, tile, hot.count != 0, segments != 1};
    const std::uint64_t count = a_.rows == 0 ? 0 : segments;
    chunks = a_.rows != 0 && chunks_are_full(run_, a_, how) ? cut_at_once(run_, a_, how, count)
                                                            : cut_in_turn(run_, a_, how, count);
    Chunk* const end = chunks.chunks.data() + chunks.count;
    std::uint64_t* const last = chunks.first_entry.data() + chunks.count;
    const std::uint64_t rows = a_.rows, nnz = a_.nnz;
    set_end(run_, end, last, rows, nnz);
  }
  static void set_end(const Execution& run, Chunk* end, std::uint64_t* last, std::uint64_t rows, std::uint64_t nnz) {
    const Chunk chunk{static_cast<std::uint32_t>(rows), 0, 0, Info{0}};
    run.write(end, &chunk, 1);
    run.write(last, &nnz, 1);
  }

  const Execution& run_;
  Csr a_;
  const encoder::PlanOptions& options_;
  const encoder::Device& device_;
  rules::PartFacts facts_;
  OwnCsr segmented_;
};

/// How each column is stored if it is hot, else 0.
template <class Execution>
Buffer<std::uint32_t> hot_words_of(const Execution& run, const Hot& hot, std::uint64_t cols) {
  if (hot.count == 0) return {};
  Buffer<std::uint32_t> words = run.template allocate<std::uint32_t>(cols);
  std::uint32_t* const word = words.data();
  const std::uint32_t* const columns = hot.columns.data();
  const std::uint32_t bit = layouts::bitflag::hot_bit(rules::hot_column_bytes(cols));
  run.zero(word, words.bytes());
  run.each(hot.count,
           [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { word[columns[i]] = bit | static_cast<std::uint32_t>(i); });
  return words;
}

template <class Bits, class Execution>
void write_part(const Execution& run, const Planner<Execution>& plan, const std::uint32_t* hot_words, PartMaker& part) {
  std::vector<Bits> table;
  for (const std::uint64_t key : plan.values.table) table.push_back(static_cast<Bits>(key));
  run.write(part.section<Bits>("values"), table.data(), table.size());
  auto* const stream = reinterpret_cast<std::byte*>(part.section<std::uint32_t>("stream"));
  run.zero(stream, layouts::bitflag::units_of(part.info()) * layouts::bitflag::unit);
  const StreamSource<Bits> source{plan.entries(), plan.chunks.chunks.data(), plan.chunks.first_entry.data(),
                                  plan.source,    {plan.values.keys.data()}, plan.values.ids.data(),
                                  hot_words};
  write_stream(run, source, plan.chunks.count, stream);
}

template <class Execution>
EncodedPart write(const Execution& run, const Planner<Execution>& plan, const PartInfo& info,
                  const PartOptions& options) {
  namespace layout = layouts::bitflag;
  PartMaker part(run.memory(), info, options);
  run.copy(part.section<std::uint32_t>("chunks"), plan.chunks.chunks.data(), plan.chunks.chunks.bytes());
  run.copy(part.section<std::uint32_t>("hot"), plan.hot.columns.data(), plan.hot.count * sizeof(std::uint32_t));
  run.copy(part.section<std::uint32_t>("segments"), plan.chunks.segments.data(),
           info.counts[layout::section_segments] * sizeof(std::uint32_t));
  const Buffer<std::uint32_t> hot_words = hot_words_of(run, plan.hot, info.cols.count);
  dispatch_bits(info.value_type, [&](auto zero) { write_part<decltype(zero)>(run, plan, hot_words.data(), part); });
  return part.finish();
}

/// What a multiply goes through, of chunks that have their places.
template <class Execution>
rules::WorkFacts work_facts(const Execution& run, const Planner<Execution>& plan, std::uint32_t value_bytes) {
  const Csr& a = plan.entries();
  const std::uint64_t filled = filled_rows(run, a);
  return {.cols = a.cols,
          .entries = a.nnz,
          .table_entries = plan.source == Source::table ? a.nnz : 0,
          .raw_bytes = plan.source == Source::raw ? bytes_of_values(run, plan.chunks, plan.source, value_bytes) : 0,
          .tiles = plan.chunks.count / plan.tile,
          .tile_chunks = plan.tile,
          .carries = plan.chunks.continued != 0,
          .long_carries = 2 * plan.chunks.continued * plan.tile > plan.chunks.count,
          .hot_columns = plan.hot.count,
          .hot_entries = plan.hot.entries,
          .segments = plan.segments,
          .segment_rows = a.rows,
          .run_entries = entries_in_runs(run, a, layouts::bitflag::lane_entries),
          .rows = filled,
          .empty_rows = a.rows - filled};
}

}  // namespace bitflag

template <class Execution>
PlannedPart plan_bitflag(const Execution& run, const Csr& a, const PartOptions& options) {
  namespace layout = layouts::bitflag;
  const auto plan = std::make_shared<const bitflag::Planner<Execution>>(run, a, options);
  const std::uint32_t value_bytes = layout::stored_bytes(plan->source, size_of(a.type));
  const std::uint64_t units = bitflag::place_chunks(run, plan->chunks, plan->source, value_bytes);
  if (units > 0xFFFFFFFF) bitflag::refuse_stream();

  PartInfo info = part_info(layout::layout, a);
  info.params[layout::param_source] = static_cast<std::uint64_t>(plan->source);
  info.params[layout::param_tile_chunks] = plan->tile;
  info.params[layout::param_continued] = plan->chunks.continued;
  info.counts[layout::section_chunks] = (plan->chunks.count + 1) * (sizeof(layout::Chunk) / sizeof(std::uint32_t));
  info.counts[layout::section_stream] = units * (layout::unit / sizeof(std::uint32_t));
  info.counts[layout::section_values] = plan->values.table.size();
  info.counts[layout::section_hot] = plan->hot.count;
  info.counts[layout::section_segments] = plan->segments == 1 ? 0 : plan->segments + 1;
  PlannedPart planned;
  if (options.weigh) {
    planned.plan = part_plan(info);
    describe_multiply(planned.plan, bitflag::work_facts(run, *plan, value_bytes), encoder::device_of(options.plan));
  }
  planned.write = [&run, &options, info, plan] { return bitflag::write(run, *plan, info, options); };
  return planned;
}

}  // namespace spmvpack::gpu_encoder
