#include "spmvpack/container/layouts/ell.hpp"

#include <algorithm>
#include <array>

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using spmvpack::layouts::ell::no_column;

constexpr std::uint64_t rows_per_task = 2048;
/// Rows that are added up side by side: neighbouring rows' slots share cache lines.
constexpr std::uint64_t block = 64;

struct Slots {
  const std::uint32_t* col_idx;
  std::uint64_t rows, width;
};

/// Rows [begin, end); sums as in csr.
template <class A, class V>
SPMVPACK_INLINE void rows(Slots slots, const A* values, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t first = begin; first < end; first += block) {
    const std::uint64_t count = std::min(block, end - first);
    std::array<V, block> sums{};
    for (std::uint64_t step = 0; step < slots.width; ++step) {
      const std::uint64_t at = step * slots.rows + first;
      bool any = false;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t column = slots.col_idx[at + i];
        if (column == no_column) continue;
        any = true;
        sums[i] = std::fma(V{values[at + i]}, operands.x[column], sums[i]);
      }
      if (!any) break;  // all rows have ended
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool empty = slots.width == 0 || slots.col_idx[first + i] == no_column;
      if (empty)
        operands.scale(first + i, first + i + 1);
      else
        operands.put(first + i, sums[i]);
    }
  }
}

template <class A, class V>
SPMVPACK_TARGET_V3 void rows_v3(Slots slots, const A* values, Operands<V> operands, std::uint64_t begin,
                                std::uint64_t end) {
  rows(slots, values, operands, begin, end);
}
template <class A, class V>
void rows_generic(Slots slots, const A* values, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  rows(slots, values, operands, begin, end);
}

}  // namespace

template <class A, class V>
void multiply_ell(const PartView& part, const Operands<V>& operands, int threads) {
  const Slots slots{part.get<std::uint32_t>("col_idx").data(), part.rows(),
                    part.info().params[spmvpack::layouts::ell::param_width]};
  const A* const values = part.get<A>("values").data();
  const auto kernel = use_v3() ? rows_v3<A, V> : rows_generic<A, V>;
  parallel_pieces(part.rows(), rows_per_task, threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(slots, values, operands, begin, end); });
}
template void multiply_ell<double>(const PartView&, const Operands<double>&, int);
template void multiply_ell<float>(const PartView&, const Operands<float>&, int);
template void multiply_ell<float>(const PartView&, const Operands<double>&, int);

}  // namespace spmvpack::host_loader::layouts
