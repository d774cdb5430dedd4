// What amb decides from counts that no matrix needs to have.

#include "layouts/amb/amb_rules.hpp"

#include <string_view>

#include "catch.hpp"

namespace spmvpack::encoder::layouts::amb_plans {
namespace {

/// With so many steps for each size of blocks; 0 where it is not said.
PartFacts with_steps(std::uint64_t value_size, PerBlock steps) {
  return {.cols = 100'000, .value_size = value_size, .steps = steps};
}

TEST_CASE("blocks are of the columns with the fewest bytes, of equals of the fewest") {
  // Bytes of a block: 10, 18, 26, 34, ... of f64, 6, 10, 14, 18, ... of f32.
  CHECK(bytes_with(with_steps(8, {7}), 1) == 7 * 32 * 10);
  CHECK(bytes_with(with_steps(4, {7, 5}), 2) == 5 * 32 * 10);
  CHECK(usual_block(with_steps(8, {900, 500, 500, 500, 500, 500, 500, 500})) == 1);  // 9000 bytes either way
  CHECK(usual_block(with_steps(8, {901, 500, 500, 500, 500, 500, 500, 500})) == 2);
  CHECK(usual_block(with_steps(4, {1000, 600, 500, 333, 300, 300, 300, 300})) == 4);
  CHECK(usual_block(with_steps(4, {1000, 600, 500, 334, 300, 300, 300, 300})) == 1);  // 6012 bytes rather than 6000
  CHECK(usual_block(with_steps(8, {800, 400, 267, 200, 160, 134, 115, 100})) == 8);
  CHECK(usual_block({}) == 1);
}

TEST_CASE("blocks stay inside the narrowest segment") {
  PartFacts part = with_steps(8, {800, 400, 267, 200, 160, 134, 115, 100});
  const auto widest = [&](std::uint64_t cols, std::uint64_t segment_cols) {
    part.cols = cols;
    part.segment_cols = segment_cols;
    return widest_block(part);
  };
  CHECK(widest(65536, 65536) == 65536);
  CHECK(widest(65539, 65536) == 3);
  CHECK(usual_block(part) == 3);
  CHECK(widest(65537, 65536) == 1);
  CHECK(usual_block(part) == 1);
  CHECK(widest(12, 4) == 4);
  CHECK(usual_block(part) == 4);
  CHECK(widest(0, 65536) == 1);
  CHECK(segments_of({.cols = 0}) == 0);
  CHECK(segments_of({.cols = 65536}) == 1);
  CHECK(segments_of({.cols = 65537}) == 2);
}

TEST_CASE("32 bits number steps and partial sums") {
  PartFacts part = with_steps(8, {max_steps + 1, max_steps});
  CHECK_FALSE(can_be_numbered(part, 1));
  CHECK(can_be_numbered(part, 2));
  part.partial_sums = max_shared;
  CHECK(can_be_numbered(part, 2));
  ++part.partial_sums;
  CHECK_FALSE(can_be_numbered(part, 2));
}

std::uint64_t count_of(const WorkFacts& f, std::string_view unit) {
  for (const Counter& c : work_of(f))
    if (c.name == unit) return c.value;
  FAIL("no " << unit);
  return 0;
}

TEST_CASE("threads take rows of few lanes, and another kernel adds up the partial sums of others") {
  WorkFacts f{.rows = 1000, .chunks = 65, .lanes = 65 * 32, .longest = 17, .lane_steps = 20'000, .partial_sums = 1500};
  f.most_of_a_row = launch_rules::amb::most_lanes_of_thread;
  CHECK(count_of(f, "amb.slots") == 20'000);
  CHECK(count_of(f, "amb.steps") == 20'000);
  CHECK(count_of(f, "amb.lanes") == 65 * 32);
  CHECK(count_of(f, "amb.partial_sums") == 1500);
  CHECK(count_of(f, "amb.chain") == 2 * 3 * 4);  // of four lanes, each in three rounds of eight
  f.bytes = 10 * bytes_of_load;
  CHECK(count_of(f, "amb.chain") == 2 * 3 * 4 - 10);  // while lanes wait, others' bytes arrive
  f.bytes = 100 * bytes_of_load;
  CHECK(count_of(f, "amb.chain") == 2 * 3);  // a quarter
  f.bytes = 0;
  CHECK(count_of(f, "amb.sum_multiplies") == 0);
  CHECK(count_of(f, "amb.added_sums") == 0);
  CHECK(count_of(f, "amb.sum_chain") == 0);
  // Of 65 chunks one thread has 64, and the other one.
  CHECK(count_of(f, "amb.alone") == 20'000 * 63 / 65);
  ++f.most_of_a_row;
  CHECK(count_of(f, "amb.chain") == 2 * 3);
  CHECK(count_of(f, "amb.sum_multiplies") == 1);
  CHECK(count_of(f, "amb.added_sums") == 1500);
  CHECK(count_of(f, "amb.sum_chain") == 2);

  // f32 in blocks of several columns: pairs of lanes, with partial sums.
  f.most_of_a_row = 2;
  f.block = 2;
  CHECK(count_of(f, "amb.slots") == 40'000);
  CHECK(count_of(f, "amb.chain") == 2 * 5 * 2);
  CHECK(count_of(f, "amb.sum_multiplies") == 0);
  f.is_single = true;
  CHECK(count_of(f, "amb.sum_multiplies") == 1);
  f.partial_sums = 0;
  CHECK(count_of(f, "amb.sum_multiplies") == 0);
}

TEST_CASE("slots of lanes that jump are work where x is larger than a cache") {
  WorkFacts f{.rows = 1000, .chunks = 32, .lanes = 1024, .longest = 20, .jumps = 100, .lane_steps = 20 * 1024};
  CHECK(count_of(f, "amb.jumped_slots") == 20 * 100);
  f.x_fits_cache = true;
  CHECK(count_of(f, "amb.jumped_slots") == 0);
  CHECK(count_of({}, "amb.jumped_slots") == 0);  // a part without lanes
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::amb_plans
