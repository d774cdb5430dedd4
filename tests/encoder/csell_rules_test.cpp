// What csell decides from counts that no matrix needs to have.

#include <string_view>
#include <vector>

#include "catch.hpp"
#include "layouts/csell/csell_work.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

using Sources = std::vector<Source>;
constexpr Device device{};

Sources sources_to_plan(const PartFacts& part, std::optional<Source> wanted) {
  Sources planned;
  for (const Source source : sources)
    if (is_planned(source, part, wanted)) planned.push_back(source);
  return planned;
}

TEST_CASE("values are planned where they may be best") {
  const PartFacts different{1000, max_step_values + 1, 1};
  CHECK(sources_to_plan({100, 1, 1}, {}) == Sources{Source::single});
  CHECK(sources_to_plan({100, 1, 1}, Source::raw) == Sources{Source::raw});
  CHECK(sources_to_plan({100, 2, 1}, Source::single).empty());
  CHECK(sources_to_plan({9999, max_step_values, 1}, {}).front() == Source::step);
  CHECK(sources_to_plan(different, {}) == Sources{Source::table, Source::raw, Source::mirror, Source::skew});
  CHECK(sources_to_plan(different, Source::step) == Sources{Source::step});
  CHECK(sources_to_plan({1U << 30U, max_counted_values + 1, 1}, Source::step).empty());
  CHECK(sources_to_plan(different, Source::skew) == Sources{Source::skew});
}

TEST_CASE("mirrors are looked for where most blocks have one, and named by steps where that takes little") {
  CHECK(are_many_mirrors({25, 100}));
  CHECK_FALSE(are_many_mirrors({24, 100}));
  CHECK_FALSE(are_many_mirrors({0, 0}));
  CHECK(slots_by_steps(max_slots, 20, 10));
  CHECK_FALSE(slots_by_steps(max_slots, 21, 10));
  CHECK_FALSE(slots_by_steps(max_slots + 1, 0, 10));
}

