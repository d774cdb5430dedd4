#pragma once
// Launch numbers, all of them, by architecture. A number that an order of additions depends on is the same for all, and
// is not here but with its kernel: results do not change with the device.

namespace spmvpack::gpu_loader::tuning {

/// Threads of a block. Kernels are compiled once per architecture, so that __CUDA_ARCH__ chooses in device code and the
/// launch must agree: what may differ is a launch bound, not a block size.
inline constexpr unsigned csr_rows_threads = 256;      ///< scalar, vector
inline constexpr unsigned pcsr_product_threads = 256;  ///< pcsr, first kernel
inline constexpr unsigned balanced_threads = 128;      ///< csr merge, coo: a warp per chunk
inline constexpr unsigned carry_threads = 128;
inline constexpr unsigned vector_threads = 256;  ///< scale, gather, scatter
inline constexpr unsigned check_threads = 256;
inline constexpr unsigned ccoo_threads = 256;  ///< a warp per chunk
/// Blocks of ccoo's kernel that a multiprocessor holds at once, by K: what registers allow, and for K = 8 what the
/// first-level cache does. Measured on an H100.
constexpr unsigned ccoo_blocks(int slots) { return slots == 1 ? 4 : slots == 8 ? 2 : 3; }
inline constexpr unsigned ccoo_team_threads = 64;  ///< a block per chunk
inline constexpr unsigned ccoo_team_blocks = 8;    ///< that a multiprocessor holds at once
/// Blocks of a grid-stride kernel: enough to fill every device known.
inline constexpr unsigned grid_stride_blocks = 2048;

}  // namespace spmvpack::gpu_loader::tuning
