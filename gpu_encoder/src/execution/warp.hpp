#pragma once
// A warp, written once: on a device its lanes run together, and a host takes them in turn. A pass is an object that is
// called as f(index, warp); whatever differs between lanes is PerLane, all else is the same in each.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "spmvpack/container/base/host_device.hpp"

namespace spmvpack::gpu_encoder {

inline constexpr unsigned warp_lanes = 32;

SPMVPACK_HOST_DEVICE inline unsigned lowest_bit(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
#else
  return static_cast<unsigned>(std::countr_zero(mask));
#endif
}
SPMVPACK_HOST_DEVICE inline unsigned bits_set(std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__popc(mask));
#else
  return static_cast<unsigned>(std::popcount(mask));
#endif
}

/// f(0), ..., f(n - 1). On a device the calls are unrolled, so that arrays which they index stay in registers.
template <unsigned n, class F>
SPMVPACK_HOST_DEVICE void unrolled(F&& f) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (unsigned i = 0; i < n; ++i) f(i);
}

/// The lanes of a host.
struct HostWarp {
  template <class T>
  using PerLane = std::array<T, warp_lanes>;
  std::byte* shared = nullptr;  ///< of the warp, aligned to 16 bytes

  /// Memory near the warp, of the bytes that each_warp() was given.
  template <class T>
  [[nodiscard]] T* own() const {
    return reinterpret_cast<T*>(shared);
  }
  /// What lanes have written, others read from now on.
  void meet() {}
  /// rank[lane]: how many lanes before this one have the same key.
  void rank(const PerLane<std::uint32_t>& key, PerLane<std::uint32_t>& rank) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      rank[lane] = static_cast<std::uint32_t>(std::count(key.begin(), key.begin() + lane, key[lane]));
  }

  /// f(lane) for each.
  template <class F>
  void each(F&& f) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) f(lane);
  }
  /// f() once, for what all lanes have in common.
  template <class F>
  void once(F&& f) {
    f();
  }
  /// f(i) for i < n, dealt to the lanes.
  template <class F>
  void share(std::uint64_t n, F&& f) {
    for (std::uint64_t i = 0; i < n; ++i) f(i);
  }
  /// The lanes for which f(lane) is true.
  template <class F>
  [[nodiscard]] std::uint32_t where(F&& f) {
    std::uint32_t mask = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) mask |= std::uint32_t{f(lane) ? 1U : 0U} << lane;
    return mask;
  }
  template <class F>
  [[nodiscard]] auto least(F&& f) {
    auto low = f(0);
    for (unsigned lane = 1; lane < warp_lanes; ++lane) low = std::min(low, f(lane));
    return low;
  }
  template <class F>
  [[nodiscard]] auto most(F&& f) {
    auto high = f(0);
    for (unsigned lane = 1; lane < warp_lanes; ++lane) high = std::max(high, f(lane));
    return high;
  }
  template <class F>
  [[nodiscard]] auto sum(F&& f) {
    auto all = f(0);
    for (unsigned lane = 1; lane < warp_lanes; ++lane) all += f(lane);
    return all;
  }
  template <class T>
  [[nodiscard]] T of_lane(const PerLane<T>& value, unsigned lane) {
    return value[lane];
  }
  /// Whether f(i) is true for all i < n.
  template <class F>
  [[nodiscard]] bool all(std::uint64_t n, F&& f) {
    for (std::uint64_t i = 0; i < n; ++i)
      if (!f(i)) return false;
    return true;
  }
  /// `n` elements from `from` on, near the warp if there is room for them.
  template <class T>
  const T* near(const T* from, std::uint64_t /*n*/) {
    return from;
  }
};

