// What csell decides from counts that no matrix needs to have.

#include "layouts/csell/csell_rules.hpp"

#include <string_view>
#include <vector>

#include "catch.hpp"
#include "decide.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

using Sources = std::vector<Source>;
constexpr Device device{};

TEST_CASE("values are planned where they may be best") {
  const PartFacts different{1000, max_step_values + 1, 1};
  CHECK(sources_to_plan({100, 1, 1}, {}) == Sources{Source::single});
  CHECK(sources_to_plan({100, 1, 1}, Source::raw) == Sources{Source::raw});
  CHECK(sources_to_plan({100, 2, 1}, Source::single).empty());
  CHECK(sources_to_plan({9999, max_step_values, 1}, {}).front() == Source::step);
  CHECK(sources_to_plan(different, {}) == Sources{Source::table, Source::raw, Source::mirror, Source::skew});
  CHECK(sources_to_plan(different, Source::step) == Sources{Source::step});
  CHECK(sources_to_plan(different, Source::skew) == Sources{Source::skew});
}

TEST_CASE("mirrors are looked for where most blocks have one, and named by steps where that takes little") {
  CHECK(are_many_mirrors(25, 100));
  CHECK_FALSE(are_many_mirrors(24, 100));
  CHECK_FALSE(are_many_mirrors(0, 0));
  CHECK(slots_by_steps(max_slots, 20, 10));
  CHECK_FALSE(slots_by_steps(max_slots, 21, 10));
  CHECK_FALSE(slots_by_steps(max_slots + 1, 0, 10));
}

