#include "strategies/split_costs.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "column_passes.hpp"
#include "common_work.hpp"
#include "decide.hpp"
#include "layouts/bitflag/bitflag_work.hpp"
#include "layouts/bitflag/chunks.hpp"
#include "layouts/csell/csell_work.hpp"
#include "layouts/layouts.hpp"
#include "layouts/padded_rows.hpp"
#include "layouts/sell_work.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"
#include "spmvpack/encoding_rules/sell.hpp"
#include "spmvpack/launch_rules/columns.hpp"
#include "spmvpack/launch_rules/csell.hpp"
#include "strategies/lazy_part.hpp"

namespace spmvpack::encoder::strategy {
namespace {

namespace bitflag = layouts::bitflag_plans;
namespace csell = spmvpack::layouts::csell;
using CsellWork = layouts::csell_plans::Work;
using layouts::chain_of;
using layouts::chain_of_rows;

constexpr std::uint64_t slice_rows = csell::lanes, group_steps = csell::group_steps;
/// sell sorts rows in windows of so many, where sorting pays.
constexpr std::uint64_t window_rows = 256;
/// What is looked at, at most: windows for padding, long rows for columns; entries for csell.
constexpr std::uint64_t sample_windows = 1024, sample_rows = 1U << 17, sample_entries = std::uint64_t{1} << 17;

/// Every how many of them is looked at, so that at most `most` are.
std::uint64_t stride_of(std::uint64_t count, std::uint64_t most) {
  return std::max<std::uint64_t>(1, div_up(count, most));
}

std::uint64_t times(double factor, std::uint64_t count) {
  return static_cast<std::uint64_t>(factor * static_cast<double>(count));
}

/// Padding of slices, from windows all over the matrix.
void count_slots(const CsrView& a, std::span<ShortRows> all, std::uint64_t sell_rows, int threads) {
  struct Slots {
    std::uint64_t entries = 0, sell = 0, csell = 0;
  };
  const std::uint64_t window = std::max(window_rows, sell_rows);  // a slice at least
  const std::uint64_t windows = div_up(a.rows(), window), stride = stride_of(windows, sample_windows);
  constexpr std::uint64_t windows_per_task = 64;
  std::vector<std::vector<Slots>> tasks(div_up(div_up(windows, stride), windows_per_task));
  parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
    tasks[t].resize(all.size());
    std::vector<std::uint64_t> lengths, of_slice;
    for (std::uint64_t i = t * windows_per_task; i < (t + 1) * windows_per_task && i * stride < windows; ++i) {
      const std::uint64_t first = i * stride * window, last = std::min(a.rows(), first + window);
      lengths.clear();
      for (std::uint64_t r = first; r < last; ++r) lengths.push_back(a.row_length(r));
      for (std::uint64_t begin = 0; begin < lengths.size(); begin += slice_rows) {
        const auto from = lengths.begin() + static_cast<std::ptrdiff_t>(begin);
        const std::uint64_t n = std::min(slice_rows, lengths.size() - begin);
        of_slice.assign(from, from + static_cast<std::ptrdiff_t>(n));
        std::sort(of_slice.begin(), of_slice.end());
        for (std::size_t k = 0; k < all.size(); ++k) {
          const auto end = std::upper_bound(of_slice.begin(), of_slice.end(), all[k].length);
          if (end != of_slice.begin()) tasks[t][k].csell += div_up(*(end - 1), group_steps) * group_steps * slice_rows;
        }
      }
      std::sort(lengths.begin(), lengths.end());
      std::uint64_t entries = 0, counted = 0;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const auto end = static_cast<std::uint64_t>(std::upper_bound(lengths.begin(), lengths.end(), all[k].length) -
                                                    lengths.begin());
        for (; counted < end; ++counted) entries += lengths[counted];
        tasks[t][k].entries += entries;
        for (std::uint64_t at = end; at != 0; at -= std::min(at, sell_rows))  // slices begin with the longest row
          tasks[t][k].sell += lengths[at - 1] * sell_rows;
      }
    }
  });
  for (std::size_t k = 0; k < all.size(); ++k) {
    Slots sum;
    for (const auto& task : tasks) {
      sum.entries += task[k].entries;
      sum.sell += task[k].sell;
      sum.csell += task[k].csell;
    }
    const auto entries = static_cast<double>(all[k].entries), seen = static_cast<double>(sum.entries);
    all[k].sell_slots = sum.entries == 0 ? entries : entries * static_cast<double>(sum.sell) / seen;
    all[k].csell_slots = sum.entries == 0 ? entries : entries * static_cast<double>(sum.csell) / seen;
  }
}

