#pragma once
/// From (row, column, value) triplets in any order to a CsrMatrix: what readers and assemble() have in common.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spmvpack/container/base/arena.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack {

/// A block of a list of entries. Indices count from 0.
template <class T>
struct Triplets {
  std::span<std::uint32_t> rows, cols;
  std::span<T> values;  ///< empty: every value is 1
  /// Bounds for the rows of entries and of their mirror images.
  std::uint32_t first_row = 0, last_row = std::numeric_limits<std::uint32_t>::max();
  std::shared_ptr<void> owner;  ///< of the arrays' memory

  Triplets() = default;
  /// Allocates the given numbers of rows, columns and values, uninitialised. Error(errc::out_of_memory).
  Triplets(Arena& arena, std::uint64_t row_count, std::uint64_t col_count, std::uint64_t value_count) {
    constexpr std::uint64_t cache_line = 64;
    const std::uint64_t row_bytes = round_up(row_count * sizeof(std::uint32_t), cache_line),
                        col_bytes = round_up(col_count * sizeof(std::uint32_t), cache_line);
    Arena::Part part = arena.take(row_bytes + col_bytes + round_up(value_count * sizeof(T), cache_line));
    rows = {reinterpret_cast<std::uint32_t*>(part.bytes), row_count};
    cols = {reinterpret_cast<std::uint32_t*>(part.bytes + row_bytes), col_count};
    values = {reinterpret_cast<T*>(part.bytes + row_bytes + col_bytes), value_count};
    owner = std::move(part.owner);
  }
};

/// A list of entries.
template <class T>
struct TripletList {
  std::vector<Triplets<T>> blocks;
  /// Numbers of entries by row, including mirror images, to be summed: one array for each thread that counted some.
  /// Empty if nothing was counted.
  std::vector<Array<std::uint32_t>> degrees;
};

/// Finds the row bounds of a block, and counts its entries in `degrees` unless that is empty; cheap while the block is
/// in a cache.
template <class T>
SPMVPACK_EXPORT void note_rows(Triplets<T>& block, Symmetry symmetry, std::span<std::uint32_t> degrees);

/// What a source says about its matrix.
struct SourceFacts {
  std::uint64_t rows = 0, cols = 0;
  std::uint64_t entries = 0;  ///< listed in the source
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;  ///< off-diagonal entries also stand for their mirror image
};

struct AssemblyOptions {
  int threads = 0;
  std::uint64_t memory_limit = 0;  ///< bytes for triplets and matrix together, 0: available_memory()
  std::string source;              ///< the place that errors name
  std::string remedy = {};         ///< for an index out of range
};

/// Assembles the matrix from all entries in `list`, freeing the list's blocks one by one. Entries with the same row and
/// column are summed in list order. The result does not depend on the number of threads. Triplets that are already
/// sorted by row or by column, expanded by symmetry or not, are not sorted again. Indices must be in range. Provenance:
/// entries, duplicates (entries that were summed into an earlier one) and zeros. Errors: errc::out_of_memory;
/// errc::bad_input if a sum overflows or, unless the field is real or complex, is inexact.
template <class T>
SPMVPACK_EXPORT SourceMatrix assemble_source(const SourceFacts& facts, TripletList<T> list,
                                             const AssemblyOptions& options);

/// Error(errc::unsupported) at `source` for max_dimension rows or columns and more.
SPMVPACK_EXPORT void require_dimensions(std::uint64_t rows, std::uint64_t cols, const std::string& source);
/// Error(errc::bad_input) at the options' source: entry k is in row or column (`what`) i of `size`.
[[noreturn]] SPMVPACK_EXPORT void refuse_index(const char* what, std::uint64_t i, std::uint64_t size, std::uint64_t k,
                                               const AssemblyOptions& options);

/// The matrix of facts.entries entries that are in memory, as arrays or as what follows from them: the k-th has row
/// row(k), column col(k), both unsigned 64-bit, and value value(k). Otherwise as assemble_source(). Errors besides:
/// those of require_dimensions() and refuse_index().
template <class T, class Row, class Col, class Value>
SourceMatrix assemble_lists(const SourceFacts& facts, Row&& row, Col&& col, Value&& value,
                            const AssemblyOptions& options) {
  require_dimensions(facts.rows, facts.cols, options.source);
  require_memory(facts.entries * (8 + sizeof(T)), options.memory_limit, "a list of entries");
  constexpr std::uint64_t block_entries = 1 << 18;
  TripletList<T> list;
  Arena arena;
  for (std::uint64_t first = 0; first < facts.entries; first += block_entries) {
    const std::uint64_t n = std::min(block_entries, facts.entries - first);
    list.blocks.emplace_back(arena, n, n, n);
  }
  const auto index = [&](const char* what, std::uint64_t i, std::uint64_t size, std::uint64_t k) {
    if (i >= size) refuse_index(what, i, size, k, options);
    return static_cast<std::uint32_t>(i);
  };
  parallel_for(list.blocks.size(), options.threads, [&](std::uint64_t b) {
    Triplets<T>& block = list.blocks[b];
    for (std::uint64_t i = 0; i < block.rows.size(); ++i) {
      const std::uint64_t k = b * block_entries + i;
      block.rows[i] = index("row", row(k), facts.rows, k);
      block.cols[i] = index("column", col(k), facts.cols, k);
      block.values[i] = value(k);
    }
    note_rows(block, facts.symmetry, {});
  });
  return assemble_source(facts, std::move(list), options);
}

}  // namespace spmvpack
