#pragma once
/// Matrix Market files: strict readers and exact writers for matrices and dense vectors.

#include <string>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/sources/text_options.hpp"

namespace spmvpack::sources {

using MatrixMarketOptions = TextOptions;

/// Reads a Matrix Market matrix (plain, or compressed or archived as read_matrix() accepts), expanded to general:
/// coordinate or array; real, complex, integer, unsigned-integer (an integer matrix afterwards) or pattern; general,
/// symmetric, skew-symmetric or hermitian. Values are correctly rounded to the value type, once, including subnormals
/// and signed zeros; underflow is not an error, overflow is. Duplicates are summed in file order, in the value type; a
/// pattern matrix with duplicates becomes an integer matrix. The +0 of array files are not stored. More than the format
/// allows is accepted: words in any case, CR LF line ends, comments and blank lines among the data, numbers with a plus
/// sign or a Fortran exponent (1.5D3), nan and inf. Integers must be exact in the value type. Errors: errc::bad_input
/// at "file:line:column" of the decompressed text, always the first in the file; errc::unsupported (sizes of 2^32 or
/// more); errc::io; errc::out_of_memory.
SPMVPACK_EXPORT SourceMatrix read_matrix_market(const std::string& path, const MatrixMarketOptions& options = {});

/// Reads a dense vector: an array-format file with one column (or row), or a .npy file of NumPy, real or integer; if T
/// is std::complex<double> instead of double, also a complex one.
template <class T = double>
SPMVPACK_EXPORT Array<T> read_vector(const std::string& path, const MatrixMarketOptions& options = {});

/// Writes a matrix in the form of its source: field, symmetry (lower triangle only) and comments. Each value is the
/// shortest text that reads back to the same bits (a NaN becomes nan or -nan, without its payload). `path` is that
/// of a TextOutput (container/file/file_io.hpp): "-" means standard output.
SPMVPACK_EXPORT void write_matrix_market(const std::string& path, const SourceMatrix& source, bool overwrite,
                                         int threads = 0, const ProgressCallback& progress = {});

/// Writes a dense vector as an array-format file with one column, to a TextOutput.
template <class T>
SPMVPACK_EXPORT void write_vector(const std::string& path, std::span<const T> vector, bool overwrite);

}  // namespace spmvpack::sources
