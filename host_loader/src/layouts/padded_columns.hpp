#pragma once
// ell, ellpack_r, sell and pjds for several columns at once: the sums of padded_rows.hpp for each.

#include "layouts/columns_v3.hpp"
#include "layouts/padded_rows.hpp"

namespace spmvpack::host_loader::layouts::padded_rows {

/// Steps that a row takes before the next one's turn: slots of few steps stay in the nearest cache, however far apart
/// steps are.
inline constexpr std::uint64_t steps_in_turn = 8;

/// Rows [begin, end).
template <std::uint32_t registers, class A, class V, class Geometry>
SPMVPACK_TARGET_V3 void columns_of_rows(Geometry geometry, const std::uint32_t* col_idx, const A* values,
                                        ColumnOperands<V> operands, std::uint64_t begin, std::uint64_t end) {
  using spmvpack::layouts::no_column;
  using Sums = ColumnSums<V, registers>;
  const ColumnRows<V, registers> rows(operands);
  alignas(cache_line) std::array<V, block * Sums::width> all;
  for (std::uint64_t first = begin, count = 0; first < end; first += count) {
    count = std::min({block, end - first, geometry.together(first)});
    const auto slots = geometry(first);
    std::uint64_t step = 0;
    for (bool any = true; any && (step == 0 || slots.has(step));) {
      std::array<std::uint64_t, steps_in_turn> at;
      std::uint64_t steps = 0;
      for (; steps < steps_in_turn && slots.has(step + steps); ++steps) at[steps] = slots.slot(step + steps);
      any = false;
      for (std::uint64_t i = 0; i < count; ++i) {
        V* const mine = all.data() + i * Sums::width;
        Sums sums = step == 0 ? Sums::zero() : Sums::load(mine);
        std::uint64_t k = 0;
        for (; k < steps; ++k) {
          const std::uint32_t column = col_idx[at[k] + i];
          if (column == no_column) break;  // no entry follows
          rows.add_product(sums, V{values[at[k] + i]}, column);
        }
        sums.store(mine);
        any = any || k == steps_in_turn;
      }
      step += steps;
    }
    for (std::uint64_t i = 0; i < count; ++i)
      if (!slots.has(0) || col_idx[slots.slot(0) + i] == no_column)
        rows.scale(first + i, first + i + 1);
      else
        rows.put(first + i, Sums::load(all.data() + i * Sums::width));
  }
}

template <class A, class V, class Geometry>
void multiply(const PartView& part, const Geometry& geometry, const ColumnOperands<V>& operands, int threads) {
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const A* const values = part.get<A>("values").data();
  dispatch_registers<V>(operands.count, [&](auto n) {
    parallel_pieces(part.rows(), task_rows(part, threads), threads, [&](std::uint64_t begin, std::uint64_t end) {
      columns_of_rows<n()>(geometry, col_idx, values, operands, begin, end);
    });
  });
}

}  // namespace spmvpack::host_loader::layouts::padded_rows
