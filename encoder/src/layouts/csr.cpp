#include "spmvpack/container/layouts/csr.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using namespace spmvpack::layouts::csr;  // what the bytes mean

/// The most products that a thread adds up in turn: a GPU takes blocks of consecutive rows, up to 256 and 2,048
/// entries, in which as many of 256 threads share a row as there are for each (Gao, Qi, He 2016). One row may be
/// larger, and has them all.
std::uint64_t longest_turn(const CsrView& a) {
  constexpr std::uint64_t threads = 256, most_entries = 2048;
  std::uint64_t longest = 0;
  for (std::uint64_t first = 0; first < a.rows();) {
    std::uint64_t rows = 0, longest_row = 0, entries = 0;
    while (rows < threads && first + rows < a.rows()) {
      const std::uint64_t length = a.row_length(first + rows);
      if (rows != 0 && entries + length > most_entries) break;
      entries += length;
      longest_row = std::max(longest_row, length);
      ++rows;
    }
    longest = std::max(longest, div_up(longest_row, std::bit_floor(threads / rows)));
    first += rows;
  }
  return longest;
}

/// A GPU has several kernels and takes them by default as docs/LAYOUTS.md says: a thread or a few lanes for each row,
/// many blocks of threads for each where rows are few and long, or blocks of rows.
std::vector<Counter> work(const CsrView& a, std::uint64_t longest) {
  constexpr std::uint64_t few = 8, small = std::uint64_t{1} << 21, most_lanes = 32;
  std::vector<Counter> work{{"csr.multiplies", 1}, {"csr.entries", a.nnz()}, {"csr.rows", a.rows()}};
  if (longest <= few) return work;
  constexpr std::uint64_t row_threads = 8192, turns = 16;
  if (a.nnz() / a.rows() >= row_threads && (longest <= row_threads * turns || longest <= a.nnz() / turns)) {
    work.push_back({"csr.long_entries", a.nnz()});
    return work;
  }
  const std::uint64_t lanes = std::bit_floor(std::clamp<std::uint64_t>(a.nnz() / a.rows(), 1, most_lanes));
  if (a.nnz() <= small && longest <= few * lanes) {
    work.push_back({"csr.vector_entries", a.nnz()});
  } else {
    work.push_back({"csr.block_multiplies", 1});
    work.push_back({"csr.block_entries", a.nnz()});
    work.push_back({"csr.serial", longest_turn(a)});
  }
  return work;
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_longest_row] = a.longest_row(options.threads);
  const bool wide = sections[0].type(plan.info) == format::ElementType::u64;
  const auto pointer = [part](std::uint64_t r) { return part.a.row_ptr(r); };
  plan.sections.push_back(section(
      plan, sections[0], wide ? computed<std::uint64_t>(pointer) : computed<std::uint32_t>([pointer](std::uint64_t r) {
        return static_cast<std::uint32_t>(pointer(r));
      })));
  plan.sections.push_back(section(plan, sections[1], copy_from(a.col_idx(), part.owner)));
  plan.sections.push_back(section(plan, sections[2], copy_from(a.value_bytes(), part.owner)));
  share_by_section(plan);
  plan.counters = {{"row_ptr.bits", wide ? 64U : 32U}};
  plan.work = work(a, plan.info.params[param_longest_row]);
  return plan;
}

}  // namespace

extern const LayoutEncoder csr{"csr",
                               "compressed sparse row: row pointers, columns, values",
                               "any matrix, uncompressed: what the others are compared with",
                               {},
                               plan};

}  // namespace spmvpack::encoder::layouts
