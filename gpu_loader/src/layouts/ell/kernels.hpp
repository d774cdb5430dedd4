#pragma once
// The kernels of ell, in the order of its table.

#include <cstddef>

namespace spmvpack::gpu_loader::layouts::ell_kernels {

enum Kernel : std::size_t { rows, padded };

}  // namespace spmvpack::gpu_loader::layouts::ell_kernels
