#pragma once
/// A generated matrix as a Matrix Market file, at the speed of the disk and without the matrix in memory.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// Takes the text, a piece after the other.
using TextSink = std::function<void(std::string_view text)>;

/// Writes `matrix` with these comment lines (without %); of a symmetric matrix the lower triangle. The text does not
/// depend on the number of threads. Returns the counts of entries. Errors: errc::interrupted, and those of `write`.
EntryCounts write_generated(const MatrixGenerator& matrix, const std::vector<std::string>& comments,
                            const TextSink& write, int threads, const ProgressCallback& progress);

}  // namespace spmvpack::generators
