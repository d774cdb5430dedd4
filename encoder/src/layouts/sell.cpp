#include "spmvpack/encoding_rules/sell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

#include "layouts/padded_rows.hpp"
#include "layouts/sell_work.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"

namespace spmvpack::encoder::layouts {
namespace sell_plans {
namespace {

constexpr std::array<Setting, 2> settings{
    Setting{"sell.c", "1 to 65536", "rows of a slice (C), 32 unless set"},
    Setting{"sell.sigma", "auto, or 1 and more",
            "rows sorted together; auto keeps the order unless sorting saves bytes"}};

/// The rows in an order, and their slices.
struct Sorted {
  std::uint64_t sigma = 1, steps = 0;
  CountedVector<std::uint32_t> order;  ///< empty: as they are
  CountedVector<std::uint32_t> slice_ptr;
  PartIndices rows;
};

Sorted sort(const PartMatrix& part, std::uint64_t sigma, std::uint64_t slice_rows, int threads) {
  const CsrView& a = part.a;
  Sorted s;
  s.sigma = sigma;
  if (sigma > 1) s.order = sorted_rows(a, sigma, threads);
  s.rows = reordered(part.rows, s.order);
  const std::uint64_t slices = div_up(a.rows(), slice_rows);
  CountedVector<std::uint64_t> widths(slices);
  parallel_items(slices, div_up(1U << 15, slice_rows), threads, [&](std::uint64_t slice) {
    for (std::uint64_t i = slice * slice_rows; i < std::min(a.rows(), (slice + 1) * slice_rows); ++i)
      widths[slice] = std::max(widths[slice], a.row_length(s.order.empty() ? i : s.order[i]));
  });
  s.slice_ptr.push_back(0);
  s.slice_ptr.reserve(slices + 1);
  for (const std::uint64_t width : widths) {
    s.steps += width;
    s.slice_ptr.push_back(static_cast<std::uint32_t>(s.steps));
  }
  if (s.steps > max_steps)
    throw Error(errc::unsupported, fmt::format("sell: {} steps in {} slices", s.steps, slices), {},
                "use larger slices, or another layout");
  return s;
}

/// Counts the steps that sorted rows would take: counting their lengths takes a fraction of the time of sorting them.
class StepCounter {
 public:
  explicit StepCounter(std::uint64_t slice_rows) : slice_rows_(slice_rows) {}

  /// More rows of the window.
  void count(std::uint64_t length, std::uint32_t rows) {
    if (length >= rows_.size()) {
      long_rows_.insert(long_rows_.end(), rows, length);
      return;
    }
    rows_[length] += rows;
    longest_ = std::max(longest_, length);
  }
  /// The rows of a window are complete, and are sorted by falling length. They belong to a wider one, too.
  void end_window(StepCounter* wider) {
    std::sort(long_rows_.begin(), long_rows_.end(), std::greater<>());
    const auto take = [&](std::uint64_t length, std::uint32_t rows) {
      add(length, rows);
      if (wider != nullptr) wider->count(length, rows);
    };
    for (const std::uint64_t length : long_rows_) take(length, 1);
    long_rows_.clear();
    for (std::uint64_t length = longest_ + 1; length-- > 0;)
      if (rows_[length] != 0) take(length, std::exchange(rows_[length], 0));
    longest_ = 0;
  }
  [[nodiscard]] std::uint64_t steps() const { return steps_ + open_steps_; }

 private:
  void add(std::uint64_t length, std::uint64_t rows) {
    if (open_rows_ != 0) {
      const std::uint64_t taken = std::min(rows, slice_rows_ - open_rows_);
      open_steps_ = std::max(open_steps_, length);
      open_rows_ += taken;
      rows -= taken;
      if (open_rows_ < slice_rows_) return;
      steps_ += open_steps_;
    }
    steps_ += rows / slice_rows_ * length;
    open_rows_ = rows % slice_rows_;
    open_steps_ = open_rows_ != 0 ? length : 0;
  }

