#pragma once
// What ell, ellpack_r, sell and pjds share: the order of sorted rows, and fills by slot.

#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/encoding_rules/padded_rows.hpp"
#include "spmvpack/launch_rules/columns.hpp"

namespace spmvpack::encoder::layouts {

/// The rows of `a`, sorted by falling length within windows of `window` rows; rows of equal length keep their order.
CountedVector<std::uint32_t> sorted_rows(const CsrView& a, std::uint64_t window, int threads);

/// The part with its rows in this order, as a list of rows; the part itself if nothing moves.
/// `order` then becomes empty.
PartIndices reordered(const PartIndices& rows, CountedVector<std::uint32_t>& order);

/// The order of rows in a layout; empty: their own.
using RowOrder = std::span<const std::uint32_t>;

/// Where a slot belongs: the place of its row in the layout, at least a.rows() if it has none, and its step.
struct SlotPlace {
  std::uint64_t row = 0, step = 0;
};

/// Fills in slot order: element(k) for the slot of entry k, `padding` for a slot without one. `Cursor` walks over the
/// slots: make_cursor(slot) is at that slot; place() gives the slot's SlotPlace and next() goes to the next one.
template <class T, class MakeCursor, class Element>
void fill_slots(const CsrView& a, RowOrder order, const MakeCursor& make_cursor, std::uint64_t begin,
                std::span<std::byte> out, T padding, const Element& element) {
  if (out.empty()) return;
  auto cursor = make_cursor(begin / sizeof(T));
  compute_elements<T>(begin, out, [&](std::uint64_t /*slot*/) {
    const SlotPlace place = cursor.place();
    cursor.next();
    if (place.row >= a.rows()) return padding;
    const std::uint64_t row = order.empty() ? place.row : order[place.row], k = a.row_ptr(row) + place.step;
    return k < a.row_ptr(row + 1) ? element(k) : padding;
  });
}

/// The sections col_idx and values, which these layouts have in common.
template <class MakeCursor>
void fill_columns(const CsrView& a, RowOrder order, const MakeCursor& make_cursor, std::uint64_t begin,
                  std::span<std::byte> out) {
  fill_slots(a, order, make_cursor, begin, out, spmvpack::layouts::no_column,
             [columns = a.col_idx()](std::uint64_t k) { return columns[k]; });
}
template <class MakeCursor>
void fill_values(const CsrView& a, RowOrder order, const MakeCursor& make_cursor, std::uint64_t begin,
                 std::span<std::byte> out) {
  dispatch(a.value_type(), [&]<class T>(T) {
    // As bits, which a copy of a NaN keeps.
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    fill_slots(a, order, make_cursor, begin, out, bits_of<T>{0}, [values](std::uint64_t k) { return values[k]; });
  });
}

/// Which rows' slots of a step lie side by side.
enum class Steps { of_all_rows, of_slices };

/// What a multiply goes through.
struct SlotFacts {
  std::uint64_t slots = 0, rows = 0;
  RowChain chain{};
  std::uint64_t listed = 0;      ///< rows, if they have an order
  std::uint64_t alone = 0;       ///< host_tasks::alone()
  std::uint64_t page_slots = 0;  ///< all, if a host finds those of each step on pages of their own
};
/// PartPlan::work in the units of a layout, which has no `listed` if its rows never have an order.
template <class Work>
std::vector<Counter> work_of(const SlotFacts& f) {
  std::vector<Counter> work{{Work::multiplies, 1},
                            {Work::slots, f.slots},
                            {Work::rows, f.rows},
                            {Work::chain, f.chain.loads},
                            {Work::chain_slots, f.chain.slots},
                            {Work::turns, f.chain.turns}};
  if constexpr (requires { Work::listed; }) work.emplace_back(Work::listed, f.listed);
  work.emplace_back(Work::alone, f.alone);
  if constexpr (requires { Work::page_slots; }) work.emplace_back(Work::page_slots, f.page_slots);
  return work;
}

/// PartPlan::columns in the units of a layout.
template <class Work>
ColumnsWork columns_of(std::uint64_t entries) {
  return {launch_rules::columns::most, {{Work::column_entries, entries}}};
}

/// Says of the plan, whose sections are there, what follows from its slots. `listed`: rows have an order.
SlotFacts describe_slots(PartPlan& plan, const SlotCounts& counts, Steps steps, bool listed, const Device& device);
/// Of a part with so many slots.
SlotCounts counts_of(const CsrView& a, std::uint64_t slots);

}  // namespace spmvpack::encoder::layouts
