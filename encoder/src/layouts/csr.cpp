#include "spmvpack/container/layouts/csr.hpp"

#include <algorithm>
#include <vector>

#include "layouts/csr_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/launch_rules/columns.hpp"
#include "spmvpack/launch_rules/csr.hpp"
#include "spmvpack/launch_rules/device.hpp"
#include "spmvpack/launch_rules/long_rows.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::encoder::layouts {
namespace csr_plans {
namespace {

using namespace spmvpack::layouts::csr;  // what the bytes mean

namespace rules = launch_rules::csr;

/// What the slowest of `ipcsr`'s blocks of rows does in turn.
struct Turns {
  std::uint64_t sums = 0;   ///< the most products that a thread of a block of several rows adds up
  std::uint64_t rows = 0;   ///< the most times that a block of one row has 2,048 entries
  bool single_rows = true;  ///< whether all blocks have one row, for which there is a kernel of its own
};
Turns longest_turns(const CsrView& a) {
  constexpr rules::RowBlockLimits limits;
  const auto row_ptr = [&](std::uint64_t r) { return a.row_ptr(r); };
  Turns most;
  for (std::uint64_t first = 0, rows = 0; first < a.rows(); first += rows) {
    rows = rules::row_block_rows(row_ptr, a.rows(), first, limits);
    most.single_rows = most.single_rows && rows == 1;
    std::uint64_t longest = 0;
    for (std::uint64_t r = first; r < first + rows; ++r) longest = std::max(longest, a.row_length(r));
    if (rows == 1)
      most.rows = std::max(most.rows, div_up(longest, limits.entries));
    else
      most.sums = std::max(most.sums,
                           div_up(longest, rules::threads_per_row(limits.threads, static_cast<std::uint32_t>(rows))));
  }
  return most;
}

/// How often a device has all the threads that it holds, and more to come.
std::uint64_t waves(std::uint64_t threads, const Device& device) {
  return (threads - 1) / (std::uint64_t{launch_rules::multiprocessor_threads(900)} * device.multiprocessors);
}

/// csr.scalar_lines: lines of the first-level cache that a warp's lanes, each in a row of its own, read at a step, of
/// values and of columns, for all steps; estimated from the mean row. Rows are so short there that each line has
/// several lanes' entries.
std::uint64_t scalar_lines(const CsrView& a) {
  constexpr std::uint64_t lanes = 32, line_bytes = 128;
  const auto of_step = [&](std::uint64_t size) { return div_up(a.nnz() * size * lanes, a.rows() * line_bytes); };
  return a.nnz() * (of_step(size_of(a.value_type())) + of_step(sizeof(std::uint32_t))) / lanes;
}

/// Whether a GPU's load will find that each row's columns follow one another.
bool has_runs(const CsrView& a, std::uint64_t longest) {
  if (!rules::looks_for_runs(a.rows(), longest, a.nnz())) return false;
  for (std::uint64_t r = 0; r < a.rows(); ++r) {
    const std::uint64_t begin = a.row_ptr(r), end = a.row_ptr(r + 1);
    if (begin != end && a.col_idx()[end - 1] - a.col_idx()[begin] != end - begin - 1) return false;
  }
  return true;
}
/// Of the kernel that is a GPU's default. runs: has_runs(), of which `ipcsr` has a kernel that is
/// like that of single rows.
std::vector<Counter> work(const CsrView& a, std::uint64_t longest, const Turns& most, bool runs, const Device& device) {
  std::vector<Counter> work{{Work::multiplies, 1}, {Work::entries, a.nnz()}, {Work::rows, a.rows()}};
  if (a.nnz() == 0) return work;
  switch (rules::default_kernel(a.rows(), longest, a.nnz())) {
    case rules::long_rows:
      work.emplace_back(Work::long_multiplies, 1);
      work.emplace_back(Work::long_entries, a.nnz());
      break;
    case rules::merge:
      work.emplace_back(Work::merge_multiplies, 1);
      work.emplace_back(Work::merge_entries, a.nnz());
      work.emplace_back(Work::carry_rounds, div_up(div_up(longest, rules::chunk_entries), rules::chunks_at_once));
      break;
    case rules::vector:
      work.emplace_back(Work::vector_entries, a.nnz());
      work.emplace_back(Work::vector_chain, rules::vector_turns(a.rows(), longest, a.nnz()));
      work.emplace_back(Work::vector_waves, waves(a.rows() * rules::lanes_per_row(a.rows(), a.nnz()), device));
      break;
    case rules::ipcsr: {
      if (runs) {
        work.emplace_back(Work::row_multiplies, 1);
        work.emplace_back(Work::row_entries, a.nnz());
        break;
      }
      work.emplace_back(most.single_rows ? Work::row_multiplies : Work::block_multiplies, 1);
      work.emplace_back(most.single_rows ? Work::row_entries : Work::block_entries, a.nnz());
      work.emplace_back(Work::serial, most.sums);
      work.emplace_back(Work::block_chain, most.rows);
      break;
    }
    default:  // scalar
      work.emplace_back(Work::scalar_chain, longest);
      work.emplace_back(Work::scalar_lines, scalar_lines(a));
  }
  return work;
}

ColumnsWork columns(const CsrView& a, rules::Kernel kernel, const Turns& most) {
  const std::uint64_t at_once = launch_rules::columns::of_csr(kernel);
  if (at_once == 1) return {};
  ColumnsWork columns{at_once, {{Work::column_entries, a.nnz()}}};
  // Of `ipcsr`, entries that a thread loads in turn, where with one column it has products in shared memory.
  constexpr std::uint64_t hidden = 64;
  if (most.sums > hidden) columns.pass = {{Work::column_chain, most.sums - hidden}};
  return columns;
}

CountedVector<std::uint32_t> rows_longer_than(std::uint64_t entries, const CsrView& a, std::uint64_t longest) {
  CountedVector<std::uint32_t> rows;
  for (std::uint64_t r = 0; longest > entries && r < a.rows(); ++r)
    if (a.row_length(r) > entries) rows.push_back(static_cast<std::uint32_t>(r));
  return rows;
}

bool has_wide_pointers(const PartInfo& part) { return sections[0].type(part) == format::ElementType::u64; }

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_longest_row] = a.longest_row(options.threads);
  add_sections(plan, sections);
  share_by_section(plan);
  plan.fetch_limit = launch_rules::prefetch::csr_limit;
  plan.counters = {main_choice("row_ptr.bits", has_wide_pointers(plan.info) ? 64U : 32U)};
  const std::uint64_t longest = plan.info.params[param_longest_row];
  const rules::Kernel kernel = rules::default_kernel(a.rows(), longest, a.nnz());
  const bool runs = (kernel == rules::ipcsr || kernel == rules::vector) && has_runs(a, longest);
  const Turns most = kernel == rules::ipcsr ? longest_turns(a) : Turns{};
  plan.work = work(a, longest, most, runs, device_of(options));
  if (runs) plan.unread_bytes = a.nnz() * sizeof(std::uint32_t);
  plan.columns = columns(a, kernel, most);
  // Blocks and chunks of so many entries, wherever rows end, have as much of x at a time as chunks of other layouts.
  plan.in_chunks = std::any_of(plan.work.begin(), plan.work.end(), [](const Counter& c) {
    return c.name == name_of(Work::block_multiplies) || c.name == name_of(Work::merge_multiplies);
  });
  if (options.aim.target == Target::host) {
    const UnevenRows rows = uneven_rows(a, options.threads);
    plan.work.emplace_back(Work::uneven_rows, rows.uneven);
    plan.work.emplace_back(Work::empty_rows, rows.empty);
    plan.work.emplace_back(Work::scattered_entries, rows.scattered_entries);
    constexpr std::uint64_t piece = launch_rules::long_rows::csr_piece;
    plan.near_entries = entries_in_turns(a, rows_longer_than(piece, a, longest), piece);
  }
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  if (section != 0) return copy_from(section == 1 ? a.col_idx() : a.value_bytes(), begin, out);
  if (has_wide_pointers(plan.info))
    compute_elements<std::uint64_t>(begin, out, [&](std::uint64_t r) { return a.row_ptr(r); });
  else
    compute_elements<std::uint32_t>(begin, out,
                                    [&](std::uint64_t r) { return static_cast<std::uint32_t>(a.row_ptr(r)); });
}

}  // namespace
}  // namespace csr_plans

extern const LayoutEncoder csr{"csr",
                               "compressed sparse row: row pointers, columns, values",
                               "any matrix, uncompressed: what the others are compared with",
                               {},
                               csr_plans::plan,
                               csr_plans::fill,
                                {.update_multiplies = 1, .takes_complex = true}};

}  // namespace spmvpack::encoder::layouts
