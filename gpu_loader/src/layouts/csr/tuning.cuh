#pragma once
// csr's launch numbers, the same on every architecture; not measured against others. No result depends on them: what
// the order of additions depends on is in launch_rules/csr.hpp, including IPCSR's threads.

namespace spmvpack::gpu_loader::tuning {

inline constexpr unsigned csr_rows_threads = 256;      ///< scalar, vector
inline constexpr unsigned pcsr_product_threads = 256;  ///< pcsr, first kernel
/// merge: chunks write rows without entries themselves if none has more rows than this to write, 128 at a time, which
/// takes about as long as the kernel before theirs that does it otherwise.
inline constexpr std::uint32_t merge_rows = 512;

}  // namespace spmvpack::gpu_loader::tuning
