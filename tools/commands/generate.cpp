/// spmvpack generate: test matrices of any size.

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>
#include <memory>
#include <vector>

#include "commands/command.hpp"
#include "commands/encoding.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/generators/kinds.hpp"
#include "spmvpack/generators/matrix_build.hpp"
#include "spmvpack/generators/matrix_stream.hpp"
#include "suggestion.hpp"

namespace spmvpack::tools {
namespace generate_parts {
namespace {

namespace po = boost::program_options;
using generators::Kind, generators::KindOption, generators::KindOptions;

void add_options(po::options_description& options) {
  options.add_options()                                                                                       //
      ("output,o", po::value<std::string>()->value_name("FILE"), "A.mtx, - for standard output, or A.spmvc")  //
      ("force,f", po::bool_switch(), "overwrite the output")                                                  //
      ("seed", po::value<std::string>()->value_name("N")->default_value("0"), "seed of the random numbers");
  add_encoding_options(options);
}

std::string details() {
  std::string text = "Kinds:\n";
  for (const Kind& kind : generators::generator_kinds()) {
    text += fmt::format("  {} {}\n      ", kind.name, kind.usage);
    for (const char c : kind.help) text += c == '\n' ? std::string("\n      ") : std::string(1, c);
    text += '\n';
  }
  return text +
         "\n"
         "C sets the coefficients: constant (one for all), blocks:N (one per block of N\n"
         "cells along each axis, or of N rows) or random (one each), so that values repeat\n"
         "everywhere, nearby, or not at all (which for elasticity also needs a jittered\n"
         "mesh). M is uniform or jittered (nodes moved at random). O is natural, random,\n"
         "shuffled:W (within windows of W) or rcm (reverse Cuthill-McKee; not for graphs).\n\n"
         "Where a known matrix is named, size and structure match it, but not the values.\n"
         "The same command writes the same bytes everywhere and is recorded in the file's\n"
         "comments. A.mtx is written row by row; for A.spmvc, the matrix is built in\n"
         "memory and encoded as 'spmvpack encode' does, with the same options, --optimize,\n"
         "--target, --columns and --updatable among them.\n\n"
         "Examples:\n"
         "  spmvpack generate laplace2d --grid 1000x1000 --remove-one -o A.mtx\n"
         "  spmvpack generate elasticity --grid 64x64x64 --materials blocks:8 -o A.spmvc\n";
}

/// What only --help describes, so that -h fits one screen.
void add_special_options(po::options_description& options) {
  add_aim_options(options);
  add_columns_option(options);
  add_updatable_option(options);
  for (const KindOption& option : generators::kind_options())
    if (option.is_flag)
      options.add_options()(option.name, po::bool_switch());
    else
      options.add_options()(option.name, po::value<std::string>());
}

const Kind& find_kind(const std::string& name) {
  try {
    return generators::find_kind(name);
  } catch (const Error& e) {
    std::vector<std::string> known;
    for (const Kind& kind : generators::generator_kinds()) known.emplace_back(kind.name);
    throw with_suggestion(e, name, known);
  }
}

/// The options of kinds that were given.
KindOptions read_kind_options(const Invocation& invocation) {
  KindOptions options;
  options.resources = {invocation.threads, invocation.memory_limit};
  const auto read = [&](const char* name, bool is_flag) {
    if (invocation.options.count(name) != 0 && !invocation.options[name].defaulted())
      options.values.emplace(name, is_flag ? "" : invocation.text(name));
  };
  for (const KindOption& option : generators::kind_options()) read(option.name, option.is_flag);
  read("seed", false);
  return options;
}

/// What -h says about the kinds.
std::string kinds_note() {
  constexpr std::size_t width = 80;
  std::string text = "\nKinds (see --help):";
  std::size_t column = text.size() - 1;
  for (const Kind& kind : generators::generator_kinds()) {
    const bool fits = column + 1 + kind.name.size() <= width;
    text += (fits ? " " : "\n") + std::string(kind.name);
    column = (fits ? column + 1 : 0) + kind.name.size();
  }
  return text + "\n";
}

void refuse_encoding_options(const Invocation& invocation, const std::string& output) {
  for (const char* option : {"layout", "optimize", "target", "columns", "set", "codec", "updatable"})
    if (invocation.options.count(option) != 0 && !invocation.options[option].defaulted())
      throw Error(errc::usage, fmt::format("--{} is for containers", option), output,
                  "omit it, or name the output A.spmvc");
}

void run(const Invocation& invocation) {
  const Kind& kind = find_kind(invocation.argument);
  const KindOptions options = read_kind_options(invocation);
  generators::check_kind_options(kind, options);
  if (invocation.options.count("output") == 0)
    throw Error(errc::usage, "no output given", {}, "name it with -o, or use -o - for standard output");
  const std::string& output = invocation.text("output");
  const bool encode = output.ends_with(".spmvc");
  if (!encode) refuse_encoding_options(invocation, output);
  const encoder::EncodeRequest request = read_encode_request(invocation);
  check_output(output, encode ? OutputForm::container : OutputForm::text, invocation.flag("force"));

  const Stopwatch watch;
  const auto matrix = kind.make(options);
  std::vector<std::string> comments{generators::command_line(kind, options)};
  for (std::string& line : matrix->comments()) comments.push_back(std::move(line));
  if (encode) {
    SourceMatrix source = generators::build_generated(*matrix, comments, {invocation.threads, invocation.memory_limit},
                                                      invocation.progress);
    source.provenance.source = comments.front();
    return encode_and_tell(source, request, output, invocation, "generate", watch.seconds());
  }
  TextOutput text(output, invocation.flag("force"));
  const auto write = [&](std::string_view piece) {
    if (output == "-") clear_progress();
    text.write(piece);
  };
  const generators::EntryCounts counts =
      generators::write_generated(*matrix, comments, write, invocation.threads, invocation.progress);
  report_progress(invocation.progress, "flush", 0, 0);
  text.commit();
  if (invocation.quiet || output == "-") return;
  const std::string columns =
      matrix->rows() == matrix->cols() ? "" : fmt::format(" {},", counted(matrix->cols(), "column"));
  print(fmt::format("{}: {},{} {}\n", escape(output, 4096), counted(matrix->rows(), "row"), columns,
                    counted(counts.all, "nonzero")));
}

}  // namespace
}  // namespace generate_parts

const Command generate_command{"generate",
                               "KIND [options of the kind] -o A.mtx|A.spmvc",
                               "write a matrix of a typical problem, of any size",
                               "the kind",
                               generate_parts::add_options,
                               generate_parts::details,
                               generate_parts::run,
                               generate_parts::add_special_options,
                               generate_parts::kinds_note};

}  // namespace spmvpack::tools
