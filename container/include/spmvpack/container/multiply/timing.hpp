#pragma once
/// How the multiply of a loaded matrix is timed where a choice depends on it: one protocol for every machine. Loaders
/// have the machines' runs (host_loader/timing.hpp, gpu_loader/timing.hpp).

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "spmvpack/container/base/export.hpp"

namespace spmvpack {

class Container;

/// Bytes that are written before a cold run, so that no cache holds the matrix or x.
inline constexpr std::uint64_t flush_bytes = std::uint64_t{256} << 20U;
/// Warm-up runs, which are not counted.
inline constexpr int warm_up_runs = 3;
/// The most cold runs, and the most warm ones, that time_runs() counts.
inline constexpr int most_timed_runs = 31;

/// The median: the middle one, or the mean of the middle two. `seconds` is not empty.
SPMVPACK_EXPORT double median(std::vector<double> seconds);

/// Seconds of one multiply.
struct MultiplyTimes {
  double cold = 0;  ///< the median of runs for which no cache holds anything of the matrix or of x
  double warm = 0;  ///< the median of runs one after the other
  int cold_runs = 0, warm_runs = 0;
  double spent = 0;  ///< what timing took, all runs and flushes

  /// The geometric mean of both: a program meets both states of the caches.
  [[nodiscard]] double mean() const { return std::sqrt(cold) * std::sqrt(warm); }
};

/// Times the plain multiply y = A x of a container in memory, for about `seconds` seconds, to which loading does not
/// count. Errors: those of loading and of the machine.
using MeasureMultiply = std::function<MultiplyTimes(const Container& container, double seconds)>;

/// What time_runs() needs of a machine.
struct TimedRuns {
  std::function<double(bool cold)> run;  ///< multiplies once, after a flush if `cold`; the seconds of the multiply
  std::function<double()> clock;         ///< seconds, never fewer than before
};
/// Times a multiply: warm_up_runs that are not counted, cold runs, one more that is not counted, and warm runs. Cold
/// runs end after 5/8 of `seconds`, warm ones with the last; neither counts more than most_timed_runs. At least one run
/// of each kind is timed, however long it takes.
SPMVPACK_EXPORT MultiplyTimes time_runs(const TimedRuns& runs, double seconds);

}  // namespace spmvpack
