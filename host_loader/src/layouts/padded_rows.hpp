#pragma once
// What ell, ellpack_r, sell and pjds share: rows whose slots lie side by side, the entries of each added up in turn.

#include <algorithm>
#include <array>

#include "kernels.hpp"
#include "layouts/compiled.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"
#if SPMVPACK_HAS_V3
#include "eight_lanes.hpp"
#endif

namespace spmvpack::host_loader::layouts::padded_rows {

inline constexpr std::uint64_t block = launch_rules::host_tasks::padded_block;

/// Rows [begin, end).
template <class A, class V, class Geometry>
SPMVPACK_INLINE void rows(Geometry geometry, const std::uint32_t* col_idx, const A* values, Operands<V> operands,
                          std::uint64_t begin, std::uint64_t end) {
  using spmvpack::layouts::no_column;
  for (std::uint64_t first = begin, count = 0; first < end; first += count) {
    count = std::min({block, end - first, geometry.together(first)});
    const auto slots = geometry(first);
    std::array<V, block> sums{};
    for (std::uint64_t step = 0; slots.has(step); ++step) {
      const std::uint64_t at = slots.slot(step);
      bool any = false;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t column = col_idx[at + i];
        if (column == no_column) continue;
        any = true;
        sums[i] = std::fma(V{values[at + i]}, operands.x[column], sums[i]);
      }
      if (!any) break;  // all rows have ended
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool empty = !slots.has(0) || col_idx[slots.slot(0) + i] == no_column;
      if (empty)
        operands.scale(first + i, first + i + 1);
      else
        operands.put(first + i, sums[i]);
    }
  }
}

#if SPMVPACK_HAS_V3
/// The first `count` of eight lanes.
SPMVPACK_INLINE __mmask8 first_lanes(std::uint64_t count) {
  return static_cast<__mmask8>(count < 8 ? 0xFFU >> (8 - count) : 0xFFU);
}

/// The same sums, eight rows side by side by AVX-512. A row that has ended reads element 0 of x, which is there if any
/// row has an entry.
template <class A, class V, class Geometry>
SPMVPACK_TARGET_V4 void rows_v4(Geometry geometry, const std::uint32_t* col_idx, const A* values, Operands<V> operands,
                                std::uint64_t begin, std::uint64_t end) {
  using Eight = EightOf<V>;
  constexpr std::uint64_t together = 8;
  const __m256i none = _mm256_set1_epi32(-1);  // no_column
  for (std::uint64_t first = begin, count = 0; first < end; first += count) {
    count = std::min({block, end - first, geometry.together(first)});
    const auto slots = geometry(first);
    alignas(cache_line) std::array<V, block> sums;  // of count rows
    for (std::uint64_t i = 0; i < count; i += together) Eight::all(0).store(sums.data() + i);
    std::uint64_t have_entries = 0;  // bits of the rows
    for (std::uint64_t step = 0; slots.has(step); ++step) {
      const std::uint64_t at = slots.slot(step);
      bool any = false;
      for (std::uint64_t i = 0; i < count; i += together) {
        const __mmask8 rows = first_lanes(count - i);
        const __m256i columns = _mm256_mask_loadu_epi32(none, rows, col_idx + at + i);
        const __mmask8 entries = _mm256_cmpneq_epi32_mask(columns, none);
        if (entries == 0) continue;
        any = true;
        have_entries |= std::uint64_t{entries} << i;
        const Eight x = entries == 0xFF
                            ? Eight::gather(operands.x, col_idx + at + i)
                            : Eight::gather(operands.x, EightIndices(_mm256_maskz_mov_epi32(entries, columns)).of);
        Eight sum = Eight::load(sums.data() + i, 0xFF);
        sum.add_product(Eight::load(values + at + i, entries), x, entries);
        sum.store(sums.data() + i);
      }
      if (!any) break;  // all rows have ended
    }
    for (std::uint64_t i = 0; i < count; i += together) {
      const __mmask8 rows = first_lanes(count - i);
      if (operands.rows != nullptr || static_cast<__mmask8>(have_entries >> i) != rows) {
        for (std::uint64_t k = i; k < std::min(i + together, count); ++k)
          if ((have_entries >> k & 1U) == 0)
            operands.scale(first + k, first + k + 1);
          else
            operands.put(first + k, sums[k]);
        continue;
      }
      V* const y = operands.y + first + i;
      Eight result =
          operands.beta == 0 ? Eight::all(0) : Eight::product(Eight::all(operands.beta), Eight::load(y, rows));
      result.add_product(Eight::all(operands.alpha), Eight::load(sums.data() + i, rows), rows);
      result.store(y, rows);
    }
  }
}
#endif

template <class A, class V, class Geometry>
auto kernel_of_rows() {
#if SPMVPACK_HAS_V4
  if (use_v4()) return rows_v4<A, V, Geometry>;
#endif
  return best_of<rows<A, V, Geometry>>();
}

/// Rows of a task.
inline std::uint64_t task_rows(const PartView& part, int threads) {
  return launch_rules::host_tasks::padded_rows(part.rows(), static_cast<std::uint64_t>(thread_count(threads)));
}

template <class A, class V, class Geometry>
void multiply(const PartView& part, const Geometry& geometry, const Operands<V>& operands, int threads) {
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const A* const values = part.get<A>("values").data();
  const auto kernel = kernel_of_rows<A, V, Geometry>();
  parallel_pieces(part.rows(), task_rows(part, threads), threads, [&](std::uint64_t begin, std::uint64_t end) {
    kernel(geometry, col_idx, values, operands, begin, end);
  });
}

}  // namespace spmvpack::host_loader::layouts::padded_rows
