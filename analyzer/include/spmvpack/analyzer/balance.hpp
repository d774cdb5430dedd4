#pragma once
/// What a multiply moves and how long that takes: the performance model of Kreutzer et al., Sparse Matrix-vector
/// Multiplication on GPGPU Clusters, section 2.2, equations (1) to (4). It describes a layout that stores every entry
/// as a value and a column of 4 bytes, without padding and without compression.

#include <cstdint>
#include <optional>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::analyzer {

/// Speeds in bytes per second. The defaults are measured on one H200: a copy within device memory (read and written),
/// and a copy of pinned memory over PCIe.
struct Speeds {
  double memory = 4.24e12, pcie = 55e9;
};

/// The cache behind which lines of x are loaded, and its lines.
inline constexpr std::uint64_t balance_cache_bytes = encoder::XCaches{}.device_bytes,
                               balance_line_bytes = encoder::sector_bytes;

/// The size of a multiply, in the paper's terms. `value_size` is V, the bytes of a value and of an element of x and y.
struct BalanceInput {
  std::uint64_t rows = 0, cols = 0, nnz = 0, value_size = 8;
  double alpha = 0;  ///< bytes of x that are loaded, for each V nnz
  double flops = 2;  ///< for each entry: 8 of complex values, four products and four sums
};

/// (1) Code balance in bytes per flop, (V + 4 + V alpha + 2 V rows / nnz) / flops. nnz > 0.
SPMVPACK_EXPORT double code_balance(const BalanceInput& in);
/// (2) Seconds of a multiply whose matrix, x and y are in device memory: (nnz (V alpha + V + 4) + 2 V rows) / memory.
SPMVPACK_EXPORT double multiply_seconds(const BalanceInput& in, const Speeds& speeds);
/// (2) Seconds to copy x to the device and y back: V (rows + cols) / pcie, for square matrices the paper's 2 V N /
/// pcie.
SPMVPACK_EXPORT double copy_seconds(const BalanceInput& in, const Speeds& speeds);
/// (3), (4) The entries per row from which the copies take at most 1 / `times` of the multiply: 1 for (3), where they
/// stop dominating; 10 for (4), where they add 10 %. For square matrices V (2 times r - 2) / (V alpha + V + 4) with
/// r = memory / pcie; otherwise the copies of the matrix's shape, with rows + cols instead of 2 rows. At least 0.
/// rows > 0.
SPMVPACK_EXPORT double entries_per_row_for(double times, const BalanceInput& in, const Speeds& speeds);

/// What the model says for a given alpha.
struct BalanceBound {
  double alpha = 0, bytes_per_flop = 0, multiply_seconds = 0;
  double gflops = 0, gflops_with_copies = 0;  ///< 10^9 flops a second
  double dominated_below = 0, tenth_from = 0;
};

/// The model for one matrix.
struct Balance {
  Speeds speeds;
  std::uint64_t x_lines = 0;             ///< lines of balance_line_bytes that the gathers load (encoder/x_traffic.hpp)
  std::optional<double> alpha;           ///< unset without entries. It can exceed 1: memory moves whole lines
  std::optional<double> bytes_per_flop;  ///< (1); unset without entries
  double multiply_seconds = 0, copy_seconds = 0;  ///< (2)
  std::optional<double> dominated_below;          ///< (3); unset without entries
  std::optional<double> tenth_from;               ///< (4); unset without entries
  /// The paper's bounds: every gather loads an element from memory, alpha = 1; each element of x is loaded once, alpha
  /// = columns / entries, 1 / N_nzr of a square matrix. Unset without entries.
  std::optional<BalanceBound> worst, best;

  [[nodiscard]] bool copies_dominate() const noexcept { return copy_seconds >= multiply_seconds; }
};

/// Evaluates the model for an uncompressed `a` whose gathers load `x_lines` lines. Error(errc::usage): a speed that is
/// not positive and finite.
SPMVPACK_EXPORT Balance balance_of(const CsrView& a, std::uint64_t x_lines, const Speeds& speeds = {});
/// The same, with x's traffic estimated first. O(nnz), parallel; the result does not depend on the number of threads.
SPMVPACK_EXPORT Balance balance_of(const CsrView& a, const Speeds& speeds = {}, int threads = 0);

}  // namespace spmvpack::analyzer
