#include "spmvpack/container/layouts/dia.hpp"

#include <algorithm>
#include <array>

#include "kernels.hpp"
#include "layouts/compiled.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/launch_rules/dia.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using launch_rules::dia::few_rows;
using launch_rules::dia::rows_per_task;
using spmvpack::layouts::dia::column_of;

struct Diagonals {
  const std::uint64_t* offsets;
  std::uint64_t count, rows, cols;
};

/// Diagonals whose products go to the sums of their rows together: each sum is then loaded and stored once for them.
/// Not where the rows are few: diagonals one after the other are one stream that the processor fetches ahead.
constexpr std::size_t together = 4;
constexpr std::uint64_t least_together = 512;

/// Of rows [begin, end), those in which a diagonal has a column.
struct Reach {
  std::uint64_t first, last;
  Reach(const Diagonals& d, std::uint64_t offset, std::uint64_t begin, std::uint64_t end)
      : first(std::max(begin, d.rows - 1 > offset ? d.rows - 1 - offset : 0)),
        last(std::max(first, std::min(end, d.cols + d.rows - 1 - offset))) {}
};

/// Adds the products of n diagonals, in their order, to the sums of rows [first, last), which all of them reach. The
/// sums begin at row `begin`.
template <std::size_t n, class A, class V>
SPMVPACK_INLINE void add(const Diagonals& d, std::uint64_t diagonal, const A* values, const V* x, std::uint64_t first,
                         std::uint64_t last, V* sums, std::uint64_t begin) {
  if (first >= last) return;
  sums += first - begin;
  std::array<const A*, n> a;
  std::array<const V*, n> b;
  for (std::size_t k = 0; k < n; ++k) {
    a[k] = values + (diagonal + k) * d.rows + first;
    b[k] = x + column_of(first, d.offsets[diagonal + k], d.rows);
  }
  for (std::uint64_t r = 0; r < last - first; ++r) {
    V sum = sums[r];
    for (std::size_t k = 0; k < n; ++k) sum = std::fma(V{a[k][r]}, b[k][r], sum);
    sums[r] = sum;
  }
}

/// Completes rows [begin, end) by their sums, or scales those that no diagonal reaches. The higher a diagonal's offset,
/// the higher up it begins and ends: what is left to write is rows [begin, unwritten).
template <class V>
SPMVPACK_INLINE void put_reached(const Diagonals& d, const Operands<V>& operands, std::uint64_t begin,
                                 std::uint64_t end, const V* sums) {
  std::uint64_t unwritten = end;
  for (std::uint64_t i = 0; i < d.count && unwritten != begin; ++i) {
    const Reach reach(d, d.offsets[i], begin, end);
    if (reach.first >= std::min(reach.last, unwritten)) continue;
    const std::uint64_t last = std::min(reach.last, unwritten);
    operands.scale(last, unwritten);
    operands.put_all(reach.first, last, sums + (reach.first - begin));
    unwritten = reach.first;
  }
  operands.scale(begin, unwritten);
}

/// Rows [begin, end), which all n diagonals reach, n of at most `together`: each sum is in a register until y has it,
/// so that y is written while the diagonals and x are read.
template <std::size_t n, class A, class V>
SPMVPACK_INLINE void rows_at_once(const Diagonals& d, const A* values, const Operands<V>& operands, std::uint64_t begin,
                                  std::uint64_t end) {
  if constexpr (n + 1 <= together)
    if (d.count > n) return rows_at_once<n + 1>(d, values, operands, begin, end);
  std::array<const A*, n> a;
  std::array<const V*, n> b;
  for (std::size_t k = 0; k < n; ++k) {
    a[k] = values + k * d.rows + begin;
    b[k] = operands.x + column_of(begin, d.offsets[k], d.rows);
  }
  const V alpha = operands.alpha, beta = operands.beta;  // which no element of y is
  V* const y = operands.y + begin;
  const std::uint64_t count = end - begin;
  const auto sum_of = [&](std::uint64_t r) __attribute__((always_inline)) {
    V sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum = std::fma(V{a[k][r]}, b[k][r], sum);
    return sum;
  };
  if (beta == 0) {
    SPMVPACK_INDEPENDENT  // x and y do not overlap
        for (std::uint64_t r = 0; r < count; ++r) y[r] = std::fma(alpha, sum_of(r), V{0});
  } else {
    SPMVPACK_INDEPENDENT
    for (std::uint64_t r = 0; r < count; ++r) y[r] = std::fma(alpha, sum_of(r), beta * y[r]);
  }
}

