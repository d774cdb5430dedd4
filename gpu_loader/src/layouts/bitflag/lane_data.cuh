#pragma once
// What a lane loads of a chunk, as it is stored, and how it becomes columns and values. Loading and decoding are apart,
// so that all loads of a chunk are on their way before the first is waited for.

#include <cstdint>
#include <cstring>

#include "kernels/read_once.cuh"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

/// What a lane has of a chunk's columns, as they are stored: bytes, pairs of bytes, these and a byte more of each, or
/// words.
struct LaneColumns {
  uint4 first, second;
  __device__ void load(const std::byte* columns, std::uint32_t bytes, std::uint32_t chunk_lanes, std::uint32_t lane,
                       ReadOnce once) {
    if (bytes == 1) {
      const uint2 w = once(reinterpret_cast<const uint2*>(columns) + lane);
      first.x = w.x, first.y = w.y;
    } else {
      first = once(reinterpret_cast<const uint4*>(columns) + lane);
    }
    if (bytes == 3) {
      const uint2 w = once(reinterpret_cast<const uint2*>(columns + highest_bytes(chunk_lanes)) + lane);
      second.x = w.x, second.y = w.y;
    } else if (bytes == 4) {
      second = once(reinterpret_cast<const uint4*>(columns) + chunk_lanes + lane);
    }
  }
  /// `hot`: the highest bit of 3 bytes or more says that what they name is no column.
  template <bool hot>
  __device__ void get(std::uint32_t bytes, std::uint32_t (&word)[lane_entries]) const {
    const std::uint32_t half[4]{first.x, first.y, first.z, first.w};
    if (bytes == 1) {
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k) word[k] = half[k / 4] >> 8 * (k % 4) & 0xFF;
    } else if (bytes == 2) {
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k) word[k] = half[k / 2] >> 16 * (k % 2) & 0xFFFF;
    } else if (bytes == 3) {
#pragma unroll
      for (unsigned k = 0; k < lane_entries; ++k) {
        // Two bytes of the pair's, the highest one, and eight times its sign: the hot bit where 4 bytes have it.
        const std::uint32_t low = 2 * (k % 2), high = 4 + k % 4;
        asm("prmt.b32 %0, %1, %2, %3;"
            : "=r"(word[k])
            : "r"(half[k / 2]), "r"(k < 4 ? second.x : second.y),
              "r"(low | (low + 1) << 4 | high << 8 | (8 | high) << 12));
        if (!hot) word[k] &= 0xFFFFFF;
      }
    } else {
      word[0] = first.x, word[1] = first.y, word[2] = first.z, word[3] = first.w;
      word[4] = second.x, word[5] = second.y, word[6] = second.z, word[7] = second.w;
    }
  }
};

/// What a lane has of a chunk's values, as they are stored.
template <Source source, class A>
struct LaneValues {
  static constexpr unsigned loads = lane_entries * sizeof(A) / 16;
  uint4 word[loads];
  __device__ void load(const std::byte* values, std::uint32_t chunk_lanes, std::uint32_t lane, ReadOnce once) {
#pragma unroll
    for (unsigned i = 0; i < loads; ++i)
      word[i] = once(reinterpret_cast<const uint4*>(values) + i * chunk_lanes + lane);
  }
  template <class V>
  __device__ V get(unsigned k, const V* /*table*/) const {
    constexpr unsigned together = 16 / sizeof(A);
    A all[together];
    memcpy(all, &word[k / together], 16);
    return static_cast<V>(all[k % together]);
  }
};
template <class A>
struct LaneValues<Source::table, A> {
  uint2 ids;
  __device__ void load(const std::byte* values, std::uint32_t /*chunk_lanes*/, std::uint32_t lane, ReadOnce once) {
    ids = once(reinterpret_cast<const uint2*>(values) + lane);
  }
  template <class V>
  __device__ V get(unsigned k, const V* table) const {
    return table[(k < 4 ? ids.x : ids.y) >> 8 * (k % 4) & 0xFF];
  }
};
template <class A>
struct LaneValues<Source::single, A> {
  __device__ void load(const std::byte*, std::uint32_t, std::uint32_t, ReadOnce) {}
  template <class V>
  __device__ V get(unsigned /*k*/, const V* table) const {
    return table[0];
  }
};
/// Its values are fetched with the elements of x. What is no entry has id 0, which names a value, too.
template <class A>
struct LaneValues<Source::window, A> {
  uint4 ids;
  A value[lane_entries];
  __device__ void load(const std::byte* values, std::uint32_t /*chunk_lanes*/, std::uint32_t lane, ReadOnce once) {
    ids = once(reinterpret_cast<const uint4*>(values) + lane);
  }
  __device__ void load_more(const View<A>& v, Info info, const std::byte* /*exponents*/, std::uint32_t /*lane*/,
                            ReadOnce /*once*/) {
    const A* const window = v.values + std::uint64_t{info.window()} * window_step;
    const std::uint32_t pair[4]{ids.x, ids.y, ids.z, ids.w};
#pragma unroll
    for (unsigned k = 0; k < lane_entries; ++k) value[k] = __ldg(window + (pair[k / 2] >> 16 * (k % 2) & 0xFFFF));
  }
  template <class V>
  __device__ V get(unsigned k, const V* /*table*/) const {
    return static_cast<V>(value[k]);
  }
};
/// `table`: the powers of ten.
template <>
struct LaneValues<Source::decimal, double> {
  uint4 low, high;
  uint2 exponents;  ///< in bytes
  std::uint32_t least;
  __device__ void load(const std::byte* values, std::uint32_t chunk_lanes, std::uint32_t lane, ReadOnce once) {
    low = once(reinterpret_cast<const uint4*>(values) + lane);
    high = once(reinterpret_cast<const uint4*>(values) + chunk_lanes + lane);
  }
  __device__ void load_more(const View<double>& /*v*/, Info info, const std::byte* from, std::uint32_t lane,
                            ReadOnce once) {
    least = info.exponent();
    if (info.exponent_bits() == 0 || lane >= info.lanes()) return;
    if (info.exponent_bits() == 8) {
      exponents = once(reinterpret_cast<const uint2*>(from) + lane);
      return;
    }
    const std::uint32_t of_4_bits = once(reinterpret_cast<const std::uint32_t*>(from) + lane);
    const auto apart = [](std::uint32_t n) {
      n = (n | n << 8) & 0x00FF00FF;
      return (n | n << 4) & 0x0F0F0F0F;
    };
    exponents = {apart(of_4_bits & 0xFFFF), apart(of_4_bits >> 16)};
  }
  __device__ double get(unsigned k, const double* table) const {
    const std::uint32_t word[lane_entries]{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    return __ddiv_rn(static_cast<std::int32_t>(word[k]),
                     table[least + ((k < 4 ? exponents.x : exponents.y) >> 8 * (k % 4) & 0xFF)]);
  }
};

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
