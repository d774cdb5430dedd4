#pragma once
// CUB's algorithms on a stream, for u32 and u64. Temporary storage is counted as scratch memory.

#include <cstdint>

#include "memory.hpp"

namespace spmvpack::gpu_encoder::primitives {

template <class T>
void sum_before(Memory& memory, gpu_loader::Stream stream, const T* in, T* out, std::uint64_t count);
/// To one element in device memory.
template <class T>
void sum(Memory& memory, gpu_loader::Stream stream, const T* in, T* out, std::uint64_t count);
template <class T>
void max(Memory& memory, gpu_loader::Stream stream, const T* in, T* out, std::uint64_t count);
template <class Key>
void sort_pairs(Memory& memory, gpu_loader::Stream stream, Buffer<Key>& keys, Buffer<std::uint32_t>& items,
                std::uint64_t count, int end_bit);
/// found: one element in device memory.
void select(Memory& memory, gpu_loader::Stream stream, const std::uint8_t* flags, std::uint64_t count,
            std::uint32_t* out, std::uint64_t* found);

}  // namespace spmvpack::gpu_encoder::primitives
