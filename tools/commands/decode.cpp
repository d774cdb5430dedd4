/// spmvpack decode: writes the matrix of a container as a Matrix Market file.

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>

#include "commands/command.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/sources/matrix_market.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {
namespace decode_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()                                                                                  //
      ("output,o", po::value<std::string>()->value_name("A.mtx"), "output file, - for standard output")  //
      ("force,f", po::bool_switch(), "overwrite the output");
}

std::string details() {
  return "The output has the field, symmetry and comments of the source. Each value is the\n"
         "shortest text that reads back to the same bits (a NaN keeps only its sign), so\n\n"
         "  spmvpack encode A.mtx && spmvpack decode A.spmvc -o B.mtx\n\n"
         "is lossless, whatever the layout. A.spmvc may be -, for standard input.\n";
}

void run(const Invocation& invocation) {
  if (invocation.options.count("output") == 0)
    throw Error(errc::usage, "no output given", {}, "name it with -o, or use -o - for standard output");
  const std::string& output = invocation.text("output");
  check_output(output, OutputForm::text, invocation.flag("force"), invocation.argument);
  const Container container = sources::open_container(invocation.argument, invocation.memory_limit);
  const auto load = invocation.common<LoadOptions>();
  SourceMatrix source;
  source.matrix = unpack(container, load);
  source.field = container.facts().field;
  source.symmetry = container.facts().symmetry;
  source.provenance = container.provenance();
  if (const auto& share = container.facts().share)
    print_warning(
        fmt::format("{} is the share of {}; what is written is this matrix alone, whose columns are the "
                    "rank's own, then its ghosts",
                    escape(container.name(), 4096), to_text(*share)));
  // The matrix may go to the terminal that shows progress.
  clear_progress();
  const bool to_standard_output = output == "-";
  const auto progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
    return to_standard_output ? !interrupted() : show_progress("format", done, total);  // counted in entries
  };
  sources::write_matrix_market(output, source, invocation.flag("force"), invocation.threads, progress);
  if (!invocation.quiet && !to_standard_output)
    print(fmt::format("{}: {} x {}, {}, {} {}\n", escape(output, 4096), grouped(source.matrix.rows),
                      grouped(source.matrix.cols), counted(source.matrix.nnz(), "nonzero"), to_string(source.field),
                      to_string(source.symmetry)));
}

}  // namespace
}  // namespace decode_parts

const Command decode_command{
    "decode",         "A.spmvc -o A.mtx [options]", "write a container's matrix as a Matrix Market file",
    "A.spmvc",        decode_parts::add_options,    decode_parts::details,
    decode_parts::run};

}  // namespace spmvpack::tools
