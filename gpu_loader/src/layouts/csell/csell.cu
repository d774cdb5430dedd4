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
  if (call.row_major) return multiply_columns(part, call);
  const auto* const windows = static_cast<const DeviceWindows*>(part.state.get());
  if (windows != nullptr && multiply_windows(part, *windows, call)) return;
  dispatch_source(source_of(part.view.info()),
                  [&](auto source) { multiply_source<without_signs(source())>(part, call); });
}

}  // namespace
}  // namespace csell_kernels

const LayoutKernels csell{.check_names = csell_kernels::check_names,
                          .check_scratch = csell_kernels::check_scratch,
                          .check = csell_kernels::check,
                          .prepare = csell_kernels::prepare,
                          .multiply = csell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
