#pragma once
// ell: one pass for the longest row, one for the slots.

#include "layouts/layouts.hpp"
#include "layouts/slots.hpp"
#include "longest_row.hpp"
#include "spmvpack/container/layouts/ell.hpp"

namespace spmvpack::gpu_encoder {

template <class Execution>
EncodedPart encode_ell(const Execution& run, const Csr& a, const PartOptions& options) {
  namespace ell = layouts::ell;
  PartInfo info = part_info(ell::layout, a);
  const std::uint64_t slots = checked_mul(a.rows, longest_row(run, a), "slots of ell");
  info.counts[ell::section_col_idx] = slots;
  PartMaker part(run.memory(), info, options);
  dispatch_bits(a.type, [&](auto zero) {
    using Bits = decltype(zero);
    fill_slots(run, a, nullptr, slots, EllPlaces{a.rows}, part.template section<std::uint32_t>("col_idx"),
               part.template section<Bits>("values"));
  });
  return part.finish();
}

}  // namespace spmvpack::gpu_encoder
