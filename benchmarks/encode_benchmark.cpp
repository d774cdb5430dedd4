// Plans and fills matrices of all kinds in memory, and encodes them as a whole, on one thread, and tells the processor
// time that it takes: on a machine that others use, too, elapsed time would tell about them. The table goes to standard
// output, all figures to a JSON file, to which fit_encode_times.py fits the prices of predicted times.
//
//     encode_benchmark REPEATS OUT.json [NAME...]
//
// NAME: a matrix or a case below, such as 7-point-random, csell or amb.block=2; without, all are measured.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/suite.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::bench {
namespace {

/// Those of the suite, smaller: 5 to 12 M nonzeros.
constexpr std::array matrices{
    SuiteMember{"5-point", "", "laplace2d --grid 1400x1400"},
    SuiteMember{"7-point-constant", "", "convection-diffusion --grid 148x148x58"},
    SuiteMember{"7-point-local", "", "convection-diffusion --grid 148x148x58 --coefficients blocks:8"},
    SuiteMember{"7-point-random", "", "convection-diffusion --grid 148x148x58 --coefficients random"},
    SuiteMember{"27-point-constant", "", "hpcg --grid 72x72x72"},
    SuiteMember{"27-point-local", "", "hpcg --grid 72x72x72 --coefficients blocks:8"},
    SuiteMember{"27-point-random", "", "hpcg --grid 72x72x72 --coefficients random"},
    SuiteMember{"elasticity-constant", "", "elasticity --grid 36x36x36"},
    SuiteMember{"elasticity-local", "", "elasticity --grid 36x36x36 --materials blocks:4"},
    SuiteMember{"elasticity-random", "", "elasticity --grid 36x36x36 --materials random --mesh jittered"},
    SuiteMember{"triangles-constant", "", "triangles --grid 1200x1200 --numbering shuffled:1024 --mesh uniform"},
    SuiteMember{"triangles-local", "",
                "triangles --grid 1200x1200 --numbering shuffled:1024 --coefficients blocks:16 --mesh uniform"},
    SuiteMember{"triangles-random", "", "triangles --grid 1200x1200 --numbering shuffled:1024 --coefficients random"},
    SuiteMember{"kkt-local", "", "kkt --grid 54x54x54 --coefficients blocks:8"},
    SuiteMember{"kkt-random", "", "kkt --grid 54x54x54 --coefficients random"},
    SuiteMember{"circuit", "", "circuit --rows 1500000"},
    SuiteMember{"rmat", "", "rmat --scale 19 --edge-factor 16"},
    SuiteMember{"lp-wide", "", "lp --rows 4284 --cols 1096894 --per-row 2000 --coefficients constant"},
    SuiteMember{"random-5", "", "random --rows 1600000 --per-row 5"},
    SuiteMember{"random-16", "", "random --rows 500000 --per-row 16"},
    SuiteMember{"logdist", "", "logdist --rows 500000"},
};

double processor_seconds() {
  constexpr double nanosecond = 1e-9;
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + nanosecond * static_cast<double>(now.tv_nsec);
}

/// The writer's way: a block of each section after the other.
void fill_all(const encoder::Plan& plan, const CsrView& a, std::span<std::byte> block) {
  for (const encoder::PartPlan& part : plan.parts)
    for (std::size_t i = 0; i < part.sections.size(); ++i)
      for (std::uint64_t at = 0, size = part.sections[i].raw_bytes(); at < size; at += block.size())
        fill_section(part, a, i, at, block.first(std::min<std::uint64_t>(block.size(), size - at)));
}

/// What is measured: a strategy with its settings.
struct Case {
  std::string name;
  const encoder::Strategy* strategy;
  std::map<std::string, std::string> settings;
  encoder::Aim aim = {};
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const encoder::Strategy& s : encoder::strategies()) all.push_back({s.name, &s, {}});
  for (const char* block : {"1", "2", "3", "4", "5", "6", "7", "8"})
    all.push_back({fmt::format("amb.block={}", block), &encoder::find_strategy("amb"), {{"amb.block", block}}});
  for (const char* values : {"raw", "mirror"})
    all.push_back(
        {fmt::format("csell.values={}", values), &encoder::find_strategy("csell"), {{"csell.values", values}}});
  all.push_back({"target=host", &encoder::find_strategy("auto"), {}, {.target = encoder::Target::host}});
  all.push_back({"optimize=bytes", &encoder::find_strategy("auto"), {}, {.optimize = encoder::Objective::bytes}});
  return all;
}

