// Compiled by itself.

#include "layouts/csell/slices.cuh"

template void spmvpack::gpu_loader::layouts::csell_kernels::multiply_source<spmvpack::layouts::csell::Source::raw>(
    const DevicePart&, const MultiplyCall&);
