// Segmented and non-uniformly segmented SELL-C-sigma (Nagasaka, Nukada, Matsuoka: Cache-aware Sparse Matrix Formats for
// Kepler GPU, ICPADS 2014, as summarised in section 2.1 of their paper on AMB): a part for each segment of columns.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "falling_sort.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "strategies/lazy_part.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {
namespace {

constexpr std::uint64_t task_rows = 1U << 14;

/// Segments of columns.
struct Segments {
  std::uint64_t cols = 0, width = 1;                            ///< of the matrix; of the first segment
  std::shared_ptr<const CountedVector<std::uint32_t>> columns;  ///< in the order that is cut; null: their own
  std::shared_ptr<const CountedVector<std::uint32_t>> place;    ///< of each column in that order; null, too
  CountedVector<std::uint8_t> column_segment;                   ///< of each column in that order
  /// Each segment is twice as wide as the one before it: they begin at 0, w, 3 w, 7 w, ...
  bool doubling = false;

  [[nodiscard]] std::uint64_t segment_at(std::uint64_t at) const {
    const std::uint64_t i = at / width;
    return doubling ? static_cast<std::uint64_t>(std::bit_width(i + 1)) - 1 : i;
  }
  [[nodiscard]] std::uint64_t begin(std::uint64_t segment) const {
    return std::min(cols, width * (doubling ? (std::uint64_t{1} << segment) - 1 : segment));
  }
  [[nodiscard]] std::uint64_t count() const { return cols == 0 ? 0 : segment_at(cols - 1) + 1; }
  [[nodiscard]] PartIndices indices(std::uint64_t segment) const {
    const std::uint64_t from = begin(segment), n = begin(segment + 1) - from;
    if (columns == nullptr) return PartIndices::range(from, n);
    const auto first = columns->begin() + static_cast<std::ptrdiff_t>(from);
    return PartIndices::of(CountedVector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(n)));
  }
};

/// The rows with entries in one segment, and where their entries begin.
struct SegmentRows {
  CountedVector<std::uint32_t> rows;
  Array<std::uint64_t> row_ptr;
};

/// A row's entries in one segment.
struct Piece {
  std::uint32_t row, segment, length;
};

/// Cuts rows into pieces, whose number is returned. Columns that are cut in their own order rise, and so do a row's
/// segments. There is no branch on an entry's segment, which could not be predicted.
std::uint64_t cut_in_order(const CsrView& a, const Segments& segments, std::uint64_t begin, std::uint64_t end,
                           Piece* pieces) {
  const std::uint32_t* const columns = a.col_idx();
  const auto cut = [&](auto&& segment_of) {
    std::uint64_t count = 0;
    for (std::uint64_t r = begin; r < end; ++r) {
      std::uint32_t last = ~0U, length = 0;
      for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) {
        const std::uint32_t s = segment_of(columns[k]);
        count += s != last ? 1 : 0;
        length = (s != last ? 0 : length) + 1;
        last = s;
        pieces[count - 1] = {static_cast<std::uint32_t>(r), s, length};
      }
    }
    return count;
  };
  const auto width = static_cast<std::uint32_t>(segments.width);
  if (!std::has_single_bit(width)) return cut([width](std::uint32_t column) { return column / width; });
  return cut([shift = std::countr_zero(width)](std::uint32_t column) { return column >> shift; });
}

/// The same for columns in another order.
std::uint64_t cut_sorted(const CsrView& a, const Segments& segments, std::uint64_t begin, std::uint64_t end,
                         Piece* pieces) {
  CountedVector<std::uint32_t> lengths(segments.count()), touched(segments.count() + 1);
  std::uint64_t count = 0;
  for (std::uint64_t r = begin; r < end; ++r) {
    std::size_t n = 0;
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) {
      const std::uint32_t s = segments.column_segment[a.col_idx()[k]];
      touched[n] = s;
      n += lengths[s]++ == 0 ? 1 : 0;
    }
    for (std::size_t i = 0; i < n; ++i)
      pieces[count++] = {static_cast<std::uint32_t>(r), touched[i], std::exchange(lengths[touched[i]], 0)};
  }
  return count;
}

