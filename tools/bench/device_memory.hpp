#pragma once
// Device memory and CUDA's errors in the benchmark.

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "spmvpack/container/base/array.hpp"

namespace spmvpack::bench {

/// Throws unless `status` is cudaSuccess: errc::out_of_memory if memory is short, otherwise errc::no_device.
inline void require_cuda(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  const std::string what = std::string(doing) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw Error(errc::out_of_memory, what, {}, "use a smaller matrix, or a larger GPU");
  }
  throw Error(errc::no_device, what, {}, "check the driver with nvidia-smi");
}

/// At least one byte of device memory.
inline std::shared_ptr<void> allocate_device(std::uint64_t bytes) {
  void* memory = nullptr;
  require_cuda(cudaMalloc(&memory, bytes == 0 ? 1 : bytes), "allocating device memory");
  return {memory, [](void* p) { static_cast<void>(cudaFree(p)); }};
}

inline std::shared_ptr<void> upload(const void* data, std::uint64_t bytes) {
  std::shared_ptr<void> memory = allocate_device(bytes);
  if (bytes != 0) require_cuda(cudaMemcpy(memory.get(), data, bytes, cudaMemcpyHostToDevice), "copying to the GPU");
  return memory;
}
template <class T>
std::shared_ptr<void> upload(const Array<T>& array) {
  return upload(array.data(), array.size() * sizeof(T));
}

/// At least one byte of the host's memory, pinned: copies to and from it run as fast as the link does.
inline std::shared_ptr<void> allocate_pinned(std::uint64_t bytes) {
  void* memory = nullptr;
  require_cuda(cudaMallocHost(&memory, bytes == 0 ? 1 : bytes), "pinning memory");
  return {memory, [](void* p) { static_cast<void>(cudaFreeHost(p)); }};
}

/// Elements past the end of x and y that exist, too: formats of blocks round sizes up.
inline constexpr std::uint64_t vector_slack = 64;

}  // namespace spmvpack::bench
