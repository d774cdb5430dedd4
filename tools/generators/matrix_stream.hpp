#pragma once
/// A generated matrix as a Matrix Market file, at the speed of the disk and without the matrix in memory.

#include <string>
#include <vector>

#include "generators/matrix_generator.hpp"

namespace spmvpack::tools {

/// Writes `matrix` to `path`, or to standard output for "-", with these comment lines (without %); of a symmetric
/// matrix the lower triangle. The bytes do not depend on the number of threads. Returns the counts of entries.
/// Errors: errc::io, errc::exists, errc::interrupted.
EntryCounts write_generated(const MatrixGenerator& matrix, const std::vector<std::string>& comments,
                            const std::string& path, bool overwrite, int threads, const ProgressCallback& progress);

}  // namespace spmvpack::tools
