/// spmvpack encode: writes a matrix as a container.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <string>

#include "commands/command.hpp"
#include "commands/encoding.hpp"
#include "commands/encoding_on_gpu.hpp"
#include "commands/partition.hpp"
#include "commands/tuning.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {
namespace encode_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()  //
      ("output,o", po::value<std::string>()->value_name("A.spmvc"),
       "output file (default: A.spmvc for A.mtx)")            //
      ("force,f", po::bool_switch(), "overwrite the output")  //
      ("value-type", po::value<std::string>()->value_name("TYPE"), "f64, f32, c128 or c64 (default: the source's)");
  add_encoding_options(options);
  options.add_options()("transpose", po::bool_switch(), "also store A^T, for multiplies by it");
  add_aim_options(options);
  add_tune_option(options);
}

void add_special_options(po::options_description& options) {
  add_partition_options(options);
  add_columns_option(options);
  add_updatable_option(options);
  add_device_option(options);
  options.add_options()("json", po::bool_switch());
}

std::string details() {
  std::string text = "Layouts and their settings:\n";
  for (const encoder::Strategy& s : encoder::strategies()) {
    text += fmt::format("  {}\n      {}\n", s.name, s.summary);
    if (s.chooses) continue;                 // it takes the settings of all others
    std::vector<std::string_view> of_parts;  // the layouts whose settings it passes on
    for (const encoder::Setting& setting : s.settings) {
      if (const auto owner = setting.name.substr(0, setting.name.find('.')); owner == s.name)
        text += fmt::format("      --set {}=VALUE, {}:\n          {}\n", setting.name, setting.values, setting.meaning);
      else if (std::find(of_parts.begin(), of_parts.end(), owner) == of_parts.end())
        of_parts.push_back(owner);
    }
    if (!of_parts.empty())
      text += fmt::format("      and the settings of {}, for its parts\n", fmt::join(of_parts, ", "));
  }
  return text +
         "\nA.mtx is a Matrix Market, Harwell-Boeing or Rutherford-Boeing file, plain,\n"
         "compressed (.gz, .zst, .bz2, .xz) or in a tar or zip archive (A/A.mtx in\n"
         "A.tar.gz or A.zip), a SciPy sparse matrix (.npz from save_npz() in csr, csc,\n"
         "coo, bsr or dia) or a container. The type is detected from the content; - is\n"
         "standard input.\n"
         "Without a codec, the file holds the matrix as a multiply reads it. The bytes\n"
         "written do not depend on the number of threads.\n\n"
         "--target is the machine to optimise for; it need not be this one. The same\n"
         "options make the same bytes everywhere. gpu, the default, is for GPUs; host is\n"
         "for CPUs.\n\n"
         "--columns K (1 to 1024, default 1): auto chooses for a multiply of K columns of\n"
         "X at once, as in block Krylov methods. A GPU takes up to 32 columns in a pass\n"
         "over the matrix, a host 16. Forms that multiply column by column are predicted\n"
         "to take K times as long; on a GPU, auto leaves out such forms of csell (mirrors)\n"
         "and bitflag (segments).\n\n"
         "--updatable: every nonzero gets a place of its own, so that programs can replace\n"
         "values and keep the pattern. Forms that share or compute values are left out;\n"
         "'report --updatable' shows what that costs. The container says that the matrix\n"
         "is real and general, and with --transpose it has A^T in any case.\n\n"
         "--tune measures up to 8 layouts, csr and those that auto predicts within 1.5\n"
         "times the fastest, with cold and warm caches. It takes the fastest and records\n"
         "that in the provenance. The bytes then depend on this machine and its noise;\n"
         "without --tune they never do.\n\n"
         "--device gpu encodes a named layout on this machine's GPU, which has csr, ell,\n"
         "sell, csell and bitflag. The file is the host's, byte for byte, unless csell\n"
         "would mirror values, which only the host plans: set other csell.values then. The\n"
         "host still reads the matrix and writes the file.\n\n"
         "Shares of several ranks (processes):\n"
         "      --ranks P               a container for the share of each of P ranks\n"
         "      --partition rows|metis  how rows are distributed (default: rows)\n"
         "--ranks 4 writes A.0of4.spmvc to A.3of4.spmvc. Each has the rows of one rank,\n"
         "over its own columns and then its ghosts, the columns of other ranks that it\n"
         "needs. --partition rows keeps the order of rows and gives each rank about as\n"
         "many nonzeros. metis looks for few ghosts, and renumbers rows and columns alike.\n"
         "The files get their names once all are complete. After an error or Ctrl-C there\n"
         "are none of them, or with -f the old ones; only if the directory cannot be\n"
         "flushed, all are there. A kill (SIGKILL, a power cut) during the renames, or\n"
         "with -f a rename that fails, leaves some of the new files, each one whole. PETSc\n"
         "refuses a set with a missing share or one of another matrix; encode again with\n"
         "-f.\n\n"
         "--json prints, in place of the summary and even with -q, the decisions, sizes\n"
         "and times, and what --tune measured (docs/encode.schema.json).\n\n"
         "'pays' is the number of multiplies after which encoding has saved as much time,\n"
         "compared with csr, as it took. Writing counts, reading does not.\n\n"
         "Examples:\n"
         "  spmvpack encode A.mtx.gz                       writes A.spmvc\n"
         "  spmvpack encode A.mtx -o A32.spmvc --value-type f32 --codec zstd:9\n"
         "  spmvpack encode A.spmvc -o A.csr.spmvc --layout csr\n"
         "  spmvpack encode A.mtx --tune gpu               what is fastest on this GPU\n"
         "  spmvpack encode A.mtx --ranks 4                a container for each of 4 ranks\n";
}

