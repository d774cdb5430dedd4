#pragma once
// Executes passes on the current device, in the order of a stream.

#include <cuda_runtime.h>

#include <vector>

#include "execution/group.hpp"
#include "execution/primitives.hpp"
#include "execution/warp.hpp"
#include "memory.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"

namespace spmvpack::gpu_encoder {

namespace on_device_detail {

inline constexpr unsigned block_threads = 256;
inline constexpr std::uint64_t most_blocks = 1U << 20;

template <class F>
__global__ void __launch_bounds__(block_threads) each_kernel(std::uint64_t count, F f) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * block_threads)
    f(i);
}

template <class F>
__global__ void __launch_bounds__(block_threads) each_group_kernel(std::uint64_t count, F f) {
  constexpr unsigned groups = block_threads / 32;
  const Group group{threadIdx.x % 32};
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * groups + threadIdx.x / 32; i < count;
       i += std::uint64_t{gridDim.x} * groups)
    f(i, group);
}

inline constexpr unsigned warps_together = 4;          ///< of a block at most, which has shared memory for each
inline constexpr std::uint32_t most_of_block = 49152;  ///< bytes of that

template <class F>
__global__ void __launch_bounds__(warps_together* warp_lanes)
    each_warp_kernel(std::uint64_t count, std::uint32_t near_bytes, F f) {
  extern __shared__ uint4 near_memory[];
  const unsigned warp = threadIdx.x / warp_lanes;
  DeviceWarp w{threadIdx.x % warp_lanes, reinterpret_cast<std::byte*>(near_memory) + std::size_t{warp} * near_bytes,
               near_bytes};
  const unsigned warps = blockDim.x / warp_lanes;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * warps + warp; i < count; i += std::uint64_t{gridDim.x} * warps)
    f(i, w);
}

template <class F>
void launch(void (*kernel)(std::uint64_t, F), std::uint64_t count, std::uint64_t items_of_block, const F& f,
            gpu_loader::Stream stream) {
  if (count == 0) return;
  const std::uint64_t blocks = div_up(count, items_of_block);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  require_cuda(cudaLaunchKernelEx(&config, kernel, std::uint64_t{count}, F(f)), "launching a pass");
}

}  // namespace on_device_detail

/// The passes of one encoding. Functions that return what a pass has found wait for the stream; others do not.
class OnDevice : public WithMemory {
 public:
  OnDevice(Memory& memory, gpu_loader::Stream stream) : WithMemory(memory), stream_(stream) {}

  /// f(i) for each i < count, in any order and at the same time.
  template <class F>
  void each(std::uint64_t count, const F& f) const {
    on_device_detail::launch(on_device_detail::each_kernel<F>, count, on_device_detail::block_threads, f, stream_);
  }
  /// f(i, group) for each i < count, called by every lane of a group.
  template <class F>
  void each_group(std::uint64_t count, const F& f) const {
    on_device_detail::launch(on_device_detail::each_group_kernel<F>, count, on_device_detail::block_threads / 32, f,
                             stream_);
  }
  /// f(i, warp) for each i < count. near_bytes: shared memory of a warp, a multiple of 16 up to 48 KiB.
  template <class F>
  void each_warp(std::uint64_t count, std::uint32_t near_bytes, const F& f) const {
    using namespace on_device_detail;
    if (count == 0) return;
    unsigned warps = warps_together;
    while (warps > 1 && std::uint64_t{warps} * near_bytes > most_of_block) warps /= 2;
    const std::uint64_t blocks = div_up(count, std::uint64_t{warps});
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
    config.blockDim = dim3(warps * warp_lanes);
    config.dynamicSmemBytes = std::size_t{warps} * near_bytes;
    config.stream = stream_;
    require_cuda(
        cudaLaunchKernelEx(&config, each_warp_kernel<F>, std::uint64_t{count}, std::uint32_t{near_bytes}, F(f)),
        "launching a pass");
  }

  void zero(void* memory, std::uint64_t bytes) const {
    if (bytes != 0) require_cuda(cudaMemsetAsync(memory, 0, bytes, stream_), "clearing memory");
  }
  /// Within device memory.
  void copy(void* to, const void* from, std::uint64_t bytes) const {
    if (bytes != 0)
      require_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copying within the device");
  }
  /// To the host.
  template <class T>
  [[nodiscard]] T read(const T* place) const {
    return read(place, 1)[0];
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const T* from, std::uint64_t count) const {
    std::vector<T> to(count);
    if (count == 0) return to;
    require_cuda(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_), "reading back");
    require_cuda(cudaStreamSynchronize(stream_), "encoding on the device");
    return to;
  }
  /// From the host, whose memory may change afterwards.
  template <class T>
  void write(T* to, const T* from, std::uint64_t count) const {
    if (count == 0) return;
    require_cuda(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream_),
                 "copying to the device");
    require_cuda(cudaStreamSynchronize(stream_), "encoding on the device");
  }

  /// out[i] = in[0] + ... + in[i - 1] for each i < count; `out` may be `in`. T is u32 or u64.
  template <class T>
  void sum_before(const T* in, T* out, std::uint64_t count) const {
    if (count != 0) primitives::sum_before(memory(), stream_, in, out, count);
  }
  template <class T>
  [[nodiscard]] T sum(const T* in, std::uint64_t count) const {
    return reduced(primitives::sum<T>, in, count);
  }
  /// 0 if there are none.
  template <class T>
  [[nodiscard]] T max(const T* in, std::uint64_t count) const {
    return reduced(primitives::max<T>, in, count);
  }
  /// Sorts `count` pairs by the lowest `end_bit` bits of their keys; pairs with equal keys keep their order. Key is u32
  /// or u64. Needs as much memory again, and exchanges the buffers. The further elements of larger buffers are lost.
  template <class Key>
  void sort_pairs(Buffer<Key>& keys, Buffer<std::uint32_t>& items, std::uint64_t count, int end_bit) const {
    if (count != 0) primitives::sort_pairs(memory(), stream_, keys, items, count, end_bit);
  }
  /// The numbers of those flags that are not 0, in order; returns how many. `out` has room for `count`.
  [[nodiscard]] std::uint64_t select(const std::uint8_t* flags, std::uint64_t count, std::uint32_t* out) const {
    if (count == 0) return 0;
    const Buffer<std::uint64_t> found = allocate<std::uint64_t>(1);
    primitives::select(memory(), stream_, flags, count, out, found.data());
    return read(found.data());
  }

 private:
  template <class T>
  [[nodiscard]] T reduced(void (*reduce)(Memory&, gpu_loader::Stream, const T*, T*, std::uint64_t), const T* in,
                          std::uint64_t count) const {
    if (count == 0) return 0;
    const Buffer<T> result = allocate<T>(1);
    reduce(memory(), stream_, in, result.data(), count);
    return read(result.data());
  }

  gpu_loader::Stream stream_;
};

}  // namespace spmvpack::gpu_encoder
