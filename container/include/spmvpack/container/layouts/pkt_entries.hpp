#pragma once
/// The entries of a part of pkt, and where the value of each lies, for host and device. Every entry has a value of its
/// own.

#include "spmvpack/container/layouts/pkt.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::pkt {

/// Calls f(row, column, slot) for the entries of a thread of a packet: those of a row follow each other, in the order
/// of CSR, and no other thread has any of them.
template <class T, class F>
SPMVPACK_HOST_DEVICE void each_entry(const View<T>& v, std::uint64_t packet, std::uint64_t thread, F&& f) {
  const std::uint32_t* const rows = v.rows + v.packet_ptr[packet];
  for (std::uint64_t step = v.step_ptr[packet]; step < v.step_ptr[packet + 1]; ++step) {
    const std::uint64_t slot = v.slot(step, thread);
    const LocalIndex at{v.local_idx[slot]};
    if (at.is_padding()) return;
    f(rows[at.row()], rows[at.column()], element_slot<T>(slot));
  }
}

}  // namespace spmvpack::layouts::pkt
