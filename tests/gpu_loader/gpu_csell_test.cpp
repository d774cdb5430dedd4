// csell on the GPU: the host's bits from every source of values and kind of columns, and what its checks refuse. Also
// amb where threads take two lanes, or a row's. Part of gpu_test.

#include <numeric>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "host_products.hpp"
#include "variants.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;
using gpu_loader::Scalar;
using Settings = std::map<std::string, std::string>;

template <class A, class V>
void all_cases() {
  for (const CsellCase& c : csell_cases<A>())
    for (const char* const sums : {"1", "2", "4"}) {
      INFO(c.values << ", " << c.name << ", sums " << sums);
      require_bits_of_host<V>(c.matrix, "csell", {{"csell.values", c.values}, {"csell.sums", sums}});
    }
}

/// Rows from which on loading makes windows; lines of so many points that have them.
std::uint64_t rows_for_windows() { return (32 * multiprocessors() - 1) * 32 + 1; }
std::uint32_t lines_for_windows(std::uint32_t length) {
  return static_cast<std::uint32_t>((rows_for_windows() + length - 1) / length);
}

/// The matrix again and again, below and to the right of itself, until windows are made. Each begins where a slice
/// does.
template <class A>
CsrMatrix repeated(const CsrMatrix& once) {
  const std::uint64_t rows = (once.rows + 31) / 32 * 32, cols = (once.cols + 31) / 32 * 32,
                      times = rows_for_windows() / rows + 1;
  const auto& values = std::get<Array<A>>(once.values);
  std::mt19937_64 rng(1);
  CsrMatrix all = from_rows<A>(rows * times, std::max(rows, cols) * times, rng, 0, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t k = r % rows < once.rows ? once.row_ptr[r % rows] : 0,
                       end = r % rows < once.rows ? once.row_ptr[r % rows + 1] : 0;
         k < end; ++k)
      row.push_back(once.col_idx[k] + static_cast<std::uint32_t>(r / rows * rows));
    return row;
  });
  auto& to = std::get<Array<A>>(all.values);
  for (std::uint64_t k = 0; k < to.size(); ++k) to[k] = values[k % values.size()];
  return all;
}

template <class A, class V>
void all_windows() {
  std::size_t cases = 0;
  const auto require_windows = [&](const CsrMatrix& matrix, const std::string& values) {
    const Settings settings{{"csell.values", values}, {"csell.sums", "1"}};
    const DeviceMatrix a = load_device(encode(matrix, "csell", settings).bytes);
    if (a.prepared_bytes() == 0) return;
    ++cases;
    require_bits_of_host<V>(matrix, "csell", settings);
  };
  for (const CsellCase& c : csell_cases<A>()) {
    INFO(c.values << ", " << c.name);
    if (c.counters == std::vector<std::string>{"groups.pattern"} && (c.values == "step" || c.values == "single") &&
        c.name.find("blocks") == std::string::npos)
      require_windows(repeated<A>(c.matrix), c.values);
  }
  // Programs of two pairs of slices, and of one; lines that end within both; rows of no whole pair.
  for (const std::uint32_t length : {64U, 96U, 1000U, 1001U})
    for (const bool corners : {false, true}) {
      INFO("lines of " << length << ", corners " << corners);
      require_windows(stencil<A>(lines_for_windows(length), length, corners, 0), "single");
    }
  require_windows(band<A>(rows_for_windows() + 77, 30, 0), "single");
  const CsrMatrix three_batches = band<A>(4 * rows_for_windows() + 128, 17, 0);
  require_windows(three_batches, "single");
  // Of two pairs of slices: programs of one, which have eight bytes each, take as much as half of the slices'.
  CHECK(load_device(encode(three_batches, "csell", {{"csell.sums", "1"}}).bytes).prepared_bytes() <
        three_batches.rows / 64 * 8);
  CHECK(cases >= 13);
}

