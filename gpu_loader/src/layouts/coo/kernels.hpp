#pragma once
// The kernels of coo, in the order of its table.

#include <cstddef>

namespace spmvpack::gpu_loader::layouts::coo_kernels {

enum Kernel : std::size_t { balanced, atomic, scan };

}  // namespace spmvpack::gpu_loader::layouts::coo_kernels
