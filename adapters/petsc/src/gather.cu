#include "gather.hpp"

namespace spmvpack::petsc {
namespace {

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads)
    gather_elements(const double* __restrict__ x, const int* __restrict__ indices, std::size_t count, double* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < count) to[i] = x[indices[i]];
}

}  // namespace

cudaError_t gather(const double* x, const int* indices, std::size_t count, double* to, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  // Its own status, and not the last error, which may be somebody else's.
  void* arguments[] = {&x, &indices, &count, &to};
  return cudaLaunchKernel(reinterpret_cast<const void*>(gather_elements),
                          static_cast<unsigned>((count + threads - 1) / threads), threads, arguments, 0, stream);
}

}  // namespace spmvpack::petsc