/// Says that the default target is a machine that is not here, where the layout depends on it.
void note_target(const Invocation& invocation, const encoder::EncodeRequest& request) {
  const bool by_default = invocation.options["target"].defaulted() && !request.tuner &&
                          request.aim.optimize == encoder::Objective::time &&
                          encoder::find_strategy(request.strategy).traits.aims;
  if (by_default && !invocation.quiet && !gpu_loader::has_usable_gpu())
    print_note("the layout is for a GPU, and there is no GPU to use here; --target host is for this processor");
}

/// The output for the input `path` if none is named.
std::string default_output(const std::string& path) {
  refuse_directory(path);  // a better error than that no name can be derived from this one
  try {
    return sources::container_name(path);
  } catch (const Error& e) {
    throw Error(e.code(), e.message(), e.where(), "name it with -o");
  }
}

void run(const Invocation& invocation) {
  const std::string output =
      invocation.options.count("output") != 0 ? invocation.text("output") : default_output(invocation.argument);
  if (output == "-")
    throw Error(errc::usage, "a container cannot go to standard output: its header is written last", {},
                "name a file with -o");
  encoder::EncodeRequest request = read_encode_request(invocation);
  request.transpose = invocation.flag("transpose");
  read_tuner(invocation, request);
  const bool on_gpu = read_device(invocation, request);
  auto source_options = invocation.common<sources::SourceOptions>();
  if (invocation.options.count("value-type") != 0)
    source_options.value_type = parse_value_type(invocation.text("value-type"));
  const std::uint64_t ranks = read_ranks(invocation);
  if (ranks != 0 && invocation.flag("json"))
    throw Error(errc::usage, "--json with --ranks, which writes several containers", {},
                "omit --json: 'inspect --json' describes each");
  check_output(output, OutputForm::container, invocation.flag("force") || ranks != 0, invocation.argument);
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    check_output(share_path(output, rank, ranks), OutputForm::container, invocation.flag("force"), invocation.argument);

  const Stopwatch watch;
  const SourceMatrix source = sources::read_matrix(invocation.argument, source_options);
  print_warnings(source);
  if (ranks != 0)
    encode_ranks_and_tell(source, request, output, ranks, invocation);
  else if (const double seconds = watch.seconds(); on_gpu)
    tell_encoded(source, request, encode_on_gpu(source, request, output), output, invocation, "read", seconds);
  else
    encode_and_tell(source, request, output, invocation, "read", seconds);
  note_target(invocation, request);
}

}  // namespace
}  // namespace encode_parts

const Command encode_command{"encode",          "A.mtx [-o A.spmvc] [options]",   "compress a matrix into a container",
                             "A.mtx",           encode_parts::add_options,        encode_parts::details,
                             encode_parts::run, encode_parts::add_special_options};

}  // namespace spmvpack::tools