/// A way without mirrors, of 10,000 slices of 32 rows of 8 entries that are patterns.
WayFacts patterns(std::uint32_t block) {
  return {.source = Source::raw,
          .block = block,
          .rows = 320'000 * block,
          .entries = 2'560'000 * block * block,
          .slices = 10'000,
          .pattern_groups = 20'000,
          .longest = 2,
          .device_bytes = 2'560'000 * 8 * block * block + 200'000};
}
std::uint64_t count_of(const WayFacts& f, std::string_view unit_name) {
  for (const Counter& c : work_of(f, device))
    if (c.name == unit_name) return c.value;
  return 0;
}

TEST_CASE("tables that blocks stage in turn, and steps that some lanes lack") {
  WayFacts f = patterns(1);
  f.source = Source::table;
  f.tiles = 294;
  f.tile_slices = 128;
  f.slices = f.tiles * f.tile_slices;
  f.entries = 445 * f.slices;
  std::swap(f.pattern_groups, f.offset_groups);
  f.largest_table = 132;
  CHECK(count_of(f, "csell.tile_turns") == 5);  // 1,176 pieces for two blocks of each multiprocessor
  f.largest_table = 8193;                       // more than 64 KiB: read through the caches
  CHECK(count_of(f, "csell.tile_turns") == 0);
  f.largest_table = 8192;
  CHECK(count_of(f, "csell.tile_turns") == 5);  // two such tables have room
  std::swap(f.pattern_groups, f.offset_groups);
  CHECK(count_of(f, "csell.tile_turns") == 3);  // 588 pieces: registers are for four blocks, shared memory for three
  std::swap(f.pattern_groups, f.offset_groups);
  f.uneven_steps = 10;
  CHECK(count_of(f, "csell.uneven") == 10 * 32);
  f.block = 3;
  CHECK(count_of(f, "csell.uneven") == 10 * 32 * 9);
  CHECK(count_of(f, "csell.uneven_warps") == 0);
  f.block = 1;
  f.uneven_steps = f.slices / 4;
  CHECK(count_of(f, "csell.uneven_warps") == 0);
  f.source = Source::raw;
  CHECK(count_of(f, "csell.uneven_warps") == 8);
  f.uneven_steps = f.slices * 2;
  CHECK(count_of(f, "csell.uneven_warps") == 32);
  std::swap(f.pattern_groups, f.offset_groups);
  CHECK(count_of(f, "csell.uneven_warps") == 0);
}

TEST_CASE("a device has its warps twice where all slices are patterns with one table") {
  WayFacts f = patterns(1);  // 10,000 slices; an H200 has 132 multiprocessors of 32 warps or of 64
  CHECK(count_of(f, "csell.turns") == 2);
  f.source = Source::table;
  f.tiles = 1;
  CHECK(count_of(f, "csell.turns") == 1);
  CHECK(count_of(f, "csell.tile_turns") == 0);
  f.tiles = 2;
  f.tile_slices = 5000;
  f.largest_table = 100;
  CHECK(count_of(f, "csell.turns") == 2);
  CHECK(count_of(f, "csell.tile_turns") == 1);
  f.tiles = 1;
  std::swap(f.pattern_groups, f.offset_groups);
  CHECK(count_of(f, "csell.turns") == 2);
}

TEST_CASE("ids beyond 4 GiB of a slice are where the format says") {
  CHECK(ids_begin(3, 1) == 3 * 128);
  CHECK(ids_begin(std::uint32_t{1} << 25U, 1) == std::uint64_t{1} << 32U);
  CHECK(ids_begin((std::uint32_t{1} << 24U) + 1, 2) == (std::uint64_t{1} << 32U) + 256);
}

TEST_CASE("the work of a way follows from its counts") {
  const WayFacts raw = patterns(1);
  CHECK(count_of(raw, "csell.patterns") == 20'000 * 128);
  CHECK(count_of(raw, "csell.raw_entries") == raw.entries);
  CHECK(count_of(raw, "csell.mirrors") == 0);
  CHECK(count_of(raw, "csell.teams") == 0);
  WayFacts mirrored = with_mirrors(raw, Source::mirror, 1'280'000, 200'000);
  CHECK(mirrored.device_bytes == 200'000 + 1'280'000 * 8);
  CHECK(count_of(mirrored, "csell.mirrors") == 20'000 * 128);
  CHECK(count_of(mirrored, "csell.patterns") == 20'000 * 128);
  CHECK(count_of(mirrored, "csell.raw_entries") == 0);
  CHECK(count_of(mirrored, "x.sectors") == 1'280'000 * 8 / 32);  // values side by side
  mirrored.mirrors_by_steps = 0;
  CHECK(count_of(mirrored, "x.sectors") == 1'280'000);
  CHECK(count_of(with_mirrors(patterns(3), Source::mirror, 1'280'000, 200'000), "csell.mirror_blocks") ==
        20'000 * 128 * 9);
  // Few slices have a kernel of their own, unless they have mirrors; how few depends on the device.
  WayFacts small = patterns(1);
  small.slices = 1000;
  CHECK(count_of(small, "csell.few") == 20'000 * 128);
  CHECK(count_of(with_mirrors(small, Source::mirror, 10, 0), "csell.few") == 0);
  // Of few slices a warp loads four groups together; while it waits, 10 MB of others' raw values arrive.
  small.slices = 500;
  small.longest = 60;
  small.sums = 4;
  small.device_bytes = 9'999'999;
  CHECK(count_of(small, "csell.few_raw_rounds") == 4);
  CHECK(count_of(small, "csell.chain") == 2 * 4);
  small.device_bytes = 29'999'999;
  CHECK(count_of(small, "csell.few_raw_rounds") == 2);
  CHECK(count_of(small, "csell.chain") == 2 * 2);
  small.device_bytes = 1'000'000'000;
  CHECK(count_of(small, "csell.few_raw_rounds") == 1);
  CHECK(count_of(small, "csell.chain") == 2);
  small.source = Source::single;
  CHECK(count_of(small, "csell.chain") == 2 * 4);
  small = patterns(1);
  small.slices = 1000;
  // A warp waits for the values of blocks batch by batch: of 3 x 3 one step each, of few slices two.
  WayFacts blocks = patterns(3);
  blocks.longest = 10;
  CHECK(count_of(blocks, "csell.block_chain") == 10 * 4);
  blocks.slices = 1000;
  CHECK(count_of(blocks, "csell.block_chain") == 10 * 2);
  CHECK(count_of(blocks, "csell.step_chain") == 0);
  CHECK(count_of(with_mirrors(blocks, Source::mirror, 10, 0), "csell.block_chain") == 10 * 4);
  blocks.source = Source::step;  // values that all slices share, and one for all
  CHECK(count_of(blocks, "csell.block_chain") == 0);
  CHECK(count_of(blocks, "csell.step_chain") == 10 * 2);
  blocks.source = Source::single;
  CHECK(count_of(blocks, "csell.step_chain") == 10 * 2);
  WayFacts scattered = small;
  scattered.longest = 10;
  CHECK(count_of(scattered, "csell.few_groups") == 0);
  scattered.offset_groups = scattered.pattern_groups;
  scattered.pattern_groups = 0;
  CHECK(count_of(scattered, "csell.few_groups") == 9);
  Device half = device;
  half.multiprocessors = 62;
  CHECK(work_of(small, half)[1].name == "csell.patterns");
}

TEST_CASE("of raw values and mirrors the aim's profile takes what it predicts faster") {
  const auto takes_mirrors = [](std::uint32_t block, std::uint64_t value_size, const char* target) {
    Aim aim;
    set_target(aim, target);
    WayFacts raw = patterns(block);
    raw.slices *= 10;
    raw.rows *= 10;
    raw.entries *= 10;
    raw.pattern_groups *= 10;
    raw.value_size = value_size;
    raw.device_bytes = raw.entries * value_size + 2'000'000;
    const WayFacts mirrored = with_mirrors(raw, Source::mirror, raw.entries / block / block / 2, 2'000'000);
    const std::uint64_t csr_bytes = raw.entries * (value_size + 4);
    const auto rank = [&](WayFacts f) {
      f.sums = sums_of(f, device);
      return rank_of({f.device_bytes, work_of(f, device)}, csr_bytes, aim);
    };
    return rank(mirrored) < rank(raw);
  };
  // Bytes are dearer on an H100.
  CHECK_FALSE(takes_mirrors(1, 8, "h200"));
  CHECK(takes_mirrors(1, 8, "h100"));
  CHECK(takes_mirrors(3, 8, "h200"));
  CHECK(takes_mirrors(3, 8, "h100"));
  CHECK_FALSE(takes_mirrors(1, 4, "h200"));
  CHECK_FALSE(takes_mirrors(1, 8, "host"));
  CHECK_FALSE(takes_mirrors(3, 8, "host"));
}

TEST_CASE("a pattern has half as many steps again as a row has entries, or four times as many with values") {
  CHECK(most_pattern_steps(0, false) == 4);
  CHECK(most_pattern_steps(32 * 27, false) == 27 + 13 + 4);
  CHECK(most_pattern_steps(32 * 27 - 31, false) == 27 + 13 + 4);
  CHECK(most_pattern_steps(32 * 27, true) == 4 * 27 + 32);
}

TEST_CASE("values stand in steps while there are few of these") {
  const StepFacts enough{.blocks = 4096, .block_bytes = 8, .steps = 264, .width = 100, .list_bytes = 20480};
  CHECK(worth_values_in_steps(enough));
  CHECK(worth_values_in_steps({}));
  StepFacts more = enough;
  ++more.steps;
  CHECK_FALSE(worth_values_in_steps(more));
  more = enough;
  ++more.list_bytes;
  CHECK_FALSE(worth_values_in_steps(more));
}

TEST_CASE("warps share slices that are few and long, or full of mirrors") {
  CHECK(sums_of({0, 0, 0}, device) == 1);
  struct Case {
    std::uint64_t slices, groups;
    std::uint64_t of_entries, of_blocks;  ///< sums
  };
  // A kernel for few slices has 16 warps on each of 132 multiprocessors, others up to 32.
  for (const Case& c :
       {Case{1, 3, 1, 1}, Case{1, 4, 2, 2}, Case{1, 8, 4, 4}, Case{527, 8 * 527, 4, 4}, Case{528, 8 * 528, 2, 4},
        Case{528, 8 * 528 - 1, 2, 2}, Case{1000, 3999, 1, 1}, Case{1000, 4000, 2, 2}, Case{1055, 100 * 1055, 2, 4},
        Case{1056, 100 * 1056, 1, 4}, Case{2111, 100 * 2111, 1, 4}, Case{2112, 100 * 2112, 1, 2},
        Case{4223, 100 * 4223, 1, 2}, Case{4224, 100 * 4224, 1, 1}}) {
    INFO(c.slices << " slices, " << c.groups << " groups");
    CHECK(sums_of({c.slices, c.groups, 0, 1}, device) == c.of_entries);
    for (const std::uint32_t block : {2U, 3U, 4U})
      CHECK(sums_of({c.slices, c.groups, 0, block}, device) == c.of_blocks);
    CHECK(sums_of({c.slices, c.groups, 1, 1}, device) == c.of_blocks);  // mirrors
  }
  // 4,224 slices in flight of 10 KB each are more than a cache has.
  CHECK(sums_of({10000, 20000, 100'000'000}, device) == 2);
  CHECK(sums_of({10000, 19999, 100'000'000}, device) == 1);
  CHECK(sums_of({10000, 20000, 90'000'000}, device) == 1);
  CHECK(sums_of({10000, 40000, 200'000'000}, device) == 4);
  // Only mirrors are looked for in slices that are in flight.
  WayFacts way = patterns(1);
  way.pattern_groups = 4 * way.slices;
  way.device_bytes = 200'000'000;
  CHECK(sums_of(way, device) == 1);
  way.source = Source::skew;
  CHECK(sums_of(way, device) == 4);
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::csell_plans