  std::uint64_t slice_rows_, steps_ = 0;
  std::uint64_t open_rows_ = 0, open_steps_ = 0;  // of a slice that is not full
  std::uint64_t longest_ = 0;                     // of rows_
  std::array<std::uint32_t, 1024> rows_{};        // of each length
  CountedVector<std::uint64_t> long_rows_;        // lengths beyond
};

/// The steps for each of `sigmas`.
std::array<std::uint64_t, sigmas.size()> steps_if_sorted(const CsrView& a, std::uint64_t slice_rows, int threads) {
  constexpr std::uint64_t rows_per_task = 1U << 16;
  const std::uint64_t whole = std::lcm(sigmas.back(), slice_rows);  // windows that are whole slices
  std::array<std::atomic<std::uint64_t>, sigmas.size()> steps{};
  parallel_pieces(a.rows(), div_up(rows_per_task, whole) * whole, threads,
                  [&](std::uint64_t first, std::uint64_t last) {
                    std::vector<StepCounter> counters(sigmas.size(), StepCounter(slice_rows));
                    for (std::uint64_t begin = first; begin < last;) {
                      const std::uint64_t end = std::min(last, begin + sigmas[0]);
                      for (; begin < end; ++begin) counters[0].count(a.row_length(begin), 1);
                      for (std::size_t i = 0; i < sigmas.size(); ++i)
                        if (end == last || (end - first) % sigmas.at(i) == 0)
                          counters[i].end_window(i + 1 < sigmas.size() ? &counters[i + 1] : nullptr);
                    }
                    for (std::size_t i = 0; i < sigmas.size(); ++i) steps.at(i) += counters[i].steps();
                  });
  std::array<std::uint64_t, sigmas.size()> sums{};
  std::copy(steps.begin(), steps.end(), sums.begin());
  return sums;
}

/// Counts more only if it may matter.
SellDecision decide_by_counting(const CsrView& a, std::uint64_t unsorted_steps, std::uint64_t slice_rows, int threads) {
  SellFacts facts{a.rows(), a.nnz(), size_of(a.value_type()), slice_rows, unsorted_steps};
  if (may_be_sorted(facts)) facts.steps_of = steps_if_sorted(a, slice_rows, threads);
  return decide(facts);
}

/// Slices in file order; in a slice, slot 0 of all its rows, then slot 1.
struct Cursor {
  const CountedVector<std::uint32_t>* slice_ptr;
  std::uint64_t slice_rows, slice, step, lane = 0;

  Cursor(const CountedVector<std::uint32_t>& slices, std::uint64_t rows_of_slice, std::uint64_t slot)
      : slice_ptr(&slices), slice_rows(rows_of_slice), lane(slot % rows_of_slice) {
    const std::uint64_t at = slot / slice_rows;
    slice = static_cast<std::uint64_t>(std::upper_bound(slices.begin(), slices.end(), at) - slices.begin()) - 1;
    step = at - slices[slice];
  }
  [[nodiscard]] SlotPlace place() const { return {slice * slice_rows + lane, step}; }
  void next() {
    if (++lane != slice_rows) return;
    lane = 0;
    ++step;
    while (slice + 1 < slice_ptr->size() && step == (*slice_ptr)[slice + 1] - (*slice_ptr)[slice]) ++slice, step = 0;
  }
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const std::uint64_t slice_rows = read_setting(options, "sell.c", 1, max_slice_rows, {}).value_or(default_slice_rows);
  const auto fixed = read_setting(options, "sell.sigma", 1, max_dimension, "auto");
  Sorted best = sort(part, fixed.value_or(1), slice_rows, options.threads);
  if (!fixed)
    if (const auto chosen = decide_by_counting(part.a, best.steps, slice_rows, options.threads); chosen.sigma != 1)
      best = sort(part, chosen.sigma, slice_rows, options.threads);
  PartMatrix sorted = part;
  sorted.rows = best.rows;
  PartPlan plan = begin_plan(layout, sorted);
  plan.info.params[param_slice_rows] = slice_rows;
  plan.info.counts[section_col_idx] = checked_mul(best.steps, slice_rows, "slots of sell");
  add_sections(plan, sections);
  describe_multiply(plan, counts_of(part.a, slots_of(plan.info)), !best.order.empty(), device_of(options));
  plan.counters = {
      main_choice("slice_rows", slice_rows), main_choice("sigma", best.sigma), {"slices", best.slice_ptr.size() - 1}};
  keep_choices(plan, std::make_shared<Sorted>(std::move(best)));
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& sorted = choices_of<Sorted>(plan);
  const auto cursor = [&, slice_rows = plan.info.params[param_slice_rows]](std::uint64_t slot) {
    return Cursor(sorted.slice_ptr, slice_rows, slot);
  };
  if (section == 0)
    copy_from(sorted.slice_ptr.data(), begin, out);
  else if (section == 1)
    fill_columns(a, sorted.order, cursor, begin, out);
  else
    fill_values(a, sorted.order, cursor, begin, out);
}

Least least(const Survey& s) {
  const std::uint64_t nnz = s.a.nnz();
  return {nnz * slot_bytes(size_of(s.a.value_type())),
          false,
          {{Work::multiplies, 1},
           {Work::slots, nnz},
           {Work::chain, chain_of(s.longest_row, launch_rules::padded_rows::large_batch(false))},
           {Work::chain_slots, s.longest_row}},
          {},
          columns_of<Work>(nnz)};
}

}  // namespace

void describe_multiply(PartPlan& plan, const SlotCounts& counts, bool listed, const Device& device) {
  plan.work = work_of<Work>(describe_slots(plan, counts, Steps::of_slices, listed, device));
  plan.columns = columns_of<Work>(counts.entries);
}

}  // namespace sell_plans

extern const LayoutEncoder sell{"sell",
                                "SELL-C-sigma: slices of sorted rows, each padded to its longest",
                                "rows that are about as long as their neighbours",
                                sell_plans::settings,
                                sell_plans::plan,
                                sell_plans::fill,
                                {.least = sell_plans::least, .update_multiplies = 2}};

}  // namespace spmvpack::encoder::layouts
