#pragma once

#include "spmvpack/generators/adjacency.hpp"
#include "spmvpack/generators/grid.hpp"

namespace spmvpack::generators {

/// The conductance matrix of a circuit, as nodal analysis stamps it. Node i drives 1 + floor(u^(-3/4) / 2), at most
/// 2,000, devices to nodes at log-uniform distances, so that the number of rows longer than k falls like k^(-4/3); one
/// node in about a million, and one at least, is a supply rail with 20,000 devices (at most rows / 4) to nodes
/// anywhere. 5.6 to 5.8 entries per row from 50,000 rows on.
///
/// The current of a device between the nodes p and q depends on both their voltages, with conductances g_p and g_q: it
/// adds g_p to (p, p) and g_q to (q, q), and subtracts g_q from (p, q) and g_p from (q, p). Each node leaks 2^-10 to
/// ground. So the pattern is symmetric and the values are not; columns add up to 2^-10, and the matrix is not singular.
///
/// Constant: g = 1, which makes the values symmetric. Random: all different, over three decades. Blocks: the
/// devices between a node and higher ones are of one of eight models of the node's block of rows.
class Circuit final : public MatrixGenerator {
 public:
  /// The structure is held in memory: 4 bytes per entry and 16 per row.
  /// Error(errc::usage) if there are less than 2 rows; Error(errc::out_of_memory).
  Circuit(std::uint64_t rows, const Coefficients& coefficients, std::uint64_t seed = 0,
          const Resources& resources = {});

  [[nodiscard]] std::uint64_t rows() const override { return neighbours_.rows(); }
  [[nodiscard]] EntryCounts count(int threads, const ProgressCallback& progress) const override;
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  /// The conductance g_p of the device between p and q.
  [[nodiscard]] double conductance(std::uint64_t p, std::uint64_t q) const;

  Coefficients coefficients_;
  Random devices_;
  Adjacency neighbours_;
};

}  // namespace spmvpack::generators
