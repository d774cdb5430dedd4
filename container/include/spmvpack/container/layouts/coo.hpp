#pragma once
/// Layout `coo`: row, column and value of every entry, row by row (docs/FORMAT.md, section 7). The coordinate layout of
/// Aliaga et al., Euro-Par 2020 Workshops, section 2.1, unpadded.

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack::layouts::coo {

/// What the tables alone say: sizes and types of sections, parameters. Reads no element, so that the sections may lie
/// anywhere. Error(errc::corrupt).
SPMVPACK_EXPORT void check_shape(const PartView& part);
/// check_shape() and every element.
SPMVPACK_EXPORT void check(const PartView& part, int threads);
SPMVPACK_EXPORT CsrMatrix unpack(const PartView& part, int threads);

}  // namespace spmvpack::layouts::coo