/// A skew-symmetric matrix of few values: diagonals so far from the main one and as far on its other side, in lines of
/// `length` that neighbours do not cross.
CsrMatrix skew_diagonals(std::uint64_t rows, std::uint32_t length, const std::vector<std::uint32_t>& distances) {
  std::mt19937_64 rng(1);
  CsrMatrix pattern = from_rows<double>(rows, rows, rng, 0, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (const std::uint32_t d : distances) {
      if (r >= d && (d != 1 || r % length != 0)) row.push_back(static_cast<std::uint32_t>(r - d));
      if (r + d < rows && (d != 1 || (r + 1) % length != 0)) row.push_back(static_cast<std::uint32_t>(r + d));
    }
    return row;
  });
  return with_values<double>(std::move(pattern), [](std::uint64_t r, std::uint32_t c) {
    return static_cast<double>(c) - static_cast<double>(r);
  });
}

/// By windows: any alpha and beta, by value and in device memory, of A and of A^T, which is -A; y at any place, and its
/// rows in any order.
void require_windows_with_any_operands(const CsrMatrix& matrix) {
  const encoder::PlanOptions options{.settings = {{"csell.values", "step"}, {"csell.sums", "1"}}};
  const DeviceMatrix a = load_device(encode(matrix, "csell", options.settings).bytes);
  REQUIRE(a.prepared_bytes() != 0);
  std::vector<std::uint32_t> places(matrix.rows);
  std::iota(places.begin(), places.end(), 3U);
  std::shuffle(places.begin(), places.end(), std::mt19937_64(2));
  const DeviceMatrix listed =
      load_device(with_rows(matrix, "csell", options, encoder::PartIndices::of(places), matrix.rows + 5));
  REQUIRE(listed.prepared_bytes() != 0);
  const auto x = random_vector<double>(matrix.cols, 7), y0 = random_vector<double>(matrix.rows + 5, 8);
  const DeviceVector<double> device_x(x);
  std::vector<double> sums(matrix.rows);
  host_loader::HostMatrix::load(open(encode(matrix, "csell", options.settings).bytes)).multiply<double>(1, x, 0, sums);
  const auto require_product = [&](const DeviceMatrix& m, bool transpose, bool on_device, double beta,
                                   std::size_t shift) {
    constexpr double alpha = -2.5;
    const auto rows = static_cast<std::size_t>(m.facts().rows);
    std::vector<double> expected(y0.begin(), y0.begin() + static_cast<std::ptrdiff_t>(rows));
    DeviceVector<double> y(rows, shift);
    if (beta != 0) y.set(expected);
    for (double& e : expected) e = beta == 0 ? 0.0 : beta * e;
    for (std::size_t r = 0; r < sums.size(); ++r) {
      double& e = expected[rows == sums.size() ? r : places[r]];
      if (matrix.row_ptr[r] != matrix.row_ptr[r + 1]) e = std::fma(transpose ? -alpha : alpha, sums[r], e);
    }
    const DeviceVector<double> scalars(std::vector<double>{alpha, beta});
    const auto scalar = [&](double value, int place) {
      return on_device ? Scalar<double>::on_device(scalars.data() + place) : Scalar<double>(value);
    };
    const gpu_loader::DeviceMultiplier multiplier(m,
                                                  describe<double>(transpose ? Operation::transpose : Operation::none));
    multiplier.multiply<double>(scalar(alpha, 0), device_x.view(), scalar(beta, 1), y.span(), nullptr);
    INFO("transpose " << transpose << ", on device " << on_device << ", beta " << beta << ", shift " << shift
                      << ", listed " << (&m == &listed));
    REQUIRE(same_bits(y.get(), expected));
  };
  for (const bool on_device : {false, true})
    for (const double beta : {0.0, 0.75}) {
      for (const bool transpose : {false, true})
        for (const std::size_t shift : {0, 1}) require_product(a, transpose, on_device, beta, shift);
      require_product(listed, false, on_device, beta, 0);
    }
}

/// What loading on the device says; the host refuses the file, too.
std::string refusal_on_device(const std::vector<std::byte>& file) {
  CHECK_THROWS_AS(host_loader::HostMatrix::load(open(file)), Error);
  try {
    load_device(file);
  } catch (const Error& e) {
    return e.code() == errc::corrupt ? e.message() : "not corrupt: " + e.message();
  }
  return {};
}

}  // namespace

