#pragma once
// What can be done with the places of a layout's values, by its Entries.

#include <atomic>
#include <span>

#include "spmvpack/container/layouts/entry_order.hpp"

namespace spmvpack::layouts {

/// Of a part that has been checked.
struct ValueFunctions {
  /// As count_entries(): fills `row_ptr` and returns EntryOrder::before.
  CountedVector<std::uint32_t> (*count)(const PartView& part, std::span<std::uint64_t> row_ptr, int threads);
  /// `own` if every entry's is; else what the first others that a thread met are.
  ValuesAre (*are)(const PartView& part, int threads);
};

namespace detail {

template <template <class> class Entries>
CountedVector<std::uint32_t> count(const PartView& part, std::span<std::uint64_t> row_ptr, int threads) {
  return dispatch(part.info().value_type,
                  [&]<class T>(T) { return count_entries(Entries<T>::of(part), row_ptr, part.info().nnz, threads); });
}

template <template <class> class Entries>
ValuesAre are(const PartView& part, int threads) {
  std::atomic<ValuesAre> found{ValuesAre::own};
  dispatch(part.info().value_type, [&]<class T>(T) {
    const auto entries = Entries<T>::of(part);
    each_unit(entries, part.info().nnz, threads, [&](std::uint64_t unit) {
      if (found.load(std::memory_order_relaxed) != ValuesAre::own) return;
      entries.each(unit, 0, 1, [&](std::uint32_t /*row*/, std::uint64_t /*run*/) {
        return [&](std::uint32_t /*index*/, std::uint32_t /*column*/, const ValueSlot& slot) {
          if (slot.are != ValuesAre::own) found.store(slot.are, std::memory_order_relaxed);
        };
      });
    });
  });
  return found;
}

}  // namespace detail

template <template <class> class Entries>
inline constexpr ValueFunctions value_functions{detail::count<Entries>, detail::are<Entries>};

}  // namespace spmvpack::layouts
