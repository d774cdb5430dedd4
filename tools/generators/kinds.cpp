#include "generators/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
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

namespace po = boost::program_options;

bool is_given(const Invocation& invocation, const char* option) {
  return invocation.options.count(option) != 0 && !invocation.options[option].defaulted();
}

/// "148x148x58" as numbers. Error(errc::usage) unless there are `axes` of them.
std::vector<std::uint64_t> read_grid(const Invocation& invocation, std::size_t axes) {
  const std::string expected =
      axes == 2 ? "give --grid NXxNY, such as 1000x1000" : "give --grid NXxNYxNZ, such as 148x148x58";
  if (!is_given(invocation, "grid")) throw Error(errc::usage, "no grid", {}, expected);
  const std::string& text = invocation.text("grid");
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

Point read_box(const Invocation& invocation) {
  const std::vector<std::uint64_t> sides = read_grid(invocation, 3);
  return {sides[0], sides[1], sides[2]};
}

/// A number that has to be given, or with a `fallback` need not.
std::uint64_t read_number(const Invocation& invocation, const char* option, std::uint64_t fallback = 0) {
  if (is_given(invocation, option))
    return parse_number(fmt::format("--{}", option), invocation.text(option), 0,
                        std::numeric_limits<std::uint64_t>::max());
  if (fallback != 0) return fallback;
  throw Error(errc::usage, fmt::format("no --{}", option), {}, fmt::format("give --{} N", option));
}

std::uint64_t read_seed(const Invocation& invocation) {
  return parse_number("--seed", invocation.text("seed"), 0, std::numeric_limits<std::uint64_t>::max());
}

Coefficients read_coefficients(const Invocation& invocation, const Coefficients& fallback = {},
                               const char* option = "coefficients") {
  if (!is_given(invocation, option)) return fallback;
  return parse_coefficients(fmt::format("--{}", option), invocation.text(option));
}

/// The value of an option that is one of two words; true for the second.
bool read_choice(const Invocation& invocation, const char* option, std::string_view first, std::string_view second,
                 bool fallback) {
  if (!is_given(invocation, option)) return fallback;
  const std::string& text = invocation.text(option);
  if (text != first && text != second)
    throw Error(errc::usage, fmt::format("--{} is '{}'", option, escape(text)), {},
                fmt::format("give {} or {}", first, second));
  return text == second;
}

NumberingRule read_numbering(const Invocation& invocation, NumberingRule::Kind fallback) {
  if (!is_given(invocation, "numbering")) return {fallback};
  return parse_numbering("--numbering", invocation.text("numbering"));
}

std::unique_ptr<MatrixGenerator> make_laplace2d(const Invocation& invocation) {
  const std::vector<std::uint64_t> sides = read_grid(invocation, 2);
  return std::make_unique<Laplace2d>(sides[0], sides[1], invocation.flag("remove-one"), read_coefficients(invocation),
                                     read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_convection_diffusion(const Invocation& invocation) {
  Coefficients coefficients = read_coefficients(invocation);
  if (invocation.flag("variable")) {
    if (is_given(invocation, "coefficients"))
      throw Error(errc::usage, "--variable and --coefficients", {}, "--variable is --coefficients random: give one");
    coefficients.kind = Coefficients::Kind::random;
  }
  return std::make_unique<ConvectionDiffusion>(read_box(invocation), coefficients, read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_hpcg(const Invocation& invocation) {
  return std::make_unique<Hpcg>(read_box(invocation), read_coefficients(invocation), read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_elasticity(const Invocation& invocation) {
  constexpr double jitter = 0.1;
  const bool moved = read_choice(invocation, "mesh", "uniform", "jittered", false);
  return std::make_unique<Elasticity>(read_box(invocation), read_coefficients(invocation, {}, "materials"),
                                      moved ? jitter : 0, read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_triangles(const Invocation& invocation) {
  constexpr double jitter = 0.2;
  const std::vector<std::uint64_t> sides = read_grid(invocation, 2);
  const bool moved = read_choice(invocation, "mesh", "uniform", "jittered", true);
  return std::make_unique<Triangles>(sides[0], sides[1], read_numbering(invocation, NumberingRule::Kind::natural),
                                     read_coefficients(invocation), moved ? jitter : 0, read_seed(invocation),
                                     Resources{invocation.threads, invocation.memory_limit});
}

std::unique_ptr<MatrixGenerator> make_kkt(const Invocation& invocation) {
  return std::make_unique<Kkt>(read_box(invocation), read_coefficients(invocation), read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_circuit(const Invocation& invocation) {
  return std::make_unique<Circuit>(read_number(invocation, "rows"),
                                   read_coefficients(invocation, {Coefficients::Kind::random}), read_seed(invocation),
                                   Resources{invocation.threads, invocation.memory_limit});
}

std::unique_ptr<MatrixGenerator> make_rmat(const Invocation& invocation) {
  return std::make_unique<Rmat>(read_number(invocation, "scale"), read_number(invocation, "edge-factor", 16),
                                read_numbering(invocation, NumberingRule::Kind::random), read_seed(invocation),
                                Resources{invocation.threads, invocation.memory_limit});
}

std::unique_ptr<MatrixGenerator> make_lp(const Invocation& invocation) {
  return std::make_unique<LinearProgram>(
      read_number(invocation, "rows"), read_number(invocation, "cols"), read_number(invocation, "per-row"),
      read_choice(invocation, "coefficients", "constant", "signs", true), read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_logdist(const Invocation& invocation) {
  return std::make_unique<LogDistance>(read_number(invocation, "rows"), read_number(invocation, "per-row", 17),
                                       read_seed(invocation));
}

std::unique_ptr<MatrixGenerator> make_random(const Invocation& invocation) {
  const std::uint64_t rows = read_number(invocation, "rows");
  return std::make_unique<Uniform>(rows, read_number(invocation, "cols", rows), read_number(invocation, "per-row"),
                                   read_coefficients(invocation, {Coefficients::Kind::random}), read_seed(invocation));
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

void add_kind_options(po::options_description& options) {
  for (const char* text :
       {"grid", "rows", "cols", "per-row", "scale", "edge-factor", "coefficients", "materials", "mesh", "numbering"})
    options.add_options()(text, po::value<std::string>());
  for (const char* flag : {"remove-one", "variable"}) options.add_options()(flag, po::bool_switch());
}

void check_kind_options(const Kind& kind, const Invocation& invocation) {
  po::options_description all;
  add_kind_options(all);
  for (const auto& option : all.options()) {
    const std::string& name = option->long_name();
    if (!is_given(invocation, name.c_str()) || takes(kind, name)) continue;
    std::string others;
    for (const Kind& other : kinds)
      if (takes(other, name)) others += fmt::format("{}{}", others.empty() ? "" : ", ", other.name);
    throw Error(errc::usage, fmt::format("--{} is not for {}", name, kind.name), {},
                fmt::format("leave it out: it is for {}", others));
  }
}

std::string command_line(const Kind& kind, const Invocation& invocation) {
  std::string text = fmt::format("spmvpack generate {}", kind.name);
  const auto append = [&](const char* option) {
    if (!is_given(invocation, option)) return;
    text += fmt::format(" --{}", option);
    const auto& value = invocation.options[option].value();
    if (value.type() == typeid(std::string)) text += " " + invocation.text(option);
  };
  for (const char* option : kind.options)
    if (option != nullptr) append(option);
  append("seed");
  return text;
}

}  // namespace spmvpack::tools
