/// spmvpack encode: writes a matrix as a container.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <string>

#include "commands/command.hpp"
#include "commands/encoding.hpp"
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
      ("value-type", po::value<std::string>()->value_name("f64|f32"),
       "type of values (default: f64; a container's own)");
  add_encoding_options(options);
  options.add_options()("transpose", po::bool_switch(), "store A^T, too, for multiplies with it");
  add_aim_options(options);
  add_tune_option(options);
}

void add_special_options(po::options_description& options) {
  add_partition_options(options);
  add_columns_option(options);
  add_updatable_option(options);
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
         "A.tar.gz or A.zip), a sparse matrix of SciPy (.npz of save_npz() in csr, csc,\n"
         "coo, bsr or dia) or a container. The type is detected from the content; - is\n"
         "standard input.\n"
         "Without a codec, the file holds the matrix as a multiply reads it. The bytes\n"
         "written do not depend on the number of threads.\n\n"
         "--target is the machine that the layout is for, gpu whether there is one here or\n"
         "not: the same options make the same bytes everywhere. --target host makes it\n"
         "for processors.\n\n"
         "--columns K (1 to 1024, default 1): auto chooses for a multiply of K columns of\n"
         "X at once, as block Krylov methods do. On a GPU, nothing is taken that goes\n"
         "column by column. A host's times are predicted as K times those of one column.\n\n"
         "--updatable: every nonzero gets a place of its own, so that programs can replace\n"
         "values and keep the pattern. Nothing is taken where values are shared or\n"
         "computed; 'report --updatable' shows what that costs. The container says that\n"
         "the matrix is real and general, and with --transpose it has A^T in any case.\n\n"
         "--tune measures up to 8 layouts that auto predicts within 1.5 times its best,\n"
         "with cold and warm caches, takes the fastest, and says so in the provenance. The\n"
         "bytes then depend on this machine and its noise; without --tune they never do.\n\n"
         "Shares of several ranks (processes):\n"
         "      --ranks P               a container for the share of each of P ranks\n"
         "      --partition rows|metis  who has which rows (default: rows)\n"
         "--ranks 4 writes A.0of4.spmvc to A.3of4.spmvc: each has the rows of one rank,\n"
         "over its own columns, then those of other ranks that it needs, its ghosts.\n"
         "--partition rows keeps the order of rows, with as many nonzeros for each rank;\n"
         "metis looks for few ghosts and renumbers rows and columns alike. The files get\n"
         "their names once all are complete: after an error or Ctrl-C there are none, or\n"
         "with -f the old ones; all are there only if the error is that their directory\n"
         "cannot be flushed. A kill (SIGKILL, a power cut) in between, or with -f a rename\n"
         "that fails, leaves some of them, each one whole; PETSc refuses a set with a\n"
         "missing share or one of another matrix. Encode again with -f.\n\n"
         "--json prints instead of the summary what was decided, what it takes and what\n"
         "--tune measured (docs/encode.schema.json), with -q, too.\n\n"
         "'pays' is the number of multiplies after which encoding has taken less time\n"
         "altogether than csr, which needs none; reading is left out, writing is not.\n\n"
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
    print_note("there is no GPU to use here, and the layout is for one; --target host makes it for this processor");
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
  auto source_options = invocation.common<sources::SourceOptions>();
  if (invocation.options.count("value-type") != 0)
    source_options.value_type = parse_value_type(invocation.text("value-type"));
  const std::uint64_t ranks = read_ranks(invocation);
  if (ranks != 0 && invocation.flag("json"))
    throw Error(errc::usage, "--json with --ranks, which writes several containers", {},
                "omit --json: 'inspect --json' tells of each");
  check_output(output, OutputForm::container, invocation.flag("force") || ranks != 0, invocation.argument);
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    check_output(share_path(output, rank, ranks), OutputForm::container, invocation.flag("force"), invocation.argument);

  const Stopwatch watch;
  const SourceMatrix source = sources::read_matrix(invocation.argument, source_options);
  print_warnings(source);
  if (ranks != 0)
    encode_ranks_and_tell(source, request, output, ranks, invocation);
  else
    encode_and_tell(source, request, output, invocation, "read", watch.seconds());
  note_target(invocation, request);
}

}  // namespace
}  // namespace encode_parts

const Command encode_command{"encode",          "A.mtx [-o A.spmvc] [options]",   "compress a matrix into a container",
                             "A.mtx",           encode_parts::add_options,        encode_parts::details,
                             encode_parts::run, encode_parts::add_special_options};

}  // namespace spmvpack::tools
