// csell by several columns, from every source of values but mirrors.
// Compiled by itself.

#include "layouts/csell/columns.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

void multiply_columns(const DevicePart& part, const MultiplyCall& call) {
  dispatch_source(source_of(part.view.info()), [&](auto source) {
    if constexpr (!has_mirrors(source())) multiply_columns<source()>(part, call);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
