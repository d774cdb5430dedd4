#pragma once
// The kernels of ccoo, in the order of its table.

#include <cstddef>

namespace spmvpack::gpu_loader::layouts::ccoo_kernels {

enum Kernel : std::size_t { ordered, atomic };

}  // namespace spmvpack::gpu_loader::layouts::ccoo_kernels
