// `auto` by the passes of gpu_encoder, on the host: all that it counts is what encoder counts, and it takes what
// encoder's rule takes of the same layouts.

#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "choice/choose.hpp"
#include "csell_cases.hpp"
#include "matrices.hpp"
#include "on_host.hpp"
#include "requests.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/weigh.hpp"
#include "spmvpack/generators/kinds.hpp"
#include "spmvpack/generators/matrix_build.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using encoder::XCache;
using gpu_encoder::DeviceChoice;
using gpu_encoder::DeviceEncodeRequest;

/// A GPU of so few multiprocessors, and such small caches, that small matrices have all that large ones have.
encoder::Aim for_a_tiny_gpu() {
  encoder::Profile profile = encoder::default_profile(encoder::Target::gpu);
  profile.device.multiprocessors = 1;
  profile.device.small_entries = 1000;
  profile.x_caches = {2000, 1200, 500};
  encoder::Aim aim;
  aim.profile = std::make_shared<const encoder::Profile>(profile);
  return aim;
}

std::vector<encoder::Aim> aims() {
  std::vector<encoder::Aim> all{{}, for_a_tiny_gpu(), {.optimize = encoder::Objective::bytes}, for_a_tiny_gpu()};
  all.back().columns = 16;
  return all;
}

CsrMatrix generated(const char* spec) {
  auto [kind, options] = generators::parse_kind(spec);
  return generators::build_generated(*kind.make(options), {}).matrix;
}

std::string text(const std::vector<encoder::Counter>& work) {
  std::string all;
  for (const encoder::Counter& c : work)
    if (c.value != 0) all += c.name + "=" + std::to_string(c.value) + " ";
  return all;
}

/// All that the time of a part depends on.
std::string text(const encoder::PartPlan& p) {
  return text(p.work) + "| " + text(p.columns.each) + "| " + text(p.columns.pass) + std::to_string(p.columns.at_once) +
         " " + std::to_string(p.near_entries) + " " + std::to_string(static_cast<int>(p.in_chunks)) + " " +
         std::to_string(p.fetch_limit) + " " + std::to_string(p.unread_bytes) + " " + std::to_string(p.device_bytes());
}

encoder::PlanOptions host_options(const DeviceEncodeRequest& request, const CsrMatrix& a) {
  encoder::PlanOptions options = gpu_encoder::plan_options(request);
  options.threads = 1;
  if (!request.updatable) options.values = encoder::ValueTable::count(a, 1, false);
  return options;
}

/// Whether the host has a form of csell that a device has not.
bool has_mirrors(const encoder::PartPlan& plan) {
  namespace csell = layouts::csell;
  return plan.info.layout == "csell" && csell::has_mirrors(csell::source_of(plan.info));
}

/// What is planned by the layout's name: by passes, and by encoder. Where neither refuses it, the facts are the same.
void check_plan(const CsrMatrix& m, const DeviceEncodeRequest& request) {
  HostArena arena;
  gpu_encoder::Memory memory(arena.source(), 0);
  const gpu_encoder::OnHost run(memory);
  const gpu_encoder::Csr a = gpu_encoder::csr_of(device_csr(m));
  const gpu_encoder::PartOptions options{gpu_encoder::plan_options(request), true, true};
  std::string expected = "refused", found = expected;
  try {
    const encoder::Plan plan = encoder::find_strategy(request.strategy).plan(m, host_options(request, m));
    if (has_mirrors(plan.parts[0])) return;
    expected = text(plan.parts[0]);
  } catch (const Error& e) {
    REQUIRE(encoder::is_refusal(e));
  }
  for (const auto& layout : gpu_encoder::all_layouts<gpu_encoder::OnHost>()) try {
      if (layout.name == request.strategy) found = text(layout.plan(run, a, options).plan);
    } catch (const Error& e) {
      REQUIRE(encoder::is_refusal(e));
    }
  CHECK(found == expected);
}

/// encoder's rule among the layouts that a device has. Layout and seconds.
std::pair<std::string, double> chosen_by_host(const CsrMatrix& m, const DeviceEncodeRequest& request) {
  const encoder::PlanOptions options = host_options(request, m);
  std::optional<encoder::XSectors> x;
  if (request.aim.optimize == encoder::Objective::time)
    x = encoder::x_sectors(m, 1, encoder::profile_of(request.aim).x_caches);
  std::vector<encoder::Candidate> candidates;
  for (const encoder::Strategy& strategy : encoder::strategies()) {
    const auto names = gpu_encoder::layouts_on_device();
    if (std::find(names.begin(), names.end(), strategy.name) == names.end()) continue;
    if (strategy.name == "bitflag" && !x && encoded_by_host(m, request).empty()) continue;
    if (strategy.name != "csr" && !encoder::is_weighed(strategy, m, request.aim)) continue;
    try {
      candidates.push_back(encoder::weigh(strategy, m, options, x).candidate);
    } catch (const Error& e) {
      REQUIRE(encoder::is_refusal(e));
    }
  }
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(m.rows, m.nnz(), m.value_type());
  const encoder::Candidate& best = candidates[encoder::choose(candidates, csr_bytes, request.aim.optimize).index];
  return {std::string(best.strategy), best.seconds};
}

