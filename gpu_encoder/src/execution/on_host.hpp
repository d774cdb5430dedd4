#pragma once
// Executes passes on the host, one index after the other: for tests, which compare every section with the host's
// encoder. The functions are those of on_device.cuh, where they are described.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "execution/group.hpp"
#include "execution/warp.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder {

class OnHost : public WithMemory {
 public:
  using WithMemory::WithMemory;

  template <class F>
  void each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i);
  }
  template <class F>
  void each_group(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i, Group{});
  }
  template <class F>
  void each_warp(std::uint64_t count, std::uint32_t near_bytes, const F& f) const {
    std::vector<std::max_align_t> near(div_up(std::uint64_t{near_bytes}, sizeof(std::max_align_t)));
    HostWarp warp{reinterpret_cast<std::byte*>(near.data())};
    for (std::uint64_t i = 0; i < count; ++i) f(i, warp);
  }

  void zero(void* memory, std::uint64_t bytes) const {
    if (bytes != 0) std::memset(memory, 0, bytes);
  }
  void copy(void* to, const void* from, std::uint64_t bytes) const {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  template <class T>
  [[nodiscard]] T read(const T* place) const {
    return *place;
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const T* from, std::uint64_t count) const {
    return count == 0 ? std::vector<T>() : std::vector<T>(from, from + count);
  }
  template <class T>
  void write(T* to, const T* from, std::uint64_t count) const {
    copy(to, from, count * sizeof(T));
  }

  template <class T>
  void sum_before(const T* in, T* out, std::uint64_t count) const {
    T sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const T here = in[i];
      out[i] = sum;
      sum += here;
    }
  }
  template <class T>
  [[nodiscard]] T sum(const T* in, std::uint64_t count) const {
    return count == 0 ? T{0} : std::accumulate(in, in + count, T{0});
  }
  template <class T>
  [[nodiscard]] T max(const T* in, std::uint64_t count) const {
    return count == 0 ? T{0} : *std::max_element(in, in + count);
  }
  template <class Key>
  void sort_pairs(Buffer<Key>& keys, Buffer<std::uint32_t>& items, std::uint64_t count, int end_bit) const {
    const Key mask = end_bit >= static_cast<int>(8 * sizeof(Key)) ? ~Key{0} : static_cast<Key>((Key{1} << end_bit) - 1);
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint64_t i, std::uint64_t j) {
      return (keys.data()[i] & mask) < (keys.data()[j] & mask);
    });
    Buffer<Key> sorted_keys = allocate<Key>(keys.size());
    Buffer<std::uint32_t> sorted_items = allocate<std::uint32_t>(items.size());
    for (std::uint64_t i = 0; i < count; ++i) {
      sorted_keys.data()[i] = keys.data()[order[i]];
      sorted_items.data()[i] = items.data()[order[i]];
    }
    keys = std::move(sorted_keys);
    items = std::move(sorted_items);
  }
  [[nodiscard]] std::uint64_t select(const std::uint8_t* flags, std::uint64_t count, std::uint32_t* out) const {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      if (flags[i] != 0) out[found++] = static_cast<std::uint32_t>(i);
    return found;
  }
};

}  // namespace spmvpack::gpu_encoder
