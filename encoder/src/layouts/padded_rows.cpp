#include "layouts/padded_rows.hpp"

#include <numeric>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::encoder::layouts {
namespace {

/// Sorts the rows [begin, end) into `out`. A counting sort, unless lengths are spread far more widely than rows.
void sort_window(const CsrView& a, std::uint64_t begin, std::uint64_t end, std::uint32_t* out) {
  std::uint64_t longest = 0;
  bool sorted = true;
  for (std::uint64_t r = begin, before = ~std::uint64_t{0}; r < end; ++r) {
    const std::uint64_t n = a.row_length(r);
    sorted = sorted && n <= before;
    longest = std::max(longest, n);
    before = n;
  }
  std::iota(out, out + (end - begin), static_cast<std::uint32_t>(begin));
  if (sorted) return;
  constexpr std::uint64_t spread = 4, few = 1024;
  if (longest > spread * (end - begin) + few) {
    std::stable_sort(out, out + (end - begin),
                     [&](std::uint32_t r, std::uint32_t s) { return a.row_length(r) > a.row_length(s); });
    return;
  }
  std::vector<std::uint32_t> place(longest + 2);  // of the first row of length longest - i
  for (std::uint64_t r = begin; r < end; ++r) ++place[longest - a.row_length(r) + 1];
  for (std::uint64_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
  for (std::uint64_t r = begin; r < end; ++r) out[place[longest - a.row_length(r)]++] = static_cast<std::uint32_t>(r);
}

}  // namespace

std::vector<std::uint32_t> sorted_rows(const CsrView& a, std::uint64_t window, int threads) {
  std::vector<std::uint32_t> order(a.rows());
  // Small windows are grouped: a task of its own for each would cost more than the sorting.
  constexpr std::uint64_t rows_per_task = 1U << 16;
  const std::uint64_t together = std::max<std::uint64_t>(1, rows_per_task / window) * window;
  parallel_pieces(a.rows(), together, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t begin = first; begin < last; begin += window)
      sort_window(a, begin, std::min(last, begin + window), order.data() + begin);
  });
  return order;
}

PartIndices reordered(const PartIndices& rows, std::vector<std::uint32_t>& order) {
  bool moves = false;
  for (std::uint64_t i = 0; i < order.size() && !moves; ++i) moves = order[i] != i;
  if (!moves) {
    order.clear();
    return rows;
  }
  std::vector<std::uint32_t> list(order.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = rows.list != nullptr ? (*rows.list)[order[i]] : static_cast<std::uint32_t>(rows.map.begin + order[i]);
  return PartIndices::of(std::move(list));
}

}  // namespace spmvpack::encoder::layouts
