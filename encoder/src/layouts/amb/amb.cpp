#include "spmvpack/container/layouts/amb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "layouts/amb/amb_rules.hpp"
#include "layouts/amb/chunks.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::encoder::layouts {
namespace amb_plans {
namespace {

constexpr std::array<Setting, 4> settings{
    Setting{"amb.segment", "1 to 65536", "columns of a segment, 65536 unless set"},
    Setting{"amb.c", "1 to 1024", "rows of a chunk (C), 32 unless set"},
    Setting{"amb.sigma", "1 and more", "rows that are sorted together, 32768 unless set"},
    Setting{"amb.block", "auto, or 1 to 8", "columns of a block; auto minimises device bytes"}};

/// The entries of a part in chunks, where they go.
class BlockedEntries {
 public:
  BlockedEntries(const Blocked& part, const CsrView& a) : p_(part), a_(a) {}

  void fill_columns(std::uint64_t begin, std::span<std::byte> out) const {
    each_lane(begin / 2, div_up(begin + out.size(), 2), 1, [&](std::uint64_t chunk, std::uint64_t lane) {
      std::uint64_t step = 0;
      std::uint16_t column = 0;
      const auto put = [&] {
        copy_overlap(begin, out, ((p_.cs[chunk] + step) * p_.chunk_rows + lane) * 2,
                     std::as_bytes(std::span(&column, 1)));
      };
      each_block(chunk, lane, [&](std::uint64_t start, std::uint64_t, std::uint64_t) {
        column = static_cast<std::uint16_t>(start);
        put();
        ++step;
      });
      for (const std::uint64_t steps = ChunkLength{p_.cl[chunk]}.steps(); step < steps; ++step) put();
    });
  }

  template <class T>
  void fill_values(std::uint64_t begin, std::span<std::byte> out) const {
    if (out.empty()) return;
    std::memset(out.data(), 0, out.size());
    each_lane(begin / sizeof(T), div_up(begin + out.size(), sizeof(T)), p_.block,
              [&](std::uint64_t chunk, std::uint64_t lane) {
                each_slot(chunk, lane, [&](std::uint64_t slot, std::uint64_t k) {
                  copy_overlap(begin, out, slot * sizeof(T), std::as_bytes(std::span(bits<T>() + k, 1)));
                });
              });
  }

  /// Slots of entries that are +0, in increasing order.
  template <class T>
  [[nodiscard]] CountedVector<std::uint64_t> zeros() const {
    CountedVector<std::uint64_t> slots;
    const bits_of<T>* const values = bits<T>();
    for (std::uint64_t c = 0; c < p_.cl.size(); ++c) {
      const auto first = static_cast<std::ptrdiff_t>(slots.size());
      for (std::uint64_t lane = 0; lane < p_.chunk_rows; ++lane)
        each_slot(c, lane, [&](std::uint64_t slot, std::uint64_t k) {
          if (values[k] == 0) slots.push_back(slot);
        });
      std::sort(slots.begin() + first, slots.end());  // chunks are in order
    }
    return slots;
  }

 private:
  template <class T>
  [[nodiscard]] const bits_of<T>* bits() const {
    return static_cast<const bits_of<T>*>(a_.value_bytes());
  }

  /// Calls f(chunk, lane) for the lanes of all chunks that have any of the elements [begin, end) of a section with
  /// `per_lane` elements for a step of a lane.
  template <class F>
  void each_lane(std::uint64_t begin, std::uint64_t end, std::uint64_t per_lane, F&& f) const {
    const std::uint64_t step = begin / per_lane / p_.chunk_rows;
    auto chunk = static_cast<std::uint64_t>(std::upper_bound(p_.cs.begin(), p_.cs.end(), step) - p_.cs.begin());
    for (chunk = chunk == 0 ? 0 : chunk - 1; chunk < p_.cs.size() && p_.cs[chunk] * p_.chunk_rows * per_lane < end;
         ++chunk)
      for (std::uint64_t lane = 0; lane < p_.chunk_rows; ++lane) f(chunk, lane);
  }

  /// Calls f(column in the segment, first entry, end of entries) for the blocks of a lane.
  template <class F>
  void each_block(std::uint64_t chunk, std::uint64_t lane, F&& f) const {
    const LaneRow to{p_.lanes[chunk * p_.chunk_rows + lane]};
    if (to.is_none()) return;
    const std::uint64_t row = to.is_shared() ? p_.shared[to.index()] : to.index();
    const std::uint64_t begin = ChunkLength{p_.cl[chunk]}.segment() * p_.segment_cols;
    const std::uint64_t cols = std::min(p_.segment_cols, a_.cols() - begin);
    const std::uint32_t* const columns = a_.col_idx();
    std::uint64_t k = a_.row_ptr(row);
    const std::uint64_t stop = a_.row_ptr(row + 1);
    if (to.is_shared()) k = static_cast<std::uint64_t>(std::lower_bound(columns + k, columns + stop, begin) - columns);
    while (k < stop && columns[k] < begin + cols) {
      const std::uint64_t start = std::min(columns[k] - begin, cols - p_.block), first = k;
      while (k < stop && columns[k] < begin + start + p_.block) ++k;
      f(start, first, k);
    }
  }

