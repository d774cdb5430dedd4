#pragma once
// Chains of rows: each row says which comes next, and those that are reached from row 0 are found by jumping, without
// visiting one after the other.

#include "csr_arrays.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder {

/// Rows that are jumped over at a time: first the small number, then the large one.
inline constexpr std::uint64_t small_jump = 1024, large_jump = small_jump * 64;

/// No row.
inline constexpr std::uint32_t nowhere = ~0U;

/// Makes jump[r], which is further along the chain of r, or as far, the first row of the chain that is not among the
/// same `block` rows. Whatever has been written of other chains already, what is read is further along the same chain.
template <class Execution>
void jump_over(const Execution& run, std::uint64_t rows, std::uint32_t* jump, std::uint64_t block,
               std::uint64_t steps) {
  for (std::uint64_t distance = 1; distance < steps; distance *= 2)
    run.each(rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
      const std::uint32_t to = jump[r];
      if (to < rows && to / block == r / block) jump[r] = jump[to];
    });
}

/// The first row of the chain from row 0 in each `block` rows, or nowhere. `outer`: those of `outer_block` rows, from
/// each of which one thread goes on by `jump`; null: from row 0.
template <class Execution>
Buffer<std::uint32_t> heads_of(const Execution& run, std::uint64_t rows, const std::uint32_t* jump, std::uint64_t block,
                               const std::uint32_t* outer, std::uint64_t outer_block) {
  Buffer<std::uint32_t> heads = run.template allocate<std::uint32_t>(div_up(rows, block));
  std::uint32_t* const head = heads.data();
  run.each(heads.size(), [=] SPMVPACK_HOST_DEVICE(std::uint64_t b) { head[b] = nowhere; });
  run.each(div_up(rows, outer_block), [=] SPMVPACK_HOST_DEVICE(std::uint64_t b) {
    for (std::uint64_t r = outer == nullptr ? 0 : outer[b]; r < rows && r / outer_block == b; r = jump[r])
      head[r / block] = static_cast<std::uint32_t>(r);
  });
  return heads;
}

/// The rows of a chain, and the end.
struct RowChain {
  std::uint64_t count = 0;  ///< without the end
  Buffer<std::uint32_t> rows;
};

/// next[r]: a later row, or `rows`; of rows that no chain reaches, it may be nowhere.
template <class Execution>
RowChain chain_from_first(const Execution& run, std::uint64_t rows, const Buffer<std::uint32_t>& nexts) {
  Buffer<std::uint32_t> jumps = run.template allocate<std::uint32_t>(rows),
                        large_jumps = run.template allocate<std::uint32_t>(rows);
  const std::uint32_t* const next = nexts.data();
  std::uint32_t* const jump = jumps.data();
  run.copy(jump, next, jumps.bytes());
  jump_over(run, rows, jump, small_jump, small_jump);
  run.copy(large_jumps.data(), jump, jumps.bytes());
  jump_over(run, rows, large_jumps.data(), large_jump, large_jump / small_jump);
  const Buffer<std::uint32_t> outer = heads_of(run, rows, large_jumps.data(), large_jump, nullptr, rows),
                              heads = heads_of(run, rows, jump, small_jump, outer.data(), large_jump);
  const std::uint32_t* const head = heads.data();
  jumps.release();
  large_jumps.release();

  const std::uint64_t blocks = heads.size();
  Buffer<std::uint64_t> counts = run.template allocate<std::uint64_t>(blocks + 1);
  std::uint64_t* const counted = counts.data();
  run.each(blocks + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t b) {
    std::uint64_t n = 0;
    if (b < blocks)
      for (std::uint64_t r = head[b]; r < rows && r / small_jump == b; r = next[r]) ++n;
    counted[b] = n;
  });
  run.sum_before(counted, counted, blocks + 1);
  RowChain chain;
  chain.count = run.read(counted + blocks);
  chain.rows = run.template allocate<std::uint32_t>(chain.count + 1);
  std::uint32_t* const found = chain.rows.data();
  run.each(blocks + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t b) {
    std::uint64_t at = counted[b];
    if (b == blocks) found[at] = static_cast<std::uint32_t>(rows);
    if (b < blocks)
      for (std::uint64_t r = head[b]; r < rows && r / small_jump == b; r = next[r])
        found[at++] = static_cast<std::uint32_t>(r);
  });
  return chain;
}

}  // namespace spmvpack::gpu_encoder
