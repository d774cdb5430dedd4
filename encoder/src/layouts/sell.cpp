#include "spmvpack/container/layouts/sell.hpp"

#include <fmt/format.h>

#include <array>

#include "layouts/padded_rows.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using namespace spmvpack::layouts::sell;  // what the bytes mean

constexpr std::array<Setting, 2> settings{
    Setting{"sell.c", "1 to 65536", "rows of a slice (C), 32 unless set"},
    Setting{"sell.sigma", "auto, or 1 and more", "rows that are sorted together; auto minimises device bytes"}};

constexpr std::uint64_t default_slice_rows = 32;
/// What auto tries. Beyond, little padding is left to save, and neighbouring rows are far apart.
constexpr std::array<std::uint64_t, 4> sigmas{1, 256, 4096, 32768};

/// The rows in an order, and their slices.
struct Sorted {
  std::uint64_t sigma = 1, steps = 0;
  std::vector<std::uint32_t> order;  ///< empty: as they are
  std::vector<std::uint32_t> slice_ptr;
  PartIndices rows;

  /// Device bytes that depend on sigma.
  [[nodiscard]] std::uint64_t bytes(std::uint64_t slice_rows, ValueType type) const {
    return steps * slice_rows * (4 + size_of(type)) + order.size() * 4;
  }
};

Sorted sort(const PartMatrix& part, std::uint64_t sigma, std::uint64_t slice_rows, int threads) {
  const CsrView& a = part.a;
  Sorted s;
  s.sigma = sigma;
  if (sigma > 1) s.order = sorted_rows(a, sigma, threads);
  s.rows = reordered(part.rows, s.order);
  const std::uint64_t slices = div_up(a.rows(), slice_rows);
  std::vector<std::uint64_t> widths(slices);
  parallel_pieces(slices, div_up(1U << 15, slice_rows), threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t slice = first; slice < last; ++slice)
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

/// Slices in file order; in a slice, slot 0 of all its rows, then slot 1.
struct Cursor {
  const std::vector<std::uint32_t>* slice_ptr;
  std::uint64_t slice_rows, slice, step, lane = 0;

  Cursor(const std::vector<std::uint32_t>& slices, std::uint64_t rows_of_slice, std::uint64_t slot)
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
  Sorted best = sort(part, fixed.value_or(sigmas[0]), slice_rows, options.threads);
  // A list of rows takes 4 bytes for each: more than all padding of unsorted slices, if that is little.
  const std::uint64_t slots = best.steps * slice_rows,
                      padding_bytes = (slots - part.a.nnz()) * (4 + size_of(part.a.value_type()));
  const bool may_gain = padding_bytes > part.a.rows() * 4;
  for (std::size_t i = 1; !fixed && may_gain && i < sigmas.size(); ++i) {
    Sorted other = sort(part, sigmas.at(i), slice_rows, options.threads);
    if (other.bytes(slice_rows, part.a.value_type()) < best.bytes(slice_rows, part.a.value_type()))
      best = std::move(other);
  }
  PartMatrix sorted = part;
  sorted.rows = best.rows;
  PartPlan plan = begin_plan(layout, sorted);
  plan.info.params[param_slice_rows] = slice_rows;
  plan.info.params[param_steps] = best.steps;
  const auto slices = std::make_shared<const std::vector<std::uint32_t>>(std::move(best.slice_ptr));
  plan.sections.push_back(section(plan, sections[0], copy_from(slices->data(), slices)));
  add_slots(plan, {part, std::move(best.order)}, slots_of(plan.info), sections,
            [slices, slice_rows](std::uint64_t slot) { return Cursor(*slices, slice_rows, slot); });
  plan.counters = {{"slice_rows", slice_rows}, {"sigma", best.sigma}, {"slices", slices->size() - 1}};
  return plan;
}

}  // namespace

extern const LayoutEncoder sell{"sell", "SELL-C-sigma: slices of sorted rows, each padded to its longest", settings,
                                plan};

}  // namespace spmvpack::encoder::layouts
