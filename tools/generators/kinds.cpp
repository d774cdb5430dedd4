#include "generators/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "generators/circuit.hpp"
#include "generators/elasticity.hpp"
#include "generators/hpcg.hpp"
#include "generators/kkt.hpp"
#include "generators/logdist.hpp"
#include "generators/rmat.hpp"
#include "generators/stencils.hpp"
#include "generators/triangles.hpp"
#include "generators/uniform.hpp"
#include "options.hpp"
#include "spmvpack/container/text.hpp"
#include "suggestion.hpp"

namespace spmvpack::tools {
namespace {

/// "148x148x58" as numbers. Error(errc::usage) unless there are `axes` of them.
std::vector<std::uint64_t> read_grid(const KindOptions& options, std::size_t axes) {
  const std::string expected =
      axes == 2 ? "give --grid NXxNY, such as 1000x1000" : "give --grid NXxNYxNZ, such as 148x148x58";
  if (!options.given("grid")) throw Error(errc::usage, "no grid", {}, expected);
  const std::string& text = options.text("grid");
  std::vector<std::uint64_t> sides;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (true) {
    std::uint64_t side = 0;
    const auto [next, error] = std::from_chars(p, end, side);
    if (error != std::errc{}) break;
    sides.push_back(side);
    p = next;
    if (p == end && sides.size() == axes) return sides;
    if (p == end || *p != 'x') break;
    ++p;
  }
  throw Error(errc::usage, fmt::format("--grid is '{}'", escape(text)), {}, expected);
}

Point read_box(const KindOptions& options) {
  const std::vector<std::uint64_t> sides = read_grid(options, 3);
  return {sides[0], sides[1], sides[2]};
}

/// A number that has to be given, or with a `fallback` need not.
std::uint64_t read_number(const KindOptions& options, const char* option, std::uint64_t fallback = 0) {
  if (options.given(option))
    return parse_number(fmt::format("--{}", option), options.text(option), 0,
                        std::numeric_limits<std::uint64_t>::max());
  if (fallback != 0) return fallback;
  throw Error(errc::usage, fmt::format("no --{}", option), {}, fmt::format("give --{} N", option));
}

std::uint64_t read_seed(const KindOptions& options) {
  if (!options.given("seed")) return 0;
  return parse_number("--seed", options.text("seed"), 0, std::numeric_limits<std::uint64_t>::max());
}

Coefficients read_coefficients(const KindOptions& options, const Coefficients& fallback = {},
                               const char* option = "coefficients") {
  if (!options.given(option)) return fallback;
  return parse_coefficients(fmt::format("--{}", option), options.text(option));
}

/// The value of an option that is one of two words; true for the second.
bool read_choice(const KindOptions& options, const char* option, std::string_view first, std::string_view second,
                 bool fallback) {
  if (!options.given(option)) return fallback;
  const std::string& text = options.text(option);
  if (text != first && text != second)
    throw Error(errc::usage, fmt::format("--{} is '{}'", option, escape(text)), {},
                fmt::format("give {} or {}", first, second));
  return text == second;
}

NumberingRule read_numbering(const KindOptions& options, NumberingRule::Kind fallback) {
  if (!options.given("numbering")) return {fallback};
  return parse_numbering("--numbering", options.text("numbering"));
}

std::unique_ptr<MatrixGenerator> make_laplace2d(const KindOptions& options) {
  const std::vector<std::uint64_t> sides = read_grid(options, 2);
  return std::make_unique<Laplace2d>(sides[0], sides[1], options.given("remove-one"), read_coefficients(options),
                                     read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_convection_diffusion(const KindOptions& options) {
  Coefficients coefficients = read_coefficients(options);
  if (options.given("variable")) {
    if (options.given("coefficients"))
      throw Error(errc::usage, "--variable and --coefficients", {}, "--variable is --coefficients random: give one");
    coefficients.kind = Coefficients::Kind::random;
  }
  return std::make_unique<ConvectionDiffusion>(read_box(options), coefficients, read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_hpcg(const KindOptions& options) {
  return std::make_unique<Hpcg>(read_box(options), read_coefficients(options), read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_elasticity(const KindOptions& options) {
  constexpr double jitter = 0.1;
  const bool moved = read_choice(options, "mesh", "uniform", "jittered", false);
  return std::make_unique<Elasticity>(read_box(options), read_coefficients(options, {}, "materials"),
                                      moved ? jitter : 0, read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_triangles(const KindOptions& options) {
  constexpr double jitter = 0.2;
  const std::vector<std::uint64_t> sides = read_grid(options, 2);
  const bool moved = read_choice(options, "mesh", "uniform", "jittered", true);
  return std::make_unique<Triangles>(sides[0], sides[1], read_numbering(options, NumberingRule::Kind::natural),
                                     read_coefficients(options), moved ? jitter : 0, read_seed(options),
                                     options.resources);
}

std::unique_ptr<MatrixGenerator> make_kkt(const KindOptions& options) {
  return std::make_unique<Kkt>(read_box(options), read_coefficients(options), read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_circuit(const KindOptions& options) {
  return std::make_unique<Circuit>(read_number(options, "rows"),
                                   read_coefficients(options, {Coefficients::Kind::random}), read_seed(options),
                                   options.resources);
}

std::unique_ptr<MatrixGenerator> make_rmat(const KindOptions& options) {
  return std::make_unique<Rmat>(read_number(options, "scale"), read_number(options, "edge-factor", 16),
                                read_numbering(options, NumberingRule::Kind::random), read_seed(options),
                                options.resources);
}

std::unique_ptr<MatrixGenerator> make_lp(const KindOptions& options) {
  return std::make_unique<LinearProgram>(
      read_number(options, "rows"), read_number(options, "cols"), read_number(options, "per-row"),
      read_choice(options, "coefficients", "constant", "signs", true), read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_logdist(const KindOptions& options) {
  return std::make_unique<LogDistance>(read_number(options, "rows"), read_number(options, "per-row", 17),
                                       read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_random(const KindOptions& options) {
  const std::uint64_t rows = read_number(options, "rows");
  return std::make_unique<Uniform>(rows, read_number(options, "cols", rows), read_number(options, "per-row"),
                                   read_coefficients(options, {Coefficients::Kind::random}), read_seed(options));
}

constexpr std::array kinds{Kind{"laplace2d",
                                "--grid NXxNY [--remove-one] [--coefficients C]",
                                "5-point Laplacian: 4 and -1. --remove-one leaves out (NX/2, NY/2):\n"
                                "1000x1000 then has the 999,999 rows and 4,995,991 nonzeros of ecology2",
                                {"grid", "remove-one", "coefficients"},
                                make_laplace2d},
                           Kind{"convection-diffusion",
                                "--grid NXxNYxNZ [--coefficients C | --variable]",
                                "7-point upwind, not symmetric, five values; --variable is random.\n"
                                "148x148x58 has the 1,270,432 rows and 8,814,880 nonzeros of atmosmodd;\n"
                                "with NZ = 1 it is the 5-point matrix of a plane",
                                {"grid", "variable", "coefficients"},
                                make_convection_diffusion},
                           Kind{"hpcg",
                                "--grid NXxNYxNZ [--coefficients C]",
                                "27 points: 26 and -1, the HPCG benchmark; symmetric positive definite.\n"
                                "120x120x120: 1,728,000 rows, 45,882,712 nonzeros",
                                {"grid", "coefficients"},
                                make_hpcg},
                           Kind{"elasticity",
                                "--grid NXxNYxNZ [--materials C] [--mesh M]",
                                "trilinear hexahedra, 3 displacements for each of the NX NY NZ nodes that\n"
                                "are free (x = 0 is clamped), 3 x 3 blocks, 81 in a row; symmetric\n"
                                "positive definite. 64x64x64: 786,432 rows, 61,731,000 nonzeros",
                                {"grid", "materials", "mesh"},
                                make_elasticity},
                           Kind{"triangles",
                                "--grid NXxNY [--numbering O] [--coefficients C] [--mesh M]",
                                "linear finite elements on a mesh of triangles, jittered by default, 7 in\n"
                                "a row; symmetric positive definite. Takes 8 bytes a row, but in natural\n"
                                "order none. 1800x1800: 3,240,000 rows, 22,665,602 nonzeros",
                                {"grid", "numbering", "coefficients", "mesh"},
                                make_triangles},
                           Kind{"kkt",
                                "--grid NXxNYxNZ [--coefficients C]",
                                "optimal boundary control: states, controls, multipliers; symmetric\n"
                                "indefinite. NxNxN, N = 80, 120, ... 240: rows and nonzeros of nlpkktN;\n"
                                "80: 1,062,400 and 28,192,672",
                                {"grid", "coefficients"},
                                make_kkt},
                           Kind{"circuit",
                                "--rows N [--coefficients C]",
                                "nodal conductances: few entries in most rows, a power law of long ones,\n"
                                "about 20,000 in those of supply rails; symmetric pattern. About 5.7 in a\n"
                                "row; random by default. Takes 16 bytes a row, 4 an entry",
                                {"rows", "coefficients"},
                                make_circuit},
                           Kind{"rmat",
                                "--scale S [--edge-factor K] [--numbering O]",
                                "a heavy-tailed directed graph, the R-MAT of Graph500: 2^S rows, K 2^S\n"
                                "edges (16 if not given), those drawn twice once; pattern. Randomly\n"
                                "numbered by default. Takes 24 bytes a row, 4 an edge",
                                {"scale", "edge-factor", "numbering"},
                                make_rmat},
                           Kind{"lp",
                                "--rows M --cols N --per-row K [--coefficients signs|constant]",
                                "constraints of a linear program, +1 and -1, or (constant) 1 as in set\n"
                                "covering; integer. 4284 x 1096894 with 2633 a row is the size of rail4284",
                                {"rows", "cols", "per-row", "coefficients"},
                                make_lp},
                           Kind{"logdist",
                                "--rows N [--per-row K]",
                                "a random walk with hops over log-uniform distances, K entries a row on\n"
                                "average (17), about a hundred values, like the cage matrices",
                                {"rows", "per-row"},
                                make_logdist},
                           Kind{"random",
                                "--rows M [--cols N] --per-row K [--coefficients C]",
                                "uniformly random columns, K in a row; random values by default",
                                {"rows", "cols", "per-row", "coefficients"},
                                make_random}};

constexpr std::array options_of_kinds{KindOption{"grid"},
                                      KindOption{"rows"},
                                      KindOption{"cols"},
                                      KindOption{"per-row"},
                                      KindOption{"scale"},
                                      KindOption{"edge-factor"},
                                      KindOption{"coefficients"},
                                      KindOption{"materials"},
                                      KindOption{"mesh"},
                                      KindOption{"numbering"},
                                      KindOption{"remove-one", true},
                                      KindOption{"variable", true}};

bool takes(const Kind& kind, std::string_view option) {
  return std::any_of(kind.options.begin(), kind.options.end(),
                     [&](const char* taken) { return taken != nullptr && taken == option; });
}

}  // namespace

std::span<const Kind> generator_kinds() { return kinds; }

const Kind& find_kind(std::string_view name) {
  const auto* const kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == name; });
  if (kind != kinds.end()) return *kind;
  std::string known;
  std::vector<std::string> names;
  for (const Kind& k : kinds) {
    known += fmt::format("{}{}", known.empty() ? "" : &k == &kinds.back() ? " or " : ", ", k.name);
    names.emplace_back(k.name);
  }
  throw Error(errc::usage, fmt::format("the kind '{}' is not known", escape(name)), {},
              did_you_mean(name, names) + "use " + known);
}

std::span<const KindOption> kind_options() { return options_of_kinds; }

void check_kind_options(const Kind& kind, const KindOptions& options) {
  for (const auto& [name, text] : options.values) {
    if (name == "seed" || takes(kind, name)) continue;
    std::string others;
    for (const Kind& other : kinds)
      if (takes(other, name)) others += fmt::format("{}{}", others.empty() ? "" : ", ", other.name);
    throw Error(errc::usage, fmt::format("--{} is not for {}", name, kind.name), {},
                fmt::format("leave it out: it is for {}", others));
  }
}

std::string command_line(const Kind& kind, const KindOptions& options) {
  std::string text = fmt::format("spmvpack generate {}", kind.name);
  const auto append = [&](const char* option) {
    if (!options.given(option)) return;
    text += fmt::format(" --{}", option);
    if (const std::string& value = options.text(option); !value.empty()) text += " " + value;
  };
  for (const char* option : kind.options)
    if (option != nullptr) append(option);
  append("seed");
  return text;
}

}  // namespace spmvpack::tools
