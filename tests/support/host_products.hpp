#pragma once
// What a GPU multiplies beside what the host does.

#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "device.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {

/// What the host makes of random vectors: sums alone, with alpha and beta, and with alpha 0.
template <class V>
struct HostProducts {
  std::vector<V> x, y0, sums, scaled, beta_alone;

  HostProducts(const Encoded& file, const CsrMatrix& matrix)
      : x(random_vector<V>(matrix.cols, 7)),
        y0(random_vector<V>(matrix.rows, 8)),
        sums(matrix.rows),
        scaled(y0),
        beta_alone(y0) {
    const auto host = host_loader::HostMatrix::load(open(file.bytes));
    host.template multiply<V>(1, x, 0, sums, 2);
    host.template multiply<V>(V{-2.5}, x, V{0.75}, scaled, 2);
    host.template multiply<V>(0, x, V{0.75}, beta_alone, 2);
  }
};

/// The default kernel of a file gives the same bits, at any place in memory.
template <class V>
void require_products(const Encoded& file, const HostProducts<V>& host) {
  const gpu_loader::DeviceMatrix a = load_device(file.bytes);
  REQUIRE(a.device_bytes() == file.device_bytes);
  REQUIRE(same_bits(multiply<V>(a, host.x, ""), host.sums));
  REQUIRE(same_bits(multiply<V>(a, host.x, "", 1, 0, nullptr, 1), host.sums));
  REQUIRE(same_bits(multiply<V>(a, host.x, "", V{-2.5}, V{0.75}, &host.y0), host.scaled));
  REQUIRE(same_bits(multiply<V>(a, host.x, "", 0, V{0.75}, &host.y0), host.beta_alone));
}
template <class V>
void require_bits_of_host(const CsrMatrix& matrix, const std::string& layout,
                          const std::map<std::string, std::string>& settings) {
  const Encoded file = encode(matrix, layout, settings);
  require_products(file, HostProducts<V>(file, matrix));
}

}  // namespace spmvpack::test
