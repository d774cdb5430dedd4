// Loading into device memory: what is refused and what is not, the ring, the caller's allocator. Part of gpu_test.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "catch.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceLoadOptions;
using gpu_loader::DeviceMatrix;
using host_loader::HostMatrix;

/// The golden files of a kind ("accept", "reject"), sorted.
std::vector<std::string> golden(const std::string& kind) {
  const char* const elsewhere = std::getenv("SPMVPACK_TEST_GOLDEN_DIR");  // NOLINT(concurrency-mt-unsafe)
  const std::filesystem::path directory = elsewhere != nullptr ? elsewhere : SPMVPACK_TEST_GOLDEN;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory / kind))
    if (entry.path().extension() == ".spmvc") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() > 40);
  return paths;
}

/// What loading says, "" where it succeeds; errors of another kind pass.
template <class Load>
std::string refusal(Load&& load) {
  try {
    load();
  } catch (const Error& e) {
    if (e.code() != errc::corrupt && e.code() != errc::unsupported) throw;
    return std::string(to_string(e.code()));
  }
  return "";
}

/// Multiplies by every kernel as the host does, within the bound of a row of a few entries.
template <class T>
void require_same_matrix(const DeviceMatrix& a, const HostMatrix& host) {
  std::vector<T> x = random_vector<T>(a.facts().cols, 3);
  const std::vector<T> y0 = random_vector<T>(a.facts().rows, 4);
  std::vector<T> expected = y0;
  host.multiply<T>(2, x, T(0.5), expected, 1);
  for (const auto& kernel : a.kernels()) {
    INFO(kernel.name);
    const std::vector<T> y = multiply<T>(a, x, kernel.name, 2, T(0.5), &y0);
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::isnan(y[i]) && std::isnan(expected[i])) && y[i] != expected[i])
        REQUIRE(y[i] == Approx(expected[i]).epsilon(1e-5));
  }
}

/// Chunks of ccoo that are smaller than a warp, which only hosts multiply.
bool has_small_chunks(const std::string& path) {
  constexpr std::uint64_t warp = 32;
  const Container container = Container::open(path);
  return std::any_of(container.parts().begin(), container.parts().end(),
                     [](const PartInfo& p) { return p.layout == "ccoo" && p.params[0] < warp; });
}

/// Workspace of the default kernels, from the part table: parts run one after the other, and a list map needs a copy of
/// x or y on a boundary of 256 bytes.
std::uint64_t workspace_in_table(const std::string& path) {
  const Container container = Container::open(path);
  std::uint64_t most = 0;
  for (const PartInfo& part : container.parts()) {
    std::uint64_t bytes = part.workspace_bytes;
    for (const IndexMap& map : {part.rows, part.cols})
      if (map.kind == format::MapKind::list) bytes += round_up(map.count * size_of(part.value_type), 256);
    most = std::max(most, bytes);
  }
  return most;
}

CsrMatrix tridiagonal(std::uint64_t n) {
  std::mt19937_64 rng(n);
  return from_rows<double>(n, n, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row{static_cast<std::uint32_t>(r)};
    if (r != 0) row.push_back(static_cast<std::uint32_t>(r - 1));
    if (r + 1 < n) row.push_back(static_cast<std::uint32_t>(r + 1));
    return row;
  });
}

}  // namespace

TEST_CASE("golden files: the GPU's loader takes and refuses what the host's does", "[short]") {
  for (const char* const kind : {"accept", "reject"})
    for (const std::string& path : golden(kind)) {
      INFO(path);
      std::string expected = refusal([&] { HostMatrix::load(path); });
      const std::string found = refusal([&] { DeviceMatrix::load(path); });
      if (expected.empty() && has_small_chunks(path)) expected = "unsupported";
      REQUIRE(found == expected);
      if (!found.empty()) continue;
      const DeviceMatrix a = DeviceMatrix::load(path);
      REQUIRE(a.workspace_bytes() == workspace_in_table(path));
      const HostMatrix host = HostMatrix::load(path);
      if (a.facts().value_type == ValueType::f64)
        require_same_matrix<double>(a, host);
      else
        require_same_matrix<float>(a, host);
    }
}