/// Whether csell does as many times as much of it where entries are.
bool grows(const Counter& c) { return c.value > 1 && unit_named(c.name).growth == Growth::grows; }

}  // namespace

std::vector<std::uint64_t> lengths_to_try(std::uint64_t longest) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t power = 4; power < longest; power *= 2) {
    lengths.push_back(power);
    if (power != 4 && power + power / 2 < longest) lengths.push_back(power + power / 2);
  }
  lengths.push_back(longest);
  return lengths;
}

std::vector<ShortRows> count_short_rows(const CsrView& a, std::span<const std::uint64_t> lengths,
                                        std::uint64_t sell_rows, int threads) {
  CountedVector<CountedVector<ShortRows>> tasks(div_up(a.rows(), rows_per_task));
  parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
    CountedVector<ShortRows> own(lengths.size() + 1);
    for (std::uint64_t r = t * rows_per_task; r < std::min(a.rows(), (t + 1) * rows_per_task); ++r) {
      const std::uint64_t length = a.row_length(r);
      std::size_t i = 0;
      while (i < lengths.size() && length > lengths[i]) ++i;  // most rows are short
      ++own[i].rows;
      own[i].entries += length;
      own[i].longest = std::max(own[i].longest, length);
    }
    tasks[t] = std::move(own);
  });
  std::vector<ShortRows> all(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i != 0) all[i] = all[i - 1];
    all[i].length = lengths[i];
    all[i].sell_rows = sell_rows;
    for (const auto& task : tasks) {
      all[i].rows += task[i].rows;
      all[i].entries += task[i].entries;
      all[i].longest = std::max(all[i].longest, task[i].longest);
    }
  }
  count_slots(a, all, sell_rows, threads);
  return all;
}

SplitCosts::SplitCosts(const CsrView& a, const PlanOptions& options)
    : a_(a), options_(options), size_(size_of(a.value_type())) {
  const auto values = layouts::values_of(a, options.values, options);
  const std::uint64_t distinct = values->distinct();
  flag_value_bytes_ = bitflag::stored_bytes(
      bitflag::usual_source({.entries = a.nnz(), .value_size = size_, .distinct_values = distinct}), size_);
  look_at_columns();
  if (options.aim.optimize != Objective::bytes || flag_value_bytes_ <= 1) return;
  const PartPlan plan = sample(layouts::bitflag, a.cols(), a.nnz());  // there may be windows or decimals
  for (const Counter& share : plan.byte_shares)
    if (share.name == "values" && plan.info.nnz != 0)
      flag_value_bytes_ = static_cast<double>(share.value) / static_cast<double>(plan.info.nnz);
}

/// Bytes of columns in chunks of the matrix, and in long rows: whatever else is in their chunks, they span theirs.
void SplitCosts::look_at_columns() {
  const std::uint32_t* const columns = a_.col_idx();
  column_bytes_ = bitflag::bytes_of_columns(a_);
  std::uint64_t seen = 0, bytes = 0;
  for (std::uint64_t r = 0; r < a_.rows(); r += stride_of(a_.rows(), sample_rows)) {
    const std::uint64_t n = a_.row_length(r);
    if (n < 2 || n * a_.rows() <= 4 * a_.nnz()) continue;
    seen += n;
    bytes += n * bitflag::column_bytes(columns[a_.row_ptr(r + 1) - 1] - columns[a_.row_ptr(r)]);
  }
  long_column_bytes_ = seen == 0 ? column_bytes_ : static_cast<double>(bytes) / static_cast<double>(seen);
}

