#pragma once
// The multiply that ell, ellpack_r, sell and pjds share: sums as in csr, of rows whose slots lie side by side.

#include <algorithm>
#include <array>

#include "kernels.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts::padded_rows {

inline constexpr std::uint64_t rows_per_task = 2048;
/// Rows that are added up together: neighbouring rows' slots share cache lines.
inline constexpr std::uint64_t block = 64;

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

template <class A, class V, class Geometry>
SPMVPACK_TARGET_V3 void rows_v3(Geometry geometry, const std::uint32_t* col_idx, const A* values, Operands<V> operands,
                                std::uint64_t begin, std::uint64_t end) {
  rows(geometry, col_idx, values, operands, begin, end);
}
template <class A, class V, class Geometry>
void rows_generic(Geometry geometry, const std::uint32_t* col_idx, const A* values, Operands<V> operands,
                  std::uint64_t begin, std::uint64_t end) {
  rows(geometry, col_idx, values, operands, begin, end);
}

template <class A, class V, class Geometry>
void multiply(const PartView& part, const Geometry& geometry, const Operands<V>& operands, int threads) {
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const A* const values = part.get<A>("values").data();
  const auto kernel = use_v3() ? rows_v3<A, V, Geometry> : rows_generic<A, V, Geometry>;
  parallel_pieces(part.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    kernel(geometry, col_idx, values, operands, begin, end);
  });
}

}  // namespace spmvpack::host_loader::layouts::padded_rows
