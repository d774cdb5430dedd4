// csell by the passes of gpu_encoder, on the host: every section has the bytes that encoder gives it.

#include "layouts/csell.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "matrices.hpp"
#include "on_host.hpp"
#include "spmvpack/encoder/time_model.hpp"

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

/// A request beside those of encode_requests(), and the kind of values (random_value) that it is for.
struct CsellRequest {
  DeviceEncodeRequest request;
  int values;
};
std::vector<CsellRequest> csell_requests() {
  std::vector<CsellRequest> all{{csell({{"csell.values", "table"}}), 1},
                                {csell({{"csell.values", "step"}}), 1},
                                {csell({{"csell.values", "single"}}), 0},
                                {csell({}), 1},
                                {csell({}), 4}};
  all.back().request.updatable = true;
  return all;
}

/// A GPU of so few multiprocessors that small matrices have windows of x, and tables.
encoder::Aim for_a_small_gpu() {
  encoder::Profile profile = encoder::default_profile(encoder::Target::gpu);
  profile.device.multiprocessors = 1;
  profile.device.small_entries = 1000;
  encoder::Aim aim;
  aim.profile = std::make_shared<const encoder::Profile>(std::move(profile));
  return aim;
}

}  // namespace

TEMPLATE_TEST_CASE("csell: passes make the bytes of the host's encoder", "", double, float) {
  for (CsellRequest& r : csell_requests())
    for (const NamedMatrix& m : random_matrices<TestType>(31, r.values)) {
      r.request.force_size = true;
      INFO(m.name << ", values " << r.values << ", " << text(r.request));
      CHECK(compared(m.matrix, r.request) == "");
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
    // Chosen among what is planned, by time and by bytes.
    if (c.values != "step" && c.name.find("tiles") == std::string::npos) continue;
    DeviceEncodeRequest chosen = csell({});
    chosen.aim = for_a_small_gpu();
    CHECK(compared(c.matrix, chosen) == "");
    chosen.aim = {.optimize = encoder::Objective::bytes};
    CHECK(compared(c.matrix, chosen) == "");
  }
}

}  // namespace spmvpack::test
