#include "spmvpack/encoder/value_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"

using namespace spmvpack;
using namespace spmvpack::encoder;

namespace {

template <class T>
std::shared_ptr<const ValueTable> count(const std::vector<T>& values, int threads) {
  const std::vector<std::uint64_t> row_ptr{0, values.size()};
  const std::vector<std::uint32_t> columns(values.size());
  const CsrView a(1, values.size() + 1, std::span<const std::uint64_t>(row_ptr),
                  std::span<const std::uint32_t>(columns), std::span<const T>(values));
  return ValueTable::count(a, threads);
}

template <class T>
std::map<std::uint64_t, std::uint64_t> reference_counts(const std::vector<T>& values) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const T value : values) ++counts[value_bits(value)];
  return counts;
}

std::vector<ValueCount> sorted(const std::map<std::uint64_t, std::uint64_t>& counts) {
  std::vector<ValueCount> entries;
  entries.reserve(counts.size());
  for (const auto& [bits, n] : counts) entries.push_back({bits, n});
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ValueCount& a, const ValueCount& b) { return a.count > b.count; });
  return entries;
}

/// Checks everything that the table says of up to 2^20 distinct values.
template <class T>
void check(const std::vector<T>& values) {
  std::vector<ValueCount> expected = sorted(reference_counts(values));
  const std::size_t distinct = expected.size();
  if (expected.size() > 256) expected.resize(256);
  for (const int threads : {1, 2, 4}) {
    if (test::sanitized && threads == 2) continue;
    CAPTURE(threads, values.size());
    const auto table = count(values, threads);
    CHECK_FALSE(table->exceeds());
    CHECK(table->distinct() == distinct);
    REQUIRE(std::vector<ValueCount>(table->most_frequent().begin(), table->most_frequent().end()) == expected);
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k <= 256; ++k) {
      REQUIRE(table->covered(k) == sum);
      if (k < expected.size()) sum += expected[k].count;
    }
  }
}

/// `distinct` values, each at least once, mixed.
std::vector<double> mixed(std::uint64_t n, std::uint64_t distinct, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(n);
  for (std::uint64_t i = 0; i < n; ++i) values[i] = static_cast<double>(i < distinct ? i : random() % distinct) * 0.1;
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

}  // namespace

