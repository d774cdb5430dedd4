/// spmvpack report: shows the structure of a matrix and what each layout would cost.

#include "spmvpack/analyzer/report.hpp"

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>
#include <utility>

#include "commands/command.hpp"
#include "commands/encoding.hpp"
#include "commands/partition.hpp"
#include "commands/report_ranks.hpp"
#include "commands/report_table.hpp"
#include "failures.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {
namespace report_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()                                                                                         //
      ("details", po::bool_switch(), "also show row lengths and what the bytes are for")                        //
      ("json", po::bool_switch(), "print everything as JSON (docs/report.schema.json)")                         //
      ("html", po::value<std::string>()->value_name("FILE.html"), "write a page to look at; -f overwrites it")  //
      ("spy", po::bool_switch(), "draw where the entries are, and plan nothing")                                //
      ("csv", po::bool_switch(), "print a line per matrix and layout, for tables")                              //
      ("transpose", po::bool_switch(), "also the cost of A^T (encode --transpose)")                             //
      ("value-type", po::value<std::string>()->value_name("TYPE"),
       "f64, f32, c128 or c64 (default: the source's)")  //
      ("set", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"),
       "layout setting, such as ccoo.k=4; may be repeated");
  add_aim_options(options);
  options.add_options()  //
      ("bandwidth", po::value<std::string>()->value_name("GB/s"),
       "speed of device memory (default: 4240)")  //
      ("pcie", po::value<std::string>()->value_name("GB/s"), "speed of copies to the device (default: 55)");
}

void add_special_options(po::options_description& options) {
  add_partition_options(options);
  add_columns_option(options);
  add_updatable_option(options);
  options.add_options()("force,f", po::bool_switch())("scaled", po::bool_switch())(
      "link", po::value<std::string>()->value_name("GB/s"))("latency", po::value<std::string>()->value_name("us"));
}

std::string details() {
  return "Reads A.mtx (any source that 'encode' accepts) and plans every layout; writes\n"
         "nothing. Device bytes are what a multiply reads of the matrix; file bytes are\n"
         "the size of the file that 'encode' writes with the same settings and no codec.\n"
         "Both are exact. Predicted times are for one H200 with a cold cache, or with\n"
         "--target host for two CPU cores. They rank layouts and are not measurements.\n"
         "--optimize, --target and --columns work as in 'encode'; with --columns K,\n"
         "predicted times are for K columns together. --updatable plans as in 'encode' and\n"
         "shows what auto would take without it. --scaled compares factors of rows and\n"
         "columns (docs/USING.md) with a matrix of scaled values. The times of a multiply\n"
         "without compression and of copying x and y over PCIe assume the speeds of one\n"
         "H200, unless --bandwidth and --pcie give others. Encoding pays once multiplies\n"
         "have saved as much time, compared with csr in memory, as encoding takes. The\n"
         "time of encoding is predicted, too: for one core, without reading and writing.\n"
         "-q silences progress and the closing hint, not the report.\n\n"
         "With several files, each gets a line with its recommended layout, or with\n"
         "--details its whole report, and --json is an array. They are read one after the\n"
         "other. --details also plans pkt, in any form of output; that takes longer than\n"
         "all else.\n" +
         std::string(several_files_help) +
         "\n"
         "--html writes one self-contained page of one matrix, without scripts: density,\n"
         "bytes and predicted times of the layouts, when encoding pays, row lengths.\n"
         "FILE.html may be -, for standard output. --spy draws the density in characters;\n"
         "each darker character stands for cells that are fuller by the factor below the\n"
         "picture.\n\n"
         "Several ranks (processes), instead of layouts:\n"
         "      --ranks P               what each of P ranks has, sends and receives\n"
         "      --partition rows|metis  how rows are distributed (default: rows)\n"
         "      --link GB/s             speed of a rank's messages, each way (default: 55)\n"
         "      --latency us            latency of a message (default: 1)\n"
         "--ranks predicts, from the matrix alone, the shares that 'encode --ranks' makes:\n"
         "each rank's ghosts, the ranks that it exchanges elements of x with, and how much\n"
         "of a multiply the exchange takes, by equations 2 to 4 of Kreutzer et al.\n"
         "(docs/PETSC.md, \"Many ranks\"). --bandwidth is that of each rank's memory.\n"
         "Multiplies are by csr. --json is described in docs/ranks.schema.json.\n\n"
         "--csv has a header, then a line for each layout of each matrix with the members\n"
         "of --json; 'recommended' is true for one of them. overhead_percent is relative\n"
         "to the bytes of CSR's line. Unknown values are empty.\n\n"
         "Examples:\n"
         "  spmvpack report A.mtx\n"
         "  spmvpack report A.mtx --html A.html\n"
         "  spmvpack report matrices/*.mtx.gz --csv > matrices.csv\n"
         "  spmvpack report A.mtx --value-type f32 --set ccoo.k=4\n"
         "  spmvpack report A.mtx --bandwidth 2970 --pcie 25\n"
         "  spmvpack report A.mtx --ranks 32 --link 25 --latency 2\n"
         "  spmvpack report A.mtx --json | jq '.layouts[] | {name, device_bytes}'\n";
}

