// pkt on the GPU: the host's bits from packets and threads of all sizes; with a remainder in coo, right sums. Part of
// gpu_test.

#include "catch.hpp"
#include "host_products.hpp"
#include "matrices.hpp"
#include "products.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;
using Settings = std::map<std::string, std::string>;

template <class A, class V>
void require_bits_of_host(const CsrMatrix& matrix, const Settings& settings) {
  const Encoded file = encode(matrix, "pkt", settings);
  const HostProducts<V> host(file, matrix);
  if (open(file.bytes).parts().size() == 1) return require_products(file, host);
  const DeviceMatrix a = load_device(file.bytes);  // coo's kernel has an order of its own: tests/orders/csr.hpp
  REQUIRE(a.device_bytes() == file.device_bytes);
  const std::vector<V> found = multiply<V>(a, host.x, "");
  require_correct<A>(matrix, host.x, found);
  REQUIRE(same_bits(multiply<V>(a, host.x, ""), found));
}

/// Rows of 0 to `longest` entries, most of them near the diagonal.
template <class T>
CsrMatrix near_diagonal(std::uint64_t n, std::uint32_t longest) {
  std::mt19937_64 rng(n);
  return from_rows<T>(n, n, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(rng() % (longest + 1));
    for (std::uint32_t& c : row)
      c = static_cast<std::uint32_t>(rng() % 50 == 0 ? rng() % n : std::min(n - 1, r + rng() % 40));
    return row;
  });
}

template <class A, class V>
void all_packets() {
  for (const std::uint64_t n : {1U, 2U, 31U, 3071U, 3072U})
    for (const char* const threads : {"1", "33", "512", "1024"}) {
      INFO(n << " rows, " << threads << " threads");
      require_bits_of_host<A, V>(near_diagonal<A>(n, 12), {{"pkt.threads", threads}});
    }
  const CsrMatrix large = near_diagonal<A>(100'003, 12);
  require_bits_of_host<A, V>(near_diagonal<A>(3001, 12),
                             {{"pkt.rows", "1"}, {"pkt.threads", "2"}});  // more than blocks
  if (encoder::metis_version().empty()) return;
  for (const char* const rows : {"20", "1000", "3072"})
    for (const char* const threads : {"32", "100", "512"}) {
      INFO("packets of " << rows << " rows, " << threads << " threads");
      require_bits_of_host<A, V>(large, {{"pkt.rows", rows}, {"pkt.threads", threads}});
    }
}

}  // namespace

TEST_CASE("pkt gives the host's bits, and with a remainder in coo what is right, in packets of one row to all",
          "[short]") {
  all_packets<double, double>();
  all_packets<float, float>();
  all_packets<float, double>();
}

}  // namespace spmvpack::test
