// What bitflag decides from counts that no matrix needs to have.

#include "catch.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {
namespace {

const Aim time_on_gpu{}, time_on_host{Objective::time, Target::host}, fewest_bytes{Objective::bytes, Target::gpu};
constexpr Device device{};
constexpr std::uint64_t small_entries = device.small_entries, many = 4 * small_entries;

PartFacts with_values(std::uint64_t entries, std::uint64_t size, std::uint64_t distinct) {
  return {.rows = 100, .cols = 100, .entries = entries, .value_size = size, .distinct_values = distinct};
}

TEST_CASE("values are one, in a table, or raw") {
  CHECK(usual_source(with_values(10, 8, 1)) == Source::single);
  CHECK(usual_source(with_values(0, 8, 0)) == Source::raw);
  // Seven bytes are saved for each entry, and eight spent for each value.
  CHECK(usual_source(with_values(9, 8, 8)) == Source::raw);
  CHECK(usual_source(with_values(10, 8, 8)) == Source::table);
  CHECK(usual_source(with_values(10, 4, 8)) == Source::raw);
  CHECK(usual_source(with_values(many, 8, max_table)) == Source::table);
  CHECK(usual_source(with_values(many, 8, max_table + 1)) == Source::raw);
}

TEST_CASE("values can be in a table or one if there are so few") {
  CHECK(fit(with_values(10, 8, max_table), Source::table));
  CHECK_FALSE(fit(with_values(10, 8, max_table + 1), Source::table));
  CHECK_FALSE(fit(with_values(0, 8, 0), Source::table));
  CHECK(fit(with_values(10, 8, 1), Source::single));
  CHECK_FALSE(fit(with_values(10, 8, 2), Source::single));
  CHECK(fit(with_values(10, 8, max_table + 1), Source::raw));
  CHECK(fit(with_values(10, 8, max_table + 1), Source::window));
}

TEST_CASE("windows and decimals are for fewer bytes") {
  CHECK(decimal_bytes({100, 8, 800, 30}) == 430);
  CHECK(worth_decimals({100, 8, 800, 30}));
  CHECK(worth_decimals({100, 8, 800, 399}));
  CHECK_FALSE(worth_decimals({100, 8, 800, 400}));
  CHECK_FALSE(worth_decimals({100, 8, 800}));
  CHECK(most_window_values({100, 8, 800}) == 74);  // 592 of 599 bytes
  CHECK(most_window_values({100, 8, 208}) == 0);
  CHECK(most_window_values({100, 8, 209}) == 1);
  CHECK(most_window_values({100, 8, 800, 30}) == 28);  // 224 of 229 bytes
  CHECK(most_window_values({100, 8, 800, 400}) == 74);
}

TEST_CASE("segments are for long rows of many entries") {
  const auto segments = [](std::uint64_t rows, std::uint64_t cols, std::uint64_t entries, std::uint64_t sums = 0) {
    return usual_segments({.rows = rows, .cols = cols, .entries = entries, .sums_of_few = sums}, device);
  };
  CHECK(segments(1000, 19200, many) == 4);  // few and narrow ones
  CHECK(segments(1000, 14400, many) == 1);  // three are enough
  // Of few entries, 32 or 64, with four entries for each sum.
  constexpr std::uint64_t few = small_entries / 4;
  CHECK(segments(1000, 38400, small_entries - 1) == 32);
  CHECK(segments(1000, 38400, few) == 32);
  CHECK(segments(1000, 38400, few - 1) == 1);
  CHECK(segments(1000, 16383, few) == 1);
  CHECK(segments(1000, 32 * 6400, few) == 32);
  CHECK(segments(1000, 32 * 6400 + 1, few) == 64);
  CHECK(segments(1000, 64 * 9600, few) == 64);
  CHECK(segments(1000, 64 * 9600 + 1, few) == 1);
  CHECK(segments(few / 128, 38400, few) == 32);
  CHECK(segments(few / 128 + 1, 38400, few) == 1);
  CHECK(segments(many / 24, 38400, many) == 8);
  CHECK(segments(many / 24 + 1, 38400, many) == 1);
  CHECK(segments(1000, 38400, many, many / 8) == 8);
  CHECK(segments(1000, 38400, many, many / 8 + 1) == 4);  // rows are neither long nor short: wide ones
  CHECK(segments(many / 32 + 1, 38400, many, many / 8 + 1) == 1);
  CHECK(segments(1000, 4800 * 29, many) == 29);
  CHECK(segments(1000, 4800 * 30, many) == 15);  // to keep all busy, more than a thread adds up: wide ones
  CHECK(segments(many / 24, 9600 * 20, many) == 1);
  CHECK(segments(1000, 9600 * 100, many) == 132);  // half of all blocks, rather than 100 of 264
  CHECK(segments(1000, 9600 * 300, many) == 300);
  Device eager = device;
  eager.small_entries = 0;
  CHECK(usual_segments({.rows = 0, .cols = 38400, .entries = 0, .sums_of_few = 0}, eager) == 1);
  // For a GPU's kernels of several columns there are none.
  const PartFacts part{.rows = 500, .cols = 40'000, .entries = 4'000'000, .sums_of_few = 3500};
  CHECK(usual_segments(part, Aim{}, device) > 1);
  CHECK(usual_segments(part, Aim{.columns = 2}, device) == 1);
  CHECK(usual_segments(part, Aim{.target = Target::host, .columns = 2}, device) > 1);
  CHECK(usual_segments(part, Aim{.optimize = Objective::bytes, .columns = 2}, device) > 1);
  CHECK(can_have_segments({.rows = 10, .cols = 100, .entries = 50}, 4));
  CHECK_FALSE(can_have_segments({.rows = 10, .cols = 3, .entries = 50}, 4));
  CHECK_FALSE(can_have_segments({.rows = 10, .cols = 5, .entries = 50}, 4));  // of two columns: the last has none
  CHECK_FALSE(can_have_segments({.rows = 10, .cols = 300'000, .entries = 50}, 4));
  CHECK_FALSE(can_have_segments({.rows = std::uint64_t{1} << 24, .cols = 100, .entries = 50}, 2));
}

TEST_CASE("hot columns are for time on a GPU, where few columns have much of many entries") {
  const PartFacts part{.rows = 100, .cols = 32769, .entries = small_entries};
  PartFacts other = part;
  CHECK(hot_columns_to_count(part, time_on_gpu, device) == 12288);
  CHECK(hot_columns_to_count(part, time_on_host, device) == 0);
  CHECK(hot_columns_to_count(part, fewest_bytes, device) == 0);
  other.value_size = 4;
  CHECK(hot_columns_to_count(other, time_on_gpu, device) == 24576);
  other = part;
  --other.cols;
  CHECK(hot_columns_to_count(other, time_on_gpu, device) == 0);
  other = part;
  --other.entries;
  CHECK(hot_columns_to_count(other, time_on_gpu, device) == 0);
  other = part;
  other.cols = most_hot_cols + 1;
  CHECK(hot_columns_to_count(other, time_on_gpu, device) == 0);

  constexpr std::uint64_t enough = std::uint64_t{1} << 20;
  const auto worth = [](std::uint64_t hot_entries, std::uint64_t entries, double column_bytes,
                        std::uint64_t cols = 1U << 23U) {
    return worth_hot_columns({.cols = cols, .entries = entries}, hot_entries, column_bytes);
  };
  CHECK(worth(enough, 12 * enough, 3));
  CHECK_FALSE(worth(enough - 1, small_entries, 3));
  CHECK_FALSE(worth(enough, 12 * enough + 1, 3));
  CHECK(worth(enough, 8 * enough, 2));
  CHECK_FALSE(worth(enough, 8 * enough, 1.9));
  CHECK(worth(enough, 4 * enough, 2, (1U << 23U) + 1));  // of four bytes
  CHECK_FALSE(worth(enough, 4 * enough, 1.9, (1U << 23U) + 1));
}

TEST_CASE("a device takes another turn with more chunks than it has warps at once, of which two count") {
  constexpr std::uint64_t at_once = std::uint64_t{132} * 32 * 256;
  CHECK(turns(0, device) == 0);
  CHECK(turns(at_once, device) == 0);
  CHECK(turns(at_once + 1, device) == 1);
  CHECK(turns(2 * at_once + 1, device) == 2);
  CHECK(turns(100 * at_once, device) == 2);
}

TEST_CASE("tiles that not all multiprocessors have as many of leave some idle") {
  CHECK(idle_entries(250, 1, 4, device) == 132 * 1024 - 250);  // one chunk
  // 64 chunks are 16 tiles of four, which as many of 132 multiprocessors have.
  CHECK(idle_entries(8199 + 8000, 16, 4, device) == 132 * 4 * 256 - (8199 + 8000));
  CHECK(usual_tile(8199 + 8000, 8000, device) == 4);  // no tile of 32 keeps the long row
}

TEST_CASE("a tile has two chunks, or of few entries four or more, for the longest row, if enough are busy") {
  constexpr std::uint64_t all = std::uint64_t{max_tile_chunks} * chunk_entries;
  CHECK(usual_tile(0, 0, device) == 4);
  CHECK(usual_tile(1000, 4 * chunk_entries, device) == 4);
  CHECK(usual_tile(1000, 4 * chunk_entries + 1, device) == 8);
  CHECK(usual_tile(small_entries, 4 * chunk_entries + 1, device) == 2);
  CHECK(usual_tile(small_entries - 1, all, device) == max_tile_chunks);
  CHECK(usual_tile(small_entries - 1, all + 1, device) == 8);
  // 66 tiles for 132 multiprocessors, and 65.
  CHECK(usual_tile(66 * 16 * chunk_entries, 16 * chunk_entries, device) == 16);
  CHECK(usual_tile(65 * 16 * chunk_entries, 16 * chunk_entries, device) == 4);
  CHECK(usual_tile(65 * all + 1, all, device) == max_tile_chunks);
  CHECK(usual_tile(65 * all, all, device) == 4);
}

}  // namespace
}  // namespace spmvpack::encoder::layouts::bitflag_plans
