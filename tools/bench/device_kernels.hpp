#pragma once
// Kernels that measure, rather than multiply.

#include <cstdint>

struct CUstream_st;

namespace spmvpack::tools::bench {

/// Reads `bytes` (a power of two, 4 KiB to 16 GiB) from device memory `passes` times, past the first-level caches, with
/// all multiprocessors. `sink` is 4 bytes of device memory.
void read_repeatedly(const void* data, std::uint64_t bytes, int passes, void* sink, CUstream_st* stream);

/// Keeps the stream busy for about this long, so that what follows is there before its turn comes.
void wait_on_device(double seconds, CUstream_st* stream);

}  // namespace spmvpack::tools::bench
