// Layout `csell` on the GPU: what load builds, and the choice of a multiply's kernel.

#include "layouts/csell/kernels.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace csell_kernels {
namespace {

using namespace spmvpack::layouts::csell;

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  const PartInfo& info = part.info();
  if (slices_of(info) == 0) return nullptr;
  const Source source = source_of(info);
  if (source == Source::table) reserve_tables(info);
  if (info.params[param_patterns_only] != 0 && (source == Source::step || source == Source::single) &&
      info.params[param_block] == 1 && info.params[param_sums] == 1)
    return make_windows(part, context);
  return nullptr;
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  if (slices_of(part.view.info()) == 0) return;
  const auto* const windows = static_cast<const DeviceWindows*>(part.state.get());
  if (windows != nullptr && multiply_windows(part, *windows, call)) return;
  switch (source_of(part.view.info())) {
    case Source::raw:
      return multiply_source<Source::raw>(part, call);
    case Source::table:
      return multiply_source<Source::table>(part, call);
    case Source::step:
      return multiply_source<Source::step>(part, call);
    case Source::mirror:
    case Source::skew:
      return multiply_source<Source::mirror>(part, call);
    default:
      return multiply_source<Source::single>(part, call);
  }
}

}  // namespace
}  // namespace csell_kernels

const LayoutKernels csell{.check_names = csell_kernels::check_names,
                          .check_scratch = csell_kernels::check_scratch,
                          .check = csell_kernels::check,
                          .prepare = csell_kernels::prepare,
                          .multiply = csell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
