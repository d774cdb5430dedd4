#pragma once
/// How much of x a multiply moves: what its gathers load from behind a cache.

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::encoder {

/// A cache between memory and the gathers of x. Sizes are in bytes.
struct XCache {
  std::uint64_t bytes = 0;          ///< for lines of x, rounded up to whole sets; 0: no cache, every gather loads
  std::uint64_t line_bytes = 32;    ///< what one load brings: a line, or a GPU's sector
  std::uint64_t element_bytes = 8;  ///< of x; line_bytes / element_bytes is a power of two
  /// Consecutive rows that find what the others have loaded, such as those of a thread block on a multiprocessor with
  /// a cache of its own: each such group starts with an empty cache. 0: all rows share one cache.
  std::uint64_t rows_per_cache = 0;
  /// The same by consecutive entries, wherever rows end; with 0, by rows.
  std::uint64_t entries_per_cache = 0;
  /// Of a matrix with more entries than twice that, only a sample of the groups is simulated, which has about so many.
  std::uint64_t simulated_entries = std::uint64_t{1} << 20U;
};

/// The number of lines of x that a multiply loads: the gathers of the rows in order, entry after entry, go through an
/// empty cache with least recently used replacement, and those that miss are counted. If all of x fits, these are the
/// distinct lines that the entries touch, exactly; otherwise a cache of four-line sets, to which lines are hashed, is
/// simulated. x starts at the boundary of a line.
///
/// Of many groups (at least 256) with a cache each, one in n is simulated, and each that has more than four times the
/// entries of the mean; the others are taken to load as many lines for each entry. So are the entries of a group that
/// come after 64 times as many as its cache has lines, unless all of x fits.
///
/// Limits of the model: only x is in the cache, and whoever streams a matrix or y through it gives the bytes that are
/// left for x; rows come one after the other, while a device runs many at a time; nothing is prefetched.
///
/// O(nnz), parallel; the result does not depend on the number of threads. Takes up to 8 bytes for every line of the
/// cache or of x (whichever are fewer) and thread. Error(errc::usage): a line that is not a power of two of elements.
SPMVPACK_EXPORT std::uint64_t x_lines_loaded(const CsrView& a, const XCache& cache, int threads = 0);

}  // namespace spmvpack::encoder