TEST_CASE("csell: the host's bits from every source of values and kind of columns, with any number of sums",
          "[short]") {
  SECTION("f64") { all_cases<double, double>(); }
  SECTION("f32") { all_cases<float, float>(); }
  SECTION("f32 matrix, f64 vectors") { all_cases<float, double>(); }
}

TEST_CASE("csell: the host's bits with more slices than a device works on at once", "[short]") {
  // Blocks of as many threads as there are, with teams of every size; tiles in pieces.
  for (const char* const sums : {"1", "2", "4"}) {
    INFO("sums " << sums);
    for (const char* const values : {"raw", "table"}) {
      const int kind = values == std::string("raw") ? 3 : 2;
      const Settings settings{{"csell.values", values}, {"csell.sums", sums}};
      require_bits_of_host<double>(band<double>(200003, 9, kind), "csell", settings);
      // Offsets of 16 bits, and of 8 and 16, of which no slice has all: rows have up to 9 entries.
      require_bits_of_host<float>(clustered<float>(200003, 1000000, 1000, 9, kind), "csell", settings);
      require_bits_of_host<double>(clustered<double>(200003, 1000000, 400, 9, kind), "csell", settings);
      require_bits_of_host<double>(scattered<double>(70001, 1000000, 9, kind), "csell", settings);  // of 32 bits
      // Tables of blocks: of few values, so that a multiprocessor has as many threads as it has room for.
      for (const std::uint32_t b : {2U, 3U, 4U})
        require_bits_of_host<double>(in_blocks<double>(band<double>(150001, 3, 0), b, kind == 2 ? 1 : kind, 1), "csell",
                                     settings);
    }
    require_bits_of_host<double>(by_tiles<double>(300, 100), "csell",
                                 {{"csell.values", "table"}, {"csell.sums", sums}});
    require_bits_of_host<double>(band<double>(200003, 9, 0), "csell", {{"csell.sums", sums}});
    require_bits_of_host<float>(stencil<float>(701, 641, true, 0), "csell", {{"csell.sums", sums}});
    require_bits_of_host<double>(
        with_values<double>(band<double>(200003, 9, 0), [](auto r, auto c) { return static_cast<double>(c - r); }),
        "csell", {{"csell.values", "step"}, {"csell.sums", sums}});
    for (const std::uint32_t b : {1U, 3U})
      require_bits_of_host<double>(both_halves<double>(band<double>(150001 / b, 4, 0), b), "csell",
                                   {{"csell.values", "mirror"}, {"csell.sums", sums}});
  }
}

TEST_CASE("csell: the same bits with and without windows, which a memory limit can forbid", "[short]") {
  const CsrMatrix matrix = stencil<double>(lines_for_windows(96), 96, true, 0);
  const Encoded file = encode(matrix, "csell", {{"csell.sums", "1"}});
  const auto x = random_vector<double>(matrix.cols, 5);
  const DeviceMatrix with = load_device(file.bytes);
  CHECK(with.prepared_bytes() != 0);
  gpu_loader::DeviceLoadOptions options;
  options.memory_limit = with.allocated_bytes();
  CHECK(DeviceMatrix::load(open(file.bytes), nullptr, options).prepared_bytes() == with.prepared_bytes());
  options.memory_limit = with.allocated_bytes() - 1;
  const DeviceMatrix without = DeviceMatrix::load(open(file.bytes), nullptr, options);
  CHECK(without.prepared_bytes() == 0);
  CHECK(same_bits(multiply<double>(with, x, ""), multiply<double>(without, x, "")));
  const CsrMatrix few = stencil<double>(lines_for_windows(96) - 1, 96, true, 0);
  CHECK(load_device(encode(few, "csell", {{"csell.sums", "1"}}).bytes).prepared_bytes() == 0);
}

TEST_CASE("csell: the host's bits where loading makes windows, for one pair of slices and for two") {
  SECTION("f64") { all_windows<double, double>(); }
  SECTION("f32") { all_windows<float, float>(); }
  SECTION("f32 matrix, f64 vectors") { all_windows<float, double>(); }
}

