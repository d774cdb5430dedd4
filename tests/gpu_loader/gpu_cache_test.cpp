// What multiplies leave in the L2 cache: the same bits, whatever it is. Part of gpu_test.

#include <limits>

#include "cache_policies.hpp"
#include "catch.hpp"
#include "device.hpp"
#include "matrices.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceLoadOptions;
using gpu_loader::DeviceMatrix;

TEST_CASE("policies of the L2 cache are those that the device makes", "[short]") {
  CachePolicies made;
  REQUIRE(made_policies(made));
  CHECK(made == used_policies());
}

TEST_CASE("a matrix gives the same bits whether it stays in the cache or not, and a share is from 0 to 1", "[short]") {
  std::mt19937_64 rng(51);
  const auto each_type = [&]<class V>(V) {
    const CsrMatrix matrix = from_rows<V>(20'000, 3000, rng, 3, [&](std::uint64_t r) {
      std::vector<std::uint32_t> row(r % 97 == 0 ? 70 : r % 9);
      for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 3000);
      return row;
    });
    const std::vector<V> x = random_vector<V>(3000, 7);
    for (const char* const layout : {"amb", "bitflag", "ccoo", "csell", "ell", "ellpack_r", "pjds", "sell"}) {
      INFO(layout);
      const std::vector<std::byte> bytes = encode(matrix, layout).bytes;
      const auto product = [&](double share) {
        DeviceLoadOptions options;
        options.cache_share = share;
        return multiply<V>(DeviceMatrix::load(open(bytes), nullptr, options), x, "");
      };
      const std::vector<V> y = product(0);
      CHECK(same_bits(product(1), y));
    }
  };
  each_type(double{});
  each_type(float{});
  const std::vector<std::byte> bytes = encode(make_csr(1, 1, {{{0, 0}, 1.0}}), "csr").bytes;
  for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    DeviceLoadOptions options;
    options.cache_share = share;
    try {
      static_cast<void>(DeviceMatrix::load(open(bytes), nullptr, options));
      FAIL("a share of " << share);
    } catch (const Error& e) {
      CHECK(e.code() == errc::usage);
      CHECK(std::string(e.what()).find("cache_share is ") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace spmvpack::test
