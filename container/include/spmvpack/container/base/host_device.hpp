#pragma once
/// Marks functions that both host code and CUDA kernels call. They do not call std::countr_zero or std::countl_zero:
/// nvcc compiles these of GCC's library without a warning, and in kernels they return the number of bits of the type.

#ifdef __CUDACC__
#define SPMVPACK_HOST_DEVICE __host__ __device__
#else
#define SPMVPACK_HOST_DEVICE
#endif
