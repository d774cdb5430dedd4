// csell by the passes of gpu_encoder, on the host: every section has the bytes that encoder gives it.

#include "layouts/csell.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "matrices.hpp"
#include "on_host.hpp"

namespace spmvpack::gpu_encoder {

template EncodedPart encode_csell(const OnHost&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder

namespace spmvpack::test {
namespace {

using gpu_encoder::DeviceEncodeRequest;

DeviceEncodeRequest csell(Settings settings) { return {.strategy = "csell", .settings = std::move(settings)}; }

std::string text(const DeviceEncodeRequest& request) {
  std::string all;
  for (const auto& [setting, value] : request.settings) all += setting + "=" + value + " ";
  return all;
}

std::vector<DeviceEncodeRequest> csell_requests() {
  std::vector<DeviceEncodeRequest> all;
  for (const char* const values : {"raw", "table", "step", "single"}) all.push_back(csell({{"csell.values", values}}));
  all.push_back(csell({{"csell.values", "raw"}, {"csell.sums", "4"}, {"csell.block", "1"}}));
  all.push_back(csell({}));
  all.back().updatable = true;
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("csell: passes make the bytes of the host's encoder", "", double, float) {
  for (const int values : {0, 1, 2, 4})
    for (const NamedMatrix& m : random_matrices<TestType>(31, values))
      for (DeviceEncodeRequest request : csell_requests()) {
        request.force_size = true;
        INFO(m.name << ", values " << values << ", " << text(request));
        CHECK(compared(m.matrix, request) == "");
      }
}

TEMPLATE_TEST_CASE("csell: passes take every path of the layout", "", double, float) {
  for (const CsellCase& c : csell_cases<TestType>()) {
    const DeviceEncodeRequest request = csell({{"csell.values", c.values}});
    INFO(c.name << ", " << c.values);
    if (c.values == "mirror" || c.values == "skew") {
      CHECK(compared(c.matrix, request).find("only the host plans") != std::string::npos);
      continue;
    }
    CHECK(compared(c.matrix, request) == "");
  }
}

}  // namespace spmvpack::test