/// Rows [begin, end), at most rows_per_task, diagonal by diagonal.
template <class A, class V>
SPMVPACK_INLINE void rows(Diagonals d, const A* values, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  std::array<V, rows_per_task> sums{};
  std::uint64_t i = 0;
  for (; end - begin >= least_together && i + together <= d.count; i += together) {
    std::uint64_t first = begin, last = end;
    for (std::size_t k = 0; k < together; ++k) {
      const Reach reach(d, d.offsets[i + k], begin, end);
      first = std::max(first, reach.first);
      last = std::min(last, reach.last);
    }
    last = std::max(first, last);
    for (std::size_t k = 0; k < together; ++k) {
      const Reach reach(d, d.offsets[i + k], begin, end);
      const std::uint64_t before = std::min(first, reach.last), after = std::max(last, reach.first);
      add<1>(d, i + k, values, operands.x, reach.first, before, sums.data(), begin);
      if (k + 1 == together) add<together>(d, i, values, operands.x, first, last, sums.data(), begin);
      add<1>(d, i + k, values, operands.x, after, reach.last, sums.data(), begin);
    }
  }
  // Where rows are few, what most diagonals have of them is known at once: all.
  const std::uint64_t first_of_all = d.rows - 1 - begin, last_of_all = d.cols + d.rows - 1 - end;
  for (; i < d.count; ++i) {
    if (const std::uint64_t offset = d.offsets[i]; offset >= first_of_all && offset <= last_of_all) {
      add<1>(d, i, values, operands.x, begin, end, sums.data(), begin);
    } else {
      const Reach reach(d, offset, begin, end);
      add<1>(d, i, values, operands.x, reach.first, reach.last, sums.data(), begin);
    }
  }
  put_reached(d, operands, begin, end, sums.data());
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

/// The rows of a task.
template <class A, class V>
SPMVPACK_INLINE void task(Diagonals d, const A* values, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  if (end - begin == 1) return one_row(d, values, operands, begin);
  if (d.count == 0 || d.count > together || operands.rows != nullptr) return rows(d, values, operands, begin, end);
  std::uint64_t first = begin, last = end;  // of the rows that all diagonals reach
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const Reach reach(d, d.offsets[i], begin, end);
    first = std::max(first, reach.first);
    last = std::min(last, reach.last);
  }
  if (first >= last) return rows(d, values, operands, begin, end);
  if (begin < first) rows(d, values, operands, begin, first);
  rows_at_once<1>(d, values, operands, first, last);
  if (last < end) rows(d, values, operands, last, end);
}
template <class A, class V>
void multiply_dia(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  const auto offsets = part.get<std::uint64_t>("offsets");
  const Diagonals d{offsets.data(), offsets.size(), part.rows(), part.cols()};
  const A* const values = part.get<A>("values").data();
  const auto kernel = best_of<task<A, V>>();
  // The same rows are the same thread's each time: what it has of y stays in its cache.
  const std::uint64_t task = part.rows() <= few_rows ? 1 : rows_per_task, tasks = div_up(part.rows(), task);
  const int team = worth_threads(part.rows() * d.count, threads), count = share_count(part.rows() * d.count, team);
  const auto first_of = [&](int share) {
    return tasks * static_cast<std::uint64_t>(share) / static_cast<std::uint64_t>(count);
  };
  parallel_shares(count, team, [&](int share) {
    for (std::uint64_t t = first_of(share), end = first_of(share + 1); t < end; ++t)
      kernel(d, values, operands, t * task, std::min(part.rows(), (t + 1) * task));
  });
}

}  // namespace

SPMVPACK_HOST_LAYOUT(dia, multiply_dia)

}  // namespace spmvpack::host_loader::layouts
