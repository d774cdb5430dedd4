#include "bench/sample.hpp"

#include <algorithm>
#include <utility>

#include "spmvpack/container/multiply/timing.hpp"

namespace spmvpack::bench {

Sample summarise(std::vector<double> seconds) {
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  const double min = *least, max = *most;
  return {median(std::move(seconds)), min, max};
}

}  // namespace spmvpack::bench
