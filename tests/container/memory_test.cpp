// From the caller's arrays to a container in memory and back, without a file.

#include "spmvpack/container/base/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;

Array<std::byte> in_memory(const CsrView& a, const encoder::EncodeRequest& request) {
  MemorySink sink;
  const encoder::EncodeResult result = encoder::encode(a, request, sink);
  Array<std::byte> bytes = sink.take();
  REQUIRE(bytes.size() == result.file_bytes);
  return bytes;
}

template <class T>
std::vector<T> some_vector(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<T> x(size);
  for (T& v : x) v = random_value<T>(rng, 3);
  return x;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

}  // namespace

TEST_CASE("only a memory limit that can be raised is said to be too low") {
  const auto complaint = [](std::uint64_t limit) {
    try {
      require_memory(~std::uint64_t{0}, limit, "a test");
    } catch (const Error& e) {
      return e.message() + "; " + e.remedy();
    }
    return std::string();
  };
  CHECK_THAT(complaint(1000), Catch::Contains(" 1000 are allowed; raise the memory limit: "));
  // What was available a moment ago is not a limit of anybody's.
  for (const std::uint64_t limit : {std::uint64_t{0}, available_memory() + (std::uint64_t{1} << 40U)}) {
    CHECK_THAT(complaint(limit), Catch::Contains(" are available; end other programs"));
    CHECK_THAT(complaint(limit), !Catch::Contains("raise"));
  }
}

TEST_CASE("a container in memory has the bytes of the file") {
  const TemporaryDirectory directory;
  for (const auto& [name, a] : random_matrices<double>(11, 4)) {
    if (a.nnz() > 50000) continue;
    for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
      CAPTURE(name, static_cast<int>(codec));
      encoder::EncodeRequest request{.codec = codec, .threads = 2, .overwrite = true};
      const std::string path = directory.file("a.spmvc");
      encoder::encode(a.view(), request, path);
      Array<std::byte> bytes = in_memory(a, request);
      const std::vector<std::byte> file = read_file(path);
      REQUIRE(bytes.size() == file.size());
      REQUIRE(std::memcmp(bytes.data(), file.data(), file.size()) == 0);

      const auto source = memory_source(std::move(bytes));
      const Container container = Container::open(source, "memory");
      REQUIRE(equal_bits(unpack(container), a));
      const auto x = some_vector<double>(a.cols, 5);
      std::vector<double> y(a.rows), expected(a.rows);
      HostMatrix::load(path).multiply(1, x, 0, expected);
      HostMatrix::load(container).multiply(1, x, 0, y);
      REQUIRE(same_bytes(y, expected));

      MemorySink copy;
      container.copy_to(copy);
      const Array<std::byte> copied = copy.take();
      REQUIRE(copied.size() == file.size());
      REQUIRE(std::memcmp(copied.data(), file.data(), file.size()) == 0);
    }
  }
}

TEST_CASE("what a container in memory holds without a codec is loaded where it lies, and outlives the container") {
  const CsrMatrix a = make_csr(3, 3, {{{0, 0}, 2}, {{1, 2}, 3}, {{2, 1}, 4}});
  for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
    auto source = memory_source(in_memory(a, {.strategy = "csr", .codec = codec}));
    const std::span<const std::byte> all = source->in_memory();
    const LoadedPart part = Container::open(std::move(source), "memory").load_part(0);
    const auto values = std::as_bytes(part.view().get<double>("values"));
    const bool within = values.data() >= all.data() && values.data() + values.size() <= all.data() + all.size();
    CHECK(within == (codec == format::Codec::none));
    CHECK(part.view().get<double>("values")[2] == 4);
  }
}

