#pragma once
/// A generated matrix as a Matrix Market file, at the speed of the disk and without the matrix in memory.

#include <string>

#include "generators/matrix_generator.hpp"
#include "spmvpack/container/progress.hpp"

namespace spmvpack::tools {

/// Writes `matrix` to `path`, or to standard output for "-". The bytes do not depend on the number of threads.
/// Errors: errc::io, errc::exists, errc::interrupted.
void write_generated(const MatrixGenerator& matrix, const std::string& path, bool overwrite, int threads,
                     const ProgressCallback& progress);

}  // namespace spmvpack::tools
