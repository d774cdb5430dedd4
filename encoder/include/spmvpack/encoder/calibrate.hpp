#pragma once
/// Prices of the machine at hand: multiplies of matrices that a program has are measured, and prices fitted to them.
/// The encoder measures nothing itself and knows no machine; the caller's function does.

#include <span>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/multiply/timing.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::encoder {

/// A multiply that was measured.
struct MeasuredWork {
  std::vector<Counter> work;  ///< what it does: work_of()
  double seconds = 0;
  double of_best = 1;  ///< its time over the least one of its matrix
};

/// Measures a multiply of the matrix by each layout and strategy that `auto` may take, that suits the aim's target and
/// is no larger than encode() allows, for about so many seconds each. As in the package, prices of a GPU are for cold
/// caches, those of a host for warm ones. Errors: those of `measure` but refusals, which leave a layout out;
/// errc::interrupted.
SPMVPACK_EXPORT std::vector<MeasuredWork> measure_work(const SourceMatrix& source, const Aim& aim,
                                                       const MeasureMultiply& measure, double seconds, int threads = 0,
                                                       const ProgressCallback& progress = {});

/// Prices that were fitted to measured multiplies.
struct FittedPrices {
  const Profile* from = nullptr;    ///< the profile of the package that comes nearest, times a factor
  double factor = 1;                ///< by which its times differ from the measured ones, in the median
  std::vector<double> picoseconds;  ///< of units(), in their order
  /// Median errors (a ratio less 1) of the times predicted for multiplies near the best of their matrix: by the
  /// unchanged default profile of the target, and by these prices.
  double default_error = 0, error = 0;
};

/// Fits in relative errors, and lets multiplies that fit badly count little. Prices start from those of the nearest
/// profile times its factor, and leave them only as far as the multiplies require, so that a unit that these do not
/// exercise keeps a plausible price. A unit that is free in that profile stays free. Error(errc::usage) without any
/// measured multiply, or for times that are not positive.
SPMVPACK_EXPORT FittedPrices fit_prices(std::span<const MeasuredWork> measured, Target target);

}  // namespace spmvpack::encoder
