#pragma once
// What can be done with the places of a layout's values, by its Entries.

#include <atomic>
#include <bit>
#include <span>
#include <variant>

#include "spmvpack/container/layouts/entry_order.hpp"
#include "spmvpack/container/multiply/value_sources.hpp"

namespace spmvpack::layouts {

/// Of a part that has been checked.
struct ValueFunctions {
  /// As count_entries(): fills `row_ptr` and returns EntryOrder::before.
  CountedVector<std::uint32_t> (*count)(const PartView& part, std::span<std::uint64_t> row_ptr, int threads);
  /// Of a part whose entries have their own: the lowest place in `values`, an array of the part's type, of one that an
  /// entry cannot take (write_value()); ~0 if there is none. Null if entries take all values.
  std::uint64_t (*first_refused)(const PartView& part, const ValueSource& source, const void* values, int threads);
  /// Writes their values, none of which is refused, to the entries of such a part.
  void (*write)(const PartView& part, const SectionBytes<std::byte>& bytes, const ValueSource& source,
                const void* values, int threads);
};

namespace detail {

template <template <class> class Entries>
CountedVector<std::uint32_t> count(const PartView& part, std::span<std::uint64_t> row_ptr, int threads) {
  return dispatch(part.info().value_type,
                  [&]<class T>(T) { return count_entries(Entries<T>::of(part), row_ptr, part.info().nnz, threads); });
}

/// Calls f(slot, place of its value) for all entries.
template <class T, template <class> class Entries, class F>
void each_source(const PartView& part, const ValueSource& source, int threads, F&& f) {
  const auto entries = Entries<T>::of(part);
  const EntryOrder order = source.order();
  std::visit(
      [&]<class Index>(const Array<Index>& places) {
        const Index* const place = places.empty() ? nullptr : places.data();
        const auto begin = [&f, order, place](std::uint32_t row, std::uint64_t run) {
          const std::uint64_t first = order.first(row, run);
          return [&f, first, place](std::uint32_t index, std::uint32_t /*column*/, const ValueSlot& slot) {
            f(slot, place != nullptr ? place[first + index] : first + index);
          };
        };
        each_unit(entries, part.info().nnz, threads, [&](std::uint64_t unit) { entries.each(unit, 0, 1, begin); });
      },
      source.place);
}

template <template <class> class Entries>
std::uint64_t first_refused(const PartView& part, const ValueSource& source, const void* values, int threads) {
  std::atomic<std::uint64_t> first{~std::uint64_t{0}};
  dispatch(part.info().value_type, [&]<class T>(T) {
    const auto bytes = section_bytes(part);
    each_source<T, Entries>(part, source, threads, [&](const ValueSlot& slot, std::uint64_t at) {
      if (!slot.holds_by_bits) return;
      const auto bits = std::bit_cast<bits_of<T>>(static_cast<const T*>(values)[at]);
      if ((bytes.template read<T>(slot) == 0) == (bits == 0)) return;
      for (std::uint64_t seen = first; at < seen && !first.compare_exchange_weak(seen, at);) {
      }
    });
  });
  return first;
}

template <template <class> class Entries>
void write(const PartView& part, const SectionBytes<std::byte>& bytes, const ValueSource& source, const void* values,
           int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    each_source<T, Entries>(part, source, threads,
                            [bytes, values = static_cast<const T*>(values)](const ValueSlot& slot, std::uint64_t at) {
                              bytes.template write<T>(slot, std::bit_cast<bits_of<T>>(values[at]));
                            });
  });
}

}  // namespace detail

template <template <class> class Entries>
inline constexpr ValueFunctions value_functions{detail::count<Entries>, nullptr, detail::write<Entries>};
/// Of a layout whose slots may hold entries by their bits.
template <template <class> class Entries>
inline constexpr ValueFunctions value_functions_by_bits{detail::count<Entries>, detail::first_refused<Entries>,
                                                        detail::write<Entries>};

}  // namespace spmvpack::layouts
