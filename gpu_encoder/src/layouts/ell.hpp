#pragma once
// ell: one pass for the longest row, one for the slots.

#include "layouts/layouts.hpp"
#include "layouts/slots.hpp"
#include "longest_row.hpp"
#include "spmvpack/container/layouts/ell.hpp"
#include "spmvpack/encoder/settings.hpp"
#include "spmvpack/encoding_rules/padded_rows.hpp"

namespace spmvpack::gpu_encoder {
namespace ell {

template <class Execution>
EncodedPart write(const Execution& run, const Csr& a, const PartInfo& info, const PartOptions& options) {
  PartMaker part(run.memory(), info, options);
  dispatch_bits(a.type, [&](auto zero) {
    using Bits = decltype(zero);
    fill_slots(run, a, nullptr, info.counts[layouts::ell::section_col_idx], EllPlaces{a.rows},
               part.template section<std::uint32_t>("col_idx"), part.template section<Bits>("values"));
  });
  return part.finish();
}

}  // namespace ell

template <class Execution>
PlannedPart plan_ell(const Execution& run, const Csr& a, const PartOptions& options) {
  PartInfo info = part_info(layouts::ell::layout, a);
  const std::uint64_t longest = longest_row(run, a), slots = checked_mul(a.rows, longest, "slots of ell");
  info.counts[layouts::ell::section_col_idx] = slots;
  PlannedPart planned;
  if (options.weigh) {
    planned.plan = part_plan(info);
    encoder::layouts::ell_plans::describe_multiply(planned.plan, {a.rows, a.nnz, longest, slots, a.type},
                                                   encoder::device_of(options.plan));
  }
  planned.write = [&run, &a, &options, info] { return ell::write(run, a, info, options); };
  return planned;
}

}  // namespace spmvpack::gpu_encoder
