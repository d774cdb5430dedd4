#pragma once
// sell: rows are sorted by their lengths, if that pays; then one pass for the widths of slices, one for the slots.

#include <memory>
#include <optional>
#include <string>

#include "layouts/layouts.hpp"
#include "layouts/slots.hpp"
#include "longest_row.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "spmvpack/encoder/settings.hpp"
#include "spmvpack/encoding_rules/padded_rows.hpp"
#include "spmvpack/encoding_rules/sell.hpp"

namespace spmvpack::gpu_encoder {

namespace sell_rules = encoder::layouts::sell_plans;

/// The rows, sorted by falling length within windows of `window` rows; rows of equal length keep their order.
template <class Execution>
Buffer<std::uint32_t> sorted_rows(const Execution& run, const Csr& a, std::uint64_t window, std::uint64_t longest) {
  Buffer<std::uint64_t> keys = run.template allocate<std::uint64_t>(a.rows);
  Buffer<std::uint32_t> order = run.template allocate<std::uint32_t>(a.rows);
  int length_bits = 0, bits = 0;
  while (length_bits < 32 && (longest >> static_cast<unsigned>(length_bits)) != 0) ++length_bits;
  while ((div_up(a.rows, window) >> static_cast<unsigned>(bits)) != 0) ++bits;
  std::uint64_t* const key = keys.data();
  std::uint32_t* const item = order.data();
  const auto shift = static_cast<unsigned>(length_bits);
  run.each(a.rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    key[r] = quotient(r, window) << shift | (longest - a.row_length(r));
    item[r] = static_cast<std::uint32_t>(r);
  });
  run.sort_pairs(keys, order, a.rows, length_bits + bits);
  return order;
}

/// The first step of each slice and, last, their number. order: of the rows; null: their own.
template <class Execution>
Buffer<std::uint64_t> slice_steps(const Execution& run, const Csr& a, const std::uint32_t* order,
                                  std::uint64_t slice_rows) {
  const std::uint64_t slices = div_up(a.rows, slice_rows);
  Buffer<std::uint64_t> steps = run.template allocate<std::uint64_t>(slices + 1);
  std::uint64_t* const widths = steps.data();
  run.each_group(slices + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t slice, Group group) {
    std::uint64_t width = 0;
    const std::uint64_t first = slice * slice_rows, end = first + slice_rows < a.rows ? first + slice_rows : a.rows;
    for (std::uint64_t i = first + group.lane; i < end; i += Group::lanes()) {
      const std::uint64_t length = a.row_length(order == nullptr ? i : order[i]);
      width = width < length ? length : width;
    }
    width = group.max(width);
    if (group.lane == 0) widths[slice] = width;
  });
  run.sum_before(widths, widths, slices + 1);
  return steps;
}

/// Whether the order is another than that of the rows themselves.
template <class Execution>
bool moves(const Execution& run, const std::uint32_t* order, std::uint64_t rows) {
  const Buffer<std::uint32_t> found = run.template allocate<std::uint32_t>(1);
  run.zero(found.data(), found.bytes());
  std::uint32_t* const moved = found.data();
  run.each(rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
    if (order[i] != i) *moved = 1;
  });
  return run.read(moved) != 0;
}

/// The rows in an order, and their slices.
struct SortedRows {
  Buffer<std::uint32_t> order;  ///< empty: as they are
  Buffer<std::uint64_t> steps;  ///< slice_steps()
  std::uint64_t step_count = 0;
};

template <class Execution>
SortedRows sort_rows(const Execution& run, const Csr& a, std::uint64_t sigma, std::uint64_t slice_rows,
                     std::uint64_t longest) {
  SortedRows s;
  if (sigma > 1) s.order = sorted_rows(run, a, sigma, longest);
  s.steps = slice_steps(run, a, s.order.data(), slice_rows);
  s.step_count = run.read(s.steps.data() + (s.steps.size() - 1));
  return s;
}

