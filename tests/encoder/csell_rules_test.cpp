// What csell decides from counts that no matrix needs to have.

#include "layouts/csell_rules.hpp"

#include <vector>

#include "catch.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

using Sources = std::vector<Source>;
const Aim time_on_gpu{}, time_on_host{Objective::time, Target::host}, bytes{Objective::bytes, Target::gpu};

TEST_CASE("values are planned where they may be smallest") {
  const PartFacts different{small_entries, max_step_values + 1, 1};
  CHECK(sources_to_plan({100, 1, 1}, {}, bytes) == Sources{Source::single});
  CHECK(sources_to_plan({100, 1, 1}, Source::raw, time_on_gpu) == Sources{Source::raw});
  CHECK(sources_to_plan({100, 2, 1}, Source::single, time_on_gpu).empty());
  CHECK(sources_to_plan({100, 2, 1}, {}, time_on_gpu) == Sources{Source::step, Source::table, Source::raw});
  CHECK(sources_to_plan({9999, max_step_values, 1}, {}, time_on_gpu).front() == Source::step);
  CHECK(sources_to_plan(different, {}, time_on_gpu) == Sources{Source::table, Source::raw});
  CHECK(sources_to_plan(different, Source::step, time_on_gpu) == Sources{Source::step});
  CHECK(sources_to_plan(different, Source::skew, time_on_gpu) == Sources{Source::skew});
  CHECK(sources_to_plan(different, {}, bytes) == Sources{Source::table, Source::raw, Source::mirror, Source::skew});
}

TEST_CASE("mirrors save time in large parts of large blocks on a GPU") {
  CHECK(mirrors_save_time({small_entries, 9, 3}, Target::gpu));
  CHECK_FALSE(mirrors_save_time({small_entries, 9, 3}, Target::host));
  CHECK_FALSE(mirrors_save_time({small_entries - 1, 9, 3}, Target::gpu));
  CHECK_FALSE(mirrors_save_time({small_entries, 9, 2}, Target::gpu));
  CHECK(sources_to_plan({small_entries, 9, 3}, {}, time_on_gpu).back() == Source::skew);
  CHECK(sources_to_plan({small_entries, 9, 3}, {}, time_on_host).back() == Source::raw);
  CHECK(may_be_smaller_with_mirrors(100, 10, 8, 141));
  CHECK_FALSE(may_be_smaller_with_mirrors(100, 10, 8, 140));
  CHECK(are_many_mirrors(25, 100));
  CHECK_FALSE(are_many_mirrors(24, 100));
  CHECK_FALSE(are_many_mirrors(0, 0));
  CHECK(slots_by_steps(max_slots, 20, 10));
  CHECK_FALSE(slots_by_steps(max_slots, 21, 10));
  CHECK_FALSE(slots_by_steps(max_slots + 1, 0, 10));
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
  CHECK(sums_of({0, 0, 0}) == 1);
  CHECK(sums_of({few_slices, 100 * few_slices, 0}) == 1);
  CHECK(sums_of({1000, 3999, 0}) == 1);
  CHECK(sums_of({1000, 4000, 0}) == 2);
  CHECK(sums_of({1000, 8000, 0}) == 4);
  CHECK(sums_of({1, 1000, 0}) == 4);
  // 4,224 slices in flight of 10 KB each are more than a cache has.
  CHECK(sums_of({10000, 20000, 100'000'000}) == 2);
  CHECK(sums_of({10000, 19999, 100'000'000}) == 1);
  CHECK(sums_of({10000, 20000, 90'000'000}) == 1);
  CHECK(sums_of({10000, 40000, 200'000'000}) == 4);
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::csell_plans
