#pragma once
// A complex matrix as a real one.

#include <optional>
#include <string>

#include "spmvpack/container/file/contents.hpp"

namespace spmvpack::sources {

/// What values of a text are read as if they are to be `wanted`: of a complex field, complex ones, of which
/// take_real_parts() may have to make real ones. Error(errc::usage) at `where` if real values are to be complex.
ValueType type_to_read(Field field, std::optional<ValueType> wanted, const std::string& where);

/// Leaves the real parts, as f64 of c128 and as f32 of c64; a Hermitian matrix becomes symmetric.
/// Error(errc::bad_input) at `where`, naming row and column, if an imaginary part is neither +0 nor -0.
void take_real_parts(SourceMatrix& source, const std::string& where, int threads);

}  // namespace spmvpack::sources