/// Prints reports as they are made, in the form that was asked for.
class Output {
 public:
  explicit Output(const Invocation& invocation)
      : json_(invocation.flag("json")),
        csv_(invocation.flag("csv")),
        details_(invocation.flag("details")),
        quiet_(invocation.quiet),
        several_(invocation.arguments.size() > 1) {
    if (json_ && csv_) throw Error(errc::usage, "both --json and --csv", {}, "give one of them");
  }

  void add(const analyzer::Report& report) {
    const bool first = count_++ == 0;
    if (json_) {
      const std::string text = analyzer::to_json(report);
      if (!several_) return print(text);
      array_ += (first ? "" : ",\n") + text.substr(0, text.size() - 1);
    } else if (csv_) {
      print((first ? report_csv_header() : "") + report_csv_lines(report));
    } else if (details_ || !several_) {
      print((first ? "" : "\n") +
            analyzer::to_text(report, details_ ? analyzer::Detail::full : analyzer::Detail::summary));
    } else {
      print((first ? report_table_header() : "") + report_table_line(report));
    }
  }

  void finish() const {
    if (json_ && several_) print(count_ == 0 ? "[]\n" : "[\n" + array_ + "\n]\n");
    if (json_ || csv_ || details_ || quiet_ || count_ == 0) return;
    print(several_ ? "\nUse --csv or --json for every layout of every matrix.\n"
                   : "\nUse --details for row lengths and what the bytes of each layout hold.\n");
  }

 private:
  bool json_, csv_, details_, quiet_, several_;
  std::size_t count_ = 0;
  std::string array_;
};

/// report --html: a page for one matrix.
void write_html(const Invocation& invocation, const analyzer::Report& report) {
  const std::string& output = invocation.text("html");
  TextOutput page(output, invocation.flag("force"));
  page.write(analyzer::to_html(report));
  page.commit();
  if (!invocation.quiet && output != "-")
    print(fmt::format("{}\n  layout   {}: {}\n", escape(output, 4096), report.layouts[report.recommended].name,
                      report.reason));
}

/// Before any work: an output that may not be written, and what does not go together.
void check_forms(const Invocation& invocation) {
  const bool has_html = invocation.options.count("html") != 0, spy = invocation.flag("spy");
  if (invocation.flag("force") && !has_html) throw Error(errc::usage, "-f without --html", {}, "omit it");
  if (!has_html && !spy) return;
  const std::string form = spy ? "--spy" : "--html";
  for (const char* const other : {"json", "csv", "details", "transpose"})
    if (invocation.flag(other))
      throw Error(errc::usage, fmt::format("{} with --{}", form, other), {}, "give one of them");
  if (spy && has_html) throw Error(errc::usage, "--spy with --html", {}, "give one of them");
  if (invocation.options.count("ranks") != 0) throw Error(errc::usage, form + " with --ranks", {}, "give one of them");
  if (!has_html) return;
  const std::string& output = invocation.text("html");
  if (invocation.arguments.size() != 1)
    throw Error(errc::usage, "--html with several matrices", {}, "give one: a page is of one matrix");
  if (output != "-" && !output.ends_with(".html") && !output.ends_with(".htm"))
    throw Error(errc::usage, "not the name of a page", output, "use a name that ends in .html");
  check_output(output, OutputForm::text, invocation.flag("force"), invocation.argument);
}

/// report --spy: a picture for each matrix.
void print_spy(const std::string& name, const CsrView& matrix, int threads, bool first) {
  print(fmt::format("{}{}\n{} x {}, {}\n{}", first ? "" : "\n", escape(name, 4096), grouped(matrix.rows()),
                    grouped(matrix.cols()), counted(matrix.nnz(), "nonzero"), analyzer::spy_text(matrix, threads)));
}

