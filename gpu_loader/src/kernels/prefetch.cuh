#pragma once
// What a kernel reads of a small matrix, fetched into the L2 cache as its blocks begin.

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/call.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::gpu_loader {

/// An array in device memory.
struct DeviceBytes {
  const void* begin = nullptr;
  std::uint64_t count = 0;
};
template <class T>
DeviceBytes bytes_of(std::span<const T> array) {
  return {array.data(), array.size_bytes()};
}

/// Arrays of which each block of a grid fetches its share. A thread waits for memory two or three times in turn: for
/// where its entries are, for these, and for the elements of x that they name; with all on their way from the start, it
/// waits for the memory once and for the cache after that. docs/notebook/GPU.md, "What is fetched ahead". On devices
/// that have no instruction for more than a line (before Hopper), nothing is fetched.
class Prefetch {
 public:
  /// For a grid of so many blocks, of a multiply of the part. `first`, `second`: what it reads of the matrix besides
  /// what its threads begin with, which is fetched up to `limit` bytes. V: the type of vectors.
  template <class V>
  static Prefetch of(unsigned blocks, const MultiplyCall& call, const PartView& part, DeviceBytes first,
                     DeviceBytes second = {}, std::uint64_t limit = launch_rules::prefetch::usual_limit) {
    Prefetch fetch;
    const std::uint64_t bytes = first.count + second.count;
    if (blocks == 0 || bytes > launch_rules::prefetch::limit_with_x) return fetch;
    const std::uint64_t x_bytes = part.cols() * sizeof(V);
    if (x_bytes <= launch_rules::prefetch::most_bytes_of_x &&
        part.cols() / launch_rules::prefetch::most_columns_of_entry <= part.info().nnz)
      fetch.shares_[0] = shares_of({call.columns.x, x_bytes}, blocks);
    if (bytes > limit) return fetch;
    fetch.shares_[1] = shares_of(first, blocks);
    fetch.shares_[2] = shares_of(second, blocks);
    return fetch;
  }

  /// Nothing is fetched.
  static Prefetch none() { return {}; }

  /// By the first lanes of a block's first warps. `alpha`: if it is 0, x must not be read.
  template <class V>
  __device__ __forceinline__ void operator()(V alpha) const {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 != 0 || alpha == V{0}) return;
    const unsigned warp = threadIdx.x / 32, last = blockDim.x / 32 - 1;
#pragma unroll
    for (unsigned i = 0; i < most; ++i)
      if (warp == min(i, last)) get(shares_[i]);
#endif
  }

 private:
  Prefetch() = default;

  static constexpr unsigned most = 3;

  using Shares = launch_rules::prefetch::Shares;
  static Shares shares_of(DeviceBytes array, unsigned blocks) {
    return launch_rules::prefetch::shares_of(reinterpret_cast<std::uintptr_t>(array.begin), array.count, blocks);
  }
  static __device__ __forceinline__ void get(const Shares& all) {
#if __CUDA_ARCH__ >= 900
    const std::uint64_t from = std::uint64_t{blockIdx.x} * all.of_block;
    if (from >= all.units) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(all.begin + from * Shares::unit),
                 "r"(min(all.of_block, all.units - static_cast<std::uint32_t>(from)) * Shares::unit)
                 : "memory");
#endif
  }
  Shares shares_[most];
};

}  // namespace spmvpack::gpu_loader
