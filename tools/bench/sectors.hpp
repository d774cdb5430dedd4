#pragma once

#include "spmvpack/container/csr_matrix.hpp"

namespace spmvpack::tools::bench {

/// Bytes of a sector, the least that a GPU's second-level cache hands to a multiprocessor.
inline constexpr std::uint64_t sector_bytes = 32;
/// Rows that are taken to share their sectors of x: those of the largest thread block with a row to each thread.
inline constexpr std::uint64_t rows_per_block = 1024;

/// The sectors of x that the entries of each block of `block` consecutive rows touch, each counted once a block, added
/// up over the blocks. x lies on a boundary of a sector. What kernels without shared memory for x have to gather at
/// least.
std::uint64_t distinct_x_sectors(const CsrView& a, ValueType x_type, std::uint64_t block = rows_per_block,
                                 int threads = 0);

}  // namespace spmvpack::tools::bench