/// A plan of windows all over the matrix, of their rows of up to `length` entries, with all other rows empty. Windows
/// without such entries do not count: the rows that have them may be few, and side by side.
PartPlan SplitCosts::sample(const LayoutEncoder& layout, std::uint64_t length, std::uint64_t entries) const {
  const std::uint64_t stride = std::max<std::uint64_t>(1, entries / sample_entries);
  Array<std::uint64_t> row_ptr(a_.rows() + 1);
  row_ptr[0] = 0;
  std::uint64_t windows = 0;
  for (std::uint64_t first = 0; first < a_.rows(); first += window_rows) {
    const std::uint64_t last = std::min(a_.rows(), first + window_rows), before = row_ptr[first];
    for (std::uint64_t r = first; r < last; ++r)
      row_ptr[r + 1] = row_ptr[r] + (a_.row_length(r) <= length ? a_.row_length(r) : 0);
    if (row_ptr[last] != before && windows++ % stride != 0)
      std::fill(&row_ptr[first] + 1, &row_ptr[first] + (last - first + 1), before);
  }
  return layout.plan(
      copied_part(a_, {PartIndices::all(a_.rows()), PartIndices::all(a_.cols()), std::move(row_ptr)}, options_.threads),
      options_);
}

void SplitCosts::sample_csell(const ShortRows& of) {
  const PartPlan plan = sample(layouts::csell, of.length, of.entries);
  csell_work_.clear();
  if (plan.info.nnz == 0) return;
  const double all = static_cast<double>(of.entries) / static_cast<double>(plan.info.nnz);
  entries_ = static_cast<double>(of.entries);
  slots_ = of.csell_slots;
  slot_bytes_ = entry_bytes_ = 0;
  for (const Counter& share : plan.byte_shares)
    if (share.name != "slices")  // which are those of all rows
      (share.name == "values" ? entry_bytes_ : slot_bytes_) += all * static_cast<double>(share.value);
  for (const Counter& c : plan.work)  // between windows of the sample are no rows, so that any slices look heavy
    if (c.name != name_of(CsellWork::heavy_slots))
      csell_work_.emplace_back(c.name, grows(c) ? times(all, c.value) : c.value);
  csell_columns_ = plan.columns;
  for (Counter& c : csell_columns_.each) c.value = times(all, c.value);
}

double SplitCosts::cost(std::uint64_t bytes, std::uint64_t y_elements, std::vector<Counter> work,
                        ColumnsWork columns) const {
  work.emplace_back(CommonWork::bytes, y_elements * size_);
  if (!columns.each.empty())
    columns.each.emplace_back(CommonWork::columns_vector_bytes, (a_.cols() + y_elements) * size_);
  return cost_of(for_columns({bytes, std::move(work)}, columns, options_.aim), options_.aim);
}

double SplitCosts::of_short(const LayoutEncoder& layout, const ShortRows& s) const {
  return &layout == &layouts::sell ? sell(s) : csell(s);
}

double SplitCosts::sell(const ShortRows& s) const {
  const auto slots = static_cast<std::uint64_t>(s.sell_slots);
  const layouts::RowChain chain = chain_of_rows(a_.rows(), s.longest, s.entries, a_.value_type(), device());
  const layouts::SlotFacts facts{.slots = slots, .rows = a_.rows(), .chain = chain, .listed = a_.rows()};
  return cost(slots * layouts::slot_bytes(size_) + (a_.rows() + div_up(a_.rows(), s.sell_rows)) * sizeof(std::uint32_t),
              a_.rows(), layouts::work_of<layouts::sell_plans::Work>(facts),
              columns_on(options_.aim, "sell", s.entries, layouts::columns_of<layouts::sell_plans::Work>(s.entries)));
}

double SplitCosts::csell(const ShortRows& s) const {
  if (csell_work_.empty()) return std::numeric_limits<double>::infinity();
  const double slots = s.csell_slots / slots_, entries = static_cast<double>(s.entries) / entries_;
  std::vector<Counter> work = csell_work_;
  for (Counter& c : work)
    if (c.name == name_of(CsellWork::chain))
      c.value = chain_of(div_up(s.longest, group_steps), 1);
    else if (c.name == name_of(CsellWork::rows))
      c.value = a_.rows();
    else if (grows(c))
      c.value = times(slots, c.value);
  ColumnsWork columns = csell_columns_;
  for (Counter& c : columns.each) c.value = times(entries, c.value);
  const auto bytes = static_cast<std::uint64_t>(slot_bytes_ * slots + entry_bytes_ * entries);
  return cost(bytes + div_up(a_.rows(), slice_rows) * sizeof(csell::Slice), a_.rows(), std::move(work),
              columns_on(options_.aim, "csell", s.entries, columns));
}

