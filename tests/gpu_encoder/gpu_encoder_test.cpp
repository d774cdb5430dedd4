// Encoding by the passes of gpu_encoder, on the host: every section has the bytes that encoder gives it.

#include "catch.hpp"
#include "layouts/csr.hpp"
#include "layouts/ell.hpp"
#include "layouts/sell.hpp"
#include "matrices.hpp"
#include "on_host.hpp"

namespace spmvpack::test {
namespace {

using gpu_encoder::DeviceEncodeRequest;

std::vector<DeviceEncodeRequest> requests() {
  std::vector<DeviceEncodeRequest> all{{.strategy = "csr"}, {.strategy = "ell"}, {.strategy = "sell"}};
  all.push_back({.strategy = "sell", .settings = {{"sell.sigma", "1"}}});
  all.push_back({.strategy = "sell", .settings = {{"sell.c", "5"}, {"sell.sigma", "12"}}});
  all.push_back({.strategy = "sell", .settings = {{"sell.c", "100"}, {"sell.sigma", "4294967295"}}});
  return all;
}

std::string name(const DeviceEncodeRequest& request) {
  std::string text = request.strategy;
  for (const auto& [setting, value] : request.settings) text += " " + setting + "=" + value;
  return text + (request.transpose ? " with the transpose" : "");
}

}  // namespace

TEMPLATE_TEST_CASE("passes make the bytes of the host's encoder", "", double, float) {
  for (const NamedMatrix& m : random_matrices<TestType>(29, 4))
    for (DeviceEncodeRequest request : requests())
      for (const bool transpose : {false, true}) {
        request.transpose = transpose;
        INFO(name(request) << ", " << m.name);
        CHECK(compared(m.matrix, request).empty());
      }
}

}  // namespace spmvpack::test
