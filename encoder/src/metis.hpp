#pragma once
// Cuts graphs into parts of about equal size that few edges connect, with METIS, which a build may lack.

#include <cstdint>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::encoder {

/// What is to be small: the edges between parts, or the vertices with a neighbour in another part, counted for each
/// such part.
enum class Fewest { edges, shared_vertices };

struct GraphCut {
  std::uint64_t parts = 1;
  Fewest fewest = Fewest::edges;
  bool as_heavy_as_rows = false;  ///< a vertex weighs what its row has entries, at least 1; else each weighs 1
  const char* instead = "";       ///< what errors advise: "use another layout"
};

/// The part of each row of a square matrix: some may be empty, and some a few hundredths heavier than others. Rows are
/// the vertices of a graph, and an entry (i, j), i not j, is an edge, whatever its value and whether (j, i) is an entry
/// or not. The same for the same matrix and version of METIS, whatever the number of threads.
/// Error(errc::unsupported): the graph is larger than METIS's integers, or there is no METIS.
CountedVector<std::uint32_t> cut_rows(const CsrView& a, const GraphCut& cut, int threads);

}  // namespace spmvpack::encoder
