#pragma once
// What the layouts' structure checks on the device share.

#include "kernels/launch.cuh"

namespace spmvpack::gpu_loader {

/// A bit for each of some indices, 0 before: marks one, and returns whether it was marked.
struct Marks {
  std::uint32_t* words;
  __device__ bool operator()(std::uint64_t i) const {
    const std::uint32_t mask = 1U << i % 32;
    return (atomicOr(words + i / 32, mask) & mask) != 0;
  }
};

/// Sets *errors to `bit` if so many entries are not `nnz`. With other errors, not all may have been counted.
static __global__ void check_count_kernel(const unsigned long long* entries, std::uint64_t nnz, std::uint32_t bit,
                                          std::uint32_t* errors) {
  if (*errors == 0 && *entries != nnz) *errors = bit;
}

}  // namespace spmvpack::gpu_loader
