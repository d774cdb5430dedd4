#pragma once
/// Results of benchmarks that were never run.

#include "bench/measure.hpp"

namespace spmvpack::bench {

/// 1,000 bytes a second copied, 4,000 read out of the cache, 50 gathers; 400 to the device, 100 back.
inline Speeds known_speeds() {
  Speeds speeds;
  speeds.copy_bytes = 2000;
  speeds.copy.median = 2;
  speeds.l2_bytes = 2000;
  speeds.l2.median = 0.5;
  speeds.gathers = 500;
  speeds.gather.median = 10;
  speeds.link_bytes = 800;
  speeds.to_device.median = 2;
  speeds.from_device.median = 8;
  return speeds;
}

inline Result timed(const std::string& by, const std::string& layout, const std::string& kernel, double seconds) {
  Result r;
  r.by = by;
  r.layout = layout;
  r.kernel = kernel;
  r.cold.median = seconds;
  return r;
}

/// Of four kernels, by the medians of their cold runs.
inline MatrixResult member(const std::string& group, double ours, double alg1, double alg2, double sell) {
  MatrixResult m;
  m.group = group;
  m.csr_bytes = 100'000'000;
  m.results = {timed("spmvpack", "ccoo", "ordered", ours), timed("cusparse", "csr-alg1", "", alg1),
               timed("cusparse", "csr-alg2", "", alg2), timed("cusparse", "sell-32", "", sell)};
  return m;
}

}  // namespace spmvpack::bench