  /// Calls f(element of `values`, entry) for the entries of a lane.
  template <class F>
  void each_slot(std::uint64_t chunk, std::uint64_t lane, F&& f) const {
    const std::uint64_t begin = ChunkLength{p_.cl[chunk]}.segment() * p_.segment_cols;
    std::uint64_t step = p_.cs[chunk];
    each_block(chunk, lane, [&](std::uint64_t start, std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t k = first; k < last; ++k)
        f((step * p_.block + (a_.col_idx()[k] - begin - start)) * p_.chunk_rows + lane, k);
      ++step;
    });
  }

  const Blocked& p_;
  CsrView a_;
};

/// How many partial sums the row with most of them has; 1 if there are none. Those of a row are neighbours.
std::uint64_t most_of_a_row(std::span<const std::uint32_t> shared_rows) {
  std::uint64_t most = 1, first = 0;
  for (std::uint64_t i = 0; i < shared_rows.size(); ++i) {
    if (shared_rows[i] != shared_rows[first]) first = i;
    most = std::max(most, i + 1 - first);
  }
  return most;
}

[[noreturn]] void refuse(const std::string& what, const char* remedy) {
  throw Error(errc::unsupported, "amb: " + what, {}, remedy);
}

ChunkOptions options_of(const CsrView& a, const PlanOptions& options) {
  const ChunkOptions chosen{
      .segment_cols = read_setting(options, "amb.segment", 1, max_segment_cols, {}).value_or(max_segment_cols),
      .chunk_rows = read_setting(options, "amb.c", 1, max_chunk_rows, {}).value_or(default_chunk_rows),
      .sigma = read_setting(options, "amb.sigma", 1, max_dimension, {}).value_or(default_sigma)};
  if (const std::uint64_t segments = div_up(a.cols(), chosen.segment_cols); segments > max_segments)
    refuse(fmt::format("{} segments of {} columns", segments, chosen.segment_cols), "use a larger amb.segment");
  if (a.rows() > max_rows) refuse(fmt::format("{} rows", a.rows()), "use another layout");
  return chosen;
}

std::uint64_t choose_block(const PartFacts& facts, std::optional<std::uint64_t> wanted) {
  if (wanted && *wanted > widest_block(facts))
    refuse(fmt::format("blocks of {} columns in a segment of {}", *wanted, widest_block(facts)),
           "use a smaller amb.block, or another amb.segment");
  const std::uint64_t block = wanted.value_or(usual_block(facts));
  if (!can_be_numbered(facts, block))
    refuse(fmt::format("{} partial sums, {} steps", facts.partial_sums, facts.steps.at(block - 1)),
           "use a larger amb.segment");
  return block;
}

WorkFacts facts_of(const Blocked& part, const CsrView& a, std::uint64_t steps, const PlanOptions& options) {
  std::uint64_t longest = 0;
  for (const std::uint32_t length : part.cl) longest = std::max<std::uint64_t>(longest, ChunkLength{length}.steps());
  std::uint64_t jumps = 0;
  for (std::size_t i = 1; i < part.lanes.size(); ++i) jumps += part.lanes[i] != part.lanes[i - 1] + 1 ? 1 : 0;
  return {.rows = a.rows(),
          .empty_rows = part.empty.size(),
          .is_single = a.value_type() == ValueType::f32,
          .block = part.block,
          .chunks = part.cl.size(),
          .lanes = part.lanes.size(),
          .longest = longest,
          .jumps = jumps,
          .x_fits_cache = a.cols() * size_of(a.value_type()) <= profile_of(options.aim).x_caches.block_bytes,
          .lane_steps = steps * part.chunk_rows,
          .partial_sums = part.shared.size(),
          .most_of_a_row = most_of_a_row(part.shared),
          .bytes = steps * part.chunk_rows * bytes_of_block(part.block, size_of(a.value_type()))};
}

/// published.bytes: of the arrays that table 2 of the paper counts; the lists of shared and of empty rows are ours.
std::vector<Counter> counters_of(const Blocked& part, const PartFacts& facts) {
  const std::uint64_t chunks = part.cl.size(), lanes = part.lanes.size();
  std::vector<Counter> counters{main_choice("block", part.block),
                                main_choice("chunks", chunks),
                                {"segments", segments_of(facts)},
                                {"lanes", lanes},
                                {"lanes.shared", part.shared.size()},
                                {"rows.empty", part.empty.size()},
                                {"published.bytes", chunks * 8 + lanes * 4 + bytes_with(facts, part.block)}};
  for (std::uint64_t b = 1; b <= max_block; ++b)
    counters.emplace_back(fmt::format("block_{}.bytes", b), bytes_with(facts, b));
  return counters;
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  const auto wanted = read_setting(options, "amb.block", 1, max_block, "auto");
  const ChunkOptions cut = options_of(a, options);
  CountedVector<RowWindow> windows = cut_rows(a, cut, options.threads);
  PartFacts facts{.cols = a.cols(),
                  .segment_cols = cut.segment_cols,
                  .chunk_rows = cut.chunk_rows,
                  .value_size = size_of(a.value_type())};
  PerBlock blocks{};
  for (const RowWindow& w : windows) {
    facts.partial_sums += w.shared.size();
    for (std::size_t b = 0; b < max_block; ++b) facts.steps[b] += w.steps[b], blocks[b] += w.blocks[b];
  }
  const std::uint64_t block = choose_block(facts, wanted), steps = facts.steps.at(block - 1);
  Blocked blocked = join_windows(std::move(windows), cut, block);
  if (block > 1 && stores_zeros(a, options.threads))
    dispatch(a.value_type(), [&]<class T>(T) { blocked.zeros = BlockedEntries(blocked, a).zeros<T>(); });

  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_segment_cols] = cut.segment_cols;
  plan.info.params[param_block] = block;
  plan.info.params[param_chunk_rows] = cut.chunk_rows;
  plan.info.counts[section_cl] = blocked.cl.size();
  plan.info.counts[section_col_idx] = steps * cut.chunk_rows;
  plan.info.counts[section_shared_rows] = blocked.shared.size();
  plan.info.counts[section_empty_rows] = blocked.empty.size();
  plan.info.counts[section_stored_zeros] = blocked.zeros.size();
  plan.padding = steps * cut.chunk_rows * block - a.nnz();
  plan.fetch_limit = launch_rules::prefetch::usual_limit;
  plan.fill_reads_x = blocks.at(block - 1) * block > a.nnz();
  plan.work = work_of(facts_of(blocked, a, steps, options));
  plan.counters = counters_of(blocked, facts);
  add_sections(plan, std::span(sections).first(blocked.zeros.empty() ? 7 : 8));
  share_by_section(plan);
  keep_choices(plan, std::make_shared<Blocked>(std::move(blocked)));
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& part = choices_of<Blocked>(plan);
  const BlockedEntries entries(part, a);
  if (section == 3) return entries.fill_columns(begin, out);
  if (section == 4) return dispatch(a.value_type(), [&]<class T>(T) { entries.fill_values<T>(begin, out); });
  const std::array<const void*, 8> arrays{part.cl.data(), part.cs.data(),     part.lanes.data(), nullptr,
                                          nullptr,        part.shared.data(), part.empty.data(), part.zeros.data()};
  copy_from(arrays.at(section), begin, out);
}

