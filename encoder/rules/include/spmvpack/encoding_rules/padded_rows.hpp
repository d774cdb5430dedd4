#pragma once
// What ell's and sell's kernels make of a part, from counts alone.

#include <cstdint>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/types.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::layouts {

struct SlotCounts {
  std::uint64_t rows = 0, entries = 0, longest = 0, slots = 0;
  ValueType type = ValueType::f64;
};

namespace ell_plans {
/// Sets what a multiply by the part does: PartPlan's work, columns and padding. Its sections are there.
SPMVPACK_EXPORT void describe_multiply(PartPlan& plan, const SlotCounts& counts, const Device& device);
}  // namespace ell_plans

namespace sell_plans {
/// The same. `listed`: whether rows have an order.
SPMVPACK_EXPORT void describe_multiply(PartPlan& plan, const SlotCounts& counts, bool listed, const Device& device);
}  // namespace sell_plans

}  // namespace spmvpack::encoder::layouts
