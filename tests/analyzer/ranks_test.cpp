// The plan of several ranks: counts against brute force, and times against the equations of the paper.

#include "spmvpack/analyzer/ranks.hpp"

#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::test {
namespace {

using analyzer::plan_ranks;
using analyzer::RankPlan;
using analyzer::RankSpeeds;
using analyzer::RanksPlan;

CsrMatrix scattered(std::uint32_t rows, std::uint32_t cols, std::uint32_t per_row) {
  std::mt19937_64 random(rows * 31 + cols);
  Entries entries;
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t k = 0; k < r % (per_row + 1); ++k) entries[{r, static_cast<std::uint32_t>(random() % cols)}] = 1;
  return make_csr(rows, cols, entries);
}

/// Which rank has a column of the source.
std::vector<std::uint64_t> owners(const encoder::Partition& p, std::uint64_t cols) {
  std::vector<std::uint64_t> owner(cols);
  for (std::uint64_t rank = 0; rank < p.ranks(); ++rank)
    for (std::uint64_t c = p.first_col[rank]; c < p.first_col[rank + 1]; ++c)
      owner[p.order.empty() ? c : p.order[c]] = rank;
  return owner;
}

void compare(const CsrMatrix& a, const encoder::Partition& p) {
  const RanksPlan plan = plan_ranks(a, p);
  const std::vector<std::uint64_t> owner = owners(p, a.cols);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> messages;  // (from, to): elements of x
  std::uint64_t nnz = 0, sent = 0, received = 0;
  for (std::uint64_t rank = 0; rank < p.ranks(); ++rank) {
    std::set<std::uint32_t> needed;
    std::uint64_t ghost_nnz = 0, ghost_rows = 0, own_nnz = 0;
    for (std::uint64_t i = p.first_row[rank]; i < p.first_row[rank + 1]; ++i) {
      const std::uint64_t row = p.order.empty() ? i : p.order[i];
      bool any = false;
      for (std::uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
        ++own_nnz;
        if (owner[a.col_idx[k]] == rank) continue;
        any = true;
        ++ghost_nnz;
        needed.insert(a.col_idx[k]);
      }
      ghost_rows += any ? 1 : 0;
    }
    for (const std::uint32_t c : needed) ++messages[{owner[c], rank}];
    const RankPlan& r = plan.ranks[rank];
    CHECK(r.nnz == own_nnz);
    CHECK(r.ghosts == needed.size());
    CHECK(r.ghost_nnz == ghost_nnz);
    CHECK(r.ghost_rows == ghost_rows);
    CHECK(r.received_bytes == 8 * needed.size());
    CHECK(r.csr_bytes == layouts::csr::device_bytes(r.rows, r.nnz, ValueType::f64));
    nnz += r.nnz;
    sent += r.sent_bytes;
    received += r.received_bytes;
  }
  CHECK(nnz == a.nnz());
  CHECK(sent == received);
  for (std::uint64_t rank = 0; rank < p.ranks(); ++rank) {
    std::uint64_t to = 0, from = 0, bytes = 0;
    for (const auto& [pair, elements] : messages) {
      from += pair.second == rank ? 1 : 0;
      to += pair.first == rank ? 1 : 0;
      bytes += pair.first == rank ? 8 * elements : 0;
    }
    CHECK(plan.ranks[rank].received_messages == from);
    CHECK(plan.ranks[rank].sent_messages == to);
    CHECK(plan.ranks[rank].sent_bytes == bytes);
  }
}

}  // namespace

TEST_CASE("a plan counts ghosts and messages as brute force does") {
  for (const std::uint64_t ranks : {1U, 2U, 5U, 40U}) {
    compare(scattered(37, 37, 6), encoder::partition_rows(scattered(37, 37, 6), ranks));
    compare(scattered(20, 50, 9), encoder::partition_rows(scattered(20, 50, 9), ranks));
    compare(scattered(50, 20, 9), encoder::partition_rows(scattered(50, 20, 9), ranks));
    compare(make_csr(6, 6, Entries{}), encoder::partition_rows(make_csr(6, 6, Entries{}), ranks));
    std::vector<std::uint32_t> dealt(37);
    for (std::uint32_t r = 0; r < 37; ++r) dealt[r] = static_cast<std::uint32_t>(r * 5 % ranks);
    compare(scattered(37, 37, 6), encoder::partition_of(scattered(37, 37, 6), dealt, ranks));
  }
}

