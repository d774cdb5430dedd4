// csell by the passes of gpu_encoder, on the host: every section has the bytes that encoder gives it.

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "csell_cases.hpp"
#include "layouts/csell.hpp"
#include "matrices.hpp"
#include "on_host.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/generators/kinds.hpp"
#include "spmvpack/generators/matrix_build.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::gpu_encoder {

template PlannedPart plan_csell(const OnHost&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder

namespace spmvpack::test {
namespace {

using gpu_encoder::DeviceEncodeRequest;

DeviceEncodeRequest csell(Settings settings) { return {.strategy = "csell", .settings = std::move(settings)}; }

std::string text(const DeviceEncodeRequest& request) {
  std::string all;
  for (const auto& [setting, value] : request.settings) all.append(setting).append("=").append(value).append(" ");
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

void check_same(const CsrMatrix& a, const DeviceEncodeRequest& request) {
  const std::string where = compared(a, request);
  INFO(where);
  CHECK(where.empty());
}

/// A GPU of so few multiprocessors that small matrices have windows of x, and tables.
encoder::Aim for_a_small_gpu() {
  encoder::Profile profile = encoder::default_profile(encoder::Target::gpu);
  profile.device.multiprocessors = 1;
  profile.device.small_entries = 1000;
  encoder::Aim aim;
  aim.profile = std::make_shared<const encoder::Profile>(profile);
  return aim;
}

}  // namespace

TEMPLATE_TEST_CASE("csell: passes make the bytes of the host's encoder", "", double, float) {
  for (CsellRequest& r : csell_requests())
    for (const NamedMatrix& m : random_matrices<TestType>(31, r.values)) {
      r.request.force_size = true;
      INFO(m.name << ", values " << r.values << ", " << text(r.request));
      check_same(m.matrix, r.request);
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
    check_same(c.matrix, request);
    // Chosen among what is planned, by time and by bytes.
    if (c.values != "step" && c.name.find("tiles") == std::string::npos) continue;
    DeviceEncodeRequest chosen = csell({});
    chosen.aim = for_a_small_gpu();
    check_same(c.matrix, chosen);
    chosen.aim = {.optimize = encoder::Objective::bytes};
    check_same(c.matrix, chosen);
  }
}

TEST_CASE("csell: passes make the bytes of the host's encoder of generated matrices") {
  struct Generated {
    const char *matrix, *values;
  };
  constexpr std::array<Generated, 9> all{{{"hpcg --grid 15x16x17", "raw"},
                                          {"hpcg --grid 15x16x17", "auto"},
                                          {"convection-diffusion --grid 20x17x13", "auto"},
                                          {"convection-diffusion --grid 20x17x13 --coefficients random", "raw"},
                                          {"elasticity --grid 6x7x5", "auto"},
                                          {"elasticity --grid 6x7x5 --materials random --mesh jittered", "raw"},
                                          {"circuit --rows 3000", "raw"},
                                          {"rmat --scale 10 --edge-factor 16", "raw"},
                                          {"lp --rows 100 --cols 40000 --per-row 200", "auto"}}};
  for (const Generated& generated : all) {
    INFO(generated.matrix << ", " << generated.values);
    auto [kind, options] = generators::parse_kind(generated.matrix);
    const CsrMatrix a = generators::build_generated(*kind.make(options), {}).matrix;
    check_same(a, csell({{"csell.values", generated.values}}));
  }
}

TEST_CASE("csell: columns next to 2^32 have steps, too") {
  std::mt19937_64 rng(1);
  constexpr std::uint64_t cols = 4294967293;
  const CsrMatrix a = from_rows<double>(100, cols, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row{static_cast<std::uint32_t>(cols - 101 + r), static_cast<std::uint32_t>(cols - 1)};
    if (r >= 64) row.push_back(static_cast<std::uint32_t>(rng()) / 2);
    if (r < 32) row.push_back(static_cast<std::uint32_t>(r));
    return row;
  });
  for (const char* const values : {"raw", "step"}) check_same(a, csell({{"csell.values", values}}));
}

TEST_CASE("csell: slices whose hashes are the same are compared") {
  using namespace gpu_encoder::csell;
  // Three lists, and slices without a pattern.
  std::mt19937_64 rng(2);
  const CsrMatrix a = from_rows<double>(640, 1U << 20U, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t c = 0; c < 2 + r / 32 % 3; ++c) row.push_back(static_cast<std::uint32_t>(r + c));
    for (std::uint64_t c = 0; r >= 480 && c < 9; ++c) row.push_back(static_cast<std::uint32_t>(rng() % (1U << 20U)));
    return row;
  });
  HostArena arena;
  gpu_encoder::Memory memory(arena.source(), 0);
  const gpu_encoder::OnHost run(memory);
  const Rows rows(gpu_encoder::csr_of(device_csr(a)), 1);
  const auto plan = [&](const Hashing& hashing) { return *plan_columns(run, rows, false, hashing); };
  const ColumnsPlan right = plan({});
  CHECK(right.sums.lists == 3);
  CHECK(right.sums.in_patterns == 15);
  // With four hashes, some seeds give different lists the same one.
  int attempts = 1;
  for (;; ++attempts) {
    try {
      const ColumnsPlan found = plan({.mask = 3, .attempts = attempts});
      CHECK(found.sums.lists == right.sums.lists);
      CHECK(found.sums.uneven_steps == right.sums.uneven_steps);
      CHECK(found.sums.units == right.sums.units);
      for (std::uint64_t s = 0; s < 15; ++s) CHECK(found.owner.data()[s] == s % 3);
      break;
    } catch (const Error& e) {
      REQUIRE(e.code() == errc::unsupported);
      REQUIRE(attempts < 64);
    }
  }
  CHECK_THROWS_AS(plan({.mask = 0}), Error);
}

}  // namespace spmvpack::test
