// What the GPU loader decides without a device: placement, transfers, shares of the work, arguments.

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "arguments.hpp"
#include "catch.hpp"
#include "device_facts.hpp"
#include "kernels/tuning.cuh"
#include "layouts/bitflag/tuning.cuh"
#include "layouts/ccoo/tuning.cuh"
#include "layouts/csr/tuning.cuh"
#include "matrices.hpp"
#include "placement.hpp"
#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/gpu_loader/timing.hpp"
#include "spmvpack/launch_rules/amb.hpp"
#include "spmvpack/launch_rules/csr.hpp"
#include "spmvpack/launch_rules/device.hpp"
#include "spmvpack/launch_rules/padded_rows.hpp"
#include "spmvpack/launch_rules/prefetch.hpp"

namespace spmvpack::gpu_loader {
namespace {

using namespace launch_rules::csr;

SectionInfo section(const std::string& name, std::uint64_t raw_bytes, std::uint32_t part = 0,
                    std::uint8_t flags = format::section_required | format::section_device) {
  SectionInfo s;
  s.name = name;
  s.part = part;
  s.flags = flags;
  s.known = true;
  s.raw_bytes = raw_bytes;
  s.block_count = div_up(raw_bytes, format::block_bytes);
  return s;
}

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

errc code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return errc{};
}

/// An address that nobody follows.
const void* at(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
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

TEST_CASE("kernels are launched early only where the code that runs waits for the one before") {
  CHECK(code_can_wait({800, 900}, 900));
  CHECK(code_can_wait({900}, 900));
  CHECK(code_can_wait({800, 900, 1000, 1200}, 1210));
  CHECK(!code_can_wait({800}, 900));        // PTX of Ampere on Hopper
  CHECK(!code_can_wait({800, 900}, 1000));  // or of Hopper on Blackwell: it may as well be Ampere's
  CHECK(!code_can_wait({800, 900, 1030}, 1000));
  CHECK(!code_can_wait({800, 860}, 860));
  CHECK(!code_can_wait({800, 900}, 890));
}

TEST_CASE("a GPU that a build has no code for is told both, and what to do") {
  const std::string image = "no kernel image is available for execution on the device";
  const Error newer = no_code_error("NVIDIA H100", 9, 0, "12.0 and PTX", image);
  CHECK(newer.code() == errc::no_device);
  CHECK(std::string(newer.what()) ==
        "NVIDIA H100 has compute capability 9.0, and this build has code for 12.0 and PTX (" + image +
            "); build spmvpack on this machine, or with "
            "-DCMAKE_CUDA_ARCHITECTURES=90");
  const Error older = no_code_error("Tesla T4", 7, 5, "8.0, 9.0 and PTX", image);
  CHECK(older.message() ==
        "Tesla T4 has compute capability 7.5, and this build has code for 8.0, 9.0 and PTX (" + image + ")");
  CHECK(older.remedy() == "use a GPU of compute capability 8.0 or newer");
}

TEST_CASE("a build knows what GPUs it has code for") {
  if (built_with_cuda()) {
    CHECK(built_for().find_first_of("0123456789") != std::string_view::npos);
  } else {
    CHECK(built_for().empty());
    CHECK_THROWS_AS(require_device_code(), Error);
  }
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

TEST_CASE("sections are placed on 256-byte boundaries, beyond 2^32 too; host-only ones are not") {
  const std::uint64_t large = (std::uint64_t{5} << 32) + 7;
  const std::vector<SectionInfo> sections{section("row_ptr", 12),      section("col_idx", large),
                                          section("extra", 100, 0, 0), section("row_map", 40, 0),
                                          section("values", 8),        section("provenance", 50, format::no_part, 0)};
  const Placement p = place(sections);
  REQUIRE(p.sections.size() == 4);
  CHECK(p.sections[0].offset == 0);
  CHECK(p.sections[1].offset == 256);
  CHECK(p.sections[2].section == 3);
  CHECK(p.sections[2].offset == (std::uint64_t{5} << 32) + 512);
  CHECK(p.sections[3].offset == (std::uint64_t{5} << 32) + 768);
  CHECK(p.bytes == (std::uint64_t{5} << 32) + 776);
  CHECK(code_of([&] {
          place(std::vector{section("a", ~std::uint64_t{0} - 100), section("b", 1)});
        }) == errc::unsupported);

  // The transfers are the sections, each byte once and in order.
  for (const std::uint64_t blocks : {1U, 2U, 7U}) {
    const std::vector<Transfer> all = transfers(sections, p, blocks);
    std::size_t next = 0;
    for (const Placed& placed : p.sections) {
      std::uint64_t done = 0;
      for (; next < all.size() && all[next].section == placed.section; ++next) {
        const Transfer& t = all[next];
        REQUIRE(t.block * format::block_bytes == done);
        REQUIRE(t.to == placed.offset + done);
        REQUIRE(t.bytes <= blocks * format::block_bytes);
        done += t.bytes;
      }
      REQUIRE(done == sections[placed.section].raw_bytes);
    }
    CHECK(next == all.size());
  }
}

TEST_CASE("a ring stays within its bytes and has slots for each thread, as many as the others'") {
  constexpr std::uint64_t mib = format::block_bytes;
  for (const std::uint64_t bytes : {std::uint64_t{0}, mib - 1, mib, 2 * mib, 3 * mib, 17 * mib, 64 * mib, 1024 * mib})
    for (const int threads : {1, 2, 3, 16, 17, 64, 500})
      for (const std::uint64_t blocks : {1U, 2U, 5U, 100U, 100000U})
        for (const bool inflate : {false, true}) {
          const RingShape shape = ring_shape(bytes, threads, blocks, inflate);
          REQUIRE(shape.threads >= 1);
          REQUIRE(shape.threads <= threads);
          REQUIRE(shape.slots >= static_cast<std::uint64_t>(shape.threads));
          REQUIRE(shape.slots % static_cast<std::uint64_t>(shape.threads) == 0);
          REQUIRE(shape.slot_blocks >= 1);
          REQUIRE(shape.slots * shape.slot_blocks * mib <= std::max(bytes, mib));
          REQUIRE(shape.slots <= 2 * blocks);
        }
  // What docs/BENCHMARKS.md tells of: 16 threads, two slots of 2 MiB each.
  const RingShape shape = ring_shape(64 * mib, 16, 1000, false);
  CHECK(shape.threads == 16);
  CHECK(shape.slots == 32);
  CHECK(shape.slot_blocks == 2);
  CHECK(ring_shape(64 * mib, 64, 1000, false).threads == 16);
  CHECK(ring_shape(64 * mib, 64, 1000, true).threads == 64);
}

TEST_CASE("kernels have names, of their layout, and ids that differ") {
  std::vector<std::uint32_t> ids{KernelId{}.value};
  for (const Layout* const layout : layouts_known()) {
    const auto all = kernels(layout->name);
    INFO(layout->name);
    REQUIRE(!all.empty());
    for (const KernelInfo& kernel : all) {
      CHECK(kernel.layout == layout->name);
      CHECK(kernel.name.substr(0, layout->name.size() + 1) == std::string(layout->name) + '/');
      const KernelId id = find_kernel(kernel.name);
      CHECK(kernel_name(id) == kernel.name);
      CHECK(std::find(ids.begin(), ids.end(), id.value) == ids.end());
      ids.push_back(id.value);
    }
  }
  CHECK(kernels("no such layout").empty());
  CHECK(kernel_name({}) == "default");
  CHECK(code_of([] { static_cast<void>(kernel_name({~0U})); }) == errc::usage);
  const std::uint32_t last = *std::max_element(ids.begin(), ids.end());
  CHECK(code_of([&] { static_cast<void>(kernel_name({last + 1})); }) == errc::usage);
  for (const char* const name : {"", "vector", "csr", "csr/", "csr/vectors", "coo/vector", "default"})
    CHECK(code_of([&] { static_cast<void>(find_kernel(name)); }) == errc::usage);
  try {
    static_cast<void>(find_kernel("csr/fast"));
    FAIL("found");
  } catch (const Error& e) {
    CHECK(e.message() == "no kernel is named 'csr/fast'");
    for (const char* const known : {"csr/ipcsr", "csr/merge", "coo/balanced", "ccoo/atomic"})
      CHECK(e.remedy().find(known) != std::string::npos);
  }
}

TEST_CASE("the default of csr follows from the lengths of rows") {
  PartInfo part;
  part.layout = "csr";
  const auto name = [&](std::uint64_t longest, std::uint64_t nnz, std::uint64_t rows = 1) {
    part.params[spmvpack::layouts::csr::param_longest_row] = longest;
    part.nnz = nnz;
    part.rows.count = rows;
    return kernel_name(default_kernel(part));
  };
  CHECK(name(0, 0, 0) == "csr/scalar");
  CHECK(name(8, std::uint64_t{8} << 30U, std::uint64_t{1} << 30U) == "csr/scalar");
  CHECK(name(9, 900, 100) == "csr/vector");  // 8 lanes for each row
  CHECK(name(64, 900, 100) == "csr/vector");
  CHECK(name(65, 900, 100) == "csr/ipcsr");
  CHECK(name(256, 25600, 100) == "csr/vector");  // 32 lanes
  CHECK(name(257, 25700, 100) == "csr/ipcsr");
  CHECK(name(9, 1U << 21U, 1U << 18U) == "csr/vector");
  CHECK(name(9, (1U << 21U) + 1, 1U << 18U) == "csr/ipcsr");
  CHECK(name(16384, 16384, 3) == "csr/ipcsr");
  CHECK(name(16385, 16385, 3) == "csr/merge");
  CHECK(name(16385, 16385 * 512 - 1, 16385) == "csr/merge");
  CHECK(name(16385, 16385 * 512, 16385) == "csr/ipcsr");
  CHECK(name(16384, 16384, 2) == "csr/long");
  CHECK(name(131072, 131072, 16) == "csr/long");
  CHECK(name(131073, 131073, 16) == "csr/long");
  CHECK(name(131073, 131073 * 16 - 1, 129) == "csr/merge");
  // Two entries in a row on average: a thread of a block has a row of more than 256 for itself.
  CHECK(name(256, 2000, 1000) == "csr/ipcsr");
  CHECK(name(257, 2000, 1000) == "csr/merge");
  CHECK(name(300, 44 * 8192, 22 * 8192) == "csr/ipcsr");
  CHECK(name(301, 44 * 8192, 22 * 8192) == "csr/merge");
  CHECK(name(16384, 1U << 28U, 1U << 27U) == "csr/ipcsr");  // no block has more than 2,048 entries of several rows
  CHECK(name(2048, 16 * 1000, 1000) == "csr/merge");        // 128 rows of a block, 2 threads each
  CHECK(name(2048, 64 * 1000, 1000) == "csr/ipcsr");        // 8 threads
  CHECK(name(9, 0, 0) == "csr/ipcsr");                      // what no matrix has, but a file may say
  for (const char* const layout : {"coo", "ccoo"}) {
    part.layout = layout;
    CHECK(default_kernel(part) == find_kernel(kernels(layout)[0].name));
  }
  part.layout = "no such";
  CHECK(code_of([&] { static_cast<void>(default_kernel(part)); }) == errc::unsupported);
  CHECK(code_of([&] { static_cast<void>(workspace_bytes(part, {}, ValueType::f64)); }) == errc::unsupported);
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
    const CsrMatrix a = test::from_rows<double>(of_rows.size(), 140000, rng, 1, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row(of_rows[r]);
      std::iota(row.begin(), row.end(), 0U);
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

TEST_CASE("workspaces are those of docs/LAYOUTS.md, and a gathered x where a part lists its columns") {
  for (const std::uint64_t n : {0U, 1U, 255U, 256U, 257U, 16385U})
    for (const ValueType vectors : {ValueType::f32, ValueType::f64})
      for (const std::uint64_t listed : {0U, 1U, 1000U}) {
        const std::uint64_t v = size_of(vectors), chunks = (n + 255) / 256;
        const std::uint64_t sums = listed == 1 ? 0 : n * v;  // a column is one segment
        const std::map<std::string_view, std::uint64_t> expected{
            {"csr/ipcsr", 0},         {"csr/vector", 0},
            {"csr/vector32", 0},      {"csr/scalar", 0},
            {"csr/pcsr", n * v},      {"csr/merge", chunks * 2 * v},
            {"csr/long", 7 * 16 * v}, {"coo/balanced", chunks * 2 * (v + 4)},
            {"coo/atomic", 0},        {"ccoo/ordered", n * 2 * v},
            {"ell/rows", 0},          {"ell/padded", 0},
            {"ellpack_r/rows", 0},    {"sell/rows", 0},
            {"pjds/rows", 0},         {"dia/rows", 0},
            {"amb/ordered", sums},    {"amb/atomic", 0},
            {"pkt/packets", 0},       {"csell/slices", 0},
            {"sjds/lanes", 0},        {"bitflag/tiles", (n * v + 255) / 256 * 256 + n % 2 * 6 * v},
            {"ccoo/atomic", 0}};
        for (const Layout* const layout : layouts_known())
          for (const KernelInfo& kernel : kernels(layout->name)) {
            INFO(kernel.name);
            CHECK(expected.contains(kernel.name));
          }
        const std::uint64_t gathered = (listed * v + 255) / 256 * 256;
        for (const auto& [name, bytes] : expected) {
          INFO(name << ", " << n << ", " << listed);
          PartInfo part;
          part.layout = name.substr(0, name.find('/'));
          part.nnz = n;
          part.rows = {format::MapKind::list, 0, 7};
          if (listed != 0) part.cols = {format::MapKind::list, 0, listed};
          if (part.layout == "csr") part.params[0] = n;                  // the longest row
          if (part.layout == "ccoo") *find_count(part, "encoding") = n;  // chunks
          if (part.layout == "amb") {                                    // n partial sums of three times as many lanes
            *find_count(part, "shared_rows") = n;
            *find_count(part, "cl") = 3 * n;
            part.params[spmvpack::layouts::amb::param_segment_cols] = 2;
            if (listed == 0) part.cols = {format::MapKind::range, 0, 9};
            part.params[spmvpack::layouts::amb::param_chunk_rows] = 1;
          }
          if (part.layout == "bitflag") {  // three tiles, n hot columns
            part.params = {0, 8, n % 2};
            *find_count(part, "chunks") = 4 * (24 + 1);
            *find_count(part, "hot") = n;
          }
          CHECK(workspace_bytes(part, find_kernel(name), vectors) == bytes + gathered);
          if (part.layout == "bitflag" && n >= 2) {
            PartInfo segments = part;  // n of them, of seven rows each, instead, and one element more
            *find_count(segments, "hot") = 0;
            *find_count(segments, "segments") = n + 1;
            CHECK(workspace_bytes(segments, {}, vectors) ==
                  ((7 * n + 1) * v + 255) / 256 * 256 + n % 2 * 6 * v + gathered);
          }
          if (part.layout == "amb" && n != 0) {  // twice as many lanes: a place for each
            PartInfo lanes = part;
            *find_count(lanes, "cl") = 2 * n;
            lanes.cols = {format::MapKind::range, 0, 9};
            CHECK(workspace_bytes(lanes, find_kernel("amb/ordered"), vectors) == 2 * n * v);
            lanes.cols.count = 8;  // four segments
            CHECK(workspace_bytes(lanes, find_kernel("amb/ordered"), vectors) == 0);
            for (const std::uint64_t block : {1U, 3U}) {
              lanes.value_type = ValueType::f32;
              lanes.params[spmvpack::layouts::amb::param_block] = block;
              CHECK(workspace_bytes(lanes, find_kernel("amb/ordered"), vectors) == (block == 1 ? 0 : 2 * n * v));
            }
          }
          // The default, by its name, without one, and where a kernel is another layout's.
          const KernelId of_another = find_kernel(part.layout == "coo" ? "csr/pcsr" : "coo/balanced");
          const std::uint64_t by_default = workspace_bytes(part, default_kernel(part), vectors);
          CHECK(workspace_bytes(part, {}, vectors) == by_default);
          CHECK(workspace_bytes(part, of_another, vectors) == by_default);
          CHECK(workspace_bytes(part, {}, vectors, 0) == 0);
          CHECK(workspace_bytes(part, {}, vectors, 7) == by_default);  // one column after the other
        }
      }
  PartInfo part;
  part.layout = "csr";
  part.nnz = std::uint64_t{1} << 61;
  const auto bytes = [&](const char* kernel) { return workspace_bytes(part, find_kernel(kernel), ValueType::f64); };
  CHECK(code_of([&] { bytes("csr/pcsr"); }) == errc::unsupported);
  CHECK(bytes("csr/merge") == (std::uint64_t{1} << 53) * 16);
  part.layout = "ccoo";
  *find_count(part, "encoding") = std::uint64_t{1} << 60;
  CHECK(code_of([&] { bytes("ccoo/ordered"); }) == errc::unsupported);
  CHECK(code_of([&] { static_cast<void>(workspace_bytes(part, {12345}, ValueType::f64)); }) == errc::usage);
}

TEST_CASE("a description that does not fit the matrix is refused") {
  MatrixFacts facts;
  facts.rows = 3;
  facts.cols = 2;
  facts.nnz = 1;
  const auto refusal = [&](const MultiplyDescription& description) {
    return code_of([&] { check_description(description, facts, {}); });
  };
  CHECK(refusal({}) == errc{});
  CHECK(refusal({.operation = Operation::transpose}) == errc::usage);
  CHECK(refusal({.operation = Operation::conjugate_transpose}) == errc::usage);
  CHECK(refusal({.operation = static_cast<Operation>(77)}) == errc::usage);
  for (const std::uint64_t sides : {0U, 2U}) CHECK(refusal({.right_hand_sides = sides}) == errc{});
  CHECK(refusal({.vectors = ValueType::f32}) == errc::usage);
  facts.value_type = ValueType::f32;
  CHECK(refusal({.vectors = ValueType::f32}) == errc{});
  CHECK(refusal({}) == errc{});
}

struct Range {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
DensePlace place(Range range, ValueType type) {
  return dispatch(type, [&]<class T>(T) {
    return DensePlace(DenseView<const T>(static_cast<const T*>(range.data), range.bytes / sizeof(T)));
  });
}

TEST_CASE("vectors and workspaces that do not fit are refused") {
  Operand operand{.rows = 3, .cols = 2};
  const auto vectors = [&](ValueType type, Range x, Range y) {
    return code_of([&] { require_vectors(operand, {.vectors = type}, type, place(x, type), place(y, type)); });
  };
  constexpr auto f64 = ValueType::f64, f32 = ValueType::f32;
  CHECK(code_of([&] {
          require_vectors(operand, {.vectors = f64}, f32, place({at(0x1000), 8}, f32), place({at(0x2000), 12}, f32));
        }) == errc::usage);
  const Range x{at(0x1000), 16}, y{at(0x1010), 24};
  CHECK(vectors(f64, x, y) == errc{});
  CHECK(vectors(f64, {at(0x1008), 16}, {at(0x2008), 24}) == errc{});  // any boundary of an element
  CHECK(vectors(f64, {at(0x1000), 24}, y) == errc::usage);
  CHECK(vectors(f64, x, {at(0x1010), 16}) == errc::usage);
  CHECK(vectors(f64, {at(0x1004), 16}, {at(0x2000), 24}) == errc::usage);
  CHECK(vectors(f64, {nullptr, 16}, y) == errc::usage);
  CHECK(vectors(f64, x, {at(0x1008), 24}) == errc::usage);  // y begins in x
  CHECK(vectors(f64, {at(0x1018), 16}, {at(0x1008), 24}) == errc::usage);
  CHECK(vectors(f32, {at(0x1004), 8}, {at(0x2004), 12}) == errc{});
  CHECK(vectors(f64, x, y) == errc{});
  operand.rows = operand.cols = 0;
  CHECK(vectors(f64, {}, {}) == errc{});

  const auto workspace = [&](Range w, std::uint64_t needed) {
    const std::span<const std::byte> room(static_cast<const std::byte*>(w.data), w.bytes);
    return code_of([&] { require_workspace(room, needed, place(x, f64), place(y, f64)); });
  };
  CHECK(workspace({}, 0) == errc{});
  CHECK(workspace({at(0x3000), 64}, 64) == errc{});
  CHECK(workspace({at(0x3000), 63}, 64) == errc::usage);
  CHECK(workspace({at(0x3080), 64}, 64) == errc::usage);
  CHECK(workspace({nullptr, 64}, 64) == errc::usage);
  CHECK(workspace({at(0x1000), 64}, 64) == errc::usage);
  CHECK(workspace({at(0x0F00), 256}, 256) == errc{});
  CHECK(workspace({at(0x0F00), 264}, 264) == errc::usage);
}

TEST_CASE("a build without CUDA says so") {
  if (built_with_cuda()) return;
  CHECK(code_of([] { static_cast<void>(DeviceMatrix::load("any.spmvc")); }) == errc::unsupported);
  CHECK(code_of([] { static_cast<void>(devices()); }) == errc::unsupported);
  CHECK(code_of([] { static_cast<void>(measure_on_device()); }) == errc::unsupported);
  CHECK(code_of([] { const DeviceTimer timer; }) == errc::unsupported);
}

}  // namespace spmvpack::gpu_loader