Least least(const Survey& s) {
  static_assert(max_segment_cols == Survey::segment_columns && max_block <= Survey::far_columns);
  const std::uint64_t nnz = s.a.nnz(), segments = std::max<std::uint64_t>(div_up(s.a.cols(), max_segment_cols), 1);
  std::uint64_t block_bytes = ~std::uint64_t{0};
  for (std::uint64_t b = 1; b <= max_block; ++b)
    block_bytes =
        std::min(block_bytes, std::max(s.far_apart, div_up(nnz, b)) * bytes_of_block(b, size_of(s.a.value_type())));
  return {block_bytes + (s.pieces + s.shared_pieces) * 4,
          false,
          {{Work::multiplies, 1},
           {Work::slots, nnz},
           {Work::steps, std::max(s.far_apart, div_up(nnz, max_block))},
           {Work::partial_sums, s.shared_pieces},
           {Work::chain, div_up(chain_of(div_up(s.longest_row, segments), launch_rules::amb::values_in_flight), 4)}}};
}

}  // namespace
}  // namespace amb_plans

extern const LayoutEncoder amb{
    .name = "amb",
    .summary = "adaptive multi-level blocking: 16-bit columns in segments, blocks in rows",
    .suits = "blocks of neighbouring columns; x larger than a cache",
    .settings = amb_plans::settings,
    .plan = amb_plans::plan,
    .fill = amb_plans::fill,
    .traits = {.least = amb_plans::least, .reproduction = true, .without_fill = {"amb.block", "1"}}};

}  // namespace spmvpack::encoder::layouts
