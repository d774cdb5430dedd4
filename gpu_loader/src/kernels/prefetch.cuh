#pragma once
// What a kernel reads of a small matrix, fetched into the L2 cache as its blocks begin.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {

/// An array in device memory.
struct DeviceBytes {
  const void* begin;
  std::uint64_t count;
};
template <class T>
DeviceBytes bytes_of(std::span<const T> array) {
  return {array.data(), array.size_bytes()};
}

/// The x of a multiply.
template <class V>
DeviceBytes x_of(const MultiplyCall& call, const PartView& part) {
  return {call.x, part.cols() * sizeof(V)};
}

/// Arrays of which each block of a grid fetches its share. A thread waits for memory two or three times in turn: for
/// where its entries are, for these, and for the elements of x that they name; with all on their way from the start, it
/// waits for the memory once and for the cache after that. docs/BENCHMARKS.md, "What is fetched ahead". On devices that
/// have no instruction for more than a line (before Hopper), nothing is fetched.
class Prefetch {
 public:
  /// Up to how many bytes of a matrix its arrays are fetched; beyond, what blocks begin with would have to wait.
  static constexpr std::uint64_t usual_limit = 8'000'000;

  /// For a grid of so many blocks. `x`: of the multiply, and bytes of it; `arrays`: one or two that threads have to
  /// wait for before they can load x, all in device memory.
  Prefetch(unsigned blocks, DeviceBytes x, std::initializer_list<DeviceBytes> arrays,
           std::uint64_t limit = usual_limit) {
    std::uint64_t bytes = 0;
    for (const DeviceBytes& array : arrays) bytes += array.count;
    if (blocks == 0 || bytes > limit_of_x) return;
    unsigned next = 0;
    shares_[next++] = Share(x, blocks);
    if (bytes <= limit)
      for (const DeviceBytes& array : arrays) shares_[next++] = Share(array, blocks);
  }

  /// By the first lanes of a block's first warps. `alpha`: if it is 0, x must not be read.
  template <class V>
  __device__ __forceinline__ void operator()(V alpha) const {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 != 0 || alpha == V{0}) return;
    const unsigned warp = threadIdx.x / 32, last = blockDim.x / 32 - 1;
#pragma unroll
    for (unsigned i = 0; i < most; ++i)
      if (warp == min(i, last)) shares_[i].fetch();
#endif
  }

 private:
  static constexpr std::uint64_t limit_of_x = 32'000'000;  ///< bytes of a matrix up to which x is fetched
  static constexpr unsigned most = 3;
  static constexpr std::uint32_t unit = 16;  ///< bytes that a fetch counts, and begins at a multiple of

  struct Share {
    const std::byte* begin = nullptr;
    std::uint32_t units = 0, of_block = 0;
    Share() = default;
    Share(DeviceBytes array, unsigned blocks) {
      const auto address = reinterpret_cast<std::uintptr_t>(array.begin);
      begin = static_cast<const std::byte*>(array.begin) - address % unit;  // which no allocation begins between
      units = static_cast<std::uint32_t>(std::min<std::uint64_t>((address % unit + array.count) / unit, 1U << 24U));
      of_block = (units + blocks - 1) / blocks;
    }
    __device__ __forceinline__ void fetch() const {
#if __CUDA_ARCH__ >= 900
      const std::uint64_t from = std::uint64_t{blockIdx.x} * of_block;
      if (from >= units) return;
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin + from * unit),
                   "r"(min(of_block, units - static_cast<std::uint32_t>(from)) * unit)
                   : "memory");
#endif
    }
  };
  Share shares_[most];
};

}  // namespace spmvpack::gpu_loader
