#pragma once
/// Marks functions that both host code and CUDA kernels call.

#ifdef __CUDACC__
#define SPMVPACK_HOST_DEVICE __host__ __device__
#else
#define SPMVPACK_HOST_DEVICE
#endif
