#pragma once
/// Harwell-Boeing and Rutherford-Boeing files.

#include <string>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/sources/text_options.hpp"

namespace spmvpack::sources {

/// Reads an assembled Harwell-Boeing or Rutherford-Boeing matrix (plain, or compressed or archived as read_matrix()
/// accepts), expanded to general: real, complex, integer or pattern; unsymmetric, rectangular, symmetric, Hermitian or
/// skew-symmetric (lower triangle). Numbers stand in fixed columns given by the header's Fortran formats; exponents may
/// use D or have no letter (1.5-3). If columns of a number hold none, but all lines of the list have as many numbers
/// between blanks as the format says, these are read, and SourceMatrix::warnings says so. Values, duplicates and memory
/// are handled as in read_matrix_market(). Right-hand sides are skipped. The title becomes the only comment. Errors:
/// errc::bad_input at "file:line:column" of the decompressed text, the same at any thread count; errc::unsupported
/// (elemental, sizes of 2^32 or more, formats that no matrix file has); errc::io; errc::out_of_memory.
SPMVPACK_EXPORT SourceMatrix read_rutherford_boeing(const std::string& path, const TextOptions& options = {});

}  // namespace spmvpack::sources