TEST_CASE("csell: windows take scalars in device memory, A^T of a skew-symmetric matrix, and any place of y's rows",
          "[short]") {
  const std::uint64_t rows = rows_for_windows() + 77;
  SECTION("two pairs of slices") { require_windows_with_any_operands(skew_diagonals(rows, 1000, {1, 1000})); }
  SECTION("one pair") { require_windows_with_any_operands(skew_diagonals(rows, 99, {1, 99, 198, 297, 396})); }
}

TEST_CASE("csell: an error that a caller left behind stays with tables beyond the usual shared memory", "[short]") {
  const CsrMatrix matrix = by_tiles<double>(1, 7000);
  const DeviceMatrix a = load_device(encode(matrix, "csell", {{"csell.values", "table"}}).bytes);
  void* none = nullptr;
  REQUIRE(cudaMalloc(&none, std::size_t{1} << 60U) == cudaErrorMemoryAllocation);
  CHECK_NOTHROW(multiply<double>(a, random_vector<double>(matrix.cols, 5), ""));
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("csell: each check on the device has a file that lies to it, and names it", "[short]") {
  const std::vector<std::byte> raw = encode(worked_example(), "csell", {{"csell.values", "raw"}}).bytes,
                               table = encode(worked_example(), "csell", {{"csell.values", "table"}}).bytes;
  const auto found = [](const std::vector<std::byte>& file, std::string_view section, std::size_t element,
                        std::uint32_t value, std::string_view text) {
    const std::string message = refusal_on_device(with_element(file, section, element, value));
    INFO(section << ' ' << element << ": " << message);
    CHECK(message.find(text) != std::string::npos);
  };
  constexpr std::string_view places = "slices: a slice's pieces are out of range",
                             columns = "a column is out of range, comes twice or falls",
                             groups = "a group is empty, or has steps after its end";
  found(raw, "slices", 0, 1, places);
  found(raw, "slices", 1, 1, places);
  found(raw, "slices", 2, 1, places);
  found(raw, "slices", 3, 2, places);
  found(raw, "slices", 3, 0x101, places);
  found(raw, "slices", 3, ~0U, places);
  found(raw, "patterns", 3, 0, columns);
  found(raw, "patterns", 0, ~1U, columns);
  found(raw, "patterns", 4, 0b10010, columns);
  found(raw, "patterns", 4, 0, groups);
  found(table, "patterns", 5, 0b1010, "an offset, id, count, value or reference of no entry");
  found(encode(band<double>(96, 3, 0), "csell", {{"csell.values", "single"}}).bytes, "patterns", 5, 0xFFFF0000,
        "the entries are not as many");
  found(table, "tiles", 0, 1, "tiles: a table is out of range");
  found(table, "tiles", 1, 2, "tiles: a table is out of range");
  CHECK(refusal_on_device(with_element<std::uint8_t>(table, "stream", 1, 3)).find("an id is not in the table") !=
        std::string::npos);

  // Mirrors: of another column, of a mirror, of a slot beyond, and own slots.
  const std::vector<std::byte> mirror =
      encode(both_halves<double>(band<double>(90, 3, 0)), "csell", {{"csell.values", "mirror"}}).bytes;
  const auto referring = [](std::size_t step, std::uint16_t reference, const std::vector<std::byte>& file) {
    return refusal_on_device(with_element(file, "references", step, reference));
  };
  constexpr std::string_view other = "a mirror of another entry", slots = "a slot that the slice does not have";
  CHECK(referring(0, 3, mirror).find(other) != std::string::npos);
  CHECK(referring(0, 7, mirror).find(other) != std::string::npos);
  CHECK(referring(0, 6, mirror).find(slots) != std::string::npos);
  CHECK(referring(2, 2, mirror).find(slots) != std::string::npos);
  CHECK(referring(3, 5, mirror).find("of no entry") != std::string::npos);
  CHECK(referring(5, 1, mirror).find("of no entry") != std::string::npos);
  found(mirror, "slices", 2, 8, places);
  found(mirror, "slices", 4 + 2, 23, places);
  found(mirror, "slices", 4 + 2, 80, places);
  found(mirror, "slices", 0, 1U << 30U, places);
  found(mirror, "slices", 0, 3U << 30U, places);
  found(raw, "slices", 0, 1U << 30U, places);

  // A slice at the last unit that there may be, followed by a unit with its counts: not read.
  const std::vector<std::byte> three = encode(band<double>(96, 3, 3), "csell", {{"csell.values", "raw"}}).bytes;
  found(with_element(three, "slices", 4 + 3, ~0U), "slices", 4 + 1, ~0U, places);
}

TEST_CASE("amb in single precision gives the host's bits where threads take two lanes", "[short]") {
  // From 4,096 lanes per multiprocessor on: enough rows for 146 of them.
  const CsrMatrix a = band<float>(600011, 3, 3);
  std::mt19937_64 rng(3);
  const CsrMatrix uneven = from_rows<float>(600011, 5000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    const auto first = static_cast<std::uint32_t>(rng() % 4990);
    for (std::uint32_t c = 0; c < r % 7; ++c) row.push_back(first + c);
    if (r == 77777) row = {0, 1000, 2000, 3000, 4000};  // too many segments of 900 for one thread
    return row;
  });
  for (const char* const block : {"1", "2", "3", "4", "5", "6", "7", "8"})
    for (const char* const segment : {"65536", "900"}) {
      INFO("blocks of " << block << ", segments of " << segment);
      const Settings settings{{"amb.block", block}, {"amb.segment", segment}};
      for (const CsrMatrix* const m : {&a, &uneven}) {
        require_bits_of_host<float>(*m, "amb", settings);
        require_bits_of_host<double>(*m, "amb", settings);
      }
    }
}

