// bitflag on the GPU: the host's bits from every source of values, kind of columns and rows, size of tiles, hot columns
// and segments in shared memory or not, and what its checks refuse. Part of gpu_test.

#include "bitflag_cases.hpp"
#include "bitflag_lies.hpp"
#include "catch.hpp"
#include "host_products.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

/// The kernel gives the host's bits, at any place in memory, for sums alone, with alpha and beta, and for beta alone.
template <class V>
void require_bits_of_host(const CsrMatrix& matrix, const Settings& settings) {
  test::require_bits_of_host<V>(matrix, "bitflag", settings);
}

template <class A, class V>
void all_cases() {
  for (const BitflagCase& c : bitflag_cases<A>()) {
    const Variant variant{c.name, c.settings};
    INFO(variant.name());
    require_bits_of_host<V>(c.matrix, c.settings);
  }
}

}  // namespace

TEST_CASE("bitflag: the host's bits from every source of values, kind of columns and rows, and tiles", "[short]") {
  SECTION("f64") { all_cases<double, double>(); }
  SECTION("f32") { all_cases<float, float>(); }
  SECTION("f32 matrix, f64 vectors") { all_cases<float, double>(); }
}

TEST_CASE("bitflag: every size of tiles, with fewer and more of them than a device works on at once", "[short]") {
  for (std::uint32_t tile = 1; tile <= layouts::bitflag::max_tile_chunks; ++tile) {
    INFO("tiles of " << tile);
    for (const char* const hot : {"0", "1000"}) {
      const Settings settings{{"bitflag.tile", std::to_string(tile)}, {"bitflag.hot", hot}};
      require_bits_of_host<double>(rows_of<double>(random_lengths(9001, 300, 2), 70000, 3), settings);
      require_bits_of_host<float>(rows_of<float>(awkward_lengths(), 100000, 1), settings);
    }
  }
  for (const char* const tile : {"1", "3", "8", "32"}) {
    INFO("tiles of " << tile);
    for (const int values : {0, 1, 3}) {
      const Settings settings{{"bitflag.tile", tile}};
      require_bits_of_host<double>(rows_of<double>(random_lengths(400003, 20, 1), 1000000, values), settings);
      require_bits_of_host<float>(rows_of<float>(random_lengths(400003, 20, 1), 60000, values), settings);
    }
  }
}

TEST_CASE("bitflag: hot columns in shared memory, and more than it has room for", "[short]") {
  // 32,768 elements of f64 are more than a block's shared memory has; 8,191 to 8,193 of f32 are about 32 KiB.
  for (const char* const hot :
       {"1", "4095", "4096", "4097", "8191", "8192", "8193", "12288", "24576", "27000", "32768"})
    for (const char* const tile : {"2", "8", "32"}) {
      INFO(hot << " hot columns, tiles of " << tile);
      const Settings settings{{"bitflag.tile", tile}, {"bitflag.hot", hot}};
      for (const int values : {0, 1, 3}) {
        require_bits_of_host<double>(rows_of<double>(random_lengths(60001, 20, 1), 50000, values), settings);
        require_bits_of_host<float>(rows_of<float>(random_lengths(60001, 20, 1), 50000, values), settings);
      }
      require_bits_of_host<double>(rows_of<float>(random_lengths(60001, 20, 1), 50000, 3), settings);
    }
}

TEST_CASE("bitflag: segments that fit shared memory, and wider ones", "[short]") {
  for (const char* const segments : {"2", "3", "8", "31", "32", "33", "65", "300"})
    for (const char* const tile : {"1", "2", "8", "32"}) {
      INFO(segments << " segments, tiles of " << tile);
      const Settings settings{{"bitflag.tile", tile}, {"bitflag.segments", segments}};
      for (const int values : {0, 1, 3}) {
        require_bits_of_host<double>(rows_of<double>(random_lengths(3001, 400, 1), 100003, values), settings);
        require_bits_of_host<float>(rows_of<float>(random_lengths(3001, 400, 1), 100003, values), settings);
      }
      require_bits_of_host<double>(rows_of<float>(random_lengths(3001, 400, 1), 100003, 3), settings);
      require_bits_of_host<double>(rows_of<double>({50000, 0, 70000, 1, 300}, 100003, 3), settings);
    }
  require_bits_of_host<double>(rows_of<double>(std::vector<std::uint32_t>(270, 8000), 80000, 3),
                               {});  // as auto cuts it
}

TEST_CASE("bitflag: segments of which one has nearly all entries, and most have none", "[short]") {
  for (const char* const segments : {"2", "8", "33", "132", "264", "300"}) {
    INFO(segments << " segments");
    for (const bool last : {false, true}) {
      CsrMatrix m = rows_of<double>(random_lengths(3001, 400, 1), 900, 3);
      m.cols = 100003;
      if (last) {  // the few, rather than the first ones
        for (auto& column : m.col_idx) column += 99100;
        m.col_idx[0] = 0;
      }
      require_bits_of_host<double>(m, {{"bitflag.segments", segments}});
    }
  }
}

TEST_CASE("bitflag: each check on the device has a file that lies to it, and names it", "[short]") {
  for (const BitflagLie& lie : bitflag_lies()) {
    INFO(lie.name);
    CHECK_THROWS_AS(host_loader::HostMatrix::load(open(lie.file)), Error);
    std::string message;
    try {
      load_device(lie.file);
    } catch (const Error& e) {
      message = e.code() == errc::corrupt ? e.message() : "not corrupt: " + e.message();
    }
    INFO(message);
    CHECK(message.find(lie.device) != std::string::npos);
  }
}

}  // namespace spmvpack::test
