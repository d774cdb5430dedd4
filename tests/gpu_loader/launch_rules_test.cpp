// What launch_rules and the kernels' tuning say without a device: shares of the work, sizes of blocks, default kernels;
// and that the encoder's model counts what they say. Part of gpu_loader_host_test.

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "catch.hpp"
#include "kernels/tuning.cuh"
#include "layouts/bitflag/tuning.cuh"
#include "layouts/ccoo/tuning.cuh"
#include "layouts/csr/tuning.cuh"
#include "matrices.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/launch_rules/cache.hpp"
#include "spmvpack/launch_rules/csell_tiles.hpp"
#include "spmvpack/launch_rules/csr.hpp"
#include "spmvpack/launch_rules/device.hpp"
#include "spmvpack/launch_rules/padded_rows.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::gpu_loader {
namespace {

using namespace launch_rules::csr;

std::vector<std::uint32_t> row_blocks(RowBlockLimits limits, const std::vector<std::uint64_t>& lengths) {
  std::vector<std::uint64_t> row_ptr{0};
  for (const std::uint64_t length : lengths) row_ptr.push_back(row_ptr.back() + length);
  std::vector<std::uint32_t> starts{0};
  while (starts.back() < lengths.size())
    starts.push_back(starts.back() + row_block_rows([&](std::uint64_t r) { return row_ptr[r]; }, lengths.size(),
                                                    starts.back(), limits));
  return starts;
}

/// Algorithm 4 with algorithm 6, as the paper prints them: rows are taken back by i--.
std::vector<std::uint32_t> printed_row_blocks(RowBlockLimits limits, const std::vector<std::uint64_t>& lengths) {
  std::vector<std::uint32_t> starts{0};
  std::uint64_t sum = 0, rows = 0;
  const auto close = [&](std::size_t at) {
    starts.push_back(static_cast<std::uint32_t>(at));
    sum = rows = 0;
  };
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    sum += lengths[i];
    ++rows;
    const bool one_too_many = sum > limits.entries && rows > 1;
    if (one_too_many)
      close(i--);
    else if (sum >= limits.entries || rows == limits.threads)
      close(i + 1);
  }
  if (starts.back() != lengths.size()) starts.push_back(static_cast<std::uint32_t>(lengths.size()));
  return starts;
}

}  // namespace

TEST_CASE("row blocks: the paper's two examples") {
  const RowBlockLimits limits{256, 1024};
  std::vector<std::uint64_t> lengths(128, 16);
  CHECK(row_blocks(limits, lengths) == std::vector<std::uint32_t>{0, 64, 128});
  lengths[0] = 32;
  CHECK(row_blocks(limits, lengths) == std::vector<std::uint32_t>{0, 63, 127, 128});
}

