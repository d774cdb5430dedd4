#pragma once

#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::bench {

/// Bytes of a sector, the least that a GPU's second-level cache hands to a multiprocessor; and of a line, the most that
/// it hands over for one request, which it looks up once.
inline constexpr std::uint64_t sector_bytes = 32, line_bytes = 128;
/// Rows that are taken to share what they read of x: those of the largest thread block with a row to each thread.
inline constexpr std::uint64_t rows_per_block = 1024;

/// The pieces of x, of `piece_bytes` each (sector_bytes or line_bytes), that the entries of each block of `block`
/// consecutive rows touch, each counted once a block, added up over the blocks. x lies on a boundary of a line. What
/// kernels without shared memory for x have to gather at least.
std::uint64_t distinct_x_pieces(const CsrView& a, ValueType x_type, std::uint64_t piece_bytes,
                                std::uint64_t block = rows_per_block, int threads = 0);

}  // namespace spmvpack::bench
