#pragma once
// csr's launch numbers, the same on every architecture; not measured against others. No result depends on them: what
// the order of additions depends on is in launch_rules/csr.hpp, including IPCSR's threads.

#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned csr_rows_threads = 256;  ///< scalar, vector
/// Of these, blocks that fill a multiprocessor, so that none is kept out for want of registers: with 39 of them, 64,000
/// rows of 16 entries take 14.9 us instead of 12.5 (H200).
#ifdef __CUDA_ARCH__
inline constexpr unsigned csr_rows_blocks = launch_rules::multiprocessor_threads(__CUDA_ARCH__) / csr_rows_threads;
#else
inline constexpr unsigned csr_rows_blocks = launch_rules::multiprocessor_threads(0) / csr_rows_threads;
#endif
/// vector: entries of a lane whose loads are on their way together, in the same turn of all lanes of the row. A row of
/// the mean length has one or two for each lane, or any number where a row has all 32. One: the compiler unrolls the
/// loop, in which few lanes are seldom apart.
constexpr unsigned vector_batch(unsigned lanes) { return lanes == 32 ? 4 : lanes >= 8 ? 2 : 1; }
inline constexpr unsigned pcsr_product_threads = 256;  ///< pcsr, first kernel
/// merge: chunks write rows without entries themselves if none has more rows than this to write, 128 at a time, which
/// takes about as long as the kernel before theirs that does it otherwise.
inline constexpr std::uint32_t merge_rows = 512;

}  // namespace spmvpack::gpu_loader::tuning
