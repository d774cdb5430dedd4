#pragma once
// CUDA's errors as Error.

#include <cuda_runtime_api.h>

#include <string>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack {

/// Throws unless `status` is cudaSuccess: errc::out_of_memory if memory is short, otherwise errc::no_device.
inline void require_cuda(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // reported here, so that the next caller does not see it again
  const std::string what = std::string(doing) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation)
    throw Error(errc::out_of_memory, what, {}, "free memory, or use a larger GPU");
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver)  // the latter also without any driver
    throw Error(errc::no_device, "no GPU, or its driver is missing or too old", {}, "check nvidia-smi");
  throw Error(errc::no_device, what, {}, "check the driver with nvidia-smi");
}

}  // namespace spmvpack
