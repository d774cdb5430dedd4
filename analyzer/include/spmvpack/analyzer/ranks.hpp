#pragma once
/// What a multiply by several ranks exchanges, and how long that takes beside the multiply: planned from the matrix,
/// without running anything. The model is that of Kreutzer et al. (balance.hpp), in which messages take the place of
/// copies over PCIe.

#include <cstdint>
#include <optional>
#include <vector>

#include "spmvpack/analyzer/balance.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/encoder/partition.hpp"

namespace spmvpack::analyzer {

/// The speeds of a rank's multiply and messages.
struct RankSpeeds {
  double memory = Speeds{}.memory;  ///< bytes per second: balance.hpp
  double link = Speeds{}.pcie;      ///< bytes per second in each direction, of a rank: what all messages cross
  /// Seconds for each message. A round figure: between two processes of one host, OpenMPI 4.1 takes 0.4 us for 8 bytes
  /// (benchmarks/peers/message_times.cpp), between hosts one to two.
  double latency = 1e-6;
};

/// One rank's part of a multiply.
struct RankPlan {
  std::uint64_t rows = 0, nnz = 0, own_cols = 0, ghosts = 0;
  std::uint64_t ghost_nnz = 0, ghost_rows = 0;             ///< entries in columns of ghosts; rows with any
  std::uint64_t csr_bytes = 0;                             ///< of the share in layout csr, what a multiply reads of it
  std::uint64_t received_messages = 0, sent_messages = 0;  ///< ranks that it gets elements of x from, and sends them to
  std::uint64_t received_bytes = 0, sent_bytes = 0;
  double multiply_seconds = 0;  ///< (2), of all entries at once, with each element of x loaded once
  double local_seconds = 0;     ///< (2), of entries in own columns
  double ghost_seconds = 0;     ///< (2), of the others, with y read and written again in their rows
  double exchange_seconds = 0;  ///< max(messages) latency + max(bytes) / link, over receiving and sending
  double share = 0;             ///< exchange / (multiply + exchange), 0 of a rank that does neither
  /// (3), (4): the entries per row from which the exchange takes at most as long as the multiply, and a tenth of it.
  /// Unset without rows or entries.
  std::optional<double> entries_per_row, dominated_below, tenth_from;

  /// A multiply in the paper's modes, if all that it waits for is its own exchange.
  [[nodiscard]] double vector_seconds() const noexcept { return exchange_seconds + multiply_seconds; }
  [[nodiscard]] double naive_seconds() const noexcept { return local_seconds + exchange_seconds + ghost_seconds; }
  [[nodiscard]] double task_seconds() const noexcept {
    return (local_seconds > exchange_seconds ? local_seconds : exchange_seconds) + ghost_seconds;
  }
};

/// All ranks together, each mode in the time of its slowest rank.
struct RanksPlan {
  RankSpeeds speeds;
  std::uint64_t rows = 0, cols = 0, nnz = 0;
  std::vector<RankPlan> ranks;
  double one_rank_seconds = 0;  ///< (2), of the whole
  double vector_seconds = 0, naive_seconds = 0, task_seconds = 0;
  /// one_rank_seconds / (ranks seconds): the parallel efficiency of strong scaling.
  [[nodiscard]] double efficiency(double seconds) const noexcept {
    return seconds > 0 ? one_rank_seconds / (static_cast<double>(ranks.size()) * seconds) : 1;
  }
};

/// O(nnz); 4 bytes for each column, or 8 if the partition renumbers them. Error(errc::usage): a speed that is not
/// positive, a latency that is negative; errc::bad_input: a matrix that CsrView::check() rejects.
SPMVPACK_EXPORT RanksPlan plan_ranks(const CsrView& a, const encoder::Partition& partition,
                                     const RankSpeeds& speeds = {}, int threads = 0);

}  // namespace spmvpack::analyzer
