#pragma once
/// The entries of a part of amb, for host and device.

#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/container/layouts/stored_zeros.hpp"

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

/// A unit is a chunk, of which lanes take its lanes in turn. A row with several lanes has a run in each, by the number
/// of its partial sum. Every entry has a value of its own.
template <class T>
struct Entries {
  View<T> v;
  HeldSlots<T> slots;

  static Entries of(const PartView& part) { return {view<T>(part), HeldSlots<T>::of(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.chunks; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return v.shared; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    const std::uint64_t first_column = ChunkLength{v.cl[unit]}.segment() * std::uint64_t{v.segment_cols};
    for (std::uint64_t l = lane; l < v.chunk_rows; l += lanes) {
      const LaneRow to{v.row_idx[unit * v.chunk_rows + l]};
      const std::uint64_t n = blocks_of(v, unit, l);
      if (n == 0) continue;
      auto&& put = to.is_shared() ? begin(v.shared_rows[to.index()], to.index()) : begin(to.index(), first_run);
      std::uint32_t i = 0;
      for (std::uint64_t step = 0; step < n; ++step)
        for (std::uint64_t of_block = 0; of_block < v.block; ++of_block) {
          const std::uint64_t slot = v.slot(unit, step, of_block, l);
          if (v.block == 1 || slots.has_entry(slot))
            put(i++, static_cast<std::uint32_t>(first_column + v.col_idx[v.place(unit, step, l)] + of_block),
                v.block == 1 ? element_slot<T>(section_values, slot) : slots.slot_of(section_values, slot));
        }
    }
  }
};

}  // namespace spmvpack::layouts::amb
