#pragma once

#include <vector>

namespace spmvpack::bench {

/// What repeated timings of one thing gave, in seconds.
struct Sample {
  double median = 0, min = 0, max = 0;
};

/// The median is the mean of the middle two where their number is even. `seconds` is not empty.
Sample summarise(std::vector<double> seconds);

}  // namespace spmvpack::bench
