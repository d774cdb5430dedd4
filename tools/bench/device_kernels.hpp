#pragma once
// Kernels that measure, or prepare what is measured, rather than multiply.

#include <cstddef>
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

/// Elements from one row to the next, and from one column to the next.
struct Strides {
  std::uint64_t row, column;
};
/// Copies a matrix of elements of 4 or 8 bytes from one order into another. No overlap.
void copy_elements(const void* from, Strides from_strides, void* to, Strides to_strides, std::uint64_t rows,
                   std::uint64_t columns, std::size_t element_bytes, CUstream_st* stream);

}  // namespace spmvpack::bench
