#pragma once

#include <cmath>
#include <span>
#include <string>

#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack {

/// The matrix of all parts of a role, which have been checked: for A^T, A^T itself. `where` is for messages.
/// Error(errc::corrupt) if two parts hold the same entry.
CsrMatrix unpack_parts(const MatrixFacts& facts, format::Role role, std::span<const PartView* const> parts,
                       const std::string& where, int threads, const ProgressCallback& progress = {});

/// Whether a matrix of this field may have the value.
template <class T>
bool fits_field(Field field, T v) {
  if constexpr (is_complex_type<T>)
    return field == Field::complex;
  else
    return field == Field::real || (field == Field::pattern ? v == 1 : std::isfinite(v) && std::trunc(v) == v);
}

}  // namespace spmvpack