/// The least time of `repeats`: what disturbs only adds.
nlohmann::json measure(const CsrView& a, const Case& c, int repeats, std::span<std::byte> block) {
  encoder::PlanOptions options;
  options.threads = 1;
  options.settings = c.settings;
  options.aim = c.aim;
  encoder::EncodeRequest request{.strategy = c.strategy->name, .settings = c.settings, .aim = c.aim, .threads = 1};
  double plan_seconds = 0, fill_seconds = 0, encode_seconds = 0;
  nlohmann::json result;
  for (int i = 0; i < repeats; ++i) {
    double start = processor_seconds();
    const encoder::Plan plan = c.strategy->plan(a, options);
    const double planned = processor_seconds() - start;
    plan_seconds = i == 0 ? planned : std::min(plan_seconds, planned);
    result["device_bytes"] = plan.device_bytes();
    const std::uint64_t csr_bytes = a.bytes();
    if (encoder::too_large(plan.device_bytes(), csr_bytes)) continue;  // encode would refuse it
    start = processor_seconds();
    fill_all(plan, a, block);
    const double filled = processor_seconds() - start;
    fill_seconds = i == 0 ? filled : std::min(fill_seconds, filled);
    MemorySink sink;
    start = processor_seconds();
    encoder::encode(a, request, sink);
    const double encoded = processor_seconds() - start;
    encode_seconds = i == 0 ? encoded : std::min(encode_seconds, encoded);
  }
  result["plan_seconds"] = plan_seconds;
  if (fill_seconds != 0) result["fill_seconds"] = fill_seconds;
  if (encode_seconds != 0) result["encode_seconds"] = encode_seconds;
  return result;
}

/// The names given, or all if none of them is of this kind.
using Names = std::vector<std::string_view>;
bool has(const Names& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

nlohmann::json measure(const SuiteMember& member, const Names& wanted, int repeats) {
  const SourceMatrix source = make_member(member);
  const CsrView a = source.matrix.view();
  nlohmann::json out{{"matrix", member.name},
                     {"generator", member.generator},
                     {"rows", a.rows()},
                     {"nonzeros", a.nnz()},
                     {"symmetric", encoder::facts_of(a).found != Symmetry::general},
                     {"x_sectors", encoder::x_sectors(a).from_l2}};
  Array<std::byte> block(format::block_bytes, std::byte{});
  fmt::print("{}: {} nonzeros\n", member.name, a.nnz());
  const auto rate = [&](double seconds) { return 1e-6 * static_cast<double>(a.nnz()) / seconds; };
  for (const Case& c : cases()) {
    if (!has(wanted, c.name)) continue;
    nlohmann::json& result = out["strategies"][c.name];
    try {
      result = measure(a, c, repeats, {block.data(), block.size()});
    } catch (const Error& e) {
      if (!encoder::is_refusal(e)) throw;
      result["refused"] = e.message();
      continue;
    }
    const double plan = result["plan_seconds"];
    fmt::print("  {:16} plan {:7.1f} M/s", c.name, rate(plan));
    if (result.contains("fill_seconds")) {
      const double fill = result["fill_seconds"];
      fmt::print("  fill {:7.1f} M/s  both {:7.1f} M/s", rate(fill), rate(plan + fill));
    }
    fmt::print("\n");
  }
  return out;
}

}  // namespace
}  // namespace spmvpack::bench

int main(int argc, char** argv) try {
  using namespace spmvpack::bench;
  constexpr int first_name = 3;
  const int repeats = argc >= first_name ? std::atoi(argv[1]) : 0;
  if (repeats <= 0) {
    fmt::print(stderr, "usage: encode_benchmark REPEATS OUT.json [NAME...]\n");
    return 2;
  }
  const std::vector<Case> all = cases();
  Names wanted_matrices, wanted_cases;
  for (const std::string_view name : Names(argv + first_name, argv + argc)) {
    if (std::any_of(matrices.begin(), matrices.end(), [&](const SuiteMember& m) { return m.name == name; }))
      wanted_matrices.push_back(name);
    else if (std::any_of(all.begin(), all.end(), [&](const Case& c) { return c.name == name; }))
      wanted_cases.push_back(name);
    else
      throw spmvpack::Error(spmvpack::errc::usage, fmt::format("no matrix and no case is named '{}'", name));
  }
  nlohmann::json out{{"threads", 1}, {"repeats", repeats}};
  for (const SuiteMember& member : matrices)
    if (has(wanted_matrices, member.name)) out["matrices"].push_back(measure(member, wanted_cases, repeats));
  std::ofstream(argv[2]) << out.dump(2) << '\n';
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "encode_benchmark: {}\n", e.what());
  return 1;
}
