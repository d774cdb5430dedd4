#include <algorithm>

#include "kernels.hpp"
#include "layouts/compiled.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

constexpr std::uint64_t coo_rows_per_task = launch_rules::host_tasks::coo_rows;

/// Multiplies the entries [begin, end), which are whole rows, those of a row in turn. y is already scaled.
template <class A, class V>
SPMVPACK_INLINE void entries(const std::uint32_t* row_idx, const std::uint32_t* col_idx, const A* values,
                             Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t k = begin; k < end;) {
    const std::uint32_t row = row_idx[k];
    V& element = operands.at(row);
    V sum = 0;
    do {
      sum = fused(V{values[k]}, operands.x[col_idx[k]], sum);
      ++k;
    } while (k < end && row_idx[k] == row);
    element = completed(operands.alpha, sum, element);
  }
}

template <class A, class V>
void multiply_coo(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  const auto row_idx = part.get<std::uint32_t>("row_idx");
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const A* const values = part.get<A>("values").data();
  const auto kernel = best_of<entries<A, V>>();
  parallel_pieces(part.rows(), coo_rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    const auto entry_of = [&](std::uint64_t row) {
      return static_cast<std::uint64_t>(std::lower_bound(row_idx.begin(), row_idx.end(), row) - row_idx.begin());
    };
    operands.scale(first, last);
    kernel(row_idx.data(), col_idx, values, operands, entry_of(first), entry_of(last));
  });
}

}  // namespace

SPMVPACK_HOST_LAYOUT(coo, multiply_coo, SPMVPACK_COMPLEX(multiply_coo))

}  // namespace spmvpack::host_loader::layouts
