/// spmvpack multiply: computes y = A x or y = A^T x on the CPU or a GPU.

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>
#include <complex>
#include <span>
#include <type_traits>
#include <vector>

#include "commands/command.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/narrowing.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/value_text.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/sources/matrix_market.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {
namespace multiply_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()                                                                                      //
      ("x", po::value<std::string>()->value_name("x.mtx"), "the vector x, .mtx or .npy (default: ones)")     //
      ("transpose", po::bool_switch(), "y = A^T x; needs A^T in the container, or a symmetric A")            //
      ("conjugate-transpose", po::bool_switch(), "y = A^H x; likewise")                                      //
      ("device", po::value<std::string>()->default_value("host")->value_name("D"), "host or gpu")            //
      ("kernel", po::value<std::string>()->value_name("NAME"), "kernel on a GPU, such as csr/vector")        //
      ("output,o", po::value<std::string>()->value_name("y.mtx"), "output file (default: standard output)")  //
      ("force,f", po::bool_switch(), "overwrite the output");
}

std::string details() {
  return "x is an array-format Matrix Market file or an array of NumPy (.npy), plain or\n"
         "compressed, with one value per column (with --transpose, per row). It may be\n"
         "complex if A is. y is written as a Matrix Market file. Products and sums are in\n"
         "the container's value type, to which x is rounded. The layout (on a GPU, the\n"
         "kernel) fixes the order of additions: the bits are the same with any number of\n"
         "threads and on any GPU. GPUs take no complex A.\n"
         "A.spmvc or x.mtx may be -, for standard input.\n\n"
         "Examples:\n"
         "  spmvpack multiply A.spmvc | head\n"
         "  spmvpack multiply A.spmvc --x x.mtx -o y.mtx\n"
         "  spmvpack encode A.mtx --transpose && spmvpack multiply A.spmvc --transpose\n";
}

Operation operation_of(const Invocation& invocation) {
  const bool transpose = invocation.flag("transpose"), conjugate = invocation.flag("conjugate-transpose");
  if (transpose && conjugate)
    throw Error(errc::usage, "--transpose with --conjugate-transpose", {}, "give one of them");
  return transpose ? Operation::transpose : conjugate ? Operation::conjugate_transpose : Operation::none;
}

/// The vector of --x, or ones, in the matrix's value type. `sides` are what it has an element for.
template <class T>
CountedVector<T> read_x(const Invocation& invocation, std::uint64_t size, std::string_view sides) {
  if (invocation.options.count("x") == 0) return CountedVector<T>(size, T{1});
  const auto options = invocation.common<sources::MatrixMarketOptions>();
  const std::string& path = invocation.text("x");
  using Wide = std::conditional_t<is_complex_type<T>, std::complex<double>, double>;
  const Array<Wide> x = sources::read_vector<Wide>(path, options);
  if (x.size() != size)
    throw Error(errc::usage, fmt::format("x has {} values, but the matrix has {} {}", x.size(), size, sides), path,
                fmt::format("give a vector with {} values", size));
  CountedVector<T> rounded(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    rounded[i] = static_cast<T>(x[i]);
    if (is_beyond(x[i], rounded[i]))
      throw Error(errc::bad_input,
                  fmt::format("x[{}] is {}, too large for {}", i + 1, value_text(x[i]), to_string(value_type_of<T>)),
                  path, fmt::format("encode the matrix as {}, or scale x", to_string(value_type_of<Wide>)));
  }
  return rounded;
}

bool on_gpu(const Invocation& invocation) {
  const std::string& device = invocation.text("device");
  if (device != "gpu" && device != "host")
    throw Error(errc::usage, fmt::format("--device is '{}'", escape(device)), {}, "give host or gpu");
  if (device == "host" && invocation.options.count("kernel") != 0)
    throw Error(errc::usage, "--kernel without --device gpu: the host has one kernel per layout");
  return device == "gpu";
}

/// Computes y = op(A) x by multiply(matrix, x, y) and writes y to `output`.
template <class Matrix, class Multiply>
void multiply_and_write(const Invocation& invocation, const std::string& output, const Matrix& matrix,
                        Operation operation, Multiply&& multiply) {
  dispatch_any(matrix.facts().value_type, [&]<class T>(T) {
    const MatrixFacts& facts = matrix.facts();
    const bool transpose = operation != Operation::none;
    const std::uint64_t rows = transpose ? facts.cols : facts.rows, cols = transpose ? facts.rows : facts.cols;
    const std::uint64_t of_file = invocation.options.count("x") == 0 ? 0 : is_complex_type<T> ? 16 : 8;
    require_memory(rows * sizeof(T) + cols * (sizeof(T) + of_file), invocation.memory_limit, "x and y");
    const CountedVector<T> x = read_x<T>(invocation, cols, transpose ? "rows" : "columns");
    CountedVector<T> y(rows);
    report_progress(invocation.progress, "multiply", 0, 0);
    multiply(matrix, std::span<const T>(x), std::span<T>(y));
    report_progress(invocation.progress, "write", 0, 0);
    if (output == "-") clear_progress();
    sources::write_vector<T>(output, y, invocation.flag("force"));
    if (!invocation.quiet && output != "-")
      print(fmt::format("{}: {}\n", escape(output, 4096), counted(y.size(), "value")));
  });
}

void run(const Invocation& invocation) {
  const std::string output = invocation.options.count("output") != 0 ? invocation.text("output") : "-";
  check_output(output, OutputForm::text, invocation.flag("force"), invocation.argument);
  if (invocation.options.count("x") != 0) refuse_same_input(invocation.argument, invocation.text("x"));
  const bool gpu = on_gpu(invocation);
  const Operation operation = operation_of(invocation);
  const Container container = sources::open_container(invocation.argument, invocation.memory_limit);
  if (!gpu) {
    const auto matrix = host_loader::HostMatrix::load(container, invocation.common<LoadOptions>());
    return multiply_and_write(invocation, output, matrix, operation,
                              [&]<class T>(const auto& a, std::span<const T> x, std::span<T> y) {
                                a.template multiply<T>(T{1}, x, T{0}, y, invocation.threads, describe<T>(operation));
                              });
  }
  gpu_loader::DeviceLoadOptions options;
  options.threads = invocation.threads;
  options.progress = invocation.progress;
  const KernelId kernel =
      invocation.options.count("kernel") != 0 ? gpu_loader::find_kernel(invocation.text("kernel")) : KernelId{};
  options.kernels = {kernel};
  const auto matrix = gpu_loader::DeviceMatrix::load(container, nullptr, options);
  multiply_and_write(invocation, output, matrix, operation,
                     [&]<class T>(const auto& a, std::span<const T> x, std::span<T> y) {
                       MultiplyDescription description = describe<T>(operation);
                       description.kernel = kernel;
                       a.template multiply_host_vectors<real_of<T>>(1, x, 0, y, description);
                     });
}

}  // namespace
}  // namespace multiply_parts

const Command multiply_command{"multiply",
                               "A.spmvc [--x x.mtx] [-o y.mtx] [options]",
                               "y = A x or A^T x on the CPU or a GPU",
                               "A.spmvc",
                               multiply_parts::add_options,
                               multiply_parts::details,
                               multiply_parts::run};

}  // namespace spmvpack::tools
