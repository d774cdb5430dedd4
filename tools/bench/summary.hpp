#pragma once
/// A summary of the figures of many matrices.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace spmvpack::bench {

/// How many times as fast as a peer, by medians of cold runs. Empty if the peer has no right result.
struct Ratios {
  std::optional<double> over_csr_alg2, over_faster_csr;  ///< the second: ALG3 is among them where it exists
  std::optional<double> over_csr_bsr;                    ///< the fastest of CSR and BSR, any algorithm and block size
  std::optional<double> over_sell;
  std::optional<double> over_best;
};

/// The peer whose cold median is least, of those whose results are right; null if there is none.
const Result* best_peer(const MatrixResult& matrix);
/// The same of our own kernels.
const Result* best_own(const MatrixResult& matrix);
Ratios ratios(const MatrixResult& matrix, const Result& result);

/// Seconds that a multiply with x and y on the host takes by its time without copies and their speeds.
double with_copies(const MatrixResult& matrix, const Result& result, const Speeds& speeds);

/// Geometric means (and minima) of ratios over a set of matrices.
struct Means {
  std::string set;  ///< a group of the suite; "total"; "l2-resident"; "added"
  std::size_t members = 0;
  Ratios mean, least;
};
struct KernelSummary {
  std::string layout, kernel;
  std::vector<Means> sets;
};

/// One for each of our kernels. A group's means are over its members that are neither resident in second-level cache
/// nor added later, which are sets of their own; the total is the geometric mean of the groups' means: groups weigh
/// equally. Sets without members are left out.
std::vector<KernelSummary> summarise_suite(std::span<const MatrixResult> matrices);

}  // namespace spmvpack::bench
