#pragma once
/// The entries of a part of amb in the order of CSR, and where the value of each lies, for host and device. Every entry
/// has a value of its own; those of other slots are +0 (`stored_zeros` names the entries that are +0, too).

#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::amb {

/// Blocks of a lane: up to the first whose column does not rise.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t blocks_of(const View<T>& v, std::uint64_t chunk, std::uint64_t lane) {
  if (LaneRow{v.row_idx[chunk * v.chunk_rows + lane]}.is_none()) return 0;
  std::uint64_t n = 1;
  while (n < ChunkLength{v.cl[chunk]}.steps() &&
         v.col_idx[v.place(chunk, n, lane)] > v.col_idx[v.place(chunk, n - 1, lane)])
    ++n;
  return n;
}

/// Calls f(column, slot) for the entries of a lane, which are all that its row has in a segment. has_entry(i): whether
/// element i of `values` is an entry's, which is asked where blocks have several columns.
template <class T, class HasEntry, class F>
SPMVPACK_HOST_DEVICE void each_entry(const View<T>& v, std::uint64_t chunk, std::uint64_t lane, HasEntry&& has_entry,
                                     F&& f) {
  const std::uint64_t n = blocks_of(v, chunk, lane),
                      begin = ChunkLength{v.cl[chunk]}.segment() * std::uint64_t{v.segment_cols};
  for (std::uint64_t step = 0; step < n; ++step)
    for (std::uint64_t i = 0; i < v.block; ++i)
      if (const std::uint64_t at = v.slot(chunk, step, i, lane); v.block == 1 || has_entry(at))
        f(static_cast<std::uint32_t>(begin + v.col_idx[v.place(chunk, step, lane)] + i), element_slot<T>(at));
}

}  // namespace spmvpack::layouts::amb
