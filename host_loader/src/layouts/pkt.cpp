#include "spmvpack/container/layouts/pkt.hpp"

#include <array>

#include "kernels.hpp"
#include "layouts/compiled.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

namespace pkt = spmvpack::layouts::pkt;
using pkt::LocalIndex;

/// What a packet's threads have added up of the rows that they are at.
template <class V>
struct Thread {
  V sum;
  std::uint32_t row;
};
constexpr std::uint32_t no_row = 0xFFFFFFFF;

/// The packets [begin, end). Each has a copy of its elements of x, as in a block's shared memory, and steps are taken
/// in the order in which they are stored.
template <class A, class V>
SPMVPACK_INLINE void packets(const pkt::View<A>& v, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  std::array<V, pkt::max_packet_rows> x, y;  // NOLINT(*-member-init): of each packet, as many as it has rows
  std::array<Thread<V>, pkt::max_packet_threads> threads;  // NOLINT(*-member-init): likewise
  for (std::uint64_t p = begin; p < end; ++p) {
    const std::uint32_t* const rows = v.rows + v.packet_ptr[p];
    const std::uint32_t count = v.rows_of(p);
    for (std::uint32_t i = 0; i < count; ++i) {
      x[i] = operands.x[rows[i]];
      y[i] = scaled(operands.beta, operands.at(rows[i]));
    }
    for (std::uint32_t t = 0; t < v.threads; ++t) threads[t] = {V{0}, no_row};
    const auto put = [&](const Thread<V>& thread) {
      if (thread.row != no_row) y[thread.row] = std::fma(operands.alpha, thread.sum, y[thread.row]);
    };
    for (std::uint64_t step = v.step_ptr[p]; step < v.step_ptr[p + 1]; ++step) {
      const std::uint32_t* const entries = v.local_idx + v.slot(step, 0);
      const A* const values = v.values + v.slot(step, 0);
      for (std::uint32_t t = 0; t < v.threads; ++t) {
        const LocalIndex at{entries[t]};
        if (at.is_padding()) continue;
        Thread<V>& thread = threads[t];
        if (thread.row != at.row()) {
          put(thread);
          thread = {V{0}, at.row()};
        }
        thread.sum = std::fma(V{values[t]}, x[at.column()], thread.sum);
      }
    }
    for (std::uint32_t t = 0; t < v.threads; ++t) put(threads[t]);
    for (std::uint32_t i = 0; i < count; ++i) operands.at(rows[i]) = y[i];
  }
}

template <class A, class V>
void multiply_pkt(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  const pkt::View<A> v = pkt::view<A>(part);
  const auto kernel = best_of<packets<A, V>>();
  parallel_pieces(v.packets, launch_rules::host_tasks::pkt_packets, threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(v, operands, begin, end); });
}

}  // namespace

SPMVPACK_HOST_LAYOUT(pkt, multiply_pkt)

}  // namespace spmvpack::host_loader::layouts
