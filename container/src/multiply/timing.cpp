#include "spmvpack/container/multiply/timing.hpp"

#include <algorithm>

namespace spmvpack {

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  return (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
}

MultiplyTimes time_runs(const TimedRuns& runs, double seconds) {
  constexpr double until_warm = 1.0 / 4, until_cold = 5.0 / 8;  // shares of `seconds`
  const double start = runs.clock();
  const auto spent = [&] { return runs.clock() - start; };
  for (int i = 0; i < warm_up_runs && (i == 0 || spent() < until_warm * seconds); ++i) runs.run(false);
  const auto timed = [&](bool cold, double until) {
    std::vector<double> all;
    do all.push_back(runs.run(cold));
    while (all.size() < most_timed_runs && spent() < until);
    return all;
  };
  const std::vector<double> cold = timed(true, until_cold * seconds);
  runs.run(false);  // a cold run leaves what the flush has written in caches
  const std::vector<double> warm = timed(false, seconds);
  return {median(cold), median(warm), static_cast<int>(cold.size()), static_cast<int>(warm.size()), spent()};
}

}  // namespace spmvpack
