#include "bench/sample.hpp"

#include <algorithm>

namespace spmvpack::bench {

Sample summarise(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  return {(seconds[(n - 1) / 2] + seconds[n / 2]) / 2, seconds.front(), seconds.back()};
}

}  // namespace spmvpack::bench