/// `auto` takes what the rule takes, says so, and makes the bytes of the host's encoder.
void check_choice(const CsrMatrix& m, const DeviceEncodeRequest& request) {
  HostArena arena;
  const gpu_encoder::EncodedMatrix encoded = encode_on_host(arena, device_csr(m), request);
  REQUIRE(encoded.choices.size() == encoded.parts.size());
  const DeviceChoice& choice = encoded.choices[0];
  CHECK(choice.layout == encoded.parts[0].info.layout);
  DeviceEncodeRequest named = request;
  named.strategy = choice.layout;
  for (const auto& [setting, value] : request.settings)
    if (setting.substr(0, setting.find('.')) != choice.layout) named.settings.erase(setting);
  CHECK(difference(encoded.parts, open(encoded_by_host(m, named))).empty());
  const bool decided_alike = request.aim.optimize == encoder::Objective::time;  // fewest bytes: bitflag is refused
  if (!decided_alike) return;
  const auto [layout, seconds] = chosen_by_host(m, request);
  CHECK(choice.layout == layout);
  CHECK(choice.seconds == seconds);
}

/// Caches of all kinds, some of which hold x, or a group's entries; of many groups all are simulated, or a sample.
std::vector<XCache> caches() {
  std::vector<XCache> all;
  for (const std::uint64_t bytes : {0U, 32U, 500U, 4000U, 300'000U, 2'000'000U})
    for (const std::uint64_t rows : {0U, 1U, 7U, 64U}) {
      all.push_back({.bytes = bytes, .rows_per_cache = rows});
      all.push_back({.bytes = bytes, .entries_per_cache = 37 * rows});
      if (rows == 1) {
        all.push_back({.bytes = bytes, .rows_per_cache = rows, .simulated_entries = 200});
        all.push_back({.bytes = bytes, .entries_per_cache = 37, .simulated_entries = 1});
      }
    }
  return all;
}

std::uint64_t lines_by_passes(const CsrMatrix& m, const XCache& cache) {
  HostArena arena;
  gpu_encoder::Memory memory(arena.source(), 0);
  return gpu_encoder::x_traffic::x_lines_loaded(gpu_encoder::OnHost(memory), gpu_encoder::csr_of(device_csr(m)), cache);
}

}  // namespace

TEST_CASE("auto: passes count what gathers load of x as encoder does") {
  std::mt19937_64 rng(5);
  std::vector<CsrMatrix> all;
  for (NamedMatrix& m : random_matrices<double>(33, 3)) all.push_back(std::move(m.matrix));
  // Groups that fill a warp's table, others that do not, and one that is sorted in pieces.
  all.push_back(from_rows<double>(300, 900'000, rng, 1, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(r == 250 ? 70'000 : r % 64 < 32 ? 400 : 3);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % (r % 3 == 0 ? 5000 : 900'000));
    return row;
  }));
  for (const CsrMatrix& m : all)
    for (const XCache& cache : caches()) {
      INFO(m.rows << " x " << m.cols << ", " << m.nnz() << ": " << cache.bytes << " " << cache.rows_per_cache << " "
                  << cache.entries_per_cache);
      CHECK(lines_by_passes(m, cache) == encoder::x_lines_loaded(m, cache, 1));
    }
}

TEST_CASE("auto: passes survey a matrix as encoder does") {
  for (const NamedMatrix& m : random_matrices<double>(34, 1)) {
    INFO(m.name);
    const encoder::Survey expected = encoder::survey_of(m.matrix, encoder::ValueTable::count(m.matrix, 1, true), 1);
    HostArena arena;
    gpu_encoder::Memory memory(arena.source(), 0);
    const encoder::Survey s = survey_of(gpu_encoder::OnHost(memory), gpu_encoder::csr_of(device_csr(m.matrix)), false);
    CHECK(s.longest_row == expected.longest_row);
    CHECK(s.filled_rows == expected.filled_rows);
    CHECK(s.slice_slots == expected.slice_slots);
    CHECK(s.far_apart == expected.far_apart);
    CHECK(s.pieces == expected.pieces);
    CHECK(s.shared_pieces == expected.shared_pieces);
    CHECK(s.columns == expected.columns);
    CHECK(s.segments == expected.segments);
    CHECK(s.diagonals == expected.diagonals);
    CHECK(s.values->distinct() == std::min<std::uint64_t>(expected.values->distinct(), 4097));
    CHECK(s.values->covered(256) >= expected.values->covered(256));
  }
}

