#pragma once
/// Where the entries of a matrix's parts find new values, while the pattern stays.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack {

/// For one part of A, or of A^T. The new values are an array of all of A's, in the order of A's CSR: rows, then
/// columns, as unpack() gives them. The value of an entry that a part's Entries visit is values[i], or values[place[i]]
/// if there are places, where i = order().first(row, run) + index.
struct ValueSource {
  Array<std::uint64_t> first;           ///< where those of each row of the part begin; then one more element
  CountedVector<std::uint32_t> before;  ///< EntryOrder::before
  /// The number of each entry's value. Empty if the entries of each row follow one another in the row of A. Numbers
  /// have 64 bits if A has 2^32 entries or more.
  std::variant<Array<std::uint32_t>, Array<std::uint64_t>> place;

  [[nodiscard]] layouts::EntryOrder order() const noexcept { return {first.data(), before.data()}; }
  [[nodiscard]] bool has_places() const noexcept {
    return std::visit([](const auto& numbers) { return !numbers.empty(); }, place);
  }
};

/// The facts of a matrix that hold whatever its values become: real, general, without a digest. If values change, A^T
/// is therefore what the parts of A^T say, even if the matrix was symmetric.
SPMVPACK_EXPORT MatrixFacts without_values(const MatrixFacts& facts) noexcept;

/// The sources of all parts of a matrix, in the order of the parts, which have been checked and are in host memory.
/// Errors: errc::unsupported if entries of a part share values, or have none of their own in another way, so that a new
/// value has no place; errc::corrupt if parts hold the same entry, or those of A^T hold others than A.
SPMVPACK_EXPORT std::vector<ValueSource> value_sources(const MatrixFacts& facts, std::span<const PartView* const> parts,
                                                       int threads = 0);

}  // namespace spmvpack
