#include "layouts/pkt/packets.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "strategies/lazy_part.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::strategy {
namespace {

/// The entries outside of packets, as a part over all rows and columns.
Cut outside(const CsrView& a, const std::shared_ptr<const layouts::Packets>& packets, int threads) {
  Cut part{PartIndices::all(a.rows()), PartIndices::all(a.cols()), Array<std::uint64_t>(a.rows() + 1)};
  part.row_ptr[0] = 0;
  parallel_items(a.rows(), rows_per_task, threads, [&](std::uint64_t r) {
    std::uint64_t n = 0;
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) n += packets->has(r, a.col_idx()[k]) ? 0 : 1;
    part.row_ptr[r + 1] = n;
  });
  for (std::uint64_t r = 0; r < a.rows(); ++r) part.row_ptr[r + 1] += part.row_ptr[r];
  part.group = std::shared_ptr<const CountedVector<std::uint32_t>>(packets, &packets->packet_of);
  return part;
}

}  // namespace

Plan plan_pkt(const CsrView& a, const PlanOptions& options) {
  Plan plan;
  plan.strategy = layouts::pkt.name;
  const auto packets = layouts::cut_into_packets(a, options);
  PartPlan inside = layouts::plan_packets(PartMatrix::whole(a, options), packets, options);
  const std::uint64_t nnz = inside.info.nnz;
  if (nnz != 0 || a.nnz() == 0) plan.parts.push_back(std::move(inside));  // of several parts, none is without entries
  if (nnz != a.nnz())
    plan.parts.push_back(plan_part(layouts::coo, outside(a, packets, options.threads), a.value_type(), options));
  return plan;
}

}  // namespace spmvpack::encoder::strategy
