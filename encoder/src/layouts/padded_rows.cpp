#include "layouts/padded_rows.hpp"

#include <numeric>

#include "falling_sort.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::encoder::layouts {

namespace host_tasks = launch_rules::host_tasks;

CountedVector<std::uint32_t> sorted_rows(const CsrView& a, std::uint64_t window, int threads) {
  CountedVector<std::uint32_t> order(a.rows());
  std::vector<FallingSort> sorts(static_cast<std::size_t>(thread_count(threads)));
  // Small windows are grouped: a task of its own for each would cost more than the sorting.
  constexpr std::uint64_t rows_per_task = 1U << 16;
  const std::uint64_t together = std::max<std::uint64_t>(1, rows_per_task / window) * window;
  parallel_for(div_up(a.rows(), together), threads, [&](std::uint64_t task, std::uint64_t worker) {
    const std::uint64_t first = task * together, last = std::min(a.rows(), first + together);
    std::iota(order.data() + first, order.data() + last, static_cast<std::uint32_t>(first));
    for (std::uint64_t begin = first; begin < last; begin += window)
      sorts[worker]({order.data() + begin, std::min(last - begin, window)},
                    [&](std::uint32_t r) { return a.row_length(r); });
  });
  return order;
}

PartIndices reordered(const PartIndices& rows, CountedVector<std::uint32_t>& order) {
  bool moves = false;
  for (std::uint64_t i = 0; i < order.size() && !moves; ++i) moves = order[i] != i;
  if (!moves) {
    order.clear();
    return rows;
  }
  CountedVector<std::uint32_t> list(order.size());
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = rows[order[i]];
  return PartIndices::of(std::move(list));
}

namespace {

/// Translations of addresses that a core of a host holds at hand, of pages of so many bytes.
constexpr std::uint64_t host_pages = 96, host_page_bytes = 4096;

/// Whether a host that adds up a row whose neighbours in a step are those in memory, too, finds column and value of
/// each step on pages of their own, and of more steps than it has pages at hand.
bool leaves_pages(const SlotCounts& c) {
  return 2 * c.longest > host_pages && c.rows * size_of(c.type) > host_page_bytes;
}

}  // namespace

SlotCounts counts_of(const CsrView& a, std::uint64_t slots) {
  return {a.rows(), a.nnz(), a.longest_row(1), slots, a.value_type()};
}

SlotFacts describe_slots(PartPlan& plan, const SlotCounts& c, Steps steps, bool listed, const Device& device) {
  plan.padding = c.slots - c.entries;
  plan.fetch_limit = launch_rules::prefetch::usual_limit;
  share_by_section(plan);
  return {.slots = c.slots,
          .rows = c.rows,
          .chain = chain_of_rows(c.rows, c.longest, c.entries, c.type, device),
          .listed = listed ? c.rows : 0,
          .alone = host_tasks::alone(c.slots, c.rows, host_tasks::padded_rows(c.rows, 2)),
          .page_slots = steps == Steps::of_all_rows && leaves_pages(c) ? c.slots : 0};
}

}  // namespace spmvpack::encoder::layouts
