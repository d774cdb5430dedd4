#pragma once
// Kernels that measure, rather than multiply.

#include <cstdint>

struct CUstream_st;

namespace spmvpack::bench {

/// Reads `bytes` (a power of two, 4 KiB to 16 GiB) from device memory `passes` times, past the first-level caches, with
/// all multiprocessors. `sink` is 4 bytes of device memory.
void read_repeatedly(const void* data, std::uint64_t bytes, int passes, void* sink, CUstream_st* stream);

/// Loads `gathers` (at most 2^31) elements of 8 bytes from pseudo-random places in `bytes` (a power of two, 8 to 16
/// GiB) of device memory, past the first-level caches, each lane from a place of its own, with all multiprocessors. The
/// places are computed: nothing else is read. `sink` is 4 bytes of device memory.
void gather_scattered(const void* data, std::uint64_t bytes, std::uint64_t gathers, void* sink, CUstream_st* stream);

}  // namespace spmvpack::bench
