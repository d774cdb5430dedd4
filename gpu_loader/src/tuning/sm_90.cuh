#pragma once
// Hopper, measured on an H100: what registers allow, and for K = 8 what the first-level cache does.

#include "tuning/numbers.cuh"

namespace spmvpack::gpu_loader::tuning {

inline constexpr Numbers sm_90{{4, 3, 3, 2}, 8};

}  // namespace spmvpack::gpu_loader::tuning