/// report --ranks: a plan for each matrix.
void run_ranks(const Invocation& invocation, std::uint64_t ranks, const sources::SourceOptions& source) {
  for (const char* const other : {"csv", "details", "transpose", "updatable", "scaled"})
    if (invocation.flag(other))
      throw Error(errc::usage, fmt::format("--{} with --ranks", other), {}, "give one of them");
  analyzer::RankSpeeds speeds;
  if (invocation.options.count("bandwidth") != 0)
    speeds.memory = parse_speed("--bandwidth", invocation.text("bandwidth"));
  if (invocation.options.count("link") != 0) speeds.link = parse_speed("--link", invocation.text("link"));
  if (invocation.options.count("latency") != 0)
    speeds.latency = 1e-6 * parse_quantity("--latency", invocation.text("latency"), "us");
  const bool json = invocation.flag("json"), several = invocation.arguments.size() > 1;
  std::string array;
  bool first = true;
  Failures failures("spmvpack report", invocation.arguments.size());
  for (const std::string& path : invocation.arguments)
    failures.attempt(path, [&] {
      const SourceMatrix matrix = sources::read_matrix(path, source);
      print_warnings(matrix);
      const std::string how = invocation.options.count("partition") != 0 ? invocation.text("partition") : "rows";
      const NamedPlan plan{
          input_name(path), how,
          analyzer::plan_ranks(matrix.matrix, partition(matrix.matrix, ranks, invocation), speeds, invocation.threads)};
      if (!json) {
        print((first ? "" : "\n") + ranks_text(plan));
      } else {
        const std::string text = ranks_json(plan);
        if (!several) print(text);
        array += (first ? "" : ",\n") + text.substr(0, text.size() - 1);
      }
      first = false;
    });
  if (json && several) print(first ? "[]\n" : "[\n" + array + "\n]\n");
  failures.finish();
}

void run(const Invocation& invocation) {
  check_forms(invocation);
  const std::uint64_t ranks = read_ranks(invocation);
  for (const char* const name : {"link", "latency"})
    if (ranks == 0 && invocation.options.count(name) != 0)
      throw Error(errc::usage, fmt::format("--{} without --ranks", name), {}, "say how many ranks there are");
  analyzer::ReportOptions options;
  options.workspace = [](const PartInfo& part) { return gpu_loader::workspace_bytes(part, {}, part.value_type); };
  options.threads = invocation.threads;
  options.memory_limit = invocation.memory_limit;
  options.progress = invocation.progress;
  options.transpose = invocation.flag("transpose");
  options.updatable = invocation.flag("updatable");
  options.scaled = invocation.flag("scaled");
  options.density = invocation.options.count("html") != 0;
  options.by_name_only = invocation.flag("details");
  if (invocation.options.count("set") != 0)
    options.settings = parse_settings(invocation.options["set"].as<std::vector<std::string>>());
  encoder::check_settings(options.settings);

  options.aim = read_aim(invocation);
  if (invocation.options.count("bandwidth") != 0)
    options.speeds.memory = parse_speed("--bandwidth", invocation.text("bandwidth"));
  if (invocation.options.count("pcie") != 0) options.speeds.pcie = parse_speed("--pcie", invocation.text("pcie"));

  sources::SourceOptions source;
  if (invocation.options.count("value-type") != 0) source.value_type = parse_value_type(invocation.text("value-type"));
  source.threads = invocation.threads;
  source.memory_limit = invocation.memory_limit;
  source.progress = invocation.progress;
  if (ranks != 0) return run_ranks(invocation, ranks, source);
  Output output(invocation);
  bool first = true;
  Failures failures("spmvpack report", invocation.arguments.size());
  for (const std::string& path : invocation.arguments)
    failures.attempt(path, [&] {
      options.name = input_name(path);
      const SourceMatrix matrix = sources::read_matrix(path, source);
      print_warnings(matrix);
      if (invocation.flag("spy"))
        print_spy(options.name, matrix.matrix, invocation.threads, std::exchange(first, false));
      else if (options.density)
        write_html(invocation, analyzer::make_report(matrix, options));
      else
        output.add(analyzer::make_report(matrix, options));
    });
  if (invocation.flag("spy") || options.density) return failures.finish();
  output.finish();
  failures.finish();
}

}  // namespace
}  // namespace report_parts

const Command report_command{"report",
                             "A.mtx... [options]",
                             "show a matrix's structure and what each layout would cost",
                             "A.mtx",
                             report_parts::add_options,
                             report_parts::details,
                             report_parts::run,
                             report_parts::add_special_options,
                             nullptr,
                             {},
                             true};

}  // namespace spmvpack::tools
