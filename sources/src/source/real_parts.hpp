#pragma once
// A complex matrix as a real one.

#include <string>

#include "spmvpack/container/file/contents.hpp"

namespace spmvpack::sources {

/// Leaves the real parts, as f64 of c128 and as f32 of c64; a Hermitian matrix becomes symmetric.
/// Error(errc::bad_input) at `where`, naming row and column, if an imaginary part is neither +0 nor -0.
void take_real_parts(SourceMatrix& source, const std::string& where, int threads);

}  // namespace spmvpack::sources
