#include "spmvpack/container/layouts/sell.hpp"

#include "padded_rows.hpp"
#include "spmvpack/container/layouts/sell_check.hpp"

namespace spmvpack::layouts::sell {
namespace {

void check_shape(const PartView& part) {
  const std::uint64_t slice_rows = part.info().params[param_slice_rows], slots = slots_of(part.info());
  part.require(slice_rows >= 1 && slice_rows <= max_slice_rows, {},
               [&] { return fmt::format("slices of {} rows", slice_rows); });
  part.require(slots % slice_rows == 0 && slots / slice_rows <= max_steps, "col_idx",
               [&] { return fmt::format("{} slots in steps of {}", slots, slice_rows); });
}

/// By the violations' numbers; of a slice, or the element of slice_ptr behind it.
constexpr std::array<ViolationText, 3> texts{{{"slice_ptr", "does not start at 0 and end at the steps"},
                                              {"slice_ptr", "falls at slice {}"},
                                              {"slice_ptr", "slice {} has more steps than its longest row"}}};
static_assert(texts.size() == number_of(too_many_steps));

void check(const PartView& part, int threads) {
  const SellGeometry g = geometry(part);
  const std::uint64_t slices = slices_of(part.info());
  require_sound(check_ends(g, slices, steps_of(part.info())), part, texts);
  for (std::uint64_t s = 0; s < slices; ++s) require_sound(check_slice(g, s), part, texts, s + 1);
  padded_rows::check(part, g, slices * g.slice_rows, {}, threads);
  const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
  parallel_items(slices, padded_rows::rows_per_task, threads,
                 [&](std::uint64_t s) { require_sound(check_steps(g, columns, s), part, texts, s); });
}

}  // namespace

const Layout layout{"sell", sections, parameters, check_shape, check, unpack<Entries>, &value_functions<Entries>};

}  // namespace spmvpack::layouts::sell
