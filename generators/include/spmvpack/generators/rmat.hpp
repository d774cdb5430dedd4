#pragma once

#include "spmvpack/generators/adjacency.hpp"
#include "spmvpack/generators/numbering.hpp"

namespace spmvpack::generators {

/// A directed R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004) with the parameters of Graph500: 2^scale vertices, and
/// edge_factor 2^scale times an edge falls into a quadrant of the matrix with probabilities 0.57, 0.19, 0.19, 0.05, and
/// so on within it. Rows and columns are heavy-tailed, a good part of the rows empty. Loops are left out and repeated
/// edges are one, so that there are fewer. A pattern: all values are 1.
class Rmat final : public MatrixGenerator {
 public:
  /// The edges are held in memory: 4 bytes for each, 16 per row, and 8 per row for a numbering that is not natural.
  /// Error(errc::usage) if the scale is not 1 to 31, or the numbering is rcm; Error(errc::out_of_memory).
  Rmat(std::uint64_t scale, std::uint64_t edge_factor, const NumberingRule& numbering, std::uint64_t seed = 0,
       const Resources& resources = {});

  [[nodiscard]] std::uint64_t rows() const override { return graph_.rows(); }
  [[nodiscard]] Field field() const override { return Field::pattern; }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  std::uint64_t edge_factor_;
  NumberingRule rule_;
  Adjacency graph_;
};

}  // namespace spmvpack::generators