TEST_CASE("row blocks: long rows stand alone, many empty rows fill a block, no rows make none") {
  const RowBlockLimits limits{4, 10};
  CHECK(row_blocks(limits, {}) == std::vector<std::uint32_t>{0});
  CHECK(row_blocks(limits, {3, 11, 3}) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(row_blocks(limits, {0, 0, 0, 0, 0}) == std::vector<std::uint32_t>{0, 4, 5});
  CHECK(row_blocks(limits, {5, 5, 1}) == std::vector<std::uint32_t>{0, 2, 3});
  CHECK(row_blocks(limits, {std::uint64_t{1} << 40, 10, 9, 2}) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("row blocks are those of algorithms 4 and 6") {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 200; ++round) {
    const RowBlockLimits limits{static_cast<std::uint32_t>(1 + rng() % 8), static_cast<std::uint32_t>(1 + rng() % 40)};
    std::vector<std::uint64_t> lengths(rng() % 300);
    for (std::uint64_t& length : lengths) length = rng() % 4 == 0 ? rng() % 60 : rng() % 8;
    REQUIRE(row_blocks(limits, lengths) == printed_row_blocks(limits, lengths));
  }
}

TEST_CASE("the decision tree: largest power of two at most threads / rows and at most threads / 2") {
  CHECK(threads_per_row(256, 1) == 128);
  CHECK(threads_per_row(256, 2) == 128);
  CHECK(threads_per_row(256, 3) == 64);
  CHECK(threads_per_row(256, 64) == 4);
  CHECK(threads_per_row(256, 127) == 2);
  CHECK(threads_per_row(256, 128) == 2);
  CHECK(threads_per_row(256, 129) == 1);
  CHECK(threads_per_row(256, 256) == 1);
}

TEST_CASE("lanes of a row in csr's vector kernel") {
  CHECK(lanes_per_row(0, 0) == 1);
  CHECK(lanes_per_row(10, 19) == 1);
  CHECK(lanes_per_row(10, 20) == 2);
  CHECK(lanes_per_row(10, 319) == 16);
  CHECK(lanes_per_row(10, 320) == 32);
  CHECK(lanes_per_row(1, std::uint64_t{1} << 40) == 32);
}

TEST_CASE("rows are few and long where each has work for its threads, and none has most of all work") {
  CHECK_FALSE(are_few_long_rows(0, 0, 0));
  CHECK(are_few_long_rows(1, 8192, 8192));
  CHECK_FALSE(are_few_long_rows(2, 8192, 16383));
  CHECK(are_few_long_rows(1, 131072, 131072));
  CHECK(are_few_long_rows(1, 131073, 131073));
  CHECK(are_few_long_rows(16, 131073, 131073 * 16));
  CHECK(are_few_long_rows(128, 131073, 131073 * 16 - 1));
  CHECK_FALSE(are_few_long_rows(129, 131073, 131073 * 16 - 1));
  CHECK(LongRows::blocks(1, 32768, 32768) == 16);
  CHECK(LongRows::blocks(1, 32769, 32769) == 32);
  CHECK(LongRows::blocks(2, 300'000, 600'000) == 256);
  CHECK(LongRows::blocks(17, 131072, 131072) == 16);
  CHECK(LongRows::blocks(17, 131073, 131073) == 32);
  CHECK(LongRows::blocks(17, 131073, 131073 * 16) == 16);
  CHECK(LongRows::blocks(1, 1'000'000, 1'000'000) == 512);
  CHECK(LongRows::blocks(1, std::uint64_t{1} << 31U, std::uint64_t{1} << 31U) == 512);
}

TEST_CASE("what blocks fetch of an array is all of its whole units, in even shares, and nothing behind it") {
  using launch_rules::prefetch::Shares;
  for (const std::uint64_t address : {std::uint64_t{4096}, std::uint64_t{4100}, (std::uint64_t{1} << 40U) + 8})
    for (const std::uint64_t bytes : {0U, 1U, 15U, 16U, 17U, 4096U, 32'000'000U})
      for (const unsigned blocks : {1U, 3U, 132U, 1024U, 5'000'000U}) {
        const auto [begin, units, of_block] = launch_rules::prefetch::shares_of(address, bytes, blocks);
        CHECK(begin % Shares::unit == 0);
        CHECK(begin <= address);
        CHECK(address - begin < Shares::unit);
        const std::uint64_t end = begin + std::uint64_t{units} * Shares::unit;
        CHECK(end <= address + bytes);
        CHECK(address + bytes - end < Shares::unit);
        CHECK(std::uint64_t{of_block} * blocks >= units);
        CHECK((units == 0 || (std::uint64_t{of_block} - 1) * blocks < units));
      }
}

TEST_CASE("even blocks: no multiprocessor has more than it must") {
  using launch_rules::even_threads;
  CHECK(even_threads(0, 1024, 132) == 32);
  CHECK(even_threads(1, 1024, 132) == 32);
  CHECK(even_threads(90'000, 1024, 132) == 704);
  CHECK(even_threads(90'000, 512, 132) == 352);
  CHECK(even_threads(132 * 1024, 1024, 132) == 1024);
  CHECK(even_threads(132 * 1024 + 1, 1024, 132) == 544);
  CHECK(even_threads(2813 * 2 * 32, 1024, 132, 64) == 704);
  CHECK(even_threads(1320 * 128, 1024, 132, 128) == 640);
  for (const unsigned team : {32U, 64U, 128U, 1024U})
    for (const std::uint64_t threads : {1U, 4224U, 4225U, 99'999U, 135'168U, 135'169U, 1'000'000U, 123'456'789U}) {
      const unsigned most = 1024 / team * team, of_block = even_threads(threads, most, 132, team);
      CHECK(of_block % team == 0);
      CHECK((of_block >= team && of_block <= most));
      // As few on each multiprocessor as blocks of the most threads would be, and none has more than another.
      const std::uint64_t blocks = (threads + of_block - 1) / of_block, fewest = (threads + most - 1) / most;
      CHECK((blocks + 131) / 132 == (fewest + 131) / 132);
    }
}

TEST_CASE("rows with a thread each: as many slots on their way as leaves room for all of them on the device") {
  const auto launch = [](std::uint64_t rows, std::uint64_t of_row, bool single, bool sorted = false) {
    const auto [batch, threads, held] = launch_rules::padded_rows::launch_of(rows, rows * of_row, single, 10, sorted);
    return std::pair(batch, threads);
  };
  using Launch = std::pair<int, unsigned>;
  for (const bool single : {false, true}) {
    CHECK(launch(0, 0, single) == Launch(7, 32));
    CHECK(launch(320, 8, single) == Launch(7, 32));
    CHECK(launch(321, 8, single) == Launch(7, 64));
    CHECK(launch(5120, 8, single) == Launch(7, 512));
    CHECK(launch(5120, 9, single) == Launch(single ? 14 : 16, 512));
    CHECK(launch(5121, 9, single) == Launch(7, single ? 288 : 544));
    CHECK(launch(10240, 9, single) == Launch(7, single ? 512 : 1024));
    CHECK(launch(10241, 9, single) == Launch(4, single ? 256 : 544));
  }
  CHECK(launch(15360, 9, false) == Launch(4, 768));
  // Sorted rows are not even: blocks are small.
  CHECK(launch(5120, 9, false, true) == Launch(16, 128));
  CHECK(launch(10240, 9, false, true) == Launch(7, 128));
  CHECK(launch(15360, 9, false, true) == Launch(4, 256));
  CHECK(launch(15361, 9, false) == Launch(7, 128));
  CHECK(launch(23040, 9, false) == Launch(7, 128));
  CHECK(launch(23041, 9, false) == Launch(4, 256));
  CHECK(launch(20480, 9, true) == Launch(4, 256));
  CHECK(launch(20481, 9, true) == Launch(7, 512));
  CHECK(launch(20481, 8, true) == Launch(7, 256));
}

TEST_CASE("the encoder's chains of padded rows and of amb are those of the kernels that run") {
  const auto work_of = [](const char* layout, std::uint64_t rows, std::uint64_t length, std::uint64_t cols) {
    std::mt19937_64 rng(3);
    const CsrMatrix a = test::from_rows<double>(rows, cols, rng, 1, [&](std::uint64_t) {
      std::vector<std::uint32_t> row(length);
      for (std::uint64_t k = 0; k < length; ++k) row[k] = static_cast<std::uint32_t>(k * (cols / length));
      return row;
    });
    std::map<std::string, std::uint64_t> work;
    const encoder::Plan plan = encoder::find_strategy(layout).plan(a, {});
    for (const encoder::Counter& c : plan.parts[0].work) work[c.name] = c.value;
    return work;
  };
  // 132 multiprocessors: batches of 16 slots up to 67,584 rows, then of 7. Two loads wait for each other in each.
  CHECK(work_of("ell", 1000, 17, 100)["ell.chain"] == 4);
  CHECK(work_of("ell", 67585, 17, 100)["ell.chain"] == 6);
  CHECK(work_of("sell", 1000, 8, 100)["sell.chain"] == 4);  // short rows: batches of 7
  // A multiprocessor holds 1,536 threads with batches of 4 slots, 1,152 with batches of 7.
  CHECK(work_of("ell", 132 * 1536, 1, 100)["ell.turns"] == 0);
  CHECK(work_of("ell", 132 * 1536 + 1, 1, 100)["ell.turns"] == 1);
  CHECK(work_of("sell", 132 * 1152 * 2 + 1, 1, 100)["sell.turns"] == 1);
  CHECK(work_of("pjds", 132 * 1536 * 4, 1, 100)["pjds.turns"] == 2);
  // Rows of amb with up to four lanes, one for each segment of 65,536 columns, are one thread's; others' sums are added
  // up by a second kernel, eight at a time.
  auto amb = work_of("amb", 100, 20, 4 * 65536);
  CHECK(amb["amb.partial_sums"] == 400);
  CHECK(amb["amb.sum_multiplies"] == 0);
  CHECK(amb["amb.chain"] == 4 * 2);
  amb = work_of("amb", 100, 90, 9 * 65536);
  CHECK(amb["amb.partial_sums"] == 900);
  CHECK(amb["amb.added_sums"] == 900);
  CHECK(amb["amb.sum_multiplies"] == 1);
  CHECK(amb["amb.sum_chain"] == 4);
  CHECK(amb["amb.chain"] == 2 * 2);
}

TEST_CASE("no step of a grid over bitflag's tiles passes 2^32") {
  using layouts::bitflag_kernels::tuning::tiles_fit;
  CHECK(tiles_fit(0, 132));
  CHECK(tiles_fit(0xFFFFFFFF - 132 * 32, 132));  // a block for each 32 tiles at a time
  CHECK_FALSE(tiles_fit(0xFFFFFFFF - 132 * 32 + 1, 132));
  CHECK_FALSE(tiles_fit(0xFFFFFFFE, 1));
}

TEST_CASE("launch numbers: Hopper's own, safe ones for all others") {
  using namespace tuning;
  for (const int major : {8, 10, 11, 12}) CHECK(&ccoo_numbers(major) == &ccoo_safe);
  CHECK(&ccoo_numbers(9) == &ccoo_sm_90);
  // A multiprocessor holds at most 2,048 threads.
  for (const CcooNumbers* const n : {&ccoo_safe, &ccoo_sm_90}) {
    for (const int slots : {1, 2, 4, 8}) {
      CHECK(n->blocks(slots) >= 1);
      CHECK(n->blocks(slots) * ccoo_threads <= 2048);
    }
    CHECK(launch_rules::ccoo::team_blocks * ccoo_team_threads <= 2048);
  }
  // Whole warps, and no more threads than a block may have.
  for (const unsigned threads : {ccoo_threads, ccoo_team_threads, csr_rows_threads, csr_scalar_threads,
                                 csr_scalar_block(1, 132), csr_scalar_block(1 << 20, 132), pcsr_product_threads,
                                 balanced_threads, carry_threads, vector_threads, check_threads}) {
    CHECK(threads % 32 == 0);
    CHECK(threads <= 1024);
  }
  CHECK(csr_scalar_block(90'000, 132) == 704);
  CHECK(csr_scalar_block(132 * 2048, 132) == 1024);
  CHECK(csr_scalar_block(132 * 2048 + 1, 132) == 512);
  CHECK(launch_rules::ccoo::takes_team(1000000, 10, 0));
  CHECK(launch_rules::ccoo::takes_team(640, 10, 256));
  CHECK(!launch_rules::ccoo::takes_team(641, 10, 256));
}

TEST_CASE("the encoder predicts the time of the kernel that is csr's default") {
  // Lengths of rows: so many of each.
  using Lengths = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  std::map<std::string, int> seen;
  for (const Lengths& lengths : {Lengths{{10, 8}},
                                 {{100, 9}},
                                 {{99, 9}, {1, 64}},
                                 {{99, 9}, {1, 65}},
                                 {{1, 8191}},
                                 {{1, 8192}},
                                 {{1, 8191}, {1, 8192}},
                                 {{2, 8191}, {1, 8194}},
                                 {{1, 131072}},
                                 {{1, 131073}},
                                 {{16, 131073}},
                                 {{16, 131073}, {1, 131074}},
                                 {{1, 131074}, {16, 131072}},
                                 {{300, 3}, {1, 16385}}}) {
    std::vector<std::uint32_t> of_rows;
    for (const auto& [count, length] : lengths) of_rows.insert(of_rows.end(), count, length);
    std::mt19937_64 rng(1);
    const CsrMatrix a = test::from_rows<double>(of_rows.size(), 280000, rng, 1, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row(of_rows[r]);
      for (std::uint32_t i = 0; i < row.size(); ++i) row[i] = 2 * i;
      return row;
    });
    INFO(of_rows.size() << " rows, the last of " << of_rows.back());
    const encoder::Plan plan = encoder::find_strategy("csr").plan(a, {});
    std::set<std::string> work;
    for (const encoder::Counter& c : plan.parts[0].work) work.insert(c.name);
    const std::string kernel(kernel_name(default_kernel(plan.parts[0].info)));
    INFO(kernel);
    ++seen[kernel];
    CHECK(work.contains("csr.long_entries") == (kernel == "csr/long"));
    CHECK(work.contains("csr.vector_entries") == (kernel == "csr/vector"));
    const bool single_rows = std::all_of(of_rows.begin(), of_rows.end(), [](auto length) { return length > 2048; });
    CHECK(work.contains("csr.block_entries") == (kernel == "csr/ipcsr" && !single_rows));
    CHECK(work.contains("csr.row_entries") == (kernel == "csr/ipcsr" && single_rows));
    CHECK(work.contains("csr.merge_entries") == (kernel == "csr/merge"));
    CHECK(work.contains("csr.scalar_chain") == (kernel == "csr/scalar"));
    CHECK(work.contains("csr.vector_chain") == (kernel == "csr/vector"));
  }
  CHECK(seen.size() == 5);
}

TEST_CASE("the encoder's lines of csr/scalar are about those that its warps touch") {
  constexpr std::uint64_t rows = 3200, lanes = 32, line_bytes = 128;
  for (const std::uint64_t length : {1U, 2U, 3U, 5U, 7U}) {
    std::mt19937_64 rng(length);
    const CsrMatrix a = test::from_rows<double>(rows, 50, rng, 1, [&](std::uint64_t) {
      std::vector<std::uint32_t> row(length);
      std::iota(row.begin(), row.end(), 0U);
      return row;
    });
    std::uint64_t touched = 0;  // by lane r of a warp in its k-th step: entry k of row r
    for (const std::uint64_t size : {sizeof(double), sizeof(std::uint32_t)})
      for (std::uint64_t warp = 0; warp < rows; warp += lanes)
        for (std::uint64_t k = 0; k < length; ++k) {
          std::set<std::uint64_t> lines;
          for (std::uint64_t r = warp; r < warp + lanes; ++r) lines.insert((a.row_ptr[r] + k) * size / line_bytes);
          touched += lines.size();
        }
    const encoder::Plan plan = encoder::find_strategy("csr").plan(a, {});
    REQUIRE(kernel_name(default_kernel(plan.parts[0].info)) == "csr/scalar");
    const auto& work = plan.parts[0].work;
    const auto found =
        std::find_if(work.begin(), work.end(), [](const encoder::Counter& c) { return c.name == "csr.scalar_lines"; });
    REQUIRE(found != work.end());
    INFO("rows of " << length << ": " << touched << " lines, counted " << found->value);
    CHECK(std::abs(static_cast<double>(found->value) / static_cast<double>(touched) - 1) < 0.2);
  }
}

TEST_CASE("the encoder's turns of csr/ipcsr are those of its blocks of rows") {
  std::mt19937_64 rng(7);
  int blocks_seen = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> lengths(1 + rng() % 1500);
    const std::uint64_t most = std::uint64_t{1} << (rng() % 13);
    for (std::uint64_t& length : lengths)
      length = rng() % 3 == 0 ? 0 : rng() % 5 == 0 ? rng() % (most + 1) : rng() % 40;
    if (round % 4 == 0) lengths[0] = 2048, lengths[lengths.size() / 2] = 2048;  // blocks that are exactly full
    const CsrMatrix a = test::from_rows<double>(lengths.size(), 5000, rng, 1, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row(lengths[r]);
      std::iota(row.begin(), row.end(), 0U);
      return row;
    });
    const encoder::Plan plan = encoder::find_strategy("csr").plan(a, {});
    std::map<std::string, std::uint64_t> work;
    for (const encoder::Counter& c : plan.parts[0].work) work[c.name] = c.value;
    if (!work.contains("csr.block_entries")) continue;
    ++blocks_seen;
    std::uint64_t serial = 0, chain = 0;
    const std::vector<std::uint32_t> starts = printed_row_blocks({}, lengths);
    for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
      const std::uint64_t rows = starts[b + 1] - starts[b];
      const std::uint64_t longest = *std::max_element(lengths.begin() + starts[b], lengths.begin() + starts[b + 1]);
      std::uint64_t threads = 1;
      while (threads * 2 * rows <= 256 && threads < 128) threads *= 2;
      if (rows == 1)
        chain = std::max(chain, (longest + 2047) / 2048);
      else
        serial = std::max(serial, (longest + threads - 1) / threads);
    }
    CHECK(work["csr.serial"] == serial);
    CHECK(work["csr.block_chain"] == chain);
  }
  CHECK(blocks_seen > 20);
}

TEST_CASE("a matrix stays in the L2 cache if its share allows it, of several columns if it fits at all") {
  constexpr std::uint64_t l2 = 1'000'000;
  using launch_rules::cache::keeps;
  const double usual = DeviceLoadOptions{}.cache_share;
  for (const double share : {0.0, usual, 0.5, solver_cache_share, 1.0}) {
    const auto most = static_cast<std::uint64_t>(share * l2);
    CHECK(keeps(most, 1, l2, share));
    CHECK_FALSE(keeps(most + 1, 1, l2, share));
  }
  CHECK(keeps(333'333, 1, l2, usual));
  for (const std::uint64_t columns : {2U, 3U, 100U}) {
    CHECK(keeps(700'000, columns, l2, usual));
    CHECK_FALSE(keeps(700'001, columns, l2, usual));
    CHECK(keeps(1'000'000, columns, l2, 1));
    CHECK_FALSE(keeps(1, columns, l2, 0));
  }
}

TEST_CASE("pieces of csell's tiles: within 2 % of the best that was measured") {
  const auto of_tile = [](std::uint64_t slices, std::uint64_t of_slice, std::uint64_t tiles, std::uint64_t tile_slices,
                          unsigned threads) {
    return launch_rules::csell::pieces_of({slices, slices * of_slice, 1, tiles, tile_slices, true}, {threads, 100, 132})
        .of_tile;
  };
  CHECK(of_tile(37538, 445, 294, 128, 1024) == 4);  // holstein-hubbard, 10 phonons: 57.9 us, with one piece 67.5 (H200)
  CHECK(of_tile(16082, 445, 126, 128, 1024) == 2);  // 8 phonons: 27.2, with three 34.4
  CHECK(of_tile(13917, 537, 109, 128, 1024) == 4);  // cage, 13 monomers: 31.9, with two 36.9
  CHECK(of_tile(13917, 537, 218, 64, 1024) == 2);   // the same in other tiles: 32.3, with one 36.1
  CHECK(of_tile(10921, 830, 86, 128, 1024) == 3);   // kkt 55x55x55: 25.6, with four 30.2
  CHECK(of_tile(33200, 848, 260, 128, 1024) == 2);  // kkt 80x80x80: 58.0, with one 63.0
  CHECK(of_tile(31250, 160, 245, 128, 2048) == 2);  // laplace2d 1000x1000: 20.7, with three 23.9
  CHECK(of_tile(54000, 224, 422, 128, 2048) == 1);  // convection-diffusion 120x120x120: 33.1, with two 34.8
  CHECK(of_tile(22782, 845, 1424, 16, 1024) == 1);  // hpcg 90x90x90: 41.5, with two 62.9
}

TEST_CASE("blocks of csell's tiles, by what their tables leave of shared memory") {
  using namespace launch_rules::csell;
  CHECK(staged_bytes(7776, 8) == 62208);
  CHECK(staged_bytes(8192, 8) == max_staged_bytes);
  CHECK(staged_bytes(8193, 8) == 0);
  CHECK(staged_bytes(5, 4) == 32);
  constexpr std::uint64_t most = 227U << 10U;  // H200: 228 KiB for all blocks, of which each takes 1 KiB for itself
  CHECK(blocks_by_shared(most, most) == 1);
  CHECK(blocks_by_shared(113U << 10U, most) == 2);
  CHECK(blocks_by_shared((113U << 10U) + 1, most) == 1);
  CHECK(blocks_by_shared(56U << 10U, most) == 4);
  CHECK(blocks_by_shared((56U << 10U) + 1, most) == 3);
  CHECK(blocks_by_shared(0, most) > 2048);
  // lattice-qcd, 16 sites: three blocks of 256 threads, where registers allow four.
  const TilePieces pieces =
      pieces_of({8192, 8192 * 2808, 1, 1024, 8, true}, {1024, blocks_by_shared(62208, most), 132});
  CHECK(pieces.threads == 256);
  CHECK(pieces.resident == 3);
  CHECK(pieces.turns == 3);
}

TEST_CASE("blocks of csell's tiles, by the threads that a multiprocessor holds") {
  using namespace launch_rules::csell;
  CHECK(held_threads(512, 4, 2048) == 2048);
  CHECK(held_threads(512, 4, 1536) == 1536);
  CHECK(held_threads(1024, 1, 1536) == 1024);
  // laplace2d 1000x1000: on 132 multiprocessors of 1,536 threads three blocks of 512, not four.
  const TilePieces pieces = pieces_of({31250, 31250 * 160, 1, 245, 128, true}, {1536, 1000, 132});
  CHECK(pieces.threads == 512);
  CHECK(pieces.resident == 3);
}

TEST_CASE("pieces of csell's tiles have each slice once, and the busiest block no more than it says") {
  std::mt19937_64 rng(11);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t tile_slices = 1 + rng() % (rng() % 2 == 0 ? 200 : 2000), tiles = 2 + rng() % 300,
                        sums = std::uint64_t{1} << rng() % 3, multiprocessors = 1 + rng() % 200;
    const std::uint64_t slices = (tiles - 1) * tile_slices + 1 + rng() % tile_slices;  // the last tile may be short
    const unsigned of_multiprocessor = 512U << rng() % 3;
    const auto p =
        launch_rules::csell::pieces_of({slices, rng() % 100'000'000, sums, tiles, tile_slices, rng() % 2 == 0},
                                       {of_multiprocessor, rng() % 8, multiprocessors});
    CAPTURE(slices, tile_slices, tiles, sums, multiprocessors, of_multiprocessor);
    REQUIRE(p.threads >= 128);
    REQUIRE(p.threads <= 512);
    REQUIRE(p.threads % (sums * 32) == 0);
    REQUIRE(p.resident >= 1);
    REQUIRE(p.resident * p.threads <= of_multiprocessor);
    // As slices_kernel deals them.
    const std::uint64_t blocks = std::min(p.resident * multiprocessors, tiles * p.of_tile),
                        teams = p.threads / 32 / sums, piece_slices = (tile_slices + p.of_tile - 1) / p.of_tile;
    std::vector<int> seen(slices);
    std::uint64_t turns = 0, rounds = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      std::uint64_t of_block = 0;
      for (std::uint64_t piece = block; piece < tiles * p.of_tile; piece += blocks, ++of_block) {
        const std::uint64_t tile = piece / p.of_tile, begin = tile * tile_slices + piece % p.of_tile * piece_slices,
                            end = std::min({slices, (tile + 1) * tile_slices, begin + piece_slices});
        for (std::uint64_t s = begin; s < end; ++s) ++seen[s];
        if (begin < end) rounds = std::max(rounds, (end - begin + teams - 1) / teams);
      }
      turns = std::max(turns, of_block);
    }
    REQUIRE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    REQUIRE(turns == p.turns);
    REQUIRE(rounds == p.rounds);
  }
}

}  // namespace spmvpack::gpu_loader
