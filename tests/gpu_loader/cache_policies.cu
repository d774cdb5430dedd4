// What createpolicy makes of a GPU's L2 cache, which nothing but code of a device can ask. Part of gpu_test.

#include "cache_policies.hpp"
#include "kernels/read_once.cuh"

namespace spmvpack::test {
namespace {

__global__ void make_policies(CachePolicies* to) {
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(to->evict_first));
  asm("createpolicy.fractional.L2::evict_normal.b64 %0;" : "=l"(to->evict_normal));
}

}  // namespace

CachePolicies used_policies() {
  gpu_loader::MultiplyCall let_go, keep;
  keep.keep = true;
  return {gpu_loader::ReadOnce(let_go).policy(), gpu_loader::ReadOnce(keep).policy()};
}

bool made_policies(CachePolicies& policies) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, sizeof policies) != cudaSuccess) return false;
  make_policies<<<1, 1>>>(static_cast<CachePolicies*>(memory));
  const bool copied = cudaMemcpy(&policies, memory, sizeof policies, cudaMemcpyDeviceToHost) == cudaSuccess;
  return cudaFree(memory) == cudaSuccess && copied;
}

}  // namespace spmvpack::test
