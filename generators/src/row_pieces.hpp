#pragma once

#include <algorithm>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// Rows that make about 64 Ki entries, so that pieces are of like size whether rows are short or long.
inline std::uint64_t rows_per_piece(std::uint64_t rows, std::uint64_t nnz) {
  return std::clamp((std::uint64_t{1} << 16) / std::max<std::uint64_t>(nnz / rows, 1), std::uint64_t{1},
                    std::uint64_t{4096});
}

/// Calls f(first, last) for pieces of the rows [0, rows), in parallel. Between batches of pieces it reports progress,
/// which is where an interrupt gets in.
template <class F>
void for_row_pieces(std::uint64_t rows, std::uint64_t piece, std::string_view stage, int threads,
                    const ProgressCallback& progress, F&& f) {
  const std::uint64_t batch = piece * 16 * static_cast<std::uint64_t>(thread_count(threads));
  for (std::uint64_t begin = 0; begin < rows; begin += batch) {
    report_progress(progress, stage, begin, rows);
    parallel_pieces(std::min(batch, rows - begin), piece, threads,
                    [&](std::uint64_t first, std::uint64_t last) { f(begin + first, begin + last); });
  }
}

}  // namespace spmvpack::generators
