#include "spmvpack/generators/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "option_number.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/generators/adaptive.hpp"
#include "spmvpack/generators/block_mesh.hpp"
#include "spmvpack/generators/cage.hpp"
#include "spmvpack/generators/circuit.hpp"
#include "spmvpack/generators/cubic.hpp"
#include "spmvpack/generators/elasticity.hpp"
#include "spmvpack/generators/epidemic.hpp"
#include "spmvpack/generators/holstein_hubbard.hpp"
#include "spmvpack/generators/hpcg.hpp"
#include "spmvpack/generators/kkt.hpp"
#include "spmvpack/generators/lattice_qcd.hpp"
#include "spmvpack/generators/logdist.hpp"
#include "spmvpack/generators/rmat.hpp"
#include "spmvpack/generators/shapes.hpp"
#include "spmvpack/generators/stencils.hpp"
#include "spmvpack/generators/triangles.hpp"
#include "spmvpack/generators/uniform.hpp"

namespace spmvpack::generators {
namespace {

/// Parses --grid, such as "148x148x58". Error(errc::usage) unless it has `axes` numbers.
std::vector<std::uint64_t> read_grid(const KindOptions& options, std::size_t axes) {
  const std::string expected =
      axes == 2 ? "give --grid NXxNY, such as 1000x1000" : "give --grid NXxNYxNZ, such as 148x148x58";
  if (!options.given("grid")) throw Error(errc::usage, "--grid is missing", {}, expected);
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

/// A number, which is required unless there is a `fallback`.
std::uint64_t read_number(const KindOptions& options, const char* option, std::uint64_t fallback = 0) {
  if (options.given(option)) return option_number(fmt::format("--{}", option), options.text(option));
  if (fallback != 0) return fallback;
  throw Error(errc::usage, fmt::format("--{} is missing", option), {}, fmt::format("give --{} N", option));
}

std::uint64_t read_seed(const KindOptions& options) {
  if (!options.given("seed")) return 0;
  return option_number("--seed", options.text("seed"));
}

Coefficients read_coefficients(const KindOptions& options, const Coefficients& fallback = {},
                               const char* option = "coefficients") {
  if (!options.given(option)) return fallback;
  return parse_coefficients(fmt::format("--{}", option), options.text(option));
}

/// Parses an option that takes one of two words; true for the second.
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
      throw Error(errc::usage, "both --variable and --coefficients", {},
                  "--variable means --coefficients random: give only one");
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

std::unique_ptr<MatrixGenerator> make_cubic(const KindOptions& options) {
  const std::vector<std::uint64_t> sides = read_grid(options, 2);
  return std::make_unique<Cubic>(sides[0], sides[1]);
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

/// A number that need not be whole; `symbol` and `example` tell what to give.
double read_fraction(const KindOptions& options, const char* option, const char* symbol, const char* example) {
  if (!options.given(option))
    throw Error(errc::usage, fmt::format("--{} is missing", option), {},
                fmt::format("give --{} {}, such as {}", option, symbol, example));
  const std::string& text = options.text(option);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Error(errc::usage, fmt::format("--{} is '{}'", option, escape(text)), {},
                fmt::format("give a number, such as {}", example));
  return value;
}

std::unique_ptr<MatrixGenerator> make_block_mesh(const KindOptions& options) {
  constexpr double jitter = 0.25;
  const bool moved = read_choice(options, "mesh", "uniform", "jittered", true);
  return std::make_unique<BlockMesh>(
      read_box(options), read_number(options, "block"), read_fraction(options, "radius", "R", "1.8"),
      read_coefficients(options, {Coefficients::Kind::random}), moved ? jitter : 0, read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_adaptive(const KindOptions& options) {
  return std::make_unique<Adaptive>(read_box(options), read_coefficients(options), read_seed(options),
                                    options.resources);
}

std::unique_ptr<MatrixGenerator> make_epidemic(const KindOptions& options) {
  const std::vector<std::uint64_t> sides = read_grid(options, 2);
  return std::make_unique<Epidemic>(sides[0], sides[1]);
}

std::unique_ptr<MatrixGenerator> make_holstein_hubbard(const KindOptions& options) {
  if (!options.given("phonons"))
    throw Error(errc::usage, "--phonons is missing", {}, "give --phonons M, the most of them that a state has");
  return std::make_unique<HolsteinHubbard>(read_number(options, "sites"), read_number(options, "electrons"),
                                           read_number(options, "phonons"));
}

std::unique_ptr<MatrixGenerator> make_cage(const KindOptions& options) {
  return std::make_unique<Cage>(read_number(options, "monomers"), options.resources);
}

std::unique_ptr<MatrixGenerator> make_lattice_qcd(const KindOptions& options) {
  return std::make_unique<LatticeQcd>(read_number(options, "sites"), read_seed(options));
}

Coefficients read_values(const KindOptions& options) {
  return read_coefficients(options, {Coefficients::Kind::random});
}

std::unique_ptr<MatrixGenerator> make_full(const KindOptions& options) {
  return Runs::full(read_number(options, "rows"), read_number(options, "cols"), read_values(options),
                    read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_band(const KindOptions& options) {
  const auto number = [&](const char* option) { return options.given(option) ? read_number(options, option) : 0; };
  return Runs::band(read_number(options, "rows"), number("below"), number("above"), number("empty-every"),
                    read_values(options), read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_blocks(const KindOptions& options) {
  return Runs::blocks(read_number(options, "rows"), read_number(options, "block"), read_values(options),
                      read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_arrow(const KindOptions& options) {
  return std::make_unique<Arrow>(read_number(options, "rows"), read_values(options), read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_powerlaw(const KindOptions& options) {
  const std::uint64_t rows = read_number(options, "rows"), cols = read_number(options, "cols", rows);
  return std::make_unique<PowerLawRows>(rows, cols, read_fraction(options, "exponent", "X", "1.6"),
                                        read_number(options, "longest", cols), read_values(options),
                                        read_seed(options));
}

std::unique_ptr<MatrixGenerator> make_scattered(const KindOptions& options) {
  const std::uint64_t rows = read_number(options, "rows");
  return std::make_unique<Scattered>(rows, read_number(options, "cols", rows), read_number(options, "entries"),
                                     read_values(options), read_seed(options), options.resources);
}

constexpr std::array kinds{Kind{"laplace2d",
                                "--grid NXxNY [--remove-one] [--coefficients C]",
                                "5-point Laplacian: 4 and -1. --remove-one omits (NX/2, NY/2):\n"
                                "1000x1000 then has the 999,999 rows and 4,995,991 nonzeros of ecology2",
                                {"grid", "remove-one", "coefficients"},
                                make_laplace2d},
                           Kind{"convection-diffusion",
                                "--grid NXxNYxNZ [--coefficients C | --variable]",
                                "7-point upwind, nonsymmetric, five values (--variable: random ones).\n"
                                "148x148x58 has the 1,270,432 rows and 8,814,880 nonzeros of atmosmodd;\n"
                                "NZ = 1 gives the 5-point matrix of a plane",
                                {"grid", "variable", "coefficients"},
                                make_convection_diffusion},
                           Kind{"hpcg",
                                "--grid NXxNYxNZ [--coefficients C]",
                                "27-point operator of the HPCG benchmark: 26 and -1; symmetric positive\n"
                                "definite. 120x120x120: 1,728,000 rows, 45,882,712 nonzeros",
                                {"grid", "coefficients"},
                                make_hpcg},
                           Kind{"elasticity",
                                "--grid NXxNYxNZ [--materials C] [--mesh M]",
                                "trilinear hexahedra, 3 displacements at each of the NX NY NZ free nodes\n"
                                "(x = 0 is clamped), 3 x 3 blocks, 81 entries per row; symmetric positive\n"
                                "definite. 64x64x64: 786,432 rows, 61,731,000 nonzeros",
                                {"grid", "materials", "mesh"},
                                make_elasticity},
                           Kind{"triangles",
                                "--grid NXxNY [--numbering O] [--coefficients C] [--mesh M]",
                                "linear finite elements on triangles, jittered by default, 7 entries per\n"
                                "row; symmetric positive definite. Needs 8 bytes of memory per row, none in\n"
                                "natural order. 1800x1800: 3,240,000 rows, 22,665,602 nonzeros",
                                {"grid", "numbering", "coefficients", "mesh"},
                                make_triangles},
                           Kind{"cubic",
                                "--grid NXxNY",
                                "Laplacian by cubic finite elements on squares: 16, 28 or 49 entries per\n"
                                "row; symmetric positive definite. 128x128 has the 146,689 rows and\n"
                                "3,636,649 nonzeros of Dubcova3",
                                {"grid"},
                                make_cubic},
                           Kind{"kkt",
                                "--grid NXxNYxNZ [--coefficients C]",
                                "optimal boundary control: states, controls, multipliers; symmetric\n"
                                "indefinite. NxNxN has the rows and nonzeros of nlpkktN for N = 80, 120,\n"
                                "... 240; 80x80x80: 1,062,400 rows, 28,192,672 nonzeros",
                                {"grid", "coefficients"},
                                make_kkt},
                           Kind{"circuit",
                                "--rows N [--coefficients C]",
                                "nodal conductances: mostly short rows, a power law of long ones, about\n"
                                "20,000 entries in supply rails; symmetric pattern, about 5.7 entries per\n"
                                "row. Random by default. Needs 16 bytes of memory per row, 4 per entry",
                                {"rows", "coefficients"},
                                make_circuit},
                           Kind{"rmat",
                                "--scale S [--edge-factor K] [--numbering O]",
                                "heavy-tailed directed graph, the R-MAT of Graph500: 2^S rows, K 2^S edges\n"
                                "drawn (default K: 16), repeated ones kept once; pattern. Numbered at\n"
                                "random by default. Needs 24 bytes of memory per row, 4 per edge",
                                {"scale", "edge-factor", "numbering"},
                                make_rmat},
                           Kind{"lp",
                                "--rows M --cols N --per-row K [--coefficients signs|constant]",
                                "constraints of a linear program: +1 and -1, or 1 (constant) as in set\n"
                                "covering; integer. 4284 x 1096894 with 2633 per row is rail4284's size",
                                {"rows", "cols", "per-row", "coefficients"},
                                make_lp},
                           Kind{"logdist",
                                "--rows N [--per-row K]",
                                "random walk with hops over log-uniform distances, like the cage matrices:\n"
                                "K entries per row on average (default: 17), about a hundred values",
                                {"rows", "per-row"},
                                make_logdist},
                           Kind{"random",
                                "--rows M [--cols N] --per-row K [--coefficients C]",
                                "K uniformly random columns per row; random values by default",
                                {"rows", "cols", "per-row", "coefficients"},
                                make_random},
                           Kind{"block-mesh",
                                "--grid NXxNYxNZ --block B --radius R [--coefficients C] [--mesh M]",
                                "full B x B blocks between the points of a mesh that are within R\n"
                                "spacings; jittered and random by default. 36x36x36, B = 6, R = 1.83 is\n"
                                "like DLR1; 48x48x47, B = 5, R = 2.48 like DLR2; 100x100x90, B = 5,\n"
                                "R = 1.82 like UHBR",
                                {"grid", "block", "radius", "coefficients", "mesh"},
                                make_block_mesh},
                           Kind{"adaptive",
                                "--grid NXxNYxNZ [--coefficients C]",
                                "Poisson's equation on cells that are refined around an ellipsoid: 4 to 22\n"
                                "entries per row, 7 on average; symmetric positive definite. Needs 4 bytes\n"
                                "of memory per cell of the grid. 140x140x140 is like sAMG",
                                {"grid", "coefficients"},
                                make_adaptive},
                           Kind{"epidemic",
                                "--grid NXxNY",
                                "jump chain of an epidemic, four neighbours and no diagonal; rows add up to\n"
                                "1. 1025x513 has the 525,825 rows and 2,100,225 nonzeros of mc2depi",
                                {"grid"},
                                make_epidemic},
                           Kind{"holstein-hubbard",
                                "--sites L --electrons N --phonons M",
                                "electrons on a ring of L sites, coupled to at most M phonons in L - 1\n"
                                "modes; symmetric. L = 6, N = 6, M = 15 has the 6,201,600 rows of HMEp",
                                {"sites", "electrons", "phonons"},
                                make_holstein_hubbard},
                           Kind{"cage",
                                "--monomers L",
                                "a polymer's random walk, the cage model of DNA electrophoresis: cage3 ...\n"
                                "cage15 but for the rounding of values. Needs 24 bytes of memory\n"
                                "per row. L = 14: 1,505,785 rows, 27,130,349 nonzeros",
                                {"monomers"},
                                make_cage},
                           Kind{"lattice-qcd",
                                "--sites L",
                                "real part of Wilson's fermions on L^4 sites: 12 rows each, 39 entries per\n"
                                "row. L = 8 has the 49,152 rows and 1,916,928 nonzeros of conf5.4-00l8x8",
                                {"sites"},
                                make_lattice_qcd},
                           Kind{"full",
                                "--rows M --cols N [--coefficients C]",
                                "every entry; as for all shapes below, random values by default",
                                {"rows", "cols", "coefficients"},
                                make_full},
                           Kind{"band",
                                "--rows N [--below L] [--above U] [--empty-every K] [--coefficients C]",
                                "the diagonal, L diagonals below it and U above (default: 0); every K-th\n"
                                "row without entries. --below N - 1 is a triangle",
                                {"rows", "below", "above", "empty-every", "coefficients"},
                                make_band},
                           Kind{"blocks",
                                "--rows N --block B [--coefficients C]",
                                "full blocks of B x B along the diagonal",
                                {"rows", "block", "coefficients"},
                                make_blocks},
                           Kind{"arrow",
                                "--rows N [--coefficients C]",
                                "the first row, the first column and the diagonal",
                                {"rows", "coefficients"},
                                make_arrow},
                           Kind{"powerlaw",
                                "--rows M [--cols N] --exponent X [--longest L] [--coefficients C]",
                                "k entries in a row with a probability like k^-X, at most L, in random\n"
                                "columns",
                                {"rows", "cols", "exponent", "longest", "coefficients"},
                                make_powerlaw},
                           Kind{"scattered",
                                "--rows M [--cols N] --entries K [--coefficients C]",
                                "K entries at random places. Needs 8 bytes of memory per entry",
                                {"rows", "cols", "entries", "coefficients"},
                                make_scattered}};

constexpr std::array options_of_kinds{
    KindOption{"grid"},          KindOption{"rows"},      KindOption{"cols"},
    KindOption{"per-row"},       KindOption{"scale"},     KindOption{"edge-factor"},
    KindOption{"coefficients"},  KindOption{"materials"}, KindOption{"mesh"},
    KindOption{"numbering"},     KindOption{"below"},     KindOption{"above"},
    KindOption{"empty-every"},   KindOption{"block"},     KindOption{"exponent"},
    KindOption{"longest"},       KindOption{"entries"},

    KindOption{"radius"},        KindOption{"sites"},     KindOption{"electrons"},
    KindOption{"phonons"},       KindOption{"monomers"},  KindOption{"remove-one", true},
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
  for (const Kind& k : kinds)
    known += fmt::format("{}{}", known.empty() ? "" : &k == &kinds.back() ? " or " : ", ", k.name);
  throw Error(errc::usage, fmt::format("the kind '{}' is not known", escape(name)), {}, "use " + known);
}

std::span<const KindOption> kind_options() { return options_of_kinds; }

std::pair<const Kind&, KindOptions> parse_kind(std::string_view words) {
  std::istringstream text{std::string(words)};
  std::string word;
  text >> word;
  std::pair<const Kind&, KindOptions> parsed{find_kind(word), {}};
  while (text >> word) {
    const auto* const option = std::find_if(options_of_kinds.begin(), options_of_kinds.end(),
                                            [&](const KindOption& o) { return word == fmt::format("--{}", o.name); });
    const bool known = option != options_of_kinds.end(), is_flag = known && option->is_flag;
    std::string value;
    if ((!known && word != "--seed") || (!is_flag && !(text >> value)))
      throw Error(errc::usage, fmt::format("'{}' is no option, or has no value", escape(word)), std::string(words));
    parsed.second.values.emplace(word.substr(2), value);
  }
  check_kind_options(parsed.first, parsed.second);
  return parsed;
}

void check_kind_options(const Kind& kind, const KindOptions& options) {
  for (const auto& [name, text] : options.values) {
    if (name == "seed" || takes(kind, name)) continue;
    std::string others;
    for (const Kind& other : kinds)
      if (takes(other, name)) others += fmt::format("{}{}", others.empty() ? "" : ", ", other.name);
    throw Error(errc::usage, fmt::format("--{} is not for {}", name, kind.name), {},
                fmt::format("omit it: it is for {}", others));
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

}  // namespace spmvpack::generators