CountedVector<SegmentRows> rows_of_segments(const CsrView& a, const Segments& segments, int threads) {
  struct Task {
    Array<Piece> pieces;
    MemoryReservation counted;                   // what is used of them
    CountedVector<std::uint64_t> rows, entries;  // of each segment; then of those before
  };
  CountedVector<Task> tasks(div_up(a.rows(), task_rows));
  parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
    Task& task = tasks[t];
    const std::uint64_t begin = t * task_rows, end = std::min(a.rows(), begin + task_rows);
    // Room for all that there may be: memory that nobody touches costs nothing, and is not counted.
    {
      const MemoryScope uncounted{MemoryScope::Uncounted{}};
      task.pieces = Array<Piece>(std::min(a.row_ptr(end) - a.row_ptr(begin), (end - begin) * segments.count()));
    }
    task.pieces.truncate(
        (segments.columns == nullptr ? cut_in_order : cut_sorted)(a, segments, begin, end, task.pieces.data()));
    task.counted = MemoryReservation(task.pieces.size() * sizeof(Piece));
    task.rows.resize(segments.count());
    task.entries.resize(segments.count());
    for (const Piece& p : task.pieces) ++task.rows[p.segment], task.entries[p.segment] += p.length;
  });
  CountedVector<SegmentRows> all(segments.count());
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::uint64_t rows = 0, entries = 0;
    for (Task& task : tasks) {
      rows += std::exchange(task.rows[s], rows);
      entries += std::exchange(task.entries[s], entries);
    }
    all[s].rows.resize(rows);
    all[s].row_ptr = Array<std::uint64_t>(rows + 1);
    all[s].row_ptr[0] = 0;
  }
  parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
    Task& task = tasks[t];
    for (const Piece& p : task.pieces) {
      SegmentRows& to = all[p.segment];
      const std::uint64_t i = task.rows[p.segment]++;
      to.rows[i] = p.row;
      to.row_ptr[i + 1] = task.entries[p.segment] += p.length;
    }
    task = {};
  });
  return all;
}

/// A list of rising rows; a range if none is left out.
PartIndices indices_of(CountedVector<std::uint32_t> rows, std::uint64_t all) {
  if (rows.size() == all) return PartIndices::all(all);
  if (rows.back() - rows.front() + std::uint64_t{1} == rows.size())
    return PartIndices::range(rows.front(), rows.size());
  return PartIndices::of(std::move(rows));
}

Plan plan_segments(std::string name, const CsrView& a, const Segments& segments, const PlanOptions& options) {
  // Refused by the segments that there may be, not by those with entries, as every one of them takes memory.
  if (segments.count() > format::max_parts)
    throw Error(errc::too_large,
                fmt::format("{}: {} segments, more than the {} parts that a container may have", name, segments.count(),
                            format::max_parts),
                {}, fmt::format("set {}.cols to {} or more", name, div_up(segments.cols, format::max_parts)));
  Plan plan;
  plan.strategy = std::move(name);
  CountedVector<SegmentRows> all = rows_of_segments(a, segments, options.threads);
  for (std::uint64_t s = 0; s < all.size(); ++s) {
    if (all[s].rows.empty()) continue;
    Cut part{indices_of(std::move(all[s].rows), a.rows()), segments.indices(s), std::move(all[s].row_ptr)};
    part.place = segments.place;
    part.begin = segments.begin(s);
    plan.parts.push_back(plan_part(layouts::sell, std::move(part), a.value_type(), options));
  }
  // A matrix without entries is one part, as in every other layout.
  if (plan.parts.empty()) plan.parts.push_back(layouts::sell.plan(PartMatrix::whole(a, options), options));
  return plan;
}

