#pragma once
// For an architecture that nobody has measured: as many blocks as 128 registers a thread allow, more than these kernels
// need on any of them (80, 100, 120), so that none spills.

#include "tuning/numbers.cuh"

namespace spmvpack::gpu_loader::tuning {

inline constexpr Numbers safe{{2, 2, 2, 2}, 8};

}  // namespace spmvpack::gpu_loader::tuning
