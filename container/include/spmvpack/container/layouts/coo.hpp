#pragma once
/// Layout `coo`: row, column and value of every entry, row by row (docs/FORMAT.md, section 7). The coordinate layout of
/// Aliaga et al., Euro-Par 2020 Workshops, section 2.1, unpadded.

#include "spmvpack/container/contents.hpp"

namespace spmvpack::layouts::coo {

void check(const PartView& part, int threads);
CsrMatrix unpack(const PartView& part, int threads);

}  // namespace spmvpack::layouts::coo
