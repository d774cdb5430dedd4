/// spmvpack generate: matrices of any size to try things on.

#include <fmt/format.h>

#include <array>
#include <boost/program_options/value_semantic.hpp>
#include <charconv>
#include <memory>
#include <vector>

#include "commands/command.hpp"
#include "generators/matrix_stream.hpp"
#include "generators/stencils.hpp"
#include "output.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()                                                                                        //
      ("grid", po::value<std::string>()->value_name("NXxNY[xNZ]"), "points or cells along each axis")          //
      ("remove-one", po::bool_switch(), "laplace2d: hold one inner point at zero")                             //
      ("variable", po::bool_switch(), "convection-diffusion: coefficients differ from cell to cell")           //
      ("output,o", po::value<std::string>()->value_name("A.mtx"), "the file to write, - for standard output")  //
      ("force,f", po::bool_switch(), "overwrite it");
}

std::string details() {
  return "Kinds:\n"
         "  laplace2d, NXxNY\n"
         "      5-point Laplacian: 4 and -1. --remove-one leaves out (NX/2, NY/2):\n"
         "      1000x1000 then has the 999,999 rows and 4,995,991 nonzeros of ecology2\n"
         "  convection-diffusion, NXxNYxNZ\n"
         "      7-point upwind, not symmetric, five values; --variable: nearly all\n"
         "      distinct. 148x148x58 has the 1,270,432 rows and 8,814,880 nonzeros of\n"
         "      atmosmodd\n\n"
         "Only sizes and structure are those of the named matrices, not the values. The\n"
         "same command writes the same bytes everywhere; the file's comments repeat it.\n\n"
         "Examples:\n"
         "  spmvpack generate laplace2d --grid 1000x1000 --remove-one -o A.mtx\n"
         "  spmvpack generate convection-diffusion --grid 148x148x58 --variable -o A.mtx\n";
}

/// "148x148x58" as numbers. Error(errc::usage) unless there are `axes` of them.
std::vector<std::uint64_t> parse_grid(const Invocation& invocation, std::size_t axes) {
  const std::string expected =
      axes == 2 ? "give --grid NXxNY, such as 1000x1000" : "give --grid NXxNYxNZ, such as 148x148x58";
  if (invocation.options.count("grid") == 0) throw Error(errc::usage, "no grid", {}, expected);
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
  throw Error(errc::usage, fmt::format("--grid is '{}'", text), {}, expected);
}

std::unique_ptr<MatrixGenerator> make_laplace2d(const Invocation& invocation) {
  const std::vector<std::uint64_t> sides = parse_grid(invocation, 2);
  return std::make_unique<Laplace2d>(sides[0], sides[1], invocation.flag("remove-one"));
}

std::unique_ptr<MatrixGenerator> make_convection_diffusion(const Invocation& invocation) {
  const std::vector<std::uint64_t> sides = parse_grid(invocation, 3);
  return std::make_unique<ConvectionDiffusion>(std::array{sides[0], sides[1], sides[2]}, invocation.flag("variable"));
}

struct Kind {
  std::string_view name;
  const char* own_flag;  ///< the one flag that no other kind takes
  std::unique_ptr<MatrixGenerator> (*make)(const Invocation& invocation);
};
constexpr std::array kinds{Kind{"laplace2d", "remove-one", make_laplace2d},
                           Kind{"convection-diffusion", "variable", make_convection_diffusion}};

const Kind& find_kind(const Invocation& invocation) {
  const Kind* found = nullptr;
  for (const Kind& kind : kinds)
    if (kind.name == invocation.argument) found = &kind;
  if (found == nullptr)
    throw Error(errc::usage, fmt::format("the kind '{}' is not known", invocation.argument), {},
                "use laplace2d or convection-diffusion");
  for (const Kind& kind : kinds)
    if (&kind != found && invocation.flag(kind.own_flag))
      throw Error(errc::usage, fmt::format("--{} is not for {}", kind.own_flag, found->name), {},
                  fmt::format("leave it out, or generate {}", kind.name));
  return *found;
}

void run(const Invocation& invocation) {
  const auto matrix = find_kind(invocation).make(invocation);
  if (invocation.options.count("output") == 0)
    throw Error(errc::usage, "no output", {}, "name it with -o, or -o - for standard output");
  const std::string& output = invocation.text("output");
  refuse_existing(output, invocation.flag("force"));
  write_generated(*matrix, output, invocation.flag("force"), invocation.threads, invocation.progress);
  if (!invocation.quiet && output != "-")
    print(fmt::format("{}: {} rows, {} nonzeros\n", escape(output, 4096), grouped(matrix->rows()),
                      grouped(matrix->nnz())));
}

}  // namespace

const Command generate_command{"generate",
                               "KIND --grid NXxNY[xNZ] -o A.mtx [options]",
                               "write a test matrix: laplace2d, convection-diffusion",
                               "the kind (laplace2d or convection-diffusion)",
                               add_options,
                               details,
                               run};

}  // namespace spmvpack::tools