#ifdef __CUDACC__
/// The lanes of a device. The functions have no bodies on hosts, where nobody calls them: passes are compiled for both.
struct DeviceWarp {
  template <class T>
  struct PerLane {
    T value;
    SPMVPACK_HOST_DEVICE T& operator[](unsigned /*lane*/) { return value; }
    SPMVPACK_HOST_DEVICE const T& operator[](unsigned /*lane*/) const { return value; }
  };
  unsigned lane;
  std::byte* shared;  ///< of the warp, aligned to 16 bytes
  std::uint32_t shared_bytes;

  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE T* own() const {
    return reinterpret_cast<T*>(shared);
  }
  SPMVPACK_HOST_DEVICE void meet() {
#ifdef __CUDA_ARCH__
    __syncwarp();
#endif
  }
  SPMVPACK_HOST_DEVICE void rank(const PerLane<std::uint32_t>& key, PerLane<std::uint32_t>& rank) {
#ifdef __CUDA_ARCH__
    rank.value = bits_set(__match_any_sync(~0U, key.value) & ((1U << lane) - 1));
#else
    rank.value = key.value & 0U;
#endif
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each(F&& f) {
    f(lane);
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void once(F&& f) {
    if (lane == 0) f();
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void share(std::uint64_t n, F&& f) {
    for (std::uint64_t i = lane; i < n; i += warp_lanes) f(i);
  }
  template <class F>
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t where(F&& f) {
#ifdef __CUDA_ARCH__
    return __ballot_sync(~0U, f(lane));
#else
    return f(lane) ? 1U : 0U;
#endif
  }
  template <class F>
  [[nodiscard]] SPMVPACK_HOST_DEVICE auto least(F&& f) {
    return reduced<false>(f(lane));
  }
  template <class F>
  [[nodiscard]] SPMVPACK_HOST_DEVICE auto most(F&& f) {
    return reduced<true>(f(lane));
  }
  template <class F>
  [[nodiscard]] SPMVPACK_HOST_DEVICE auto sum(F&& f) {
    auto all = f(lane);
#ifdef __CUDA_ARCH__
    for (int apart = warp_lanes / 2; apart > 0; apart /= 2) all += __shfl_xor_sync(~0U, all, apart);
#endif
    return all;
  }
  template <class T>
  [[nodiscard]] SPMVPACK_HOST_DEVICE T of_lane(const PerLane<T>& value, unsigned from) {
#ifdef __CUDA_ARCH__
    return __shfl_sync(~0U, value.value, static_cast<int>(from));
#else
    return from == 0 ? value.value : T{};
#endif
  }
  template <class F>
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool all(std::uint64_t n, F&& f) {
#ifdef __CUDA_ARCH__
    bool ok = true;
    for (std::uint64_t i = lane; i < n; i += warp_lanes) ok = ok && f(i);
    return __all_sync(~0U, ok) != 0;
#else
    return n == 0 || f(0);
#endif
  }
  template <class T>
  SPMVPACK_HOST_DEVICE const T* near(const T* from, std::uint64_t n) {
#ifdef __CUDA_ARCH__
    if (n * sizeof(T) > shared_bytes) return from;
    T* const to = reinterpret_cast<T*>(shared);
    __syncwarp();  // lanes may still read what is there
    constexpr unsigned together = 8;
    for (std::uint64_t i = lane; i < n; i += together * warp_lanes) {
      T some[together];
#pragma unroll
      for (unsigned k = 0; k < together; ++k)
        if (i + k * warp_lanes < n) some[k] = from[i + k * warp_lanes];
#pragma unroll
      for (unsigned k = 0; k < together; ++k)
        if (i + k * warp_lanes < n) to[i + k * warp_lanes] = some[k];
    }
    __syncwarp();
    return to;
#else
    return n == 0 ? nullptr : from;
#endif
  }

 private:
  template <bool Most, class T>
  SPMVPACK_HOST_DEVICE static T reduced(T value) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 8) {
      const auto high = static_cast<std::uint32_t>(value >> 32U);
      const std::uint32_t best = reduced<Most>(high);
      const auto low =
          high == best ? static_cast<std::uint32_t>(value) : (Most ? 0U : std::numeric_limits<std::uint32_t>::max());
      return static_cast<T>(best) << 32U | reduced<Most>(low);
    } else {
#if __CUDA_ARCH__ >= 800
      return Most ? __reduce_max_sync(~0U, value) : __reduce_min_sync(~0U, value);
#else
      for (int apart = warp_lanes / 2; apart > 0; apart /= 2) {
        const T other = __shfl_xor_sync(~0U, value, apart);
        value = (other < value) != Most ? other : value;
      }
      return value;
#endif
    }
#else
    return value;
#endif
  }
};
#endif

}  // namespace spmvpack::gpu_encoder