TEST_CASE("a wrong byte of a container in memory is noticed by whoever loads or copies it") {
  const CsrMatrix a = make_csr(3, 3, {{{0, 0}, 2}, {{1, 2}, 3}, {{2, 1}, 4}});
  const Array<std::byte> right = in_memory(a, {.strategy = "csr"});
  for (const std::uint64_t at : {std::uint64_t{4096}, std::uint64_t{4096 + 256}, std::uint64_t{4096 + 512}}) {
    Array<std::byte> bytes = right.clone();
    bytes[at] ^= std::byte{1};
    const Container container = Container::open(memory_source(std::move(bytes)), "memory");
    CHECK_THROWS_WITH(HostMatrix::load(container), Catch::Contains("the checksum is wrong"));
    MemorySink sink;
    CHECK_THROWS_WITH(container.copy_to(sink), Catch::Contains("the checksum is wrong"));
    CHECK_NOTHROW(container.copy_to(sink, {.verify_checksums = false}));
  }
}

TEST_CASE("a budget is shared by all that allocates within its scope, in every thread") {
  CHECK(current_budget() == nullptr);
  const MemoryScope outer(1'000'000, "an operation");
  const auto budget = current_budget();
  REQUIRE(budget != nullptr);
  {
    const Array<double> array(10'000);
    const CountedVector<std::uint32_t> vector(5'000);
    const MemoryReservation other(1000);
    CHECK(budget->left() == 1'000'000 - 80'000 - 20'000 - 1000);
    Array<double> moved = Array<double>(10'000);
    moved = {};
    CHECK(budget->left() == 1'000'000 - 80'000 - 20'000 - 1000);
    const MemoryScope same(0, "a part of it"), larger(2'000'000, "the same part");
    CHECK(current_budget() == budget);
    const MemoryScope lower(50'000, "a smaller part");
    CHECK(current_budget() != budget);
    const Array<double> inner(5'000);
    CHECK(current_budget()->left() == 10'000);
    CHECK(budget->left() == 1'000'000 - 80'000 - 20'000 - 1000 - 40'000);
    CHECK_THROWS_WITH(
        Array<double>(5'000),
        Catch::Contains("a smaller part needs 40000 bytes of memory, 10000 of the 50000 that are allowed"));
    CHECK_THROWS_WITH(MemoryReservation(40'000, "a list"), Catch::StartsWith("a list needs 40000"));
    {
      const MemoryScope buffers{MemoryScope::Uncounted{}};
      CHECK(current_budget() == nullptr);
      CHECK_NOTHROW(Array<double>(1'000'000));
    }
    CHECK(current_budget()->left() == 10'000);
  }
  CHECK(budget->left() == 1'000'000);
  // Threads of a loop count against the caller's budget, and forget it.
  try {
    parallel_for(64, 4, [&](std::uint64_t) {
      const Array<double> array(10'000);
      if (current_budget() != budget) throw Error(errc::internal, "another budget");
    });
    parallel_for(2, 2, [](std::uint64_t) { const Array<double> array(200'000); });
    FAIL("too much was allocated");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
    CHECK(e.message() ==
          "an operation needs 1600000 bytes of memory, 1000000 of the 1000000 that are allowed are left");
  }
  CHECK(budget->left() == 1'000'000);
}

TEST_CASE("a plan is refused if it takes more memory than is allowed, in every layout that plans much") {
  Entries entries;
  std::mt19937_64 rng(7);
  for (std::uint64_t k = 0; k < 60'000; ++k) entries[{rng() % 6000, rng() % 6000}] = 1 + static_cast<double>(k);
  const CsrMatrix a = make_csr(6000, 6000, entries);
  for (const char* const strategy : {"csell", "bitflag", "amb", "pjds", "nus_sell", "segmented_sell", "ccoo"}) {
    CAPTURE(strategy);
    encoder::EncodeRequest request{.strategy = strategy, .threads = 2, .force_size = true};
    request.memory_limit = 8192;
    MemorySink sink;
    CHECK_THROWS_WITH(
        encoder::encode(a.view(), request, sink),
        Catch::StartsWith(fmt::format("planning {}", strategy)) || Catch::StartsWith("sorting 6000 columns"));
    request.memory_limit = std::uint64_t{64} << 20;
    MemorySink enough;
    CHECK_NOTHROW(encoder::encode(a.view(), request, enough));
  }
  // What grows with the longest row counts, too.
  CsrMatrix row = allocate_csr(1, 1'000'000, 1'000'000, ValueType::f64);
  row.row_ptr[0] = 0;
  row.row_ptr[1] = row.nnz();
  std::iota(row.col_idx.begin(), row.col_idx.end(), std::uint32_t{0});
  std::fill(std::get<Array<double>>(row.values).begin(), std::get<Array<double>>(row.values).end(), 2.5);
  MemorySink of_row;
  CHECK_THROWS_WITH(encoder::encode(row.view(), {.strategy = "hyb", .threads = 2, .memory_limit = 4U << 20U}, of_row),
                    Catch::StartsWith("planning hyb needs"));
  encoder::EncodeRequest request{.strategy = "csr", .transpose = true};
  request.memory_limit = a.view().bytes() / 2;
  MemorySink sink;
  CHECK_THROWS_WITH(encoder::encode(a.view(), request, sink), Catch::StartsWith("the transpose needs"));
}

TEST_CASE("the tables of a container are counted") {
  const Array<std::byte> bytes = in_memory(make_csr(3, 3, {{{0, 0}, 2}}), {.strategy = "csr"});
  const auto source = memory_source(std::span<const std::byte>(bytes.data(), bytes.size()));
  CHECK_THROWS_WITH(Container::open(source, "A", 500), Catch::Contains("A: tables needs"));
  CHECK_NOTHROW(Container::open(source, "A", 5000));
}

TEST_CASE("memory is refused with its size") {
  MemorySink sink(1000);
  CHECK_THROWS_WITH(encoder::encode(make_csr(3, 3, {}), {}, sink), Catch::Contains("a container in memory"));
  CHECK_THROWS_WITH(sink.write_at(5, std::as_bytes(std::span("x"))), Catch::Contains("at 5 of 0"));
}

TEST_CASE("a matrix is assembled from lists in any order, and what repeats is added up in the order of the list") {
  std::mt19937_64 rng(3);
  const std::uint64_t rows = 700, cols = 300;
  std::vector<std::int32_t> row, col;
  std::vector<double> value;
  Entries entries;
  std::uint64_t duplicates = 0;
  for (int k = 0; k < 9000; ++k) {
    row.push_back(static_cast<std::int32_t>(rng() % rows / 3));
    col.push_back(static_cast<std::int32_t>(rng() % cols));
    value.push_back(random_value<double>(rng, 3));
    const auto [at, is_new] = entries.try_emplace({row.back(), col.back()}, value.back());
    if (!is_new) at->second += value.back();
    duplicates += is_new ? 0 : 1;
  }
  REQUIRE(duplicates > 100);
  const CsrMatrix expected = make_csr(rows, cols, entries);
  const SourceMatrix lists = assemble<std::int32_t, double>(rows, cols, row, col, value, 2);
  CHECK(equal_bits(lists.matrix, expected));
  CHECK(lists.provenance.entries == 9000);
  CHECK(lists.provenance.duplicates == duplicates);
  const std::vector<std::int64_t> wide_row(row.begin(), row.end()), wide_col(col.begin(), col.end());
  CHECK(equal_bits(assemble<std::int64_t, double>(rows, cols, wide_row, wide_col, value).matrix, expected));

  // The same as CSR: rows in order, columns not.
  std::vector<std::size_t> order(row.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return row[i] < row[j]; });
  std::vector<std::int32_t> row_ptr(rows + 1), csr_col;
  std::vector<double> csr_value;
  for (const std::size_t k : order) {
    ++row_ptr[static_cast<std::size_t>(row[k]) + 1];
    csr_col.push_back(col[k]);
    csr_value.push_back(value[k]);
  }
  for (std::size_t r = 0; r < rows; ++r) row_ptr[r + 1] += row_ptr[r];
  const CsrView view(rows, cols, std::span<const std::int32_t>(row_ptr), std::span<const std::int32_t>(csr_col),
                     std::span<const double>(csr_value));
  CHECK_FALSE(view.columns_increase());
  CHECK_THROWS_WITH(view.check(), Catch::Contains("sort the columns"));
  CHECK(equal_bits(assemble(view, 2).matrix, expected));
  CHECK(expected.view().columns_increase());
}

TEST_CASE("lists that make no matrix are refused") {
  using List = std::vector<std::int64_t>;
  using Values = std::vector<float>;
  const auto assemble = [](std::uint64_t rows, std::uint64_t cols, const List& row, const List& col, const Values& v) {
    return spmvpack::assemble<std::int64_t, float>(rows, cols, row, col, v);
  };
  CHECK(assemble(0, 0, {}, {}, {}).matrix.nnz() == 0);
  CHECK_THROWS_WITH(assemble(2, 2, {0}, {0}, {1, 2}), Catch::Contains("1 rows, 1 columns and 2 values"));
  CHECK_THROWS_WITH(assemble(2, 2, {0, 2}, {0, 0}, {1, 2}), Catch::Contains("entry 1 is in row 2 of 2"));
  CHECK_THROWS_WITH(assemble(2, 2, {0, 1}, {-1, 0}, {1, 2}), Catch::Contains("entry 0 is in column -1 of 2"));
  CHECK_THROWS_WITH(assemble(max_dimension, 2, {}, {}, {}), Catch::Contains("must stay below"));
  CHECK_THROWS_WITH(assemble(1, 1, {0, 0}, {0, 0}, {3e38F, 3e38F}), Catch::Contains("add up to a value"));
}

TEST_CASE("64-bit columns become 32-bit ones, or are refused") {
  const std::vector<std::int64_t> columns{0, 4, 2};
  const Array<std::uint32_t> narrow = narrow_indices(columns, 5);
  CHECK(std::vector<std::uint32_t>(narrow.begin(), narrow.end()) == std::vector<std::uint32_t>{0, 4, 2});
  CHECK_THROWS_WITH(narrow_indices(columns, 4), Catch::Contains("index 4 of entry 1 is not below 4"));
  const std::vector<std::int64_t> negative{-1};
  CHECK_THROWS_WITH(narrow_indices(negative, 5), Catch::Contains("index -1 of entry 0"));
  const std::vector<std::int64_t> beyond{std::int64_t{1} << 32};
  CHECK_THROWS_AS(narrow_indices(beyond, std::uint64_t{1} << 40), Error);
}

TEST_CASE("a report on arrays is the report on a matrix") {
  const CsrMatrix a = make_csr(4, 3, {{{0, 0}, 2}, {{1, 2}, 3}, {{3, 1}, 4}});
  SourceMatrix source{clone(a), Field::real, Symmetry::general, {}};
  source.provenance.entries = 3;
  CHECK(analyzer::to_json(analyzer::make_report(a.view())) == analyzer::to_json(analyzer::make_report(source)));
}

TEST_CASE("a multiply takes its type from y") {
  const CsrMatrix a = make_csr(2, 3, {{{0, 0}, 2}, {{1, 2}, 3}});
  const HostMatrix matrix = HostMatrix::load(Container::open(memory_source(in_memory(a, {})), "memory"));
  const std::vector<double> x{1, 2, 3}, expected{2, 9};
  std::vector<double> y(2);
  matrix.multiply(1.0, x, 0.0, y);
  CHECK(y == expected);
  matrix.multiply(2, std::span(x), 0.5, std::span(y));
  CHECK(y == std::vector<double>{5, 22.5});
  std::array<double, 2> fixed{};
  std::vector<double> same = x;
  matrix.multiply(1, std::span(same), 0, fixed, 2);
  CHECK(std::vector<double>(fixed.begin(), fixed.end()) == expected);
  matrix.multiply<double>(1, {x.data(), 3}, 0, {y.data(), 2});
  CHECK(y == expected);
}

}  // namespace spmvpack::test
