#pragma once
// csr's launch numbers, the same on every architecture; not measured against others. No result depends on them: what
// the order of additions depends on is in launch_rules/csr.hpp, including IPCSR's threads.

#include "kernels/tuning.cuh"
#include "spmvpack/launch_rules/device.hpp"

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned csr_rows_threads = 256;  ///< of a block of vector and scalar
/// At most of a block of scalar, where two of them are all that a multiprocessor holds. Large blocks find more of x in
/// the first-level cache: triangles numbered at random in windows of 1,024 take 125 us with 512 threads, 154 with 256
/// (H200).
inline constexpr unsigned csr_scalar_threads = 1024;
/// Of more rows than are on the device at once, larger blocks gain nothing more, and FP32 loses (5 points: 1.07 to 1.12
/// times).
constexpr unsigned csr_scalar_block(std::uint64_t rows, std::uint64_t multiprocessors) {
  constexpr unsigned usual = 512;
  return rows > 2 * std::uint64_t{csr_scalar_threads} * multiprocessors
             ? usual
             : launch_rules::even_threads(rows, csr_scalar_threads, multiprocessors);
}
/// Blocks of so many threads that fill a multiprocessor, so that none is kept out for want of registers: with 39 of
/// them, 64,000 rows of 16 entries take 14.9 us instead of 12.5 (H200).
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
