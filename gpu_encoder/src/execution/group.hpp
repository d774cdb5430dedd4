#pragma once
// What a pass over groups of threads is given, and atomic additions: the same source for a warp of a GPU and for a
// host, where a group is one thread.

#include <cstdint>
#include <utility>

#include "spmvpack/container/base/host_device.hpp"

namespace spmvpack::gpu_encoder {

// NOLINTBEGIN(readability-convert-member-functions-to-static): on a device, these functions use the lane
/// All of a group's threads call each function together.
struct Group {
  std::uint32_t lane = 0;  ///< 0 <= lane < lanes()

  [[nodiscard]] SPMVPACK_HOST_DEVICE static constexpr std::uint32_t lanes() {
#ifdef __CUDA_ARCH__
    return 32;
#else
    return 1;
#endif
  }
  /// The sum, the largest or the smallest of all lanes' values, for all of them. T is an integer.
  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE T sum(T value) const {
#ifdef __CUDA_ARCH__
    for (std::uint32_t other = 16; other != 0; other /= 2) value += __shfl_xor_sync(~0U, value, other);
#endif
    return value;
  }
  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE T max(T value) const {
#ifdef __CUDA_ARCH__
    for (std::uint32_t other = 16; other != 0; other /= 2) {
      const T of_other = __shfl_xor_sync(~0U, value, other);
      value = value < of_other ? of_other : value;
    }
#endif
    return value;
  }
  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE T min(T value) const {
    return static_cast<T>(~max(static_cast<T>(~value)));
  }
  /// The sum of the values of lanes before this one.
  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE T sum_before(T value) const {
#ifdef __CUDA_ARCH__
    const T own = value;
    for (std::uint32_t distance = 1; distance != 32; distance *= 2) {
      const T before = __shfl_up_sync(~0U, value, distance);
      if (lane >= distance) value += before;
    }
    return value - own;
#else
    static_cast<void>(value);
    return T{0};
#endif
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool any(bool value) const {
#ifdef __CUDA_ARCH__
    return __any_sync(~0U, value) != 0;
#else
    return value;
#endif
  }
  /// What the group's lanes wrote to memory before, they all see afterwards.
  SPMVPACK_HOST_DEVICE void meet() const {
#ifdef __CUDA_ARCH__
    __syncwarp();
#endif
  }
};
// NOLINTEND(readability-convert-member-functions-to-static)

namespace detail {
#ifdef __CUDA_ARCH__
__device__ inline unsigned* cuda_word(std::uint32_t* p) { return p; }
__device__ inline unsigned long long* cuda_word(std::uint64_t* p) { return reinterpret_cast<unsigned long long*>(p); }
#endif
}  // namespace detail

/// What others have written by now.
SPMVPACK_HOST_DEVICE inline std::uint32_t newest(const std::uint32_t* place) {
  return *static_cast<const volatile std::uint32_t*>(place);
}
/// For u32 and u64; each returns what was there before.
template <class T>
SPMVPACK_HOST_DEVICE T atomic_add(T* place, T value) {
#ifdef __CUDA_ARCH__
  return static_cast<T>(atomicAdd(detail::cuda_word(place), value));
#else
  return std::exchange(*place, static_cast<T>(*place + value));
#endif
}
template <class T>
SPMVPACK_HOST_DEVICE T atomic_min(T* place, T value) {
#ifdef __CUDA_ARCH__
  return static_cast<T>(atomicMin(detail::cuda_word(place), value));
#else
  return std::exchange(*place, *place < value ? *place : value);
#endif
}
template <class T>
SPMVPACK_HOST_DEVICE T atomic_max(T* place, T value) {
#ifdef __CUDA_ARCH__
  return static_cast<T>(atomicMax(detail::cuda_word(place), value));
#else
  return std::exchange(*place, *place < value ? value : *place);
#endif
}
template <class T>
SPMVPACK_HOST_DEVICE T atomic_or(T* place, T value) {
#ifdef __CUDA_ARCH__
  return static_cast<T>(atomicOr(detail::cuda_word(place), value));
#else
  return std::exchange(*place, *place | value);
#endif
}
/// Puts `value` there if `expected` is there.
template <class T>
SPMVPACK_HOST_DEVICE T atomic_exchange_if(T* place, T expected, T value) {
#ifdef __CUDA_ARCH__
  return static_cast<T>(atomicCAS(detail::cuda_word(place), expected, value));
#else
  return std::exchange(*place, *place == expected ? value : *place);
#endif
}

}  // namespace spmvpack::gpu_encoder
