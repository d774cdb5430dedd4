#include "spmvpack/container/layouts/csr.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace csr_plans {
namespace {

using namespace spmvpack::layouts::csr;  // what the bytes mean

/// The blocks of rows that a GPU takes: up to 256 consecutive rows and 2,048 entries, in which as many of 256 threads
/// share a row as there are for each (Gao, Qi, He 2016). One row may be larger, and has them all.
struct Turns {
  std::uint64_t sums = 0;  ///< the most products that a thread of a block of several rows adds up in turn
  std::uint64_t rows = 0;  ///< the most times that a block of one row has its 2,048 entries
};
Turns longest_turns(const CsrView& a) {
  constexpr std::uint64_t threads = 256, most_entries = 2048;
  Turns most;
  for (std::uint64_t first = 0; first < a.rows();) {
    std::uint64_t rows = 0, longest_row = 0, entries = 0;
    while (rows < threads && first + rows < a.rows()) {
      const std::uint64_t length = a.row_length(first + rows);
      if (rows != 0 && (entries >= most_entries || entries + length > most_entries)) break;
      entries += length;
      longest_row = std::max(longest_row, length);
      ++rows;
    }
    if (rows == 1)
      most.rows = std::max(most.rows, div_up(longest_row, most_entries));
    else
      most.sums = std::max(most.sums, div_up(longest_row, std::bit_floor(threads / rows)));
    first += rows;
  }
  return most;
}

/// A GPU has several kernels and takes them by default as docs/LAYOUTS.md says: a thread or a few lanes for each row,
/// many blocks of threads for each where rows are few and long, equal shares of the entries where one row is very long,
/// or blocks of rows.
std::vector<Counter> work(const CsrView& a, std::uint64_t longest) {
  constexpr std::uint64_t few = 8, small = std::uint64_t{1} << 21, most_lanes = 32;
  std::vector<Counter> work{{"csr.multiplies", 1}, {"csr.entries", a.nnz()}, {"csr.rows", a.rows()}};
  if (a.nnz() == 0) return work;
  constexpr std::uint64_t row_threads = 8192, turns = 16, few_turns = 4, block = 512, least_blocks = 16,
                          most_blocks = 512, all = 4096;
  std::uint64_t row_blocks = least_blocks;
  if (longest > a.nnz() / turns)
    while (row_blocks < most_blocks &&
           longest > row_blocks * block * (2 * row_blocks * a.rows() <= most_blocks ? few_turns : turns))
      row_blocks *= 2;
  if (a.nnz() / a.rows() >= row_threads && (row_blocks == least_blocks || a.rows() * row_blocks <= all)) {
    work.push_back({"csr.long_multiplies", 1});
    work.push_back({"csr.long_entries", a.nnz()});
    return work;
  }
  constexpr std::uint64_t very_long = 16384, share = 512, chunk = 256, chunks_at_once = 1024;
  if (longest > very_long && longest > a.nnz() / share) {
    work.push_back({"csr.merge_multiplies", 1});
    work.push_back({"csr.merge_entries", a.nnz()});
    work.push_back({"csr.carry_rounds", div_up(div_up(longest, chunk), chunks_at_once)});
    return work;
  }
  const std::uint64_t lanes = std::bit_floor(std::clamp<std::uint64_t>(a.nnz() / a.rows(), 1, most_lanes));
  if (longest <= few) {
    work.push_back({"csr.chain", longest});
  } else if (a.nnz() <= small && longest <= few * lanes) {
    work.push_back({"csr.vector_entries", a.nnz()});
    work.push_back({"csr.chain", div_up(longest, lanes)});
  } else {
    const Turns most = longest_turns(a);
    work.push_back({"csr.block_multiplies", 1});
    work.push_back({"csr.block_entries", a.nnz()});
    work.push_back({"csr.serial", most.sums});
    work.push_back({"csr.block_chain", most.rows});
  }
  return work;
}

bool has_wide_pointers(const PartInfo& part) { return sections[0].type(part) == format::ElementType::u64; }

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_longest_row] = a.longest_row(options.threads);
  add_sections(plan, sections);
  share_by_section(plan);
  plan.counters = {{"row_ptr.bits", has_wide_pointers(plan.info) ? 64U : 32U}};
  plan.work = work(a, plan.info.params[param_longest_row]);
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
                               csr_plans::fill};

}  // namespace spmvpack::encoder::layouts
