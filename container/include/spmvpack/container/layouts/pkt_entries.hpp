#pragma once
/// The entries of a part of pkt, for host and device.

#include "spmvpack/container/layouts/entries.hpp"
#include "spmvpack/container/layouts/pkt.hpp"

namespace spmvpack::layouts::pkt {

/// A unit is a packet, of which lanes take its threads in turn: the entries of a row follow each other in one thread.
/// Every entry has a value of its own.
template <class T>
struct Entries {
  View<T> v;

  static Entries of(const PartView& part) { return {view<T>(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.packets; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const { return 0; }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t unit, std::uint32_t lane, std::uint32_t lanes, Begin&& begin) const {
    const std::uint32_t* const rows = v.rows + v.packet_ptr[unit];
    const std::uint64_t end = v.step_ptr[unit + 1];
    const auto index = [this](std::uint64_t step, std::uint32_t thread) {
      return LocalIndex{v.local_idx[v.slot(step, thread)]};
    };
    for (std::uint32_t thread = lane; thread < v.threads; thread += lanes)
      for (std::uint64_t step = v.step_ptr[unit]; step < end && !index(step, thread).is_padding();) {
        const std::uint32_t row = index(step, thread).row();
        auto&& put = begin(rows[row], first_run);
        for (std::uint32_t i = 0; step < end && index(step, thread).row() == row; ++step, ++i)
          put(i, rows[index(step, thread).column()], element_slot<T>(section_values, v.slot(step, thread)));
      }
  }
};

}  // namespace spmvpack::layouts::pkt
