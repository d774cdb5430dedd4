#pragma once

#include "spmvpack/generators/grid.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The jump chain of an epidemic as a Markov process in two populations, like Epidemiology (mc2depi) of the
/// collections: the state (s, i) has s susceptible and i infected individuals, of nx - 1 and ny - 1 at most, and every
/// event changes one of the two numbers by one. Their rates are, with S = nx - 1 and I = ny - 1:
///
///     s + 1: S - s      s - 1: s (1 + i / I)      i + 1: (I - i) (1 + s) / nx      i - 1: i
///
/// An entry (p, q) is the probability that the state after p is q, a rate over the sum of all rates at p: no diagonal,
/// four neighbours, rows that add up to 1, not symmetric. The state (0, 0) without anybody may also stay as it is, at
/// rate 1: one entry more. The state (s, i) is row s + nx i. nnz = 4 nx ny - 2 (nx + ny) + 1.
class Epidemic final : public MatrixGenerator {
 public:
  /// Error(errc::usage) if a side is below 2.
  Epidemic(std::uint64_t nx, std::uint64_t ny);

  [[nodiscard]] std::uint64_t rows() const override { return grid_.points(); }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  Grid grid_;
};

}  // namespace spmvpack::generators
