#pragma once
/// A generated matrix in memory, as if its Matrix Market file had been read.

#include <string>
#include <vector>

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The matrix of `matrix`: all rows are made twice, in parallel, for their lengths and then for their entries, so that
/// nothing but the CsrMatrix takes memory. Equal to what reading the file of write_generated() gives, but for the name
/// of the source, which stays empty. Errors: errc::out_of_memory, errc::interrupted.
SourceMatrix build_generated(const MatrixGenerator& matrix, const std::vector<std::string>& comments,
                             const Resources& resources = {}, const ProgressCallback& progress = {});

}  // namespace spmvpack::generators