TEST_CASE("auto: passes find the facts of each layout that encoder finds") {
  for (const int values : {1, 4})
    for (const NamedMatrix& m : random_matrices<double>(35, values))
      for (DeviceEncodeRequest request : encode_requests()) {
        if (!request.settings.empty() && (values != 4 || request.strategy != "bitflag")) continue;
        request.aim = for_a_tiny_gpu();
        INFO(name_of(request) << ", " << m.name << ", values " << values);
        check_plan(m.matrix, request);
      }
  for (const CsellCase& c : csell_cases<double>()) {
    INFO(c.name);
    check_plan(c.matrix, {.strategy = "csell", .aim = for_a_tiny_gpu()});
  }
}

TEMPLATE_TEST_CASE("auto: a device takes what encoder's rule takes of its layouts", "", double, float) {
  const bool all = sizeof(TestType) == 8;
  for (const int values : all ? std::vector{0, 1, 4} : std::vector{1})
    for (const NamedMatrix& m : random_matrices<TestType>(36, values)) {
      INFO(m.name << ", values " << values);
      check_choice(m.matrix, {.aim = for_a_tiny_gpu()});
      if (values == 1) check_choice(m.matrix, {.aim = for_a_tiny_gpu(), .updatable = true});
    }
}

TEST_CASE("auto: a device takes what encoder's rule takes of generated matrices") {
  for (const char* const spec : {"hpcg --grid 15x16x17", "convection-diffusion --grid 20x17x13 --coefficients random",
                                 "elasticity --grid 6x7x5 --materials random", "circuit --rows 3000",
                                 "rmat --scale 10 --edge-factor 16", "lp --rows 100 --cols 40000 --per-row 200"}) {
    const CsrMatrix m = generated(spec);
    for (const encoder::Aim& aim : aims()) {
      INFO(spec << ", columns " << aim.columns);
      check_choice(m, {.aim = aim});
    }
    check_choice(m, {.settings = {{"csell.values", "raw"}, {"bitflag.tile", "4"}}});
  }
}

TEST_CASE("auto: what a device leaves out is named with a bound") {
  const CsrMatrix m = generated("lp --rows 100 --cols 40000 --per-row 200");
  HostArena arena;
  const gpu_encoder::EncodedMatrix encoded = encode_on_host(arena, device_csr(m), {.transpose = true});
  REQUIRE(encoded.choices.size() == 2);
  CHECK(encoded.choices[1].role == format::Role::transpose);
  const DeviceChoice& choice = encoded.choices[0];
  CHECK(choice.refused.empty());
  std::optional<encoder::XSectors> x = encoder::x_sectors(m, 1);
  encoder::PlanOptions options;
  options.only_own = true;
  std::size_t bounds = 0;
  for (const gpu_encoder::LeftOut& left : choice.left_out) {
    INFO(left.strategy);
    const auto names = gpu_encoder::layouts_on_device();
    CHECK(std::find(names.begin(), names.end(), left.strategy) == names.end());
    if (!left.least_seconds) continue;
    ++bounds;
    try {
      const encoder::Weighed weighed = encoder::weigh(encoder::find_strategy(left.strategy), m, options, x);
      CHECK(*left.least_seconds <= weighed.asked_for.seconds);
      CHECK(*left.least_bytes <= weighed.asked_for.plan.device_bytes());
    } catch (const Error& e) {  // what split makes, others make, too
      REQUIRE(encoder::is_refusal(e));
    }
  }
  CHECK(bounds >= 5);
  CHECK(encode_on_host(arena, device_csr(m), {.strategy = "sell"}).choices.empty());
}

TEST_CASE("auto: a hypersparse matrix is in csr, as a device has no layout for it") {
  HostArena arena;
  CsrMatrix sparse = allocate_csr(1'000'000, 3, 0, ValueType::f64);
  std::fill(sparse.row_ptr.begin(), sparse.row_ptr.end(), 0);
  const gpu_encoder::EncodedMatrix empty = encode_on_host(arena, device_csr(sparse), {});
  CHECK(empty.choices[0].layout == "csr");
  CHECK(empty.choices[0].reason.find("nearly all rows are empty") != std::string::npos);
}

}  // namespace spmvpack::test
