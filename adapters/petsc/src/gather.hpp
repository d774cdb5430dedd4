#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace spmvpack::petsc {

/// to[i] = x[indices[i]] for i < count, all in device memory.
cudaError_t gather(const double* x, const int* indices, std::size_t count, double* to, cudaStream_t stream);

}  // namespace spmvpack::petsc
