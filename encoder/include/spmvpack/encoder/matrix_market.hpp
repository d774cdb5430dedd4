#pragma once
/// Matrix Market files: matrices and dense vectors, read strictly and written back.

#include <string>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/progress.hpp"
#include "spmvpack/encoder/text_options.hpp"

namespace spmvpack::encoder {

using MatrixMarketOptions = TextOptions;

/// Reads a Matrix Market matrix (in any source that read_matrix() knows), expanded to general: coordinate or array;
/// real, integer or pattern; general, symmetric or skew-symmetric. Values are correctly rounded, once, to the value
/// type, down to subnormals and zero with its sign: underflow is no error, overflow is. Duplicates are added in file
/// order, in the value type; a pattern that has some becomes an integer matrix. The +0 of array files are not stored.
/// Beyond the format's letter, words may be in any case, lines may end in CR LF, comments and blank lines may stand
/// among the data, and numbers may have a plus or a Fortran exponent (1.5D3), or be nan or inf; integers must be exact
/// in the value type. Errors: errc::bad_input with "file:line:column" of the inflated text, the first in the file at
/// any thread count; errc::unsupported (complex, hermitian, sizes of 2^32 and more); errc::io; errc::out_of_memory.
SPMVPACK_EXPORT SourceMatrix read_matrix_market(const std::string& path, const MatrixMarketOptions& options = {});

/// Reads a dense vector: an array-format file of one column (or row), real or integer.
SPMVPACK_EXPORT Array<double> read_vector(const std::string& path, const MatrixMarketOptions& options = {});

/// Writes a matrix in the form of its source: field, symmetry (the lower triangle) and comments. Values are the
/// shortest text that reads back to the same bits (nan or -nan for a NaN, whatever its payload). `path` "-" is standard
/// output.
SPMVPACK_EXPORT void write_matrix_market(const std::string& path, const SourceMatrix& source, bool overwrite,
                                         int threads = 0, const ProgressCallback& progress = {});

/// Writes a dense vector as an array-format file of one column.
template <class T>
SPMVPACK_EXPORT void write_vector(const std::string& path, std::span<const T> vector, bool overwrite);

}  // namespace spmvpack::encoder
