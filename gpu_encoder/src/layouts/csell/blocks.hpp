#pragma once
// Whether a matrix consists of full blocks: encoder's full_blocks() by passes.

#include <algorithm>
#include <cstdint>

#include "layouts/csell/distinct.hpp"
#include "layouts/csell/rows.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder::csell {

/// Notes if a block row has entries that are in no full block.
struct FindNoBlock {
  Rows rows;
  std::uint32_t* found;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t row, Warp& w) const {
    if (is_beyond(w, found, 0)) return;
    const std::uint32_t block = rows.block;
    const std::uint64_t begin = rows.begin(row), length = rows.begin(row, 1) - begin;
    bool full = rows.in_blocks(length) * block == length;
    for (std::uint32_t r = 1; r < block; ++r) full = full && rows.begin(row, r + 1) - rows.begin(row, r) == length;
    const std::uint32_t* const columns = rows.a.col_idx + begin;
    full = full && w.all(length, [&](std::uint64_t j) {
      const std::uint32_t in_block = static_cast<std::uint32_t>(j - rows.in_blocks(j) * block), column = columns[j];
      if (in_block == 0 ? rows.in_blocks(column) * block != column : column != columns[j - in_block] + in_block)
        return false;
      for (std::uint32_t r = 1; r < block; ++r)
        if (rows.a.col_idx[rows.begin(row, r) + j] != column) return false;
      return true;
    });
    if (!full) w.once([&] { *found = 1; });
  }
};

/// Whether all block rows, or only the first `rows_at_most` of them, consist of full blocks.
template <class Execution>
bool full_blocks(const Execution& run, const Csr& a, std::uint32_t block, std::uint64_t rows_at_most) {
  const Rows rows(a, block);
  const Buffer<std::uint32_t> found = run.template allocate<std::uint32_t>(1);
  run.zero(found.data(), found.bytes());
  run.each_warp(std::min(rows.rows(), rows_at_most), 0, FindNoBlock{rows, found.data()});
  return run.read(found.data()) == 0;
}

/// The largest block without fill, or the one wanted if the matrix is made of such; 1 if it is of none.
template <class Execution>
std::uint32_t largest_block(const Execution& run, const Csr& a, std::uint64_t wanted) {
  constexpr std::uint64_t few_rows = 4096;
  if (a.nnz == 0) return 1;
  for (std::uint32_t block = max_block; block > 1; --block) {
    if ((wanted != 0 && wanted != block) || a.rows % block != 0 || a.cols % block != 0) continue;
    // Most matrices have no blocks in their first rows.
    if (full_blocks(run, a, block, few_rows) && (a.rows / block <= few_rows || full_blocks(run, a, block, a.rows)))
      return block;
  }
  return 1;
}

}  // namespace spmvpack::gpu_encoder::csell
