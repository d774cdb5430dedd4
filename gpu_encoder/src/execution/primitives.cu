#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "execution/primitives.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"

namespace spmvpack::gpu_encoder::primitives {
namespace {

/// Calls CUB for the size of its storage, and then with that.
template <class Call>
void with_storage(Memory& memory, const char* doing, Call&& call) {
  std::size_t bytes = 0;
  require_cuda(call(nullptr, bytes), doing);
  const Buffer<std::byte> storage(memory, bytes == 0 ? 1 : bytes, Memory::Use::scratch);
  require_cuda(call(storage.data(), bytes), doing);
}

}  // namespace

template <class T>
void sum_before(Memory& memory, gpu_loader::Stream stream, const T* in, T* out, std::uint64_t count) {
  with_storage(memory, "adding up", [&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, in, out, static_cast<std::int64_t>(count), stream);
  });
}

template <class T>
void sum(Memory& memory, gpu_loader::Stream stream, const T* in, T* out, std::uint64_t count) {
  with_storage(memory, "adding up", [&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, in, out, static_cast<std::int64_t>(count), stream);
  });
}

template <class T>
void max(Memory& memory, gpu_loader::Stream stream, const T* in, T* out, std::uint64_t count) {
  with_storage(memory, "looking for the largest", [&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Max(storage, bytes, in, out, static_cast<std::int64_t>(count), stream);
  });
}

template <class Key>
void sort_pairs(Memory& memory, gpu_loader::Stream stream, Buffer<Key>& keys, Buffer<std::uint32_t>& items,
                std::uint64_t count, int end_bit) {
  Buffer<Key> other_keys(memory, keys.size(), Memory::Use::scratch);
  Buffer<std::uint32_t> other_items(memory, items.size(), Memory::Use::scratch);
  cub::DoubleBuffer<Key> both_keys(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> both_items(items.data(), other_items.data());
  with_storage(memory, "sorting", [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, both_keys, both_items, count, 0, end_bit, stream);
  });
  if (both_keys.Current() != keys.data()) std::swap(keys, other_keys);
  if (both_items.Current() != items.data()) std::swap(items, other_items);
}

void select(Memory& memory, gpu_loader::Stream stream, const std::uint8_t* flags, std::uint64_t count,
            std::uint32_t* out, std::uint64_t* found) {
  with_storage(memory, "selecting", [&](void* storage, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(storage, bytes, thrust::counting_iterator<std::uint32_t>(0), flags, out, found,
                                      static_cast<std::int64_t>(count), stream);
  });
}

#define SPMVPACK_PRIMITIVES_OF(T)                                                     \
  template void sum_before(Memory&, gpu_loader::Stream, const T*, T*, std::uint64_t); \
  template void sum(Memory&, gpu_loader::Stream, const T*, T*, std::uint64_t);        \
  template void max(Memory&, gpu_loader::Stream, const T*, T*, std::uint64_t);        \
  template void sort_pairs(Memory&, gpu_loader::Stream, Buffer<T>&, Buffer<std::uint32_t>&, std::uint64_t, int);
SPMVPACK_PRIMITIVES_OF(std::uint32_t)
SPMVPACK_PRIMITIVES_OF(std::uint64_t)

}  // namespace spmvpack::gpu_encoder::primitives
