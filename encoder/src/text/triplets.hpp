#pragma once
/// From (row, column, value) triplets in any order to a CsrMatrix.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/csr_matrix.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/encoder/text_options.hpp"
#include "text/arena.hpp"

namespace spmvpack::encoder {

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
void survey(Triplets<T>& block, Symmetry symmetry, std::span<std::uint32_t> degrees);

struct AssemblyOptions {
  Symmetry symmetry = Symmetry::general;  ///< off-diagonal entries also stand for their mirror image
  bool exact_sums = false;                ///< refuse sums of duplicates that T cannot hold
  int threads = 0;
  std::uint64_t memory_limit = 0;  ///< bytes for triplets and matrix together, 0: available_memory()
  std::string source;              ///< the place that errors name
};

/// What a source says about its matrix.
struct SourceFacts {
  std::uint64_t rows = 0, cols = 0;
  std::uint64_t entries = 0;  ///< listed in the source
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

struct Assembly {
  CsrMatrix matrix;
  std::uint64_t duplicates = 0;      ///< entries that were summed into an earlier one
  std::uint64_t explicit_zeros = 0;  ///< stored entries of value +0 or -0
};

/// Assembles the matrix from all entries in `list`, freeing the list's blocks one by one. Entries with the same row and
/// column are summed in list order. The result does not depend on the number of threads. Triplets that are already
/// sorted by row or by column, expanded by symmetry or not, are not sorted again. Indices must be in range. Errors:
/// errc::out_of_memory; errc::bad_input if a sum overflows, or is inexact and must be exact.
template <class T>
Assembly assemble_csr(std::uint64_t rows, std::uint64_t cols, TripletList<T> list, const AssemblyOptions& options);

/// The matrix listed by a source called `name`, assembled by assemble_csr(). Provenance: entries, duplicates and zeros.
template <class T>
SourceMatrix assemble_source(const SourceFacts& facts, TripletList<T> list, const TextOptions& options,
                             const std::string& name);

}  // namespace spmvpack::encoder