/// A form without mirrors, of 10,000 slices of 32 rows of 8 entries that are patterns.
FormFacts patterns(std::uint32_t block) {
  return {.source = Source::raw,
          .block = block,
          .rows = 320'000 * block,
          .entries = 2'560'000 * block * block,
          .slices = 10'000,
          .pattern_groups = 20'000,
          .longest = 2,
          .device_bytes = 2'560'000 * 8 * block * block + 200'000};
}
FormFacts mirrored(const FormFacts& without, std::uint64_t mirrors, std::uint64_t column_bytes) {
  return with_mirrors({without, Source::mirror, column_bytes}, mirrors);
}
std::uint64_t count_of(const FormFacts& f, std::string_view unit_name) {
  for (const Counter& c : work_of(f, device))
    if (c.name == unit_name) return c.value;
  return 0;
}

TEST_CASE("tables that blocks stage in turn, and steps that some lanes lack") {
  FormFacts f = patterns(1);
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

TEST_CASE("long slices side by side are work of one multiprocessor beyond three times its share") {
  FormFacts f = patterns(1);
  std::swap(f.pattern_groups, f.offset_groups);  // 64 of 32 slices
  f.heaviest_offsets = 3 * 64;
  CHECK(count_of(f, "csell.heavy_slots") == 0);
  f.heaviest_offsets = 3 * 64 + 5;
  CHECK(count_of(f, "csell.heavy_slots") == 5 * 128);
  f.block = 2;
  CHECK(count_of(f, "csell.heavy_slots") == 5 * 128 * 4);
  f.block = 1;
  f.slices = 20;  // a kernel of their own, and no more than one multiprocessor's
  CHECK(count_of(f, "csell.heavy_slots") == 0);
  f.slices = f.offset_groups = f.heaviest_offsets = 0;
  CHECK(count_of(f, "csell.heavy_slots") == 0);
}

TEST_CASE("a device has its warps twice where all slices are patterns with one table") {
  FormFacts f = patterns(1);  // 10,000 slices; an H200 has 132 multiprocessors of 32 warps or of 64
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

TEST_CASE("windows of x are loaded in rounds, instead of all that programs have without them") {
  FormFacts f = patterns(1);
  f.source = Source::single;
  f.slices = 4224;
  f.uneven_steps = 2;
  CHECK(count_of(f, "csell.window_rounds") == 0);
  CHECK(count_of(f, "csell.chain") != 0);
  CHECK(count_of(f, "csell.patterns") == 20'000 * 128);
  CHECK(count_of(f, "csell.uneven") == 2 * 32);
  f.windows = 3;
  f.pairs = 2;
  CHECK(count_of(f, "csell.window_rounds") == 1);
  CHECK(count_of(f, "csell.long_windows") == 0);
  CHECK(count_of(f, "csell.window_slots") == 20'000 * 128);
  CHECK(count_of(f, "csell.patterns") == 0);
  CHECK(count_of(f, "csell.chain") == 0);
  CHECK(count_of(f, "csell.uneven") == 0);
  f.windows = 5;
  CHECK(count_of(f, "csell.window_rounds") == 2);
  CHECK(count_of(f, "csell.long_windows") == 0);
  f.windows = 9;
  CHECK(count_of(f, "csell.window_rounds") == 3);
  CHECK(count_of(f, "csell.long_windows") == 9 * 1056 * 32);
  f.pairs = 1;
  CHECK(count_of(f, "csell.long_windows") == 9 * 2112 * 32);
}

TEST_CASE("of few slices, one table and several sums are work, and multiprocessors without a slice are idle") {
  FormFacts f{.source = Source::table,
              .rows = 4096,
              .entries = 20'000,
              .slices = 128,
              .pattern_groups = 256,
              .longest = 2,
              .tiles = 1};
  CHECK(count_of(f, "csell.window_rounds") == 0);
  CHECK(count_of(f, "csell.tables") == 1);
  CHECK(count_of(f, "csell.few_teams") == 0);
  // 128 slices have a block each: 4 of 132 multiprocessors have none.
  f.source = Source::raw;
  f.pattern_groups = 1280;
  f.sums = 2;
  CHECK(count_of(f, "csell.tables") == 0);
  CHECK(count_of(f, "csell.few_teams") == 1);
  CHECK(count_of(f, "csell.few_idle") == 1280 / 32 * 128);
  // 153 slices: most multiprocessors have one where some have two, that is, room for 264.
  f.slices = 153;
  f.pattern_groups = 1530;
  CHECK(count_of(f, "csell.few_idle") == 1530 * (264 - 153) / 153 * 128);
}

TEST_CASE("4,224 warps are on 132 multiprocessors at once, each with a slice of 32 rows") {
  FormFacts f = patterns(1);
  f.slices = 4224;
  CHECK(count_of(f, "csell.turns") == 0);
  f.slices = 4225;
  CHECK(count_of(f, "csell.turns") == 1);
}

TEST_CASE("ids beyond 4 GiB of a slice are where the format says") {
  CHECK(ids_begin(3, 1) == 3 * 128);
  CHECK(ids_begin(std::uint32_t{1} << 25U, 1) == std::uint64_t{1} << 32U);
  CHECK(ids_begin((std::uint32_t{1} << 24U) + 1, 2) == (std::uint64_t{1} << 32U) + 256);
}

TEST_CASE("the work of a form follows from its counts") {
  const FormFacts raw = patterns(1);
  CHECK(count_of(raw, "csell.patterns") == 20'000 * 128);
  CHECK(count_of(raw, "csell.raw_entries") == raw.entries);
  CHECK(count_of(raw, "csell.mirrors") == 0);
  CHECK(count_of(raw, "csell.teams") == 0);
  FormFacts half = mirrored(raw, 1'280'000, 200'000);
  CHECK(half.device_bytes == 200'000 + 1'280'000 * 8);
  CHECK(count_of(half, "csell.mirrors") == 20'000 * 128);
  CHECK(count_of(half, "csell.patterns") == 20'000 * 128);
  CHECK(count_of(half, "csell.raw_entries") == 0);
  CHECK(count_of(half, "x.sectors") == 1'280'000 * 8 / 32);  // values side by side
  half.mirrors_by_steps = 0;
  CHECK(count_of(half, "x.sectors") == 1'280'000);
  CHECK(count_of(mirrored(patterns(3), 1'280'000, 200'000), "csell.mirror_blocks") == 20'000 * 128 * 9);
  // Few slices have a kernel of their own, unless they have mirrors; how few depends on the device.
  FormFacts small = patterns(1);
  small.slices = 1000;
  CHECK(count_of(small, "csell.few") == 20'000 * 128);
  CHECK(count_of(mirrored(small, 10, 0), "csell.few") == 0);
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
  FormFacts blocks = patterns(3);
  blocks.longest = 10;
  CHECK(count_of(blocks, "csell.block_chain") == 10 * 4);
  blocks.slices = 1000;
  CHECK(count_of(blocks, "csell.block_chain") == 10 * 2);
  CHECK(count_of(blocks, "csell.step_chain") == 0);
  CHECK(count_of(mirrored(blocks, 10, 0), "csell.block_chain") == 10 * 4);
  blocks.source = Source::step;  // values that all slices share, and one for all
  CHECK(count_of(blocks, "csell.block_chain") == 0);
  CHECK(count_of(blocks, "csell.step_chain") == 10 * 2);
  blocks.source = Source::single;
  CHECK(count_of(blocks, "csell.step_chain") == 10 * 2);
  FormFacts scattered = small;
  scattered.longest = 10;
  CHECK(count_of(scattered, "csell.few_groups") == 0);
  scattered.offset_groups = scattered.pattern_groups;
  scattered.pattern_groups = 0;
  CHECK(count_of(scattered, "csell.few_groups") == 9);
  Device smaller = device;
  smaller.multiprocessors = 62;
  CHECK(work_of(small, smaller)[1].name == "csell.patterns");
}

TEST_CASE("of several columns a further one is less work where values or rows of X are shared, and mirrors take one") {
  const auto entries = [](const FormFacts& f) {
    const ColumnsWork columns = columns_of(f);
    return columns.at_once == 1 ? 0 : columns.each.at(0).value;
  };
  FormFacts f = patterns(1);
  CHECK(entries(f) == f.entries);
  f.source = Source::table;
  CHECK(entries(f) == f.entries);
  f.source = Source::step;
  CHECK(entries(f) == f.entries / 2);
  f.source = Source::single;
  CHECK(entries(f) == f.entries / 2);
  CHECK(entries(patterns(2)) == patterns(2).entries / 2);
  CHECK(entries(patterns(3)) == patterns(3).entries / 3);
  CHECK(entries(mirrored(patterns(3), 1, 0)) == 0);
}

TEST_CASE("of raw values and mirrors the aim's profile takes what it predicts faster") {
  const auto takes_mirrors = [](std::uint32_t block, std::uint64_t value_size, const char* target) {
    Aim aim;
    set_target(aim, target);
    FormFacts raw = patterns(block);
    raw.slices *= 10;
    raw.rows *= 10;
    raw.entries *= 10;
    raw.pattern_groups *= 10;
    raw.value_size = value_size;
    raw.device_bytes = raw.entries * value_size + 2'000'000;
    CsellFacts facts{.csr_bytes = raw.entries * (value_size + 4)};
    facts.add(raw);
    facts.add(mirrored(raw, raw.entries / block / block / 2, 2'000'000));
    return decide(facts, aim)->source == Source::mirror;
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

CsellFacts planned(const std::vector<FormFacts>& forms) {
  CsellFacts facts{.part = {2'560'000, 9999, 1}, .csr_bytes = 2'560'000 * 12};
  for (const FormFacts& form : forms) facts.add(form);
  return facts;
}

TEST_CASE("of the forms that are planned the best is taken, and of equals the first source") {
  const Aim bytes{Objective::bytes};
  const FormFacts raw = patterns(1);
  FormFacts table = raw, step = raw, large = raw;
  table.source = Source::table;
  step.source = Source::step;
  large.source = Source::skew;
  ++large.device_bytes;
  CHECK_FALSE(decide(planned({}), bytes));
  CHECK(decide(planned({raw}), bytes)->source == Source::raw);
  CHECK(decide(planned({raw, table}), bytes)->source == Source::table);
  CHECK(decide(planned({raw, table, step}), bytes)->source == Source::step);
  CHECK(decide(planned({large, raw}), bytes)->source == Source::raw);
  CHECK(would_take(planned({large}), raw, bytes));
  CHECK_FALSE(would_take(planned({raw}), large, bytes));
  CHECK_FALSE(would_take(planned({table}), raw, bytes));
  // Sums are those that are asked for, or what the form's slices take.
  CsellFacts facts = planned({raw});
  CHECK(decide(facts, {})->sums == 1);
  facts.sums = 4;
  CHECK(decide(facts, {})->sums == 4);
  facts.sums.reset();
  facts.forms.at(0)->slices = 100;
  CHECK(facts.forms.at(0)->source == Source::raw);
  CHECK(decide(facts, {})->sums == 4);
}

TEST_CASE("mirrors are sampled and looked for while they may be best") {
  const FormFacts raw = patterns(1);
  const Aim bytes{Objective::bytes}, host{Objective::time, Target::host};
  const MirrorFacts f{raw, Source::mirror, 200'000};
  CHECK(f.blocks() == 2'560'000);
  CHECK(MirrorFacts{patterns(3), Source::mirror, 0}.blocks() == 2'560'000);
  const CsellFacts facts = planned({raw});
  CHECK(worth_a_sample(facts, f, bytes));
  CHECK_FALSE(worth_a_sample(facts, f, host));
  FormFacts small = raw;
  small.device_bytes = 200'000 + 1'280'000 * 8;  // those of half as many values
  CHECK_FALSE(worth_a_sample(planned({small}), f, bytes));
  ++small.device_bytes;
  CHECK(worth_a_sample(planned({small}), f, bytes));
  // The fewest bytes are counted, however few the sample promises.
  CHECK(worth_mirrors(planned({small}), f, {25, 100}, bytes));
  CHECK_FALSE(worth_mirrors(facts, f, {24, 100}, bytes));
  CHECK_FALSE(worth_mirrors(facts, f, {100, 100}, host));
  Aim h100;
  set_target(h100, "h100");
  const MirrorFacts blocks{patterns(3), Source::mirror, 200'000};
  CsellFacts of_blocks = planned({patterns(3)});
  of_blocks.csr_bytes *= 9;
  CHECK(worth_mirrors(of_blocks, blocks, {100, 100}, h100));
  CHECK(worth_a_sample(of_blocks, blocks, h100));
}

TEST_CASE("windows are for values that slices share, on a GPU, if there are enough slices") {
  FormFacts f = patterns(1);
  f.source = Source::single;
  CHECK(may_have_windows(f, Target::gpu, device));
  CHECK_FALSE(may_have_windows(f, Target::host, device));
  f.source = Source::step;
  CHECK(may_have_windows(f, Target::gpu, device));
  f.source = Source::table;
  CHECK_FALSE(may_have_windows(f, Target::gpu, device));
  f.source = Source::single;
  f.offset_groups = 1;
  CHECK_FALSE(may_have_windows(f, Target::gpu, device));
  f.offset_groups = 0;
  f.block = 2;
  CHECK_FALSE(may_have_windows(f, Target::gpu, device));
  f.block = 1;
  f.slices = 4224;
  CHECK(may_have_windows(f, Target::gpu, device));
  --f.slices;
  CHECK_FALSE(may_have_windows(f, Target::gpu, device));
}

TEST_CASE("several tables are for values that repeat nearby, of many entries unless asked for") {
  const CsellFacts facts{.part = {1, 300, 1}}, blocks{.part = {1, 300, 2}},
      wanted{.part = {1, 300, 1}, .source = Source::table};
  const TableLimits time = table_limits(facts, Objective::time, device),
                    bytes = table_limits(facts, Objective::bytes, device),
                    asked = table_limits(wanted, Objective::time, device);
  CHECK_FALSE(worth_sampling_tables(device.small_entries - 1, time));
  CHECK(worth_sampling_tables(device.small_entries, time));
  CHECK(worth_sampling_tables(1, bytes));
  CHECK(worth_sampling_tables(1, asked));
  const RepetitionFacts few{3, 4}, many{4, 5}, uncounted{max_counted_values + 1, 1U << 30U};
  CHECK(worth_tables(few, many, time));
  CHECK_FALSE(worth_tables(many, few, time));
  CHECK(worth_tables(many, few, bytes));  // which repeat somewhere
  CHECK_FALSE(worth_tables(many, many, bytes));
  CHECK_FALSE(worth_tables(many, uncounted, bytes));
  CHECK(worth_tables(many, many, asked));
  CHECK(most_values_of_smallest(time) == 8192);
  CHECK(most_values_of_smallest(asked) == max_table);
  CHECK(most_values_of_smallest(bytes) == max_table);
  CHECK(most_values(time) == 8192);
  CHECK(most_values(asked) == 8192);
  CHECK(most_values(bytes) == max_table);
  // 132 tiles are one for each multiprocessor; blocks of 2 x 2 have work enough for each.
  CHECK(may_widen(263, 64, time));
  CHECK_FALSE(may_widen(262, 64, time));
  CHECK_FALSE(may_widen(1000, 128, time));
  CHECK(may_widen(2, 64, asked));
  CHECK_FALSE(may_widen(1, 64, asked));
  CHECK_FALSE(may_widen(1000, 128, asked));
  CHECK(may_widen(2, 128, bytes));
  CHECK(may_widen(2, 64, table_limits(blocks, Objective::time, device)));
  CHECK(table_cost(1000, 3, time) == 1000 + 3 * 8192);
  CHECK(table_cost(1000, 3, table_limits(blocks, Objective::time, device)) == 1000 + 6 * 8192);
  CHECK(table_cost(1000, 3, bytes) == 1000);
  CHECK(smallest_tile(1) == 16);
  CHECK(smallest_tile(2) == 8);
  CHECK(smallest_tile(4) == 4);
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
  FormFacts form = patterns(1);
  form.pattern_groups = 4 * form.slices;
  form.device_bytes = 200'000'000;
  CHECK(sums_of(form, device) == 1);
  form.source = Source::skew;
  CHECK(sums_of(form, device) == 4);
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::csell_plans
