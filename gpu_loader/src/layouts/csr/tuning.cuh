#pragma once
// csr's launch numbers, the same on every architecture; not measured against others. No result depends on them: what
// the order of additions depends on is in launch_rules/csr.hpp, including IPCSR's threads.

#include "kernels/tuning.cuh"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned csr_rows_threads = 256;  ///< of a block of vector and scalar
/// Most threads of a block of `scalar`, if two of them are all that a multiprocessor holds. Large blocks find more of x
/// in the first-level cache. docs/notebook/GPU.md, "Constants".
inline constexpr unsigned csr_scalar_threads = 1024;
/// Of more rows than are on the device at once, larger blocks gain nothing more, and FP32 loses (5 points: 1.07 to 1.12
/// times).
constexpr unsigned csr_scalar_block(std::uint64_t rows, std::uint64_t multiprocessors) {
  constexpr unsigned usual = 512;
  return rows > 2 * std::uint64_t{csr_scalar_threads} * multiprocessors
             ? usual
             : launch_rules::even_threads(rows, csr_scalar_threads, multiprocessors);
}
/// Blocks of so many threads that fill a multiprocessor, so that no block is kept out for want of registers.
/// docs/notebook/GPU.md, "Constants".
constexpr unsigned csr_rows_blocks(unsigned threads) { return multiprocessor_threads / threads; }
/// vector: entries of a lane whose loads are on their way together, in the same turn of all lanes of the row. A row of
/// the mean length has one or two for each lane, or any number where a row has all 32. One: the compiler unrolls the
/// loop, in which few lanes are seldom apart.
constexpr unsigned vector_batch(unsigned lanes) { return lanes == 32 ? 4 : lanes >= 8 ? 2 : 1; }
inline constexpr unsigned pcsr_product_threads = 256;  ///< pcsr, first kernel
/// merge: chunks write rows without entries themselves if none has more rows than this to write, 128 at a time, which
/// takes about as long as the kernel before theirs that does it otherwise.
inline constexpr std::uint32_t merge_rows = 512;

}  // namespace spmvpack::gpu_loader::tuning
