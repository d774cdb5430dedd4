// What sjds decides from counts that no matrix needs to have.

#include "layouts/sjds_rules.hpp"

#include <string_view>

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

}  // namespace
}  // namespace spmvpack::encoder::layouts::sjds_plans
