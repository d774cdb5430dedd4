#pragma once
/// Layout `csr`: row pointers, columns, values (docs/FORMAT.md, section 7).

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack::layouts::csr {

/// From this many nonzeros on, row pointers take 64 bits.
inline constexpr std::uint64_t wide_from = std::uint64_t{1} << 31;

/// The part as a CsrView of its local indices; nothing is copied.
SPMVPACK_EXPORT CsrView view(const PartView& part);

/// What the tables alone say: sizes and types of sections, parameters. Reads no element, so that the sections may lie
/// anywhere. Error(errc::corrupt).
SPMVPACK_EXPORT void check_shape(const PartView& part);
/// check_shape() and every element.
SPMVPACK_EXPORT void check(const PartView& part, int threads);
SPMVPACK_EXPORT CsrMatrix unpack(const PartView& part, int threads);

}  // namespace spmvpack::layouts::csr
