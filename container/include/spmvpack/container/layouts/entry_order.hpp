#pragma once
/// Makes an EntryOrder, on the host, by counting what a walk over the entries visits.

#include <algorithm>
#include <span>
#include <utility>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts {

/// Calls f(unit) for all units of a part with so many entries, in parallel.
template <class Entries, class F>
void each_unit(const Entries& entries, std::uint64_t nnz, int threads, F&& f) {
  constexpr std::uint64_t entries_per_task = 1U << 15U, most_units = 4096;
  const std::uint64_t tasks = nnz / entries_per_task + 1;
  parallel_items(entries.units(), std::clamp<std::uint64_t>(entries.units() / tasks, 1, most_units), threads, f);
}

/// Fills `row_ptr`, which has an element more than the part has rows, and returns EntryOrder::before.
template <class Entries>
CountedVector<std::uint32_t> count_entries(const Entries& entries, std::span<std::uint64_t> row_ptr, std::uint64_t nnz,
                                           int threads) {
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  CountedVector<std::uint32_t> before(entries.runs()), rows(entries.runs());
  // Each run is in one unit, so that no two tasks write to the same element.
  const auto note = [&](std::uint32_t row, std::uint64_t run, std::uint32_t length) {
    if (run == first_run) {
      row_ptr[row + std::uint64_t{1}] = length;
    } else {
      before[run] = length;
      rows[run] = row;
    }
  };
  each_unit(entries, nnz, threads, [&](std::uint64_t unit) {
    if constexpr (requires { entries.each_run(unit, note); })
      entries.each_run(unit, note);
    else
      entries.each(unit, 0, 1, [&](std::uint32_t row, std::uint64_t run) {
        return [&, row, run](std::uint32_t index, std::uint32_t /*column*/, const ValueSlot& /*slot*/) {
          note(row, run, index + 1);
        };
      });
  });
  for (std::uint64_t run = 0; run < before.size(); ++run) {
    if (before[run] == 0) continue;
    std::uint64_t& length = row_ptr[rows[run] + std::uint64_t{1}];
    length += std::exchange(before[run], static_cast<std::uint32_t>(length));
  }
  for (std::uint64_t r = 1; r < row_ptr.size(); ++r) row_ptr[r] += row_ptr[r - 1];
  return before;
}

}  // namespace spmvpack::layouts
