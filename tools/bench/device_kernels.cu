#include <cuda_runtime_api.h>

#include "bench/device_kernels.hpp"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::bench {
namespace {

constexpr unsigned threads = 256, blocks_per_multiprocessor = 8, loads = 4, gathers_in_flight = 8;
/// Of these blocks, those that a multiprocessor holds at a time, of the architecture that is compiled for.
#ifdef __CUDA_ARCH__
constexpr unsigned resident_blocks = launch_rules::multiprocessor_threads(__CUDA_ARCH__) / threads;
#else
constexpr unsigned resident_blocks = blocks_per_multiprocessor;
#endif
static_assert(resident_blocks <= blocks_per_multiprocessor);

__global__ void read_kernel(const uint4* data, unsigned count, int passes, unsigned* sink) {
  const unsigned all = gridDim.x * blockDim.x, self = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    // Another part of the buffer in each pass, so that every multiprocessor reads near and far halves of the cache.
    const unsigned shift = static_cast<unsigned>(pass) * (count / 16 + threads);
    for (unsigned i = self; i < count; i += all * loads) {
      uint4 v[loads];
#pragma unroll
      for (unsigned l = 0; l < loads; ++l)
        v[l] = i + l * all < count ? __ldcg(data + ((i + l * all + shift) & (count - 1))) : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (unsigned l = 0; l < loads; ++l) sum ^= v[l].x ^ v[l].y ^ v[l].z ^ v[l].w;
    }
  }
  // Never so: the buffer holds zeros. But the compiler does not know.
  if (sum == 0x12345678U) *sink = sum;
}

/// Bits that look random: a permutation of all numbers ("lowbias32" of C. Wellons' hash-prospector).
__device__ unsigned scatter(unsigned i) {
  i = (i ^ i >> 16U) * 0x7FEB352DU;
  i = (i ^ i >> 15U) * 0x846CA68BU;
  return i ^ i >> 16U;
}

__global__ void __launch_bounds__(threads, resident_blocks)
    gather_kernel(const uint2* data, unsigned mask, unsigned gathers, unsigned* sink) {
  const unsigned all = gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < gathers; i += all * gathers_in_flight) {
    uint2 v[gathers_in_flight];
#pragma unroll
    for (unsigned l = 0; l < gathers_in_flight; ++l)
      v[l] = i + l * all < gathers ? __ldcg(data + (scatter(i + l * all) & mask)) : make_uint2(0, 0);
#pragma unroll
    for (unsigned l = 0; l < gathers_in_flight; ++l) sum ^= v[l].x ^ v[l].y;
  }
  if (sum == 0x12345678U) *sink = sum;  // as above
}

template <class T>
__global__ void copy_kernel(const T* from, Strides from_strides, T* to, Strides to_strides, std::uint64_t rows,
                            std::uint64_t columns) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < rows * columns; k += all) {
    const std::uint64_t i = k / columns, j = k % columns;
    to[i * to_strides.row + j * to_strides.column] = from[i * from_strides.row + j * from_strides.column];
  }
}

unsigned blocks_of_device() {
  int device = 0, multiprocessors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  return static_cast<unsigned>(multiprocessors) * blocks_per_multiprocessor;
}

}  // namespace

void read_repeatedly(const void* data, std::uint64_t bytes, int passes, void* sink, CUstream_st* stream) {
  read_kernel<<<blocks_of_device(), threads, 0, stream>>>(static_cast<const uint4*>(data),
                                                          static_cast<unsigned>(bytes / sizeof(uint4)), passes,
                                                          static_cast<unsigned*>(sink));
}

void gather_scattered(const void* data, std::uint64_t bytes, std::uint64_t gathers, void* sink, CUstream_st* stream) {
  gather_kernel<<<blocks_of_device(), threads, 0, stream>>>(
      static_cast<const uint2*>(data), static_cast<unsigned>(bytes / sizeof(uint2) - 1), static_cast<unsigned>(gathers),
      static_cast<unsigned*>(sink));
}

void copy_elements(const void* from, Strides from_strides, void* to, Strides to_strides, std::uint64_t rows,
                   std::uint64_t columns, std::size_t element_bytes, CUstream_st* stream) {
  const auto copy = [&](auto element) {
    using T = decltype(element);
    copy_kernel<<<blocks_of_device(), threads, 0, stream>>>(static_cast<const T*>(from), from_strides,
                                                            static_cast<T*>(to), to_strides, rows, columns);
  };
  if (element_bytes == sizeof(std::uint64_t))
    copy(std::uint64_t{});
  else
    copy(std::uint32_t{});
}

}  // namespace spmvpack::bench
