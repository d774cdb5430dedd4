#pragma once
// csr: copies, with row pointers as wide as a file has them.

#include <utility>
#include <vector>

#include "layouts/layouts.hpp"
#include "longest_row.hpp"
#include "row_chain.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/settings.hpp"
#include "spmvpack/encoding_rules/csr.hpp"

namespace spmvpack::gpu_encoder {
namespace csr {

namespace rules = encoder::layouts::csr_plans;

template <class Execution, class Pointer>
void copy_row_pointers(const Execution& run, const Csr& a, Pointer* to) {
  run.each(a.rows + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) { to[r] = static_cast<Pointer>(a.row_ptr(r)); });
}

/// Whether each row's columns follow one another. Reads row pointers, and the columns at both ends of rows.
template <class Execution>
bool has_runs(const Execution& run, const Csr& a) {
  const Buffer<std::uint32_t> found = run.template allocate<std::uint32_t>(1);
  run.zero(found.data(), found.bytes());
  std::uint32_t* const others = found.data();
  const Csr m = a;
  run.each(a.rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    const std::uint64_t begin = m.row_ptr(r), end = m.row_ptr(r + 1);
    if (begin != end && m.col_idx[end - 1] - m.col_idx[begin] != end - begin - 1) *others = 1;
  });
  return run.read(others) == 0;
}

/// What the slowest of `ipcsr`'s blocks of rows does in turn: blocks begin at rows of a chain.
template <class Execution>
rules::Turns longest_turns(const Execution& run, const Csr& a) {
  const Buffer<std::uint32_t> nexts = run.template allocate<std::uint32_t>(a.rows);
  std::uint32_t* const next = nexts.data();
  const Csr m = a;
  run.each(a.rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    const auto row_ptr = [&m](std::uint64_t i) { return m.row_ptr(i); };
    next[r] = static_cast<std::uint32_t>(r) + launch_rules::csr::row_block_rows(row_ptr, m.rows, r, {});
  });
  const RowChain blocks = chain_from_first(run, a.rows, nexts);
  const Buffer<std::uint64_t> buffer = run.template allocate<std::uint64_t>(3);
  run.zero(buffer.data(), buffer.bytes());
  std::uint64_t* const most = buffer.data();  // sums, rows, and whether a block has several rows
  const std::uint32_t* const rows = blocks.rows.data();
  run.each_group(blocks.count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    std::uint64_t longest = 0;
    for (std::uint64_t r = rows[i] + group.lane; r < rows[i + 1]; r += Group::lanes()) {
      const std::uint64_t length = m.row_length(r);
      longest = longest < length ? length : longest;
    }
    longest = group.max(longest);
    if (group.lane != 0) return;
    const std::uint64_t of_block = rows[i + 1] - rows[i];
    std::uint64_t* const turns = most + (of_block == 1 ? 1 : 0);
    const std::uint64_t own = rules::turns_of_block(of_block, longest);
    if (*turns < own) atomic_max(turns, own);
    if (of_block != 1) most[2] = 1;
  });
  const std::vector<std::uint64_t> found = run.read(most, 3);
  return {found[0], found[1], found[2] == 0};
}

template <class Execution>
rules::CsrFacts facts_of(const Execution& run, const Csr& a, std::uint64_t longest) {
  rules::CsrFacts facts{a.rows, a.nnz, longest, a.type};
  facts.runs = facts.may_have_runs() && has_runs(run, a);
  if (facts.has_turns()) facts.most = longest_turns(run, a);
  return facts;
}

template <class Execution>
EncodedPart write(const Execution& run, const Csr& a, const PartInfo& info, const PartOptions& options) {
  PartMaker part(run.memory(), info, options);
  if (layouts::csr::sections[0].type(info) == format::ElementType::u64)
    copy_row_pointers(run, a, part.template section<std::uint64_t>("row_ptr"));
  else
    copy_row_pointers(run, a, part.template section<std::uint32_t>("row_ptr"));
  run.copy(part.template section<std::uint32_t>("col_idx"), a.col_idx, a.nnz * sizeof(std::uint32_t));
  run.copy(part.template section<std::byte>("values"), a.value_bits, a.nnz * size_of(a.type));
  return part.finish();
}

}  // namespace csr

template <class Execution>
PlannedPart plan_csr(const Execution& run, const Csr& a, const PartOptions& options) {
  PartInfo info = part_info(layouts::csr::layout, a);
  const std::uint64_t longest = longest_row(run, a);
  info.params[layouts::csr::param_longest_row] = longest;
  PlannedPart planned;
  if (options.weigh) {
    planned.plan = part_plan(info);
    describe_multiply(planned.plan, csr::facts_of(run, a, longest), encoder::device_of(options.plan));
  }
  planned.write = [&run, &a, &options, info] { return csr::write(run, a, info, options); };
  return planned;
}

}  // namespace spmvpack::gpu_encoder