TEST_CASE("A value table counts what a map counts") {
  check(std::vector<double>{});
  check(std::vector<double>{0.0});
  check(std::vector<double>(100'000, 1.0));
  for (const std::uint64_t n : {31U, 32U, 33U, 64U, 65U, 1000U, 65'535U, 65'536U, 65'537U, 300'000U})
    for (const std::uint64_t distinct : {1U, 2U, 5U, 255U, 256U, 257U, 4000U}) {
      if (test::sanitized && n == 300'000 && distinct != 1 && distinct != 257) continue;
      if (distinct <= n) check(mixed(n, distinct, n + distinct));
    }
  check(mixed(700'000, 500'000, 1));
}

TEST_CASE("A value table of f32 keeps the 32 bits") {
  std::mt19937_64 random(2);
  std::vector<float> values(200'000);
  for (float& v : values) v = static_cast<float>(random() % 3000) / 7;
  values[0] = -0.0F;
  check(values);
  CHECK(count(std::vector<float>{-0.0F}, 1)->most_frequent()[0].bits == 0x80000000);
}

TEST_CASE("Values are told apart by bits") {
  const auto nan1 = std::bit_cast<double>(0x7FF8000000000000), nan2 = std::bit_cast<double>(0x7FF8000000000001);
  const auto negative_nan = std::bit_cast<double>(0xFFF8000000000000), inf = std::numeric_limits<double>::infinity();
  check(std::vector<double>{nan1, nan2, nan1, negative_nan, 0.0, -0.0, -0.0, inf, -inf, 5e-324, 0.0, 0.0});
}

TEST_CASE("Values with few significant bits do not collide") {
  // Powers of two differ in 11 bits alone, integers in the high half: a weak hash would make chains of them.
  std::vector<double> values;
  for (int e = -1000; e < 1000; ++e) values.push_back(std::ldexp(1.0, e));
  for (int i = 0; i < 100'000; ++i) values.push_back(i);
  for (std::uint64_t i = 0; i < 100'000; ++i) values.push_back(std::bit_cast<double>(i));
  check(values);
}

TEST_CASE("Ties at the 256th place go to the smaller bits") {
  std::vector<double> values;
  for (int i = 400; i > 0; --i)
    for (int k = 0; k < (i <= 200 ? 7 : 3); ++k) values.push_back(i);
  check(values);
  const auto table = count(values, 1);
  CHECK(table->most_frequent().back() == ValueCount{value_bits(256.0), 3});
}

TEST_CASE("2^20 distinct values are counted exactly, one more is too many") {
  constexpr std::uint64_t limit = ValueTable::max_distinct;
  std::vector<double> values = mixed(limit + 200'000, limit, 3);
  check(values);
  values.push_back(-1.0);
  for (const int threads : {1, 2, 4}) {
    const auto table = count(values, threads);
    CHECK(table->exceeds());
    CHECK(table->distinct() == limit + 1);
  }
}

TEST_CASE("Distinct values are too many together, though none of the threads saw too many") {
  // So few that a look at hashes does not tell, and so many that it does.
  for (const std::uint64_t distinct : {ValueTable::max_distinct + 1000, 4 * ValueTable::max_distinct / 3}) {
    std::vector<double> values(distinct);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 3;
    for (const int threads : {1, 2, 3, 4}) CHECK(count(values, threads)->exceeds());
  }
}

TEST_CASE("Beyond 2^20 distinct values the frequent ones are found and counted exactly") {
  std::mt19937_64 random(4);
  std::vector<double> values(3'000'000);
  for (double& v : values) {
    const std::uint64_t r = random();
    // 300 frequent values, the i-th with a share that falls with i, among values that hardly repeat.
    v = r % 2 == 0 ? static_cast<double>((r >> 1) % ((r >> 20) % 300 + 1)) : std::bit_cast<double>(random() >> 3);
  }
  const auto reference = reference_counts(values);
  REQUIRE(reference.size() > ValueTable::max_distinct);
  std::vector<ValueCount> expected = sorted(reference);
  expected.resize(256);
  for (const int threads : {1, 2, 4}) {
    const auto table = count(values, threads);
    REQUIRE(table->exceeds());
    CHECK(std::vector<ValueCount>(table->most_frequent().begin(), table->most_frequent().end()) == expected);
  }
}

TEST_CASE("Beyond 2^20 distinct values without repetition there is no frequent one") {
  std::vector<double> values(ValueTable::max_distinct + 77);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const auto table = count(values, 2);
  CHECK(table->exceeds());
  CHECK(table->most_frequent().empty());
  CHECK(table->covered(256) == 0);
}

TEST_CASE("Value ids") {
  std::mt19937_64 random(5);
  for (const std::size_t n : {0U, 1U, 2U, 255U, 256U}) {
    std::vector<std::uint64_t> bits(n);
    for (std::uint64_t& b : bits) b = random() % 4 == 0 ? value_bits(static_cast<double>(random() % 9999)) : random();
    if (n > 2) bits[n / 2] = 0;
    std::map<std::uint64_t, int> reference;
    for (std::size_t i = 0; i < n; ++i) reference.emplace(bits[i], static_cast<int>(i));  // the first of equal ones
    const ValueIds ids(bits);
    for (const std::uint64_t b : bits) CHECK(ids.find(b) == reference.at(b));
    for (int i = 0; i < 10'000; ++i) {
      const std::uint64_t b = i == 0 ? 0 : random();
      const auto found = reference.find(b);
      REQUIRE(ids.find(b) == (found == reference.end() ? -1 : found->second));
    }
  }
  CHECK_THROWS_AS(ValueIds(std::vector<std::uint64_t>(257)), Error);
}