TEST_CASE("times of a plan are those of the paper's equations") {
  // Two ranks of N = 1000 rows with four entries each, one of which is a ghost's, every ghost once.
  constexpr std::uint32_t n = 1000;
  Entries entries;
  for (std::uint32_t r = 0; r < 2 * n; ++r) {
    const std::uint32_t begin = r / n * n;
    for (std::uint32_t k = 0; k < 3; ++k) entries[{r, begin + (r + k) % n}] = 1;
    entries[{r, (r + n) % (2 * n)}] = 1;
  }
  const CsrMatrix a = make_csr(2 * n, 2 * n, entries);
  RankSpeeds speeds{.memory = 1e12, .link = 1e10, .latency = 3e-6};
  const RanksPlan plan = plan_ranks(a, encoder::partition_rows(a, 2), speeds);
  for (const RankPlan& r : plan.ranks) {
    REQUIRE(r.ghosts == n);
    // (2) with alpha = elements of x over entries: 8 N / B (N_nzr (alpha + 3/2) + 2).
    CHECK(r.multiply_seconds == Approx(8.0 * n / 1e12 * (4 * (0.5 + 1.5) + 2)));
    CHECK(r.local_seconds == Approx(8.0 * n / 1e12 * (3 * (1.0 / 3 + 1.5) + 2)));
    CHECK(r.ghost_seconds == Approx(8.0 * n / 1e12 * (1 * (1.0 + 1.5) + 2)));
    CHECK(r.exchange_seconds == Approx(3e-6 + 8.0 * n / 1e10));
    CHECK(r.share == Approx(r.exchange_seconds / (r.exchange_seconds + r.multiply_seconds)));
    // Where N_nzr is what (3) says, the multiply takes as long as the exchange; of (4), ten times as long.
    CHECK(8.0 * n / 1e12 * (*r.dominated_below * 2.0 + 2) == Approx(r.exchange_seconds));
    CHECK(8.0 * n / 1e12 * (*r.tenth_from * 2.0 + 2) == Approx(10 * r.exchange_seconds));
    CHECK(*r.entries_per_row == 4);
    CHECK(r.vector_seconds() == plan.vector_seconds);
    CHECK(r.naive_seconds() == Approx(r.local_seconds + r.exchange_seconds + r.ghost_seconds));
    CHECK(r.task_seconds() == Approx(r.exchange_seconds + r.ghost_seconds));
  }
  // Without an exchange, two ranks take half of one's time.
  CHECK(plan_ranks(make_csr(4, 4, {{{0, 0}, 1}, {{3, 3}, 1}}), encoder::partition_rows(make_csr(4, 4, Entries{}), 2))
            .ranks[0]
            .share == 0);
  // With 16 N bytes and no latency, (3) and (4) are the paper's own: r = B_GPU / B_PCI.
  speeds.latency = 0;
  speeds.link = 5e10;
  const RankPlan r = plan_ranks(a, encoder::partition_rows(a, 2), speeds).ranks[0];
  CHECK(*r.dominated_below == Approx(2 * (20.0 / 2 - 1) / (0.5 + 1.5)));
  CHECK(*r.tenth_from == Approx((20 * 20.0 / 2 - 2) / (0.5 + 1.5)));
}

TEST_CASE("speeds that are none are refused") {
  const CsrMatrix a = scattered(5, 5, 2);
  const encoder::Partition p = encoder::partition_rows(a, 2);
  for (const RankSpeeds& speeds : {RankSpeeds{.memory = 0}, RankSpeeds{.link = -1}, RankSpeeds{.latency = -1e-6}})
    CHECK_THROWS_AS(plan_ranks(a, p, speeds), Error);
}

}  // namespace spmvpack::test
