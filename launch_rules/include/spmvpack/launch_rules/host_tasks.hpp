#pragma once
// What a loop on a host hands to a thread at once, where items are dealt out in tasks of neighbours.

#include <algorithm>
#include <cstdint>

namespace spmvpack::launch_rules::host_tasks {

/// Rows of coo; chunks of amb; packets of pkt.
inline constexpr std::uint64_t coo_rows = 2048, amb_chunks = 64, pkt_packets = 1;

/// Rows of ell, sell and pjds that are added up together: neighbouring rows' slots share cache lines.
inline constexpr std::uint64_t padded_block = 64;
/// Rows of these layouts in a task: small matrices have smaller ones, a few for each thread.
constexpr std::uint64_t padded_rows(std::uint64_t rows, std::uint64_t threads) {
  constexpr std::uint64_t least = 512, most = 2048, tasks_per_thread = 4;
  return std::clamp(rows / (tasks_per_thread * threads) / padded_block * padded_block, least, most);
}

/// The share of `work`, spread evenly over `items` items in tasks of `task`, that one of two threads does while the
/// other is idle: all of it if there is one task.
constexpr std::uint64_t alone(std::uint64_t work, std::uint64_t items, std::uint64_t task) {
  if (items == 0) return 0;
  const std::uint64_t tasks = (items + task - 1) / task, of_one = std::min(items, (tasks + 1) / 2 * task);
  return static_cast<std::uint64_t>(static_cast<double>(work) * static_cast<double>(2 * of_one - items) /
                                    static_cast<double>(items));
}

}  // namespace spmvpack::launch_rules::host_tasks
