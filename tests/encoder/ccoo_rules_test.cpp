// What ccoo decides from counts that no matrix needs to have.

#include "layouts/ccoo/ccoo_rules.hpp"

#include <array>
#include <string_view>

#include "catch.hpp"

namespace spmvpack::encoder::layouts::ccoo_plans {
namespace {

constexpr Device device{};

TEST_CASE("chunks have no values if all are the same, unless ids are asked for") {
  CHECK(usual_values(1, false) == Values::single);
  CHECK(usual_values(1, true) == Values::ids);
  CHECK(usual_values(2, false) == Values::ids);
  CHECK(usual_values(0, false) == Values::ids);
}

TEST_CASE("a way takes its blobs, 17 bytes for each chunk, and its table") {
  CHECK(device_bytes({.slots = 4, .chunks = 10, .blob_bytes = 1000, .lut_bytes = 16}) == 1186);
  CHECK(device_bytes({}) == 0);
}

TEST_CASE("raw values are tried where ids of few chunks may not pay for their table") {
  CHECK(may_not_pay_for_table({.chunks = lut_capacity, .lut_bytes = 8}));
  CHECK_FALSE(may_not_pay_for_table({.chunks = lut_capacity + 1, .lut_bytes = 8}));
  CHECK_FALSE(may_not_pay_for_table({.chunks = 1, .lut_bytes = 0}));
}

TEST_CASE("of all numbers of slots that of the fewest bytes is chosen, of equals the least") {
  const auto of_bytes = [](std::array<std::uint64_t, 4> bytes) {
    std::array<ChunkingFacts, 4> ways;
    for (std::size_t i = 0; i < ways.size(); ++i) ways.at(i) = {.slots = slot_choices.at(i), .blob_bytes = bytes.at(i)};
    return ways;
  };
  CHECK(choose_slots(of_bytes({5, 4, 3, 4}), {}) == 2);
  CHECK(choose_slots(of_bytes({5, 4, 3, 3}), {}) == 2);
  CHECK(choose_slots(of_bytes({5, 5, 5, 5}), {}) == 0);
  CHECK(choose_slots(of_bytes({5, 4, 3, 2}), {}) == 3);
  for (std::size_t i = 0; i < 4; ++i) CHECK(choose_slots(of_bytes({5, 4, 3, 4}), slot_choices.at(i)) == i);
  // Headers and the table count, too.
  std::array<ChunkingFacts, 4> ways = of_bytes({100, 99, 200, 200});
  ways[1].chunks = 1;
  CHECK(choose_slots(ways, {}) == 0);
  ways[0].lut_bytes = 17;
  CHECK(choose_slots(ways, {}) == 1);
}

std::uint64_t count_of(const WorkFacts& f, std::string_view unit) {
  for (const Counter& c : work_of(f, device))
    if (c.name == unit) return c.value;
  FAIL("no " << unit);
  return 0;
}

TEST_CASE("the work of a multiply with ccoo follows from its counts") {
  WorkFacts f{.rows = 1'000'000,
              .empty_rows = 7,
              .longest_row = 8 * 1024,
              .lanes = 256,
              .slots = 4,
              .chunks = 10'000,
              .stored_slots = 10'240'000,
              .raw_bytes = 800,
              .lut_size = 256,
              .run_entries = 11};
  CHECK(count_of(f, "ccoo.multiplies") == 1);
  CHECK(count_of(f, "ccoo.slots") == 10'240'000);
  CHECK(count_of(f, "ccoo.lanes") == 2'560'000);
  CHECK(count_of(f, "ccoo.raw_bytes") == 800);
  CHECK(count_of(f, "ccoo.empty_rows") == 7);
  CHECK(count_of(f, "ccoo.run_entries") == 11);
  CHECK(count_of(f, "ccoo.long_rows") == 0);
  ++f.longest_row;  // in more than eight chunks
  CHECK(count_of(f, "ccoo.long_rows") == 1);
  CHECK(count_of(f, "ccoo.serial") == 0);  // a warp for each chunk
  f.slots = 8;
  CHECK(count_of(f, "ccoo.serial") == 0);
  f.lut_size = 0;  // a block of 64 threads, of which 1056 are there at once
  CHECK(count_of(f, "ccoo.serial") == (10 * 4 - 1) * 8);
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::ccoo_plans
