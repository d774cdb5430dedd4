#pragma once
// Pieces of long rows, in csr and sjds on a host. They are visited by their first columns; of those whose columns begin
// alike, some entries of each are added up in turn, so that what they take of x stays in the nearest cache. The sum of
// each piece is a number of its own, in the same order of additions.

#include <algorithm>
#include <cstdint>

namespace spmvpack::launch_rules::long_rows {

/// In csr, longer rows are cut into pieces of so many entries, the last with fewer.
constexpr std::uint64_t csr_piece = 4096;

/// The first and the last column of a piece.
struct PieceColumns {
  std::uint32_t first, last;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{last} - first + 1; }
};

/// Pieces that may be added up together.
constexpr std::uint64_t most_together = 64;

/// Columns that a piece may take of x before it is the turn of the next one: half of a first cache.
constexpr std::uint64_t columns_in_turn = 2048;
/// How many of a piece's entries have these, eights of them.
inline std::uint64_t entries_in_turn(std::uint64_t entries, PieceColumns columns) {
  return columns_in_turn * entries / columns.count() / 8 * 8;
}

/// How many of `most` consecutive pieces are added up together. The first one, of `entries` entries, is added up alone
/// if what it takes of x is in a second-level cache anyway, or if its turns would be too short for a processor to fetch
/// what they read. columns_of(i): of piece i of them.
template <class ColumnsOf>
[[gnu::always_inline]] inline std::uint64_t pieces_together(std::uint64_t most, std::uint64_t entries,
                                                            ColumnsOf&& columns_of) {
  constexpr std::uint64_t cached_columns = 32768, least_in_turn = 64;
  const PieceColumns columns = columns_of(0);
  if (columns.count() <= cached_columns || entries_in_turn(entries, columns) < least_in_turn) return 1;
  std::uint64_t count = 1;
  for (most = std::min(most, most_together); count < most; ++count)
    if (columns_of(count).first - std::uint64_t{columns.first} > columns.count() / 2) break;
  return count;
}

}  // namespace spmvpack::launch_rules::long_rows
