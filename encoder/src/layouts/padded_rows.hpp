#pragma once
// What ell, ellpack_r, sell and pjds share: the order of sorted rows, and fills by slot.

#include <algorithm>

#include "layouts/layouts.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::encoder::layouts {

/// The rows of `a`, sorted by falling length within windows of `window` rows; rows of equal length keep their order.
CountedVector<std::uint32_t> sorted_rows(const CsrView& a, std::uint64_t window, int threads);

/// The part with its rows in this order, as a list of rows; the part itself if nothing moves.
/// `order` then becomes empty.
PartIndices reordered(const PartIndices& rows, CountedVector<std::uint32_t>& order);

/// A part and the order of its rows in the layout; null: their own.
struct OrderedRows {
  CsrView a;
  std::shared_ptr<const CountedVector<std::uint32_t>> order;
  std::shared_ptr<const void> owner;  ///< of the arrays of `a`

  OrderedRows(const PartMatrix& part, CountedVector<std::uint32_t> rows)
      : a(part.a),
        order(rows.empty() ? nullptr : std::make_shared<const CountedVector<std::uint32_t>>(std::move(rows))),
        owner(part.owner) {}
  [[nodiscard]] std::uint64_t row(std::uint64_t place) const { return order != nullptr ? (*order)[place] : place; }
};

/// Where a slot belongs: the place of its row in the layout, at least a.rows() if it has none, and its step.
struct SlotPlace {
  std::uint64_t row = 0, step = 0;
};

/// A fill in slot order: element(k) for the slot of entry k, `padding` for a slot without one. `Cursor` walks over the
/// slots: a Cursor(slot) is at that slot; place() gives the slot's SlotPlace and next() goes to the next one.
template <class T, class MakeCursor, class Element>
Fill fill_slots(const OrderedRows& rows, MakeCursor make_cursor, T padding, Element element) {
  return [rows, make_cursor, padding, element](std::uint64_t begin, std::span<std::byte> out) {
    if (out.empty()) return;
    auto cursor = make_cursor(begin / sizeof(T));
    compute_elements<T>(begin, out, [&](std::uint64_t /*slot*/) {
      const SlotPlace place = cursor.place();
      cursor.next();
      if (place.row >= rows.a.rows()) return padding;
      const std::uint64_t row = rows.row(place.row), k = rows.a.row_ptr(row) + place.step;
      return k < rows.a.row_ptr(row + 1) ? element(k) : padding;
    });
  };
}

/// Adds the sections col_idx and values, which these layouts have in common, and what else the plan says of them; the
/// units of its work start with `kernel`.
template <class MakeCursor>
void add_slots(PartPlan& plan, const OrderedRows& rows, std::uint64_t slots,
               std::span<const SectionDescription> sections, const MakeCursor& make_cursor, const std::string& kernel) {
  const CsrView a = rows.a;
  const auto named = [&](std::string_view name) -> const SectionDescription& {
    return *std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.name == name; });
  };
  plan.sections.push_back(section(
      plan, named("col_idx"),
      fill_slots(rows, make_cursor, spmvpack::layouts::no_column, [a](std::uint64_t k) { return a.col_idx()[k]; })));
  dispatch(a.value_type(), [&]<class T>(T) {
    // As bits, which a copy of a NaN keeps.
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    plan.sections.push_back(
        section(plan, named("values"),
                fill_slots(rows, make_cursor, bits_of<T>{0}, [values](std::uint64_t k) { return values[k]; })));
  });
  plan.padding = slots - a.nnz();
  plan.work = {{kernel + ".multiplies", 1},
               {kernel + ".slots", slots},
               {kernel + ".rows", a.rows()},
               {kernel + ".chain", chain_of_rows(a.rows(), a.longest_row(1))},
               {kernel + ".listed", rows.order != nullptr ? a.rows() : 0}};
  share_by_section(plan);
}

}  // namespace spmvpack::encoder::layouts
