// Layout `csell` on the GPU.

#include "layouts/csell/kernels.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace {

void multiply(const DevicePart& part, const MultiplyCall& call) {
  using spmvpack::layouts::csell::Source;
  switch (spmvpack::layouts::csell::source_of(part.view.info())) {
    case Source::raw:
      return csell_kernels::multiply_source<Source::raw>(part, call);
    case Source::table:
      return csell_kernels::multiply_source<Source::table>(part, call);
    case Source::step:
      return csell_kernels::multiply_source<Source::step>(part, call);
    default:
      return csell_kernels::multiply_source<Source::single>(part, call);
  }
}

}  // namespace

const LayoutKernels csell{
    .check_names = csell_kernels::check_names, .check = csell_kernels::check, .multiply = multiply};

}  // namespace spmvpack::gpu_loader::layouts
