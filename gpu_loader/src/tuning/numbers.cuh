#pragma once

#include <bit>

namespace spmvpack::gpu_loader::tuning {

/// What may differ between architectures. Results do not depend on it.
struct Numbers {
  /// Blocks of 256 threads of ccoo's kernel that a multiprocessor holds at once, for K = 1, 2, 4, 8.
  unsigned ccoo_blocks_by_slots[4];
  /// The same for its blocks of 64 threads, which take chunks of K = 8.
  unsigned ccoo_team_blocks;

  [[nodiscard]] constexpr unsigned ccoo_blocks(int slots) const {
    return ccoo_blocks_by_slots[std::countr_zero(static_cast<unsigned>(slots))];
  }
};

}  // namespace spmvpack::gpu_loader::tuning
