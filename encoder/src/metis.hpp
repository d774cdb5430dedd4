#pragma once
// Cuts graphs into parts of about equal size that few edges connect, with METIS, which a build may lack.

#include <cstdint>

#include "spmvpack/container/array.hpp"
#include "spmvpack/container/csr_matrix.hpp"
#include "spmvpack/container/memory.hpp"

namespace spmvpack::encoder {

/// The part of each row, of `parts`: some may be empty, and some a few hundredths larger than others. Rows are the
/// vertices of a graph, and an entry (i, j), i not j, is an edge, whatever its value and whether (j, i) is an entry or
/// not. The same for the same matrix and version of METIS, whatever the number of threads.
/// Error(errc::unsupported): the graph is larger than METIS's integers, or this build has no METIS.
CountedVector<std::uint32_t> partition_rows(const CsrView& a, std::uint64_t parts, int threads);

}  // namespace spmvpack::encoder
