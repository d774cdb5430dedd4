/// spmvpack multiply: y = A x on the CPU.

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <span>
#include <vector>

#include "commands/command.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/encoder/matrix_market.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()                                                                                       //
      ("x", po::value<std::string>()->value_name("x.mtx"), "the vector (default: ones)")                      //
      ("output,o", po::value<std::string>()->value_name("y.mtx"), "where y goes (default: standard output)")  //
      ("force,f", po::bool_switch(), "overwrite it");
}

std::string details() {
  return "x is an array-format Matrix Market file of as many values as the matrix has\n"
         "columns, plain or compressed; y is written as one. Sums are in the container's\n"
         "value type, to which x is rounded, and in the order that the layout fixes: the\n"
         "same bits at any number of threads.\n\n"
         "Examples:\n"
         "  spmvpack multiply A.spmvc | head\n"
         "  spmvpack multiply A.spmvc --x x.mtx -o y.mtx\n";
}

/// The vector of --x, or ones, in the matrix's value type.
template <class T>
std::vector<T> read_x(const Invocation& invocation, std::uint64_t size) {
  if (invocation.options.count("x") == 0) return std::vector<T>(size, T{1});
  const auto options = invocation.common<encoder::MatrixMarketOptions>();
  const std::string& path = invocation.text("x");
  const Array<double> x = encoder::read_vector(path, options);
  if (x.size() != size)
    throw Error(errc::usage, fmt::format("x has {} values, the matrix {} columns", x.size(), size), path,
                "give a vector of the matrix's columns");
  std::vector<T> rounded(size);
  std::transform(x.begin(), x.end(), rounded.begin(), [](double value) { return static_cast<T>(value); });
  return rounded;
}

void run(const Invocation& invocation) {
  const std::string output = invocation.options.count("output") != 0 ? invocation.text("output") : "-";
  refuse_existing(output, invocation.flag("force"));
  const auto load = invocation.common<LoadOptions>();
  const host_loader::HostMatrix matrix = host_loader::HostMatrix::load(invocation.argument, load);
  dispatch(matrix.facts().value_type, [&]<class T>(T) {
    const std::vector<T> x = read_x<T>(invocation, matrix.facts().cols);
    std::vector<T> y(matrix.facts().rows);
    report_progress(invocation.progress, "multiply", 0, 0);
    matrix.multiply<T>(T{1}, x, T{0}, y, invocation.threads);
    report_progress(invocation.progress, "write", 0, 0);
    if (output == "-") clear_progress();
    encoder::write_vector<T>(output, y, invocation.flag("force"));
    if (!invocation.quiet && output != "-")
      print(fmt::format("{}: {} values\n", escape(output, 4096), grouped(y.size())));
  });
}

}  // namespace

const Command multiply_command{
    "multiply", "A.spmvc [--x x.mtx] [-o y.mtx] [options]", "y = A x on the CPU", "A.spmvc", add_options, details, run};

}  // namespace spmvpack::tools
