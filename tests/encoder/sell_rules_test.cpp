// What sell decides from counts that no matrix needs to have.

#include "catch.hpp"
#include "spmvpack/encoding_rules/sell.hpp"

namespace spmvpack::encoder::layouts::sell_plans {
namespace {

/// 64,000 rows of f64, in slices of 32: a step takes 384 bytes, and a list of rows as many as 666.7 steps.
constexpr SellFacts facts{.rows = 64'000, .entries = 640'000, .steps = 100'000};

TEST_CASE("sorted rows are counted if there is more padding than a list of them takes") {
  SellFacts f = facts;
  CHECK(may_be_sorted(f));
  f.steps = 20'666;
  CHECK_FALSE(may_be_sorted(f));
  f.steps = 20'667;
  CHECK(may_be_sorted(f));
  f.slice_rows = 1;
  f.steps = 640'000;  // no padding at all
  CHECK_FALSE(may_be_sorted(f));
}

TEST_CASE("rows are sorted if that saves a fiftieth of the bytes, and in wider windows a tenth more") {
  const auto sigma = [](std::uint64_t of_256, std::uint64_t of_4096, std::uint64_t of_32768) {
    SellFacts f = facts;
    f.steps_of = {of_256, of_4096, of_32768};
    return decide(f).sigma;
  };
  CHECK(decide(facts).sigma == 1);  // nothing has been counted
  CHECK(sigma(100'000, 100'000, 100'000) == 1);
  CHECK(sigma(97'333, 97'333, 97'333) == 256);
  CHECK(sigma(97'334, 97'334, 97'334) == 1);
  CHECK(sigma(97'334, 97'333, 97'333) == 4096);
  CHECK(sigma(97'334, 97'334, 97'333) == 32768);
  CHECK(sigma(50'000, 44'933, 44'933) == 4096);
  CHECK(sigma(50'000, 44'934, 44'934) == 256);
  CHECK(sigma(50'000, 44'934, 44'933) == 32768);
  CHECK(sigma(50'000, 40'000, 30'000) == 32768);
}

TEST_CASE("of f32 and of wider slices a step takes other bytes") {
  CHECK(bytes_of_steps(facts, 2) == 2 * 32 * 12);
  SellFacts f = facts;
  f.value_size = 4;
  f.slice_rows = 64;
  CHECK(bytes_of_steps(f, 2) == 2 * 64 * 8);
  CHECK(bytes_of_order(f) == 4 * 64'000);
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::sell_plans
