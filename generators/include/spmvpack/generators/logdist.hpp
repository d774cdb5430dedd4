#pragma once

#include "spmvpack/generators/matrix_generator.hpp"
#include "spmvpack/generators/random.hpp"

namespace spmvpack::generators {

/// Transition probabilities of a random walk that hops over log-uniform distances, like SuiteSparse's cage matrices
/// (DNA electrophoresis): symmetric pattern, columns add up to exactly 1, about a hundred distinct values.
///
/// For every k < log2(rows) the two halves of each aligned block of 2^(k + 1) states are paired with one another:
/// eights of neighbours with eights, at random. Pairs are kept at random so that rows have `per_row` entries on
/// average; where that is more than there are pairs, each k has several pairings. The probability of a hop, i to j and
/// j to i each, is one to eight times a power of two; that of staying is what is left, at least a half.
class LogDistance final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if there are less than 2 rows, or per_row is not 1 to 1,000.
  LogDistance(std::uint64_t rows, std::uint64_t per_row, std::uint64_t seed = 0);

  [[nodiscard]] std::uint64_t rows() const override { return rows_; }
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  /// The probability of a hop from state `from` to state `to`.
  [[nodiscard]] double hop(std::uint64_t from, std::uint64_t to) const;

  std::uint64_t rows_, per_row_, levels_;
  std::uint64_t pairings_ = 0;  ///< per level
  double keep_ = 0, unit_ = 0;  ///< probabilities: of a pair to be kept, and what hops are multiples of
  Random random_;
};

}  // namespace spmvpack::generators
