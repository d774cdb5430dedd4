#pragma once
// What ell and sell share: columns and values are filled slot by slot, in the order of a file.

#include <cstdint>

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"

namespace spmvpack::gpu_encoder {

/// Where a slot belongs: the place of its row in the layout, at least a.rows if it has none, and its step.
struct SlotPlace {
  std::uint64_t row, step;
};

/// a / b, by the short way where that is enough.
[[nodiscard]] SPMVPACK_HOST_DEVICE inline std::uint64_t quotient(std::uint64_t a, std::uint64_t b) {
  return ((a | b) >> 32U) == 0 ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
}

/// Slot 0 of every row, slot 1 of every row, ...
struct EllPlaces {
  std::uint64_t rows;
  struct Walk {
    std::uint64_t rows;
    [[nodiscard]] SPMVPACK_HOST_DEVICE SlotPlace at(std::uint64_t slot) const {
      const std::uint64_t step = quotient(slot, rows);
      return {slot - step * rows, step};
    }
  };
  [[nodiscard]] SPMVPACK_HOST_DEVICE Walk walk(std::uint64_t /*first*/) const { return {rows}; }
};

/// Slices in file order; in a slice, slot 0 of all its rows, then slot 1.
struct SellPlaces {
  const std::uint32_t* slice_ptr;
  std::uint64_t slices, slice_rows;

  /// Visits slots in rising order.
  struct Walk {
    const std::uint32_t* slice_ptr;
    std::uint64_t slice_rows, slice;
    [[nodiscard]] SPMVPACK_HOST_DEVICE SlotPlace at(std::uint64_t slot) {
      while (slot >= slice_ptr[slice + 1] * slice_rows) ++slice;
      const std::uint64_t in_slice = slot - slice_ptr[slice] * slice_rows, step = quotient(in_slice, slice_rows);
      return {slice * slice_rows + (in_slice - step * slice_rows), step};
    }
  };
  [[nodiscard]] SPMVPACK_HOST_DEVICE Walk walk(std::uint64_t first) const {
    const auto slot_of = [&](std::uint64_t slice) { return slice_ptr[slice] * slice_rows; };
    return {slice_ptr, slice_rows, last_at_most(0, slices, first, slot_of)};
  }
};

/// order: the rows in the layout's order; null: their own.
template <class Bits, class Execution, class Places>
void fill_slots(const Execution& run, const Csr& a, const std::uint32_t* order, std::uint64_t slots, Places places,
                std::uint32_t* columns, Bits* values) {
  constexpr std::uint64_t slots_of_group = 1024;
  run.each_group(div_up(slots, slots_of_group), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t first = i * slots_of_group,
                        end = first + slots_of_group < slots ? first + slots_of_group : slots;
    auto walk = places.walk(first);
    for (std::uint64_t slot = first + group.lane; slot < end; slot += Group::lanes()) {
      const SlotPlace place = walk.at(slot);
      std::uint32_t column = layouts::no_column;
      Bits value = 0;
      if (place.row < a.rows) {
        const std::uint64_t row = order == nullptr ? place.row : order[place.row], k = a.row_ptr(row) + place.step;
        if (k < a.row_ptr(row + 1)) {
          column = a.col_idx[k];
          value = a.values<Bits>()[k];
        }
      }
      columns[slot] = column;
      values[slot] = value;
    }
  });
}

}  // namespace spmvpack::gpu_encoder
