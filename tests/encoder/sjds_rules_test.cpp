// What sjds decides from counts that no matrix needs to have.

#include "layouts/sjds/sjds_rules.hpp"

#include <string_view>
#include <vector>

#include "catch.hpp"

namespace spmvpack::encoder::layouts::sjds_plans {
namespace {

TEST_CASE("a sixteenth of the rows are sorted together, of few and of many rows 256 and 1024") {
  CHECK(usual_window(0) == 256);
  CHECK(usual_window(16 * 264 - 1) == 256);
  CHECK(usual_window(16 * 264) == 264);
  CHECK(usual_window(16 * 1024 - 1) == 1016);
  CHECK(usual_window(16 * 1024) == 1024);
  CHECK(usual_window(std::uint64_t{1} << 32U) == 1024);
}

TEST_CASE("all lanes add up a row of 32 entries and more that has 1.25 times the average, and each of more than 4096") {
  CHECK(is_long(40, 255));
  CHECK_FALSE(is_long(40, 256));
  CHECK(is_long(32, 39));
  CHECK_FALSE(is_long(31, 38));
  CHECK_FALSE(is_long(4096, 8 * 4096));
  CHECK(is_long(4097, 8 * 4097));
}

TEST_CASE("values have codes for fewer bytes; for time if there are many, or one value") {
  constexpr Objective time = Objective::time, bytes = Objective::bytes;
  CHECK(usual_source({entries_for_codes, max_table}, time) == Source::code);
  CHECK(usual_source({entries_for_codes - 1, max_table}, time) == Source::raw);
  CHECK(usual_source({entries_for_codes, max_table + 1}, time) == Source::raw);
  CHECK(usual_source({10, 2}, time) == Source::raw);
  CHECK(usual_source({10, 1}, time) == Source::code);
  CHECK(usual_source({10, 2}, bytes) == Source::code);
  CHECK(usual_source({10, max_table + 1}, bytes) == Source::raw);
  CHECK(usual_source({0, 0}, time) == Source::raw);
  CHECK(usual_source({0, 0}, bytes) == Source::raw);
  CHECK(fit_codes({10, max_table}));
  CHECK_FALSE(fit_codes({100, max_table + 1}));
}

std::uint64_t count_of(const WorkFacts& f, std::string_view unit_name) {
  for (const Counter& c : work_of(f))
    if (c.name == unit_name) return c.value;
  return 0;
}

TEST_CASE("the work of a multiply with sjds follows from its counts") {
  WorkFacts f{.slices = 9, .pieces = 2, .windows = 100, .steps = 20, .tail = 3, .listed = 8, .scaled_rows = 256};
  CHECK(count_of(f, "sjds.multiplies") == 1);
  CHECK(count_of(f, "sjds.slices") == 9);
  CHECK(count_of(f, "sjds.windows") == 100);
  CHECK(count_of(f, "sjds.steps") == 20);
  CHECK(count_of(f, "sjds.tail") == 3);
  CHECK(count_of(f, "sjds.listed") == 8);
  CHECK(count_of(f, "sjds.scaled_rows") == 256);
  CHECK(count_of(f, "sjds.pieces") == 2);
  CHECK(count_of(f, "sjds.codes") == 0);
  f.decodes = true;
  CHECK(count_of(f, "sjds.codes") == 123);
}

namespace rules = launch_rules::sjds;

TEST_CASE("steps of slices with a kind are units of their own, and plain slices are none") {
  const auto slice = [](std::uint32_t windows, std::uint32_t steps) {
    Slice s{};
    s.set(windows, steps, 0, 0);
    return s;
  };
  KindFacts kinds, more;
  kinds.add(slice(7, 0), rules::plain);
  kinds.add(slice(4, 1), rules::two_runs + 3);
  kinds.add(slice(2, 3), rules::any);
  more.add(slice(0, 6), rules::one_column);
  more.add(slice(3, 5), 0b10101001);
  kinds.add(more);
  const WorkFacts f{.slices = 9, .windows = 100, .steps = 20, .kinds = kinds, .decodes = true};
  CHECK(count_of(f, "sjds.slices") == 8);
  CHECK(count_of(f, "sjds.windows") == 86);
  CHECK(count_of(f, "sjds.steps") == 8);
  CHECK(count_of(f, "sjds.plain_steps") == 7);
  CHECK(count_of(f, "sjds.run_steps") == 5);
  CHECK(count_of(f, "sjds.column_steps") == 6);
  CHECK(count_of(f, "sjds.group_steps") == 8);
  CHECK(count_of(f, "sjds.codes") == 120);
}

TEST_CASE("the kind of a slice is what its lanes have in common in all steps") {
  const auto kind_of = [](const std::vector<rules::StepColumns>& steps) {
    rules::CommonColumns common;
    for (const rules::StepColumns& columns : steps) common.take(columns);
    CHECK((common.is_open() || common.kind() == rules::any));
    return common.kind();
  };
  const rules::StepColumns consecutive{3, 4, 5, 6, 7, 8, 9, 10}, at_5{3, 4, 5, 6, 7, 20, 21, 22},
      at_7{3, 4, 5, 6, 7, 8, 9, 99}, falls{30, 31, 32, 33, 34, 1, 2, 3}, same{6, 6, 6, 6, 6, 6, 6, 6},
      pairs{6, 6, 9, 9, 2, 2, 4, 4}, two{6, 6, 6, 6, 2, 2, 2, 2}, of_three{1, 1, 1, 4, 4, 4, 7, 7},
      five{1, 1, 2, 2, 3, 3, 4, 5}, wraps{4294967292, 4294967293, 4294967294, 4294967295, 0, 1, 2, 3};
  CHECK(kind_of({consecutive}) == rules::two_runs + 1);  // of a slice that is not plain
  CHECK(kind_of({consecutive, at_5, at_5}) == rules::two_runs + 5);
  CHECK(kind_of({at_7, consecutive}) == rules::two_runs + 7);
  CHECK(kind_of({at_5, at_7}) == rules::any);
  CHECK(kind_of({falls}) == rules::any);
  CHECK(kind_of({wraps}) == rules::any);
  CHECK(kind_of({same, same}) == rules::one_column);
  CHECK(kind_of({same, consecutive}) == rules::any);
  CHECK(kind_of({pairs}) == 0b01010101);
  CHECK(kind_of({same, two}) == 0b00010111);
  CHECK(kind_of({two, pairs}) == 0b01010101);
  CHECK(kind_of({of_three}) == 0b01001011);
  CHECK(kind_of({of_three, two}) == 0b01011001);
  CHECK(kind_of({of_three, pairs}) == rules::any);
  CHECK(kind_of({five}) == rules::any);
}

TEST_CASE("runs and groups are kinds of four steps and more, and kinds are worth it from one of eight slices on") {
  Slice s{};
  s.set_kind(8, false, false, false);
  const auto kind_of = [&](bool consecutive) {
    rules::CommonColumns common;
    common.take({1, 2, 3, 4, 5, 6, 7, 8});
    return rules::kind_of(
        s, [&] { return consecutive; }, [&] { return common; });
  };
  s.set(1, 0, 0, 0);
  CHECK(kind_of(true) == rules::plain);
  CHECK(kind_of(false) == rules::any);
  s.set(3, 1, 0, 0);
  CHECK(kind_of(true) == rules::two_runs + 1);
  s.set(3, 0, 1, 4);
  CHECK(kind_of(true) == rules::any);
  s.set(4, 0, 0, 0);
  s.set_kind(8, false, true, false);  // its rows are listed
  CHECK(kind_of(true) == rules::two_runs + 1);
  CHECK(rules::worth_kinds(0, 0));
  CHECK(rules::worth_kinds(2, 16));
  CHECK_FALSE(rules::worth_kinds(1, 9));
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::sjds_plans