double SplitCosts::least_of_csell(const ShortRows& s) const {
  return cost(0, 0,
              {{CsellWork::multiplies, 1},
               {CsellWork::chain, layouts::csell_plans::least_chain(div_up(s.longest, group_steps))}},
              columns_on(options_.aim, "csell", 0, {launch_rules::columns::most}));
}

std::uint64_t SplitCosts::segments_of_long(const ShortRows& s) const {
  if (const auto given = layouts::read_setting(options_, "bitflag.segments", 1, 0xFFFFFFFF, "auto")) return *given;
  if (layouts::read_setting(options_, "bitflag.hot", 0, 0xFFFFFFFF, "auto").value_or(0) != 0) return 1;
  const std::uint64_t rows = a_.rows() - s.rows, entries = a_.nnz() - s.entries;
  return bitflag::usual_segments({.rows = rows,
                                  .cols = a_.cols(),
                                  .entries = entries,
                                  .sums_of_few = std::min(entries, rows * launch_rules::bitflag::few_segments)},
                                 options_.aim, device());
}

double SplitCosts::spared_gathers(const ShortRows& s) const {
  return segments_of_long(s) == 1 ? 0 : far_gather_ * static_cast<double>(a_.nnz() - s.entries);
}

void SplitCosts::look_at_segments(std::span<const ShortRows> cuts) {
  if (options_.aim.optimize == Objective::bytes) return;
  const auto first =
      std::find_if(cuts.begin(), cuts.end(), [&](const ShortRows& s) { return segments_of_long(s) != 1; });
  if (first == cuts.end()) return;
  const PartMatrix rows = longer_rows(a_, first->length, options_.threads);
  const XSectors x = x_sectors(rows.a, options_.threads, profile_of(options_.aim).x_caches);
  far_gather_ = predicted_seconds(std::array{Counter(CommonWork::x_sectors, x.of_chunks),
                                             Counter(CommonWork::x_warp_sectors, x.of_warps)},
                                  profile_of(options_.aim)) /
                static_cast<double>(rows.a.nnz());
  most_spared_ = spared_gathers({});  // of no cut
  for (const ShortRows& s : cuts) most_spared_ = std::max(most_spared_, spared_gathers(s));
}

double SplitCosts::far_gathers(const ShortRows& s) const { return most_spared_ - spared_gathers(s); }

double SplitCosts::of_long(const ShortRows& s, std::uint64_t longest) const {
  const std::uint64_t entries = a_.nnz() - s.entries, rows = a_.rows() - s.rows;
  const bool listed = s.rows != 0;
  const std::uint64_t tile = std::uint64_t{bitflag::usual_tile(entries, longest, device())} * bitflag::chunk_entries;
  const bool carries = longest > tile;
  const std::uint64_t value_bytes = times(flag_value_bytes_, entries);
  const std::uint64_t segments = segments_of_long(s);
  const double of_column = segments != 1 ? 2 : listed ? long_column_bytes_ : column_bytes_;
  const std::uint64_t list_bytes = listed ? rows * sizeof(std::uint32_t) : 0;
  const bitflag::WorkFacts facts{.entries = entries,
                                 .raw_bytes = flag_value_bytes_ > 1 ? value_bytes : 0,
                                 .tiles = div_up(entries, tile),
                                 .tile_chunks = tile / bitflag::chunk_entries,
                                 .carries = carries,
                                 .long_carries = carries && 2 * rows * segments * tile < entries,
                                 .segments = segments,
                                 .segment_rows = segments * rows,
                                 .counts_segments = false,
                                 .rows = rows};
  return cost(value_bytes + times(bitflag::bytes_but_values(of_column), entries) + list_bytes, listed ? 2 * rows : rows,
              bitflag::work_of(facts, device()),
              columns_on(options_.aim, "bitflag", entries, bitflag::columns_of(entries, segments)));
}

}  // namespace spmvpack::encoder::strategy
