#include "spmvpack/container/layouts/dia.hpp"

#include <algorithm>
#include <array>

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using spmvpack::layouts::dia::column_of;

/// Of a task; of a matrix of few rows each is one, as a diagonal of few rows takes longer than its products.
constexpr std::uint64_t rows_per_task = 2048, few_rows = 4;

struct Diagonals {
  const std::uint64_t* offsets;
  std::uint64_t count, rows, cols;
};

/// Rows [begin, end), at most rows_per_task, diagonal by diagonal.
template <class A, class V>
SPMVPACK_INLINE void rows(Diagonals d, const A* values, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  std::array<V, rows_per_task> sums{};
  std::array<bool, rows_per_task> has_slots{};
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const std::uint64_t offset = d.offsets[i];
    // Of these rows, those in which the diagonal has a column.
    const std::uint64_t left = d.rows - 1 > offset ? d.rows - 1 - offset : 0;
    const std::uint64_t right = d.cols + d.rows - 1 - offset;
    const std::uint64_t first = std::max(begin, left), last = std::min(end, right);
    const A* const diagonal = values + i * d.rows;
    for (std::uint64_t r = first; r < last; ++r) {
      sums[r - begin] = std::fma(V{diagonal[r]}, operands.x[column_of(r, offset, d.rows)], sums[r - begin]);
      has_slots[r - begin] = true;
    }
  }
  for (std::uint64_t r = begin; r < end; ++r)
    if (has_slots[r - begin])
      operands.put(r, sums[r - begin]);
    else
      operands.scale(r, r + 1);
}

/// The same for one row.
template <class A, class V>
SPMVPACK_INLINE void one_row(Diagonals d, const A* values, Operands<V> operands, std::uint64_t r) {
  V sum = 0;
  bool has_slots = false;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const std::uint64_t column = column_of(r, d.offsets[i], d.rows);  // modulo 2^64, where there is none
    if (column >= d.cols) continue;
    sum = std::fma(V{values[i * d.rows + r]}, operands.x[column], sum);
    has_slots = true;
  }
  if (has_slots)
    operands.put(r, sum);
  else
    operands.scale(r, r + 1);
}

template <class A, class V>
SPMVPACK_TARGET_V3 void rows_v3(Diagonals d, const A* values, Operands<V> operands, std::uint64_t begin,
                                std::uint64_t end) {
  if (end - begin == 1) return one_row(d, values, operands, begin);
  rows(d, values, operands, begin, end);
}
template <class A, class V>
void rows_generic(Diagonals d, const A* values, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  if (end - begin == 1) return one_row(d, values, operands, begin);
  rows(d, values, operands, begin, end);
}

}  // namespace

template <class A, class V>
void multiply_dia(const PartView& part, const Operands<V>& operands, int threads) {
  const auto offsets = part.get<std::uint64_t>("offsets");
  const Diagonals d{offsets.data(), offsets.size(), part.rows(), part.cols()};
  const A* const values = part.get<A>("values").data();
  const auto kernel = use_v3() ? rows_v3<A, V> : rows_generic<A, V>;
  parallel_pieces(part.rows(), part.rows() <= few_rows ? 1 : rows_per_task, threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(d, values, operands, begin, end); });
}
SPMVPACK_INSTANTIATE(multiply_dia)

}  // namespace spmvpack::host_loader::layouts