/// The columns by falling number of entries; columns with as many keep their order.
CountedVector<std::uint32_t> densest_first(const CsrView& a) {
  CountedVector<std::uint32_t> entries(a.cols()), order(a.cols());
  for (std::uint64_t k = 0; k < a.nnz(); ++k) ++entries[a.col_idx()[k]];
  std::iota(order.begin(), order.end(), 0);
  FallingSort()(order, [&](std::uint32_t c) { return entries[c]; });
  return order;
}

constexpr std::uint64_t default_width = 65536, default_first_width = 16384;

/// Columns, and columns for each nonzero, of which nus_sell refuses more.
constexpr std::uint64_t many_columns = std::uint64_t{1} << 24, columns_per_entry = 16;

/// At least so many parts, whose slots and chains add up to no less than those of one.
Least least_of_parts(const Survey& survey, std::uint64_t parts) {
  Least least = layouts::sell.traits.least(survey);
  least.work.front().value = parts;  // sell.multiplies
  return least;
}

Least least_of_segmented(const Survey& survey) {
  static_assert(default_width == Survey::segment_columns);
  return least_of_parts(survey, survey.segments);
}

Least least_of_nus(const Survey& survey) {
  Segments segments;
  segments.cols = survey.columns;  // sorted, those without entries come last
  segments.width = default_first_width;
  segments.doubling = true;
  return least_of_parts(survey, segments.count());
}

Strategy with_sell_settings(Strategy strategy) {
  const auto more = layouts::sell.settings;
  strategy.settings.insert(strategy.settings.end(), more.begin(), more.end());
  return strategy;
}

}  // namespace

Strategy segmented_sell() {
  return with_sell_settings(
      {.name = "segmented_sell",
       .summary = "a sell part for each segment of columns",
       .suits = "x larger than a cache, scattered columns",
       .settings = {{"segmented_sell.cols", "1 and more", "columns of a segment, 65536 unless set"}},
       .plan =
           [](const CsrView& a, const PlanOptions& options) {
             Segments segments;
             segments.cols = a.cols();
             segments.width =
                 layouts::read_setting(options, "segmented_sell.cols", 1, max_dimension, {}).value_or(default_width);
             return plan_segments("segmented_sell", a, segments, options);
           },
       .traits = {.least = least_of_segmented, .reproduction = true}});
}

Strategy nus_sell() {
  return with_sell_settings(
      {.name = "nus_sell",
       .summary = "columns sorted, densest first; a sell part for each of widening segments",
       .suits = "a few columns with most of the entries",
       .settings = {{"nus_sell.cols", "1 and more", "columns of the first segment, 16384 unless set"}},
       .plan =
           [](const CsrView& a, const PlanOptions& options) {
             // Sorting takes some 17 bytes of memory for each column, most of which would be empty.
             if (a.cols() > many_columns && a.cols() / columns_per_entry > a.nnz())
               throw Error(errc::unsupported, fmt::format("nus_sell: {} columns for {} nonzeros", a.cols(), a.nnz()),
                           {}, "use segmented_sell, which does not sort columns");
             const MemoryScope sorting(fmt::format("sorting {} columns", a.cols()));
             Segments segments;
             segments.cols = a.cols();
             segments.width =
                 layouts::read_setting(options, "nus_sell.cols", 1, max_dimension, {}).value_or(default_first_width);
             segments.doubling = true;
             segments.columns = std::make_shared<const CountedVector<std::uint32_t>>(densest_first(a));
             const auto place = std::make_shared<CountedVector<std::uint32_t>>(a.cols());
             segments.place = place;
             segments.column_segment.resize(a.cols());
             for (std::size_t i = 0; i < a.cols(); ++i) {
               const std::uint32_t column = (*segments.columns)[i];
               (*place)[column] = static_cast<std::uint32_t>(i);
               segments.column_segment[column] = static_cast<std::uint8_t>(segments.segment_at(i));
             }
             return plan_segments("nus_sell", a, segments, options);
           },
       .traits = {.least = least_of_nus, .reproduction = true}});
}

}  // namespace spmvpack::encoder::strategy
