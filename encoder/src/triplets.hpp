#pragma once
/// From (row, column, value) triplets in any order to a CsrMatrix.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arena.hpp"
#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/csr_matrix.hpp"
#include "spmvpack/encoder/text_options.hpp"

namespace spmvpack::encoder {

/// A stretch of a list of entries. Indices count from 0.
template <class T>
struct Triplets {
  std::span<std::uint32_t> rows, cols;
  std::span<T> values;  ///< empty: every value is 1
};

/// A list of entries and the memory that holds it.
template <class T>
struct TripletList {
  std::vector<Triplets<T>> blocks;
  std::unique_ptr<Arena> memory = std::make_unique<Arena>();
};

struct AssemblyOptions {
  Symmetry symmetry = Symmetry::general;  ///< off-diagonal entries also stand for their mirror image
  bool exact_sums = false;                ///< refuse sums of duplicates that T cannot hold
  int threads = 0;
  std::uint64_t memory_limit = 0;  ///< bytes for triplets and matrix together, 0: available_memory()
  std::string source;              ///< what errors name as their place
};

/// What a source says of its matrix.
struct SourceFacts {
  std::uint64_t rows = 0, cols = 0;
  std::uint64_t entries = 0;  ///< that it lists
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

struct Assembly {
  CsrMatrix matrix;
  std::uint64_t duplicates = 0;      ///< entries that were added to an earlier one
  std::uint64_t explicit_zeros = 0;  ///< stored entries of value +0 or -0
};

/// The matrix of all entries in `list`, which is freed on the way. Entries of the same place are added up in the
/// order of the list. The result does not depend on the number of threads. Triplets that are sorted by row or by
/// column, expanded by symmetry or not, need no sorting. Indices must be in range. Errors: errc::out_of_memory;
/// errc::bad_input where a sum overflows, or is not exact and should be.
template <class T>
Assembly assemble_csr(std::uint64_t rows, std::uint64_t cols, TripletList<T> list, const AssemblyOptions& options);

/// The matrix that a source called `name` lists, by assemble_csr(). Provenance: entries, duplicates and
/// zeros.
template <class T>
SourceMatrix assemble_source(const SourceFacts& facts, TripletList<T> list, const TextOptions& options,
                             const std::string& name);

}  // namespace spmvpack::encoder