TEST_CASE("what is wrong is named, and an option trusts it") {
  const CsrMatrix m = make_csr(2, 2, {{{0, 0}, 1.0}, {{1, 1}, 2.0}});
  for (const std::string& path : golden("reject")) {
    if (path.find("csr_column_twice") == std::string::npos) continue;
    try {
      DeviceMatrix::load(path);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code() == errc::corrupt);
      CHECK(e.message() == "col_idx: columns do not increase within a row");
      CHECK(e.where().find("part 0") != std::string::npos);
    }
    DeviceLoadOptions trusting;
    trusting.check_structure = false;
    CHECK_NOTHROW(DeviceMatrix::load(path, nullptr, trusting));
  }
}

TEST_CASE("any ring and number of threads load the same matrix; a flipped bit is noticed") {
  const CsrMatrix m = tridiagonal(400000);
  const std::vector<double> x = random_vector<double>(m.cols, 1);
  std::vector<double> expected(m.rows);
  for (const auto codec : {format::Codec::none, format::Codec::zstd}) {
    Encoded file = encode(m, "csr", {}, codec);
    HostMatrix::load(open(file.bytes)).multiply<double>(1, x, 0, expected, 2);
    for (const std::uint64_t ring : {std::uint64_t{0}, std::uint64_t{3} << 20U, std::uint64_t{64} << 20U})
      for (const int threads : {1, 7}) {
        DeviceLoadOptions options;
        options.ring_bytes = ring;
        options.threads = threads;
        const DeviceMatrix a = DeviceMatrix::load(open(file.bytes), nullptr, options);
        REQUIRE(same_bits(multiply<double>(a, x, "scalar"), expected));
      }
    file.bytes[format::header_bytes + (std::size_t{5} << 20U) / (codec == format::Codec::none ? 1 : 8)] ^= std::byte{1};
    CHECK(refusal([&] { DeviceMatrix::load(open(file.bytes)); }) == "corrupt");
  }
}

TEST_CASE(
    "of many damaged blocks the first is named, whatever the ring and the threads, and nobody waits for the rest") {
  Encoded file = encode(tridiagonal(1000000), "csr");
  for (std::size_t mib = 10; mib < 30; ++mib) file.bytes[format::header_bytes + (mib << 20U)] ^= std::byte{1};
  const Container container = open(file.bytes);
  std::string expected;
  try {
    container.check_blocks();
  } catch (const Error& e) {
    expected = e.where();
  }
  REQUIRE(!expected.empty());
  for (int round = 0; round < 5; ++round)
    for (const std::uint64_t ring : {std::uint64_t{0}, std::uint64_t{5} << 20U, std::uint64_t{64} << 20U})
      for (const int threads : {1, 2, 16, 40}) {
        DeviceLoadOptions options;
        options.ring_bytes = ring;
        options.threads = threads;
        try {
          DeviceMatrix::load(container, nullptr, options);
          FAIL("accepted");
        } catch (const Error& e) {
          CHECK(e.code() == errc::corrupt);
          CHECK(e.where() == expected);
        }
      }
}

TEST_CASE("memory: limits, the caller's allocator, interruption") {
  const Encoded file = encode(tridiagonal(1000), "csr");
  std::uint64_t allocated = 0;
  int alive = 0;
  DeviceLoadOptions options;
  options.allocator.allocate = [&](std::uint64_t bytes) {
    void* memory = nullptr;
    cuda(cudaMalloc(&memory, bytes));
    allocated += bytes;
    ++alive;
    return memory;
  };
  options.allocator.release = [&](void* memory) {
    --alive;
    cudaFree(memory);
  };
  {
    const DeviceMatrix a = DeviceMatrix::load(open(file.bytes), nullptr, options);
    CHECK(a.allocated_bytes() == allocated);
    CHECK(a.prepared_bytes() != 0);
    CHECK(alive == 2);
    const DeviceMatrix copy = a;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
  options.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  CHECK_THROWS_AS(DeviceMatrix::load(open(file.bytes), nullptr, options), Error);
  CHECK(alive == 0);
  options.progress = nullptr;
  options.memory_limit = 1000;
  try {
    DeviceMatrix::load(open(file.bytes), nullptr, options);
    FAIL("loaded");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
  }
  options.memory_limit = 0;
  options.allocator.allocate = [](std::uint64_t) { return nullptr; };
  CHECK_THROWS_AS(DeviceMatrix::load(open(file.bytes), nullptr, options), Error);
}

}  // namespace spmvpack::test
