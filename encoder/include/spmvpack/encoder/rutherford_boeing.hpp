#pragma once
/// Harwell-Boeing and Rutherford-Boeing files.

#include <string>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/encoder/text_options.hpp"

namespace spmvpack::encoder {

/// Reads an assembled Harwell-Boeing or Rutherford-Boeing matrix (in any source that read_matrix() knows), expanded to
/// general: real, integer or pattern; unsymmetric, rectangular, symmetric or skew-symmetric (the lower triangle).
/// Numbers stand in fixed columns, which the header's Fortran formats give; exponents may be D, or lack their letter
/// (1.5-3). Values, duplicates and memory are as in read_matrix_market(). Right-hand sides are passed over. The title
/// becomes the one comment. Errors: errc::bad_input with "file:line:column" of the inflated text, the same at any
/// thread count; errc::unsupported (complex, elemental, sizes of 2^32 and more); errc::io; errc::out_of_memory.
SPMVPACK_EXPORT SourceMatrix read_rutherford_boeing(const std::string& path, const TextOptions& options = {});

}  // namespace spmvpack::encoder
