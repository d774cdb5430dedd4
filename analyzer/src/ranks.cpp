#include "spmvpack/analyzer/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::analyzer {
namespace {

/// (2) of so many entries, whose gathers load each of `cols` elements of x once.
double seconds_of(std::uint64_t rows, std::uint64_t cols, std::uint64_t nnz, std::uint64_t value_size, double memory) {
  const BalanceInput in{rows, cols, nnz, value_size,
                        nnz == 0 ? 0 : static_cast<double>(cols) / static_cast<double>(nnz)};
  return multiply_seconds(in, {.memory = memory});
}

/// (3), (4): balance.hpp's, with the exchange in place of the copies.
double entries_per_row_for(double times, const RankPlan& r, std::uint64_t value_size, double memory) {
  const auto v = static_cast<double>(value_size), rows = static_cast<double>(r.rows);
  const double alpha = static_cast<double>(r.own_cols + r.ghosts) / static_cast<double>(r.nnz);
  constexpr double column_bytes = 4;
  return std::max((times * r.exchange_seconds * memory / rows - 2 * v) / (v * alpha + v + column_bytes), 0.0);
}

void require_speed(bool ok, double speed, const char* what) {
  if (!ok || !std::isfinite(speed))
    throw Error(errc::usage, fmt::format("{} of {}", what, speed), {}, "give a positive number");
}

/// Times of a rank whose counts are known.
void predict(RankPlan& r, const RankSpeeds& speeds, std::uint64_t value_size) {
  r.multiply_seconds = seconds_of(r.rows, r.own_cols + r.ghosts, r.nnz, value_size, speeds.memory);
  r.local_seconds = seconds_of(r.rows, r.own_cols, r.nnz - r.ghost_nnz, value_size, speeds.memory);
  r.ghost_seconds = seconds_of(r.ghost_rows, r.ghosts, r.ghost_nnz, value_size, speeds.memory);
  r.exchange_seconds = static_cast<double>(std::max(r.received_messages, r.sent_messages)) * speeds.latency +
                       static_cast<double>(std::max(r.received_bytes, r.sent_bytes)) / speeds.link;
  if (r.vector_seconds() > 0) r.share = r.exchange_seconds / r.vector_seconds();
  if (r.nnz == 0) return;
  r.entries_per_row = static_cast<double>(r.nnz) / static_cast<double>(r.rows);
  r.dominated_below = entries_per_row_for(1, r, value_size, speeds.memory);
  r.tenth_from = entries_per_row_for(10, r, value_size, speeds.memory);
}

}  // namespace

RanksPlan plan_ranks(const CsrView& a, const encoder::Partition& partition, const RankSpeeds& speeds, int threads) {
  require_speed(speeds.memory > 0, speeds.memory, "a memory bandwidth");
  require_speed(speeds.link > 0, speeds.link, "a link's bandwidth");
  require_speed(speeds.latency >= 0, speeds.latency, "a latency");
  const MemoryScope memory("the plan of ranks");
  a.check(threads);
  const std::uint64_t ranks = partition.ranks(), value_size = size_of(a.value_type());
  RanksPlan plan{speeds, a.rows(), a.cols(), a.nnz(), std::vector<RankPlan>(ranks)};
  CountedVector<std::uint32_t> new_number(partition.order.size());
  for (std::uint64_t i = 0; i < partition.order.size(); ++i)
    new_number[partition.order[i]] = static_cast<std::uint32_t>(i);
  CountedVector<std::uint32_t> needed_by(a.cols());  // the last rank that a column is a ghost of, from 1
  std::vector<std::uint64_t> from(ranks);            // ghosts of the rank at hand, by owner
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    RankPlan& r = plan.ranks[rank];
    const std::uint64_t first_col = partition.first_col[rank];
    r.own_cols = partition.first_col[rank + 1] - first_col;
    r.rows = partition.first_row[rank + 1] - partition.first_row[rank];
    std::fill(from.begin(), from.end(), 0);
    for (std::uint64_t row = partition.first_row[rank]; row < partition.first_row[rank + 1]; ++row) {
      const std::uint64_t of_source = partition.order.empty() ? row : partition.order[row];
      const std::uint64_t ghost_nnz = r.ghost_nnz;
      for (std::uint64_t k = a.row_ptr(of_source); k < a.row_ptr(of_source + 1); ++k) {
        const std::uint32_t c = new_number.empty() ? a.col_idx()[k] : new_number[a.col_idx()[k]];
        if (c - first_col < r.own_cols) continue;  // wraps below first_col
        ++r.ghost_nnz;
        if (needed_by[c] == rank + 1) continue;
        needed_by[c] = static_cast<std::uint32_t>(rank + 1);
        ++r.ghosts;
        const auto owner = std::upper_bound(partition.first_col.begin(), partition.first_col.end(), c) - 1;
        ++from[static_cast<std::size_t>(owner - partition.first_col.begin())];
      }
      r.nnz += a.row_length(of_source);
      r.ghost_rows += r.ghost_nnz != ghost_nnz ? 1 : 0;
    }
    for (std::uint64_t owner = 0; owner < ranks; ++owner) {
      if (from[owner] == 0) continue;
      ++r.received_messages;
      ++plan.ranks[owner].sent_messages;
      plan.ranks[owner].sent_bytes += from[owner] * value_size;
    }
    r.received_bytes = r.ghosts * value_size;
    r.csr_bytes = spmvpack::layouts::csr::device_bytes(r.rows, r.nnz, a.value_type());
  }
  plan.one_rank_seconds = seconds_of(a.rows(), a.cols(), a.nnz(), value_size, speeds.memory);
  for (RankPlan& r : plan.ranks) {
    predict(r, speeds, value_size);
    plan.vector_seconds = std::max(plan.vector_seconds, r.vector_seconds());
    plan.naive_seconds = std::max(plan.naive_seconds, r.naive_seconds());
    plan.task_seconds = std::max(plan.task_seconds, r.task_seconds());
  }
  return plan;
}

}  // namespace spmvpack::analyzer
