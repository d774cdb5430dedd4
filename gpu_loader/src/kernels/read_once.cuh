#pragma once
// Loads of what a multiply reads once: a matrix's entries.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/call.hpp"

namespace spmvpack::gpu_loader {

/// How a multiply loads what it reads once: out of the way of x in the first-level cache; in the L2 cache either first
/// to go, so that what other work has there stays, or as anything else, so that the next multiply finds it there.
/// docs/BENCHMARKS.md, "What stays in the L2 cache". Known as a kernel is launched and not as it is compiled, it costs
/// no instruction: each load names a descriptor, and takes this one from the kernel's parameters.
class ReadOnce {
 public:
  explicit ReadOnce(const MultiplyCall& call) : policy_(call.keep ? evict_normal : evict_first) {}

  template <class T>
  __device__ __forceinline__ T operator()(const T* from) const {
    T v;
    if constexpr (sizeof(T) == 1) {
      std::uint32_t word;
      asm("ld.global.L1::evict_first.L2::cache_hint.u8 %0, [%1], %2;" : "=r"(word) : "l"(from), "l"(policy_));
      v = static_cast<T>(word);
    } else if constexpr (sizeof(T) == 2) {
      std::uint16_t word;
      asm("ld.global.L1::evict_first.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(word) : "l"(from), "l"(policy_));
      memcpy(&v, &word, sizeof v);
    } else if constexpr (std::is_same_v<T, float>) {
      asm("ld.global.L1::evict_first.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(from), "l"(policy_));
    } else if constexpr (std::is_same_v<T, double>) {
      asm("ld.global.L1::evict_first.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(v) : "l"(from), "l"(policy_));
    } else if constexpr (sizeof(T) == 4) {
      std::uint32_t word;
      asm("ld.global.L1::evict_first.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word) : "l"(from), "l"(policy_));
      memcpy(&v, &word, sizeof v);
    } else if constexpr (std::is_same_v<T, uint2>) {
      asm("ld.global.L1::evict_first.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
          : "=r"(v.x), "=r"(v.y)
          : "l"(from), "l"(policy_));
    } else if constexpr (sizeof(T) == 8) {
      std::uint64_t word;
      asm("ld.global.L1::evict_first.L2::cache_hint.u64 %0, [%1], %2;" : "=l"(word) : "l"(from), "l"(policy_));
      memcpy(&v, &word, sizeof v);
    } else {
      static_assert(std::is_same_v<T, uint4>);
      asm("ld.global.L1::evict_first.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
          : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
          : "l"(from), "l"(policy_));
    }
    return v;
  }

  /// Both words if `two`, else the first alone, and 0: without a branch.
  __device__ __forceinline__ uint2 one_or_two(const std::byte* from, bool two) const {
    uint2 r{};
    asm("{\n\t"
        ".reg .pred two;\n\t"
        "setp.ne.u32 two, %3, 0;\n\t"
        "@two ld.global.L1::evict_first.L2::cache_hint.v2.u32 {%0, %1}, [%2], %4;\n\t"
        "@!two ld.global.L1::evict_first.L2::cache_hint.u32 %0, [%2], %4;\n\t"
        "}"
        : "+r"(r.x), "+r"(r.y)
        : "l"(from), "r"(static_cast<std::uint32_t>(two)), "l"(policy_));
    return r;
  }

  // What createpolicy.fractional.L2 makes, in nvcc 13's code for 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0 alike; gpu_test asks
  // the device. Known on the host, they take no instructions of a thread.
  static constexpr std::uint64_t evict_first = 0x12F0000000000000, evict_normal = 0x16F0000000000000;
  [[nodiscard]] std::uint64_t policy() const { return policy_; }

 private:
  std::uint64_t policy_;
};

}  // namespace spmvpack::gpu_loader
