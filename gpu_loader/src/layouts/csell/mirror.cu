// Compiled in the second group.

#include "layouts/csell/slices.cuh"

template void spmvpack::gpu_loader::layouts::csell_kernels::multiply_source<spmvpack::layouts::csell::Source::mirror>(
    const DevicePart&, const MultiplyCall&);
