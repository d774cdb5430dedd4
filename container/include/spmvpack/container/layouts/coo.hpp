#pragma once
/// Layout `coo`: row, column and value of every entry, row by row (docs/FORMAT.md, section 7). The coordinate layout of
/// Aliaga et al., Euro-Par 2020 Workshops, section 2.1, unpadded.

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack::layouts::coo {

SPMVPACK_EXPORT void check(const PartView& part, int threads);
SPMVPACK_EXPORT CsrMatrix unpack(const PartView& part, int threads);

}  // namespace spmvpack::layouts::coo
