#include "spmvpack/container/layouts/csr.hpp"

#include <algorithm>
#include <vector>

#include "layouts/csr_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoding_rules/csr.hpp"
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

Turns longest_turns(const CsrView& a) {
  constexpr rules::RowBlockLimits limits;
  const auto row_ptr = [&](std::uint64_t r) { return a.row_ptr(r); };
  Turns most;
  for (std::uint64_t first = 0, rows = 0; first < a.rows(); first += rows) {
    rows = rules::row_block_rows(row_ptr, a.rows(), first, limits);
    most.single_rows = most.single_rows && rows == 1;
    std::uint64_t longest = 0;
    for (std::uint64_t r = first; r < first + rows; ++r) longest = std::max(longest, a.row_length(r));
    std::uint64_t& turns = rows == 1 ? most.rows : most.sums;
    turns = std::max(turns, turns_of_block(rows, longest));
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
std::uint64_t scalar_lines(const CsrFacts& f) {
  constexpr std::uint64_t lanes = 32, line_bytes = 128;
  const auto of_step = [&](std::uint64_t size) { return div_up(f.entries * size * lanes, f.rows * line_bytes); };
  return f.entries * (of_step(size_of(f.type)) + of_step(sizeof(std::uint32_t))) / lanes;
}

/// Whether a GPU's load will find that each row's columns follow one another.
bool has_runs(const CsrView& a) {
  for (std::uint64_t r = 0; r < a.rows(); ++r) {
    const std::uint64_t begin = a.row_ptr(r), end = a.row_ptr(r + 1);
    if (begin != end && a.col_idx()[end - 1] - a.col_idx()[begin] != end - begin - 1) return false;
  }
  return true;
}
/// Of the kernel that is a GPU's default. Of runs `ipcsr` has a kernel that is like that of single rows.
std::vector<Counter> work(const CsrFacts& f, const Device& device) {
  std::vector<Counter> work{{Work::multiplies, 1}, {Work::entries, f.entries}, {Work::rows, f.rows}};
  if (f.entries == 0) return work;
  switch (f.kernel()) {
    case rules::long_rows:
      work.emplace_back(Work::long_multiplies, 1);
      work.emplace_back(Work::long_entries, f.entries);
      break;
    case rules::merge:
      work.emplace_back(Work::merge_multiplies, 1);
      work.emplace_back(Work::merge_entries, f.entries);
      work.emplace_back(Work::carry_rounds, div_up(div_up(f.longest, rules::chunk_entries), rules::chunks_at_once));
      break;
    case rules::vector:
      work.emplace_back(Work::vector_entries, f.entries);
      work.emplace_back(Work::vector_chain, rules::vector_turns(f.rows, f.longest, f.entries));
      work.emplace_back(Work::vector_waves, waves(f.rows * rules::lanes_per_row(f.rows, f.entries), device));
      break;
    case rules::ipcsr: {
      if (f.runs) {
        work.emplace_back(Work::row_multiplies, 1);
        work.emplace_back(Work::row_entries, f.entries);
        break;
      }
      work.emplace_back(f.most.single_rows ? Work::row_multiplies : Work::block_multiplies, 1);
      work.emplace_back(f.most.single_rows ? Work::row_entries : Work::block_entries, f.entries);
      work.emplace_back(Work::serial, f.most.sums);
      work.emplace_back(Work::block_chain, f.most.rows);
      break;
    }
    default:  // scalar
      work.emplace_back(Work::scalar_chain, f.longest);
      work.emplace_back(Work::scalar_lines, scalar_lines(f));
  }
  return work;
}

ColumnsWork columns(const CsrFacts& f) {
  const std::uint64_t at_once = launch_rules::columns::of_csr(f.kernel());
  if (at_once == 1) return {};
  ColumnsWork columns{at_once, {{Work::column_entries, f.entries}}};
  // Of `ipcsr`, entries that a thread loads in turn, where with one column it has products in shared memory.
  constexpr std::uint64_t hidden = 64;
  if (f.most.sums > hidden) columns.pass = {{Work::column_chain, f.most.sums - hidden}};
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
  plan.counters = {main_choice("row_ptr.bits", has_wide_pointers(plan.info) ? 64U : 32U)};
  const std::uint64_t longest = plan.info.params[param_longest_row];
  CsrFacts facts{a.rows(), a.nnz(), longest, a.value_type()};
  facts.runs = facts.may_have_runs() && has_runs(a);
  if (facts.has_turns()) facts.most = longest_turns(a);
  describe_multiply(plan, facts, device_of(options));
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

void describe_multiply(PartPlan& plan, const CsrFacts& facts, const Device& device) {
  plan.fetch_limit = launch_rules::prefetch::csr_limit;
  plan.work = work(facts, device);
  if (facts.runs) plan.unread_bytes = facts.entries * sizeof(std::uint32_t);
  plan.columns = columns(facts);
  // Blocks and chunks of so many entries, wherever rows end, have as much of x at a time as chunks of other layouts.
  plan.in_chunks = std::any_of(plan.work.begin(), plan.work.end(), [](const Counter& c) {
    return c.name == name_of(Work::block_multiplies) || c.name == name_of(Work::merge_multiplies);
  });
}

}  // namespace csr_plans

extern const LayoutEncoder csr{"csr",
                               "compressed sparse row: row pointers, columns, values",
                               "any matrix, uncompressed: what the others are compared with",
                               {},
                               csr_plans::plan,
                               csr_plans::fill,
                               {.update_multiplies = 1, .takes_complex = true}};

}  // namespace spmvpack::encoder::layouts
