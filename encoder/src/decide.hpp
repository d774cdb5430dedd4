#pragma once
// The one rule of what is chosen: a layout by `auto`, where rows are cut by `split`, where values are by csell.
// Whoever plans offers what there could be, with its bytes and its work.

#include <cstdint>
#include <tuple>
#include <vector>

#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

/// A way to encode a part, or a matrix.
struct Variant {
  std::uint64_t device_bytes = 0;
  /// What a multiply does (PartPlan::work), but for these bytes and for what is the same with all other variants.
  std::vector<Counter> work = {};
};

/// A way that takes one column, for all of the aim's.
Variant for_columns(Variant one, const ColumnsWork& columns, const Aim& aim);

/// What is minimised: the device bytes, or the seconds that the aim's profile predicts.
double cost_of(const Variant& variant, const Aim& aim);

/// What the least of is chosen; of equals the first.
struct Rank {
  double seconds = 0;  ///< 0 if bytes are what counts
  std::uint64_t device_bytes = 0;

  friend bool operator<(const Rank& a, const Rank& b) {
    return std::tie(a.seconds, a.device_bytes) < std::tie(b.seconds, b.device_bytes);
  }
};
/// Saving all bytes of csr, which takes `csr_bytes`, is worth 2 % of the time: predictions are no better than that, and
/// of what takes about as long the smaller is better.
Rank rank_of(std::uint64_t device_bytes, double seconds, std::uint64_t csr_bytes, Objective optimize);
Rank rank_of(const Variant& variant, std::uint64_t csr_bytes, const Aim& aim);

}  // namespace spmvpack::encoder
