#pragma once
// Memory of a GPU, and CUDA's errors as ours.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::petsc {

inline void require(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // PETSc would find it again
  throw Error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::no_device,
              std::string(doing) + ": " + cudaGetErrorString(status), {}, "check the GPU with nvidia-smi");
}

struct Free {
  void operator()(void* p) const noexcept { cudaFree(p); }
};
template <class T>
using OnDevice = std::unique_ptr<T[], Free>;

/// Memory from an allocator of CUDA's, `where` and for what being said in errors.
template <class T>
T* allocated(cudaError_t (*allocate)(void**, std::size_t), std::size_t count, const char* where) {
  void* p = nullptr;
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(T);
  const cudaError_t status = allocate(&p, bytes);
  if (status != cudaSuccess) require(status, fmt::format("allocating {} bytes {}", bytes, where).c_str());
  return static_cast<T*>(p);
}
template <class T>
OnDevice<T> device_memory(std::size_t count, const char* purpose) {
  return OnDevice<T>(allocated<T>([](void** p, std::size_t bytes) { return cudaMalloc(p, bytes); }, count,
                                  (std::string("on the GPU for ") + purpose).c_str()));
}

}  // namespace spmvpack::petsc