TEST_CASE("amb: a thread takes the lanes of a row where all have four at most, with the host's bits", "[short]") {
  for (const std::uint32_t most : {2U, 4U, 5U, 40U})
    for (const char* const block : {"1", "3"})
      for (const char* const segment : {"100", "1000"}) {  // of those, there are four
        INFO(most << " lanes, blocks of " << block << ", segments of " << segment);
        const Settings settings{{"amb.block", block}, {"amb.segment", segment}};
        const CsrMatrix d = rows_over_ranges<double>(3000, 40, 100, most),
                        f = rows_over_ranges<float>(3000, 40, 100, most);
        require_bits_of_host<double>(d, "amb", settings);
        require_bits_of_host<float>(f, "amb", settings);
        require_bits_of_host<double>(f, "amb", settings);
        const std::vector<std::byte> file = encode(d, "amb", settings).bytes;
        const DeviceMatrix a = load_device(file);
        const bool four_segments = segment == std::string("1000"), one_kernel = four_segments || most <= 4;
        CHECK(launches(a, "", 0.5) == (one_kernel ? 1 : 2));
        CHECK((a.workspace_bytes(by<double>("amb/ordered")) == 0) == four_segments);
        if (one_kernel)  // single precision with blocks: never
          CHECK(launches(load_device(encode(f, "amb", settings).bytes), "", 0.5) ==
                (block == std::string("1") ? 1 : 2));
        // alpha = 0: x is not read.
        const std::vector<double> nan(d.cols, std::nan("")), y0 = random_vector<double>(d.rows, 8);
        std::vector<double> half(y0);
        for (double& y : half) y *= 0.5;
        REQUIRE(same_bits(multiply<double>(a, nan, "", 0, 0.5, &y0), half));
        REQUIRE(same_bits(multiply<double>(a, nan, "", 0), std::vector<double>(d.rows)));
        if (!one_kernel || four_segments) continue;
        // Without memory for it, the second kernel.
        gpu_loader::DeviceLoadOptions options;
        options.memory_limit = a.allocated_bytes() - 1;
        const DeviceMatrix small = DeviceMatrix::load(open(file), nullptr, options);
        CHECK(small.allocated_bytes() < a.allocated_bytes());
        CHECK(launches(small, "", 0.5) == 2);
        const auto x = random_vector<double>(d.cols, 7);
        REQUIRE(same_bits(multiply<double>(small, x, "", -2.5, 0.5, &y0), multiply<double>(a, x, "", -2.5, 0.5, &y0)));
      }
}

}  // namespace spmvpack::test