/// What sell_rules decide.
template <class Execution>
SortedRows plan_rows(const Execution& run, const Csr& a, std::optional<std::uint64_t> fixed, std::uint64_t slice_rows,
                     std::uint64_t longest) {
  SortedRows best = sort_rows(run, a, fixed.value_or(1), slice_rows, longest);
  if (!fixed) {
    sell_rules::SellFacts facts{a.rows, a.nnz, size_of(a.type), slice_rows, best.step_count};
    if (sell_rules::may_be_sorted(facts)) {
      auto& steps_of = facts.steps_of.emplace();
      for (std::size_t i = 0; i < steps_of.size(); ++i)
        steps_of[i] = sort_rows(run, a, sell_rules::sigmas[i], slice_rows, longest).step_count;
    }
    if (const auto chosen = sell_rules::decide(facts); chosen.sigma != 1)
      best = sort_rows(run, a, chosen.sigma, slice_rows, longest);
  }
  const std::uint64_t slices = best.steps.size() - 1;
  if (best.step_count > layouts::sell::max_steps)
    throw Error(errc::unsupported,
                "sell: " + std::to_string(best.step_count) + " steps in " + std::to_string(slices) + " slices", {},
                "use larger slices, or another layout");
  if (best.order.size() != 0 && !moves(run, best.order.data(), a.rows)) best.order.release();
  return best;
}

template <class Execution>
EncodedPart write_sell(const Execution& run, const Csr& a, const PartInfo& info, const SortedRows& rows,
                       const PartOptions& options) {
  namespace sell = layouts::sell;
  const std::uint64_t slices = rows.steps.size() - 1, slice_rows = info.params[sell::param_slice_rows];
  PartMaker part(run.memory(), info, options);
  auto* const slice_ptr = part.template section<std::uint32_t>("slice_ptr");
  const std::uint64_t* const steps = rows.steps.data();
  run.each(slices + 1,
           [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { slice_ptr[i] = static_cast<std::uint32_t>(steps[i]); });
  if (rows.order.size() != 0)
    run.copy(part.template section<std::uint32_t>(row_map_section.name), rows.order.data(), rows.order.bytes());
  dispatch_bits(a.type, [&](auto zero) {
    using Bits = decltype(zero);
    fill_slots(run, a, rows.order.data(), info.counts[sell::section_col_idx], SellPlaces{slice_ptr, slices, slice_rows},
               part.template section<std::uint32_t>("col_idx"), part.template section<Bits>("values"));
  });
  return part.finish();
}

template <class Execution>
PlannedPart plan_sell(const Execution& run, const Csr& a, const PartOptions& options) {
  namespace sell = layouts::sell;
  const std::uint64_t slice_rows = encoder::read_setting(options.plan, "sell.c", 1, sell::max_slice_rows, {})
                                       .value_or(sell_rules::default_slice_rows);
  const auto fixed = encoder::read_setting(options.plan, "sell.sigma", 1, max_dimension, "auto");
  const std::uint64_t longest = longest_row(run, a);
  const auto rows = std::make_shared<const SortedRows>(plan_rows(run, a, fixed, slice_rows, longest));
  PartInfo info = part_info(sell::layout, a);
  const bool listed = rows->order.size() != 0;
  if (listed) info.rows.kind = format::MapKind::list;
  info.params[sell::param_slice_rows] = slice_rows;
  const std::uint64_t slots = checked_mul(rows->step_count, slice_rows, "slots of sell");
  info.counts[sell::section_col_idx] = slots;
  PlannedPart planned;
  if (options.weigh) {
    planned.plan = part_plan(info);
    sell_rules::describe_multiply(planned.plan, {a.rows, a.nnz, longest, slots, a.type}, listed,
                                  encoder::device_of(options.plan));
  }
  planned.write = [&run, &a, &options, info, rows] { return write_sell(run, a, info, *rows, options); };
  return planned;
}

}  // namespace spmvpack::gpu_encoder
